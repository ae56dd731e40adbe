"""Ollama's official SDK against our server role, and what we send against its request types.

The SDK is a client of flesh and blood; only its transport is ours, so nothing leaves the process.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("ollama", reason="the official SDK is not installed")

import httpx
import ollama
from ollama._types import ChatRequest

from interlingua.dialects._contract import (
    DecodedRequest,
    DecodeOptions,
    EncodeOptions,
    ServerContext,
    Target,
)
from interlingua.dialects.ollama import DIALECT
from interlingua.errors import NotFoundError, OverloadedError
from interlingua.stream.unfold import unfold
from interlingua.types.content import ImagePart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.event import StreamError
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request, ServerState
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply, HttpRequest

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool(name="get_weather", description="The weather.", parameters=CITY)
ANSWER = Response[Any](
    parts=(
        ThinkingPart("Hm"),
        TextPart("Hello"),
        ToolCall("call_a", "get_weather", '{"city":"Oslo"}'),
        ToolCall("call_b", "get_time", "{}"),
    ),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=5, output_tokens=7),
    model="m",
)
Answering = Callable[[DecodedRequest, ServerContext], httpx.Response]


def client(answering: Answering) -> tuple[Any, list[DecodedRequest]]:
    """The SDK's client, its types only partly stated, of a server that answers so; the requests that it gets."""
    seen: list[DecodedRequest] = []

    def handle(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        http = HttpRequest(url=str(request.url), body=request.content)
        seen.append(DIALECT.decode_request(http, DecodeOptions()))
        return answering(seen[-1], ServerContext(model=seen[-1].model, created=1_795_255_200, path=path))

    return ollama.Client(host="http://test", transport=httpx.MockTransport(handle)), seen


def whole(reply: HttpReply) -> httpx.Response:
    """A reply of ours as the SDK's transport wants it."""
    return httpx.Response(reply.status, headers=list(reply.headers), content=reply.body)


def tell(response: Response[Any]) -> Answering:
    """A server that gives this answer, streamed or whole as it is asked."""

    def answering(asked: DecodedRequest, context: ServerContext) -> httpx.Response:
        if not asked.stream:
            return whole(DIALECT.encode_response(response, context))
        encoder = DIALECT.stream_encoder(context)
        return httpx.Response(200, content=b"".join([encoder.encode(event) for event in unfold(response)]))

    return answering


def called(calls: Any) -> list[tuple[str, Any]]:
    """Name and arguments of the calls that the SDK shows."""
    return [(call.function.name, dict(call.function.arguments)) for call in calls or ()]


def test_the_sdk_reads_a_whole_answer() -> None:
    """Text, thinking, parallel calls, counts, reason, model and time."""
    sdk, seen = client(tell(ANSWER))
    reply = sdk.chat(
        "llama", [{"role": "user", "content": "Hi", "images": [b"\x89PNG"]}], tools=[_weather], think="low"
    )
    assert reply.message.content == "Hello"
    assert reply.message.thinking == "Hm"
    assert called(reply.message.tool_calls) == [("get_weather", {"city": "Oslo"}), ("get_time", {})]
    assert (reply.prompt_eval_count, reply.eval_count) == (5, 7)
    assert (reply.done, reply.done_reason, reply.model) == (True, "stop", "llama")
    assert reply.created_at == "2026-11-21T10:00:00Z"
    (asked,) = seen
    assert (asked.model, asked.stream, asked.request.effort) == ("llama", False, "low")
    assert asked.request.messages == (user("Hi", ImagePart(b"\x89PNG", "image/png")),)
    (tool,) = asked.request.tools
    assert isinstance(tool, Tool)
    assert (tool.name, tool.parameters["required"]) == ("_weather", ["city"])


def _weather(city: str) -> str:
    """The weather of a city.

    Args:
      city: Its name.
    """
    return city


def test_the_sdk_reads_a_stream() -> None:
    """Line by line; calls whole, counts with the last."""
    sdk, seen = client(tell(ANSWER))
    lines = list(sdk.chat("llama", [{"role": "user", "content": "Hi"}], stream=True))
    assert "".join([line.message.content or "" for line in lines]) == "Hello"
    assert "".join([line.message.thinking or "" for line in lines]) == "Hm"
    calls = [call for line in lines for call in called(line.message.tool_calls)]
    assert calls == [("get_weather", {"city": "Oslo"}), ("get_time", {})]
    assert [line.done for line in lines] == [False, False, False, False, True]
    assert (lines[-1].done_reason, lines[-1].eval_count) == ("stop", 7)
    assert seen[0].stream


def test_the_sdk_goes_on_with_its_own_messages() -> None:
    """It drops the ids of calls; results are found by name."""
    sdk, seen = client(tell(ANSWER))
    reply = sdk.chat("llama", [{"role": "user", "content": "Hi"}])
    results = [
        {"role": "tool", "tool_name": "get_weather", "content": "4"},
        {"role": "tool", "tool_name": "get_time", "content": "ERROR: no clock"},
    ]
    sdk.chat("llama", [{"role": "user", "content": "Hi"}, reply.message, *results])
    history = seen[1].request.messages
    assert history[1] == assistant(
        ThinkingPart("Hm"),
        "Hello",
        ToolCall("call_0", "get_weather", '{"city":"Oslo"}'),
        ToolCall("call_1", "get_time", "{}"),
    )
    told = [(result.call_id, result.content, result.is_error) for result in history[2].tool_results]
    assert told == [("call_0", "4", False), ("call_1", "no clock", True)]


def test_the_sdk_asks_for_structured_output_and_options() -> None:
    """Schema and sampling arrive where they belong."""
    sdk, seen = client(tell(Response[Any](parts=(TextPart("{}"),), finish_reason="stop")))
    options = {"temperature": 0.5, "num_predict": 9, "stop": ["END"], "num_ctx": 4096}
    sdk.chat("m", [{"role": "user", "content": "Hi"}], format=CITY, options=options, keep_alive="5m", think=True)
    assert seen[0].request == Request(
        messages=(user("Hi"),),
        output_schema=CITY,
        temperature=0.5,
        max_tokens=9,
        stop=("END",),
        thinking=True,
        extra={"ollama": {"keep_alive": "5m", "options": {"num_ctx": 4096}}},
    )


def test_the_sdk_generates() -> None:
    """The older form, whole and streamed, with the server's state."""
    sdk, seen = client(tell(Response[Any](parts=(TextPart("Hello"),), finish_reason="stop")))
    reply = sdk.generate("m", "Hi", system="Help.", context=[1, 2])
    assert (reply.response, reply.done_reason) == ("Hello", "stop")
    lines = list(sdk.generate("m", "Hi", stream=True))
    assert [line.response for line in lines] == ["Hello", ""]
    assert seen[0].request == Request(
        system=(TextPart("Help."),),
        messages=(user("Hi"),),
        continues=ServerState("ollama", {"context": [1, 2]}),
        extra={"ollama": {"field": "prompt"}},
    )


def test_the_sdk_raises_our_errors() -> None:
    """With sentence and status, before the answer and in the middle of a stream."""

    def answering(asked: DecodedRequest, context: ServerContext) -> httpx.Response:
        if not asked.stream:
            return whole(DIALECT.encode_error(NotFoundError("model 'm' not found"), context))
        encoder = DIALECT.stream_encoder(context)
        begun = [encoder.encode(event) for event in list(unfold(ANSWER))[:3]]
        error = OverloadedError("server busy")
        return httpx.Response(
            200, content=b"".join([*begun, encoder.encode(StreamError("OverloadedError", str(error)))])
        )

    sdk, _ = client(answering)
    with pytest.raises(ollama.ResponseError, match="model 'm' not found") as caught:
        sdk.chat("m", [])
    assert caught.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="server busy"):
        list(sdk.chat("m", [], stream=True))


