"""The official SDK against the server role, and its request types as the judge of what the client role sends."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

anthropic = pytest.importorskip("anthropic", reason="the official SDK is not installed")

import httpx2  # noqa: E402 - comes with the SDK
from anthropic.types import Message, RawMessageStreamEvent  # noqa: E402 - after the skip
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming  # noqa: E402 - after the skip
from pydantic import TypeAdapter  # noqa: E402 - comes with the SDK

from interlingua import errors  # noqa: E402 - after the skip
from interlingua.dialects._contract import DecodeOptions, ServerContext  # noqa: E402 - after the skip
from interlingua.dialects.anthropic import DIALECT  # noqa: E402 - after the skip
from interlingua.errors import Error  # noqa: E402 - after the skip
from interlingua.stream.build import stream_error  # noqa: E402 - after the skip
from interlingua.stream.unfold import unfold  # noqa: E402 - after the skip
from interlingua.types.content import (  # noqa: E402 - after the skip
    Citation,
    DocumentPart,
    ImagePart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.event import StreamStart  # noqa: E402 - after the skip
from interlingua.types.message import Message as Said  # noqa: E402 - after the skip
from interlingua.types.message import assistant, user  # noqa: E402 - after the skip
from interlingua.types.request import Request  # noqa: E402 - after the skip
from interlingua.types.response import Response  # noqa: E402 - after the skip
from interlingua.types.tool import AllowedTools, NamedTool, Tool  # noqa: E402 - after the skip
from interlingua.types.usage import Usage  # noqa: E402 - after the skip
from interlingua.wire.http import HttpRequest  # noqa: E402 - after the skip
from tests.support.messages import NAME, known, wire  # noqa: E402 - after the skip

PNG = b"\x89PNG\r\n\x1a\n"
SAMPLING = {"temperature", "top_p", "top_k"}
"""Members for older models, which the types have no more."""
USAGE = Usage(input_tokens=9, output_tokens=4, cache_read_tokens=2, reasoning_tokens=1)
CITED = {
    "type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None,
    "start_char_index": 0, "end_char_index": 1, "file_id": None,
}  # fmt: skip
FULL = Response(
    parts=(
        ThinkingPart("Hm.", Sealed(NAME, {"signature": "sig"})),
        ThinkingPart("", Sealed(NAME, {"data": "ZW5j"})),
        TextPart("Hello", (Citation(NAME, CITED),)),
        ToolCall("toolu_a", "get_weather", '{"city":"Oslo"}'),
        ToolCall("toolu_b", "now", "{}"),
    ),
    finish_reason="tool_calls",
    usage=USAGE,
    id="msg_1",
)
ASK: dict[str, Any] = {
    "model": "claude-opus-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hi"}],
}


class Server:
    """Answers the SDK out of our server role, and keeps what it asked."""

    def __init__(self, answer: Response[Any] | Error) -> None:
        """A server with one answer."""
        self.answer = answer
        self.asked: list[Any] = []
        http = httpx2.Client(transport=httpx2.MockTransport(self.handle))
        self.client = anthropic.Anthropic(
            api_key="k", base_url="http://loopback.invalid", http_client=http, max_retries=0
        )

    def handle(self, request: Any) -> Any:
        """The answer, in the form that was asked for."""
        http = HttpRequest(url=str(request.url), headers=tuple(request.headers.items()), body=request.content)
        found = DIALECT.decode_request(http, DecodeOptions())
        self.asked.append(found)
        context = ServerContext(make_id=lambda: "msg_made")
        if isinstance(self.answer, Error):
            told = DIALECT.encode_error(self.answer, context)
        elif found.stream:
            encoder = DIALECT.stream_encoder(context)
            body = b"".join([encoder.encode(event) for event in unfold(self.answer)])
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
        else:
            told = DIALECT.encode_response(self.answer, context)
            TypeAdapter(Message).validate_json(told.body, strict=True)
        return httpx2.Response(told.status, headers=list(told.headers), content=told.body)


def test_a_whole_answer_is_what_the_sdk_expects() -> None:
    """Every kind of block, the reason and the counts."""
    said = Server(FULL).client.messages.create(**ASK)
    assert [block.type for block in said.content] == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
    assert said.content[3].input == {"city": "Oslo"}
    assert (said.stop_reason, said.usage.input_tokens, said.usage.cache_read_input_tokens) == ("tool_use", 7, 2)
    assert said.content[2].citations[0].cited_text == "x"


def test_a_stream_adds_up_to_the_same_message() -> None:
    """The SDK's own accumulator is the judge; every event is of its types."""
    server = Server(FULL)
    with server.client.messages.stream(**ASK) as stream:
        final = stream.get_final_message()
    whole = server.client.messages.create(**ASK)
    assert final.model_dump(exclude={"content"}) == whole.model_dump(exclude={"content"})
    assert [block.model_dump(exclude={"parsed_output"}) for block in final.content] == [
        block.model_dump() for block in whole.content
    ]
    judge = TypeAdapter[Any](RawMessageStreamEvent)
    encoder = DIALECT.stream_encoder(ServerContext())
    raw = b"".join([encoder.encode(event) for event in unfold(FULL)])
    for piece in raw.split(b"\n\n")[:-1]:
        if b'"ping"' not in piece:
            judge.validate_json(piece.partition(b"\ndata: ")[2], strict=True)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.BadRequestError("x"), "BadRequestError"),
        (errors.AuthenticationError("x"), "AuthenticationError"),
        (errors.PermissionDeniedError("x"), "PermissionDeniedError"),
        (errors.NotFoundError("x"), "NotFoundError"),
        (errors.RequestTooLargeError("x"), "ContentTooLargeError"),
        (errors.RateLimitError("x", retry_after_s=2), "RateLimitError"),
        (errors.OverloadedError("x"), "OverloadedError"),
        (errors.InternalServerError("x"), "InternalServerError"),
        (errors.HistoryError("x"), "BadRequestError"),
    ],
)
def test_use_16_the_sdk_raises_its_own_class(error: Error, kind: str) -> None:
    """From status and body."""
    with pytest.raises(anthropic.APIStatusError) as caught:
        Server(error).client.messages.create(**ASK)
    assert type(caught.value).__name__ == kind
    assert "x" in str(caught.value)


