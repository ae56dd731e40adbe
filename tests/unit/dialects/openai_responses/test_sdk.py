"""The official SDK against the server role: what it asks is understood, what it is told it understands."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, ServerContext
from interlingua.errors import Error, RateLimitError
from interlingua.stream.build import stream_error
from interlingua.stream.unfold import unfold
from interlingua.types.content import RefusalPart, TextPart, ThinkingPart, ToolCall
from interlingua.types.event import StreamStart
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpRequest
from tests.support.responses import DIALECT, answer

CONTEXT = ServerContext(model="m", created=7, make_id=lambda: "resp_9", source="google")
SAID = answer(
    ThinkingPart("Hm."),
    TextPart("Looking."),
    ToolCall("call_a", "look", '{"x":1}'),
    ToolCall("call_b", "look", '{"x":2}'),
    finish="tool_calls",
    usage=Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1, cache_write_tokens=0, reasoning_tokens=1),
)
LOOK: Any = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


class Server:
    """Answers the SDK through the dialect, without a socket, and keeps what it was asked."""

    def __init__(self, said: Response[Any] | Error, *, begins: bool = False) -> None:
        """`said` answers every request; an error that `begins` comes in the stream."""
        self.said = said
        self.begins = begins
        self.asked: list[DecodedRequest] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """The answer to one request."""
        asked = DIALECT.decode_request(HttpRequest(url=str(request.url), body=request.content), DecodeOptions())
        self.asked.append(asked)
        if isinstance(self.said, Error) and not self.begins:
            told = DIALECT.encode_error(self.said, CONTEXT)
            return httpx.Response(told.status, headers=dict(told.headers), content=told.body)
        if not asked.stream:
            assert isinstance(self.said, Response)
            told = DIALECT.encode_response(self.said, CONTEXT)
            return httpx.Response(told.status, headers=dict(told.headers), content=told.body)
        encoder = DIALECT.stream_encoder(CONTEXT)
        events = (
            [StreamStart("m"), stream_error(self.said, None)] if isinstance(self.said, Error) else unfold(self.said)
        )
        content = b"".join([encoder.encode(event) for event in events])
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    def client(self) -> openai.OpenAI:
        """The SDK, wired to this server."""
        inside: Any = httpx.Client(transport=httpx.MockTransport(self))
        return openai.OpenAI(api_key="k", base_url="http://test/v1", max_retries=0, http_client=inside)


def test_a_whole_answer() -> None:
    """Text, calls, reasoning and counts, by the SDK's own views."""
    server = Server(SAID)
    told = server.client().responses.create(model="m", input="Hi", instructions="Be brief.", tools=[LOOK])
    assert told.output_text == "Looking."
    assert [item.type for item in told.output] == ["reasoning", "message", "function_call", "function_call"]
    assert told.usage is not None
    assert (told.usage.total_tokens, told.usage.input_tokens_details.cached_tokens) == (5, 1)
    [asked] = server.asked
    assert asked.request.system == (TextPart("Be brief."),)
    assert asked.request.tools == (Tool(name="look", parameters={"type": "object"}, strict=False),)


def test_a_stream_and_the_next_turn() -> None:
    """The helper adds the events up, without complaint; its items go back as they are."""
    server = Server(SAID)
    client = server.client()
    with client.responses.stream(model="m", input="Hi", tools=[LOOK]) as told:
        kinds = [event.type for event in told]
        final = told.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    calls = [item for item in final.output if isinstance(item, ResponseFunctionToolCall)]
    assert [(call.call_id, call.arguments) for call in calls] == [("call_a", '{"x":1}'), ("call_b", '{"x":2}')]
    results: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "ok"} for call in calls]
    items: Any = [{"role": "user", "content": "Hi"}, *[item.model_dump() for item in final.output], *results]
    client.responses.create(model="m", input=items)
    messages = server.asked[-1].request.messages
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert messages[1].text == "Looking."
    assert [(call.id, call.arguments) for call in messages[1].tool_calls] == [
        ("call_a", {"x": 1}),
        ("call_b", {"x": 2}),
    ]
    assert [result.name for result in messages[2].tool_results] == ["look", "look"]


class Trip(BaseModel):
    """What the answer is to be."""

    city: str


def test_parsed_output() -> None:
    """The schema arrives strict, as the SDK says it; the text is parsed; a refusal is one."""
    server = Server(answer(TextPart('{"city":"Oslo"}')))
    told = server.client().responses.parse(model="m", input="Where?", text_format=Trip)
    assert told.output_parsed == Trip(city="Oslo")
    asked = server.asked[0].request
    assert (asked.schema_name, asked.schema_strict) == ("Trip", True)
    refused = (
        Server(answer(RefusalPart("No."), finish="refusal"))
        .client()
        .responses.parse(model="m", input="Where?", text_format=Trip)
    )
    assert refused.output_parsed is None


def test_errors_are_the_sdks_own() -> None:
    """Before the answer by status, in a stream by the event that ends it."""
    slow = RateLimitError("Slow down.", status=429)
    with pytest.raises(openai.RateLimitError, match="Slow down"):
        Server(slow).client().responses.create(model="m", input="Hi")
    with Server(slow, begins=True).client().responses.create(model="m", input="Hi", stream=True) as told:
        last = list(told)[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.code == "rate_limit_exceeded"