REQUESTS: dict[str, Request] = {
    "text": Request(messages=(user("Hi"),)),
    "everything": Request(
        system=(TextPart("Help."),),
        messages=(
            user("Look", ImagePart(b"\x89PNG", "image/png")),
            assistant(ThinkingPart("Hm"), "Well", ToolCall("call_a", "get_weather", '{"city":"Oslo"}')),
            Message("tool", (ToolResult("call_a", "get_weather", "4"),)),
        ),
        tools=(WEATHER,),
        output_schema=CITY,
        effort="high",
        temperature=0.5,
        max_tokens=9,
        stop=("END",),
        logprobs=2,
    ),
    "json": Request(messages=(user("Hi"),), json_mode=True, thinking=False),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_we_send_is_what_the_sdk_would_send(name: str) -> None:
    """The SDK's own request type takes the body, and writes the same but for the ids that it does not know."""
    encoded = DIALECT.encode_request(REQUESTS[name], EncodeOptions(target=Target(model="m"), stream=True))
    body = json.loads(encoded.body)
    assert json.loads(ChatRequest.model_validate(body).model_dump_json(exclude_none=True)) == body
    for message in body["messages"]:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", ()):
            del call["id"], call["function"]["index"]
        images = [{"value": image} for image in message.get("images", ())]
        read = ollama.Message.model_validate({**message, "images": images} if images else message)
        assert json.loads(read.model_dump_json(exclude_none=True)) == message