def test_sse_15_an_error_in_the_stream_is_raised() -> None:
    """By the SDK, out of the `error` event."""
    server = Server(FULL)
    failing = [StreamStart(), stream_error(errors.OverloadedError("busy"), None)]

    def handle(request: Any) -> Any:
        del request
        encoder = DIALECT.stream_encoder(ServerContext())
        body = b"".join([encoder.encode(event) for event in failing])
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    client = server.client.with_options(http_client=http)
    with pytest.raises(anthropic.APIStatusError, match="busy"), client.messages.stream(**ASK) as stream:
        stream.get_final_message()


def test_what_the_sdk_sends_is_read() -> None:
    """Its own types through our server role: tools, choice, thinking, betas, media."""
    server = Server(FULL)
    server.client.messages.create(
        **{**ASK, "max_tokens": 4096},
        system=[{"type": "text", "text": "Terse.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        tools=[{"name": "f", "input_schema": {"type": "object"}, "strict": True}],
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        thinking={"type": "enabled", "budget_tokens": 2048},
        extra_headers={"anthropic-beta": "one,two"},
    )
    found = server.asked[0]
    assert (found.model, found.stream) == ("claude-opus-5", False)
    assert found.request.system == (TextPart("Terse.", cache="1h"),)
    assert found.request.parallel_tool_calls is False
    assert found.request.thinking_budget == 2048
    assert found.request.extra == {NAME: {"betas": ["one", "two"]}}


def history() -> tuple[Said, ...]:
    """A conversation with everything in it."""
    calls = (ToolCall("call:1", "files.read", '{"p":1}'), ToolCall("b", "g", "{}"))
    results = (
        ToolResult("call:1", "files.read", (TextPart("see"), ImagePart(PNG, "image/png")), cache="5m"),
        ToolResult("b", "g", "no", is_error=True),
    )
    return (
        user("Look.", ImagePart(PNG, "image/png"), DocumentPart(b"%PDF", "application/pdf", "a.pdf")),
        assistant(ThinkingPart("Hm.", Sealed(NAME, {"signature": "s"})), TextPart("Both."), *calls),
        Said("tool", results),
        user("Again."),
    )


TOOLS = (Tool(name="files.read", description="Reads.", cache="5m"), Tool(name="g", strict=True))
REQUESTS = [
    Request(messages=history(), tools=TOOLS, system=(TextPart("Terse."),), cache="auto"),
    Request(messages=history(), tools=TOOLS, tool_choice=NamedTool("g"), temperature=1.7, top_k=3, stop=("x",)),
    Request(messages=history(), tools=TOOLS, tool_choice=AllowedTools(("g",), "required"), parallel_tool_calls=False),
    Request(messages=history(), thinking_budget=4_000, user="u", service_tier="auto"),
    Request(messages=(user("Hi"),), output_schema={"type": "object"}, effort="high", thinking=True),
    Request(messages=(user("Hi"),), json_mode=True, effort="none"),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_what_we_send_is_of_the_sdks_request_types(request_: Request) -> None:
    """Strictly, and with no member that the types do not know."""
    body = wire(request_, known(max_output_tokens=8_000))
    TypeAdapter(MessageCreateParamsNonStreaming).validate_python(body)
    assert body.keys() <= MessageCreateParamsNonStreaming.__annotations__.keys() | _inherited() | SAMPLING
    assert base64.b64encode(PNG).decode() in json.dumps(body) or len(body["messages"]) == 1


def _inherited() -> set[str]:
    from anthropic.types.message_create_params import MessageCreateParamsBase

    return set(MessageCreateParamsBase.__annotations__)
