"""The transport that answers inside the process: whole, streamed, failing, cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodedRequest
from interlingua.errors import (
    APIConnectionError,
    BadRequestError,
    ConfigError,
    IncompleteStreamError,
    RateLimitError,
)
from interlingua.stream.unfold import unfold
from interlingua.transport.base import Timeouts
from interlingua.transport.inprocess import Answer, AsyncAdapter, InProcessTransport
from interlingua.types.content import TextPart, ToolCall
from interlingua.types.event import StreamEnd
from interlingua.types.response import Response
from interlingua.wire.http import HttpRequest
from tests.support.asking import ask, ask_async, chat_request

RESPONSE: Response[Any] = Response(
    parts=(TextPart("Hello."), ToolCall("call_a", "get_weather", '{"city":"Oslo"}')),
    finish_reason="tool_calls",
    finish_reason_raw="tool_calls",
    model="gpt-4o",
    wire_model="gpt-4o",
    id="chatcmpl-1",
)


def _transport(answer: Answer) -> InProcessTransport:
    return InProcessTransport(lambda decoded, request: answer)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("as_events", [False, True])
async def test_responses_and_events_arrive(stream: bool, as_events: bool) -> None:
    """A response and the events of one arrive alike, whole and streamed, on both faces."""

    def answer(decoded: DecodedRequest, request: HttpRequest) -> Answer:
        assert (decoded.model, decoded.stream, request.target) == ("gpt-4o", stream, "openai/gpt-4o")
        return unfold(RESPONSE) if as_events else RESPONSE

    transport = InProcessTransport(answer)
    for reply in (ask(transport, "Hi", stream=stream), await ask_async(AsyncAdapter(transport), "Hi", stream=stream)):
        assert (reply.parts, reply.finish_reason, reply.wire_model) == (RESPONSE.parts, "tool_calls", "gpt-4o")


@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_a_provider_become_replies(stream: bool) -> None:
    """A returned or raised provider's error is sent in the dialect's own body, with its status."""

    def fail(decoded: DecodedRequest, request: HttpRequest) -> Answer:
        raise RateLimitError("Slow down.", status=429)

    for transport in (_transport(RateLimitError("Slow down.", status=429)), InProcessTransport(fail)):
        reply = transport.open(chat_request("Hi", stream=stream), Timeouts())
        assert reply.status == 429
        with pytest.raises(RateLimitError, match="Slow down"):
            ask(transport, "Hi", stream=stream)


def test_errors_on_the_way_are_raised() -> None:
    """An error that no provider sends is raised where a transport raises."""
    with pytest.raises(APIConnectionError, match="gone"):
        _transport(APIConnectionError("gone")).open(chat_request("Hi"), Timeouts())


def test_a_stream_can_be_cut() -> None:
    """An incomplete-stream error, and events without an end, reach the client as a stream that breaks off."""
    partial = Response[Any](parts=(TextPart("Hel"),), finish_reason="error")
    events = [event for event in unfold(partial) if not isinstance(event, StreamEnd)]
    for answer in (IncompleteStreamError("cut", partial=partial), events):
        with pytest.raises(IncompleteStreamError) as caught:
            ask(_transport(answer), "Hi", stream=True)
        assert caught.value.partial is not None
        assert caught.value.partial.text == "Hel"


def test_a_bad_request_is_refused_as_a_server_would() -> None:
    """A body that the dialect cannot read is answered with 400 in its own error shape."""
    request = HttpRequest(url="https://x.example/chat/completions", body=b"{", dialect="openai-chat")
    assert _transport(RESPONSE).open(request, Timeouts()).status == 400


def test_a_request_without_a_dialect_is_a_mistake() -> None:
    """A request that names no dialect cannot be answered."""
    with pytest.raises(ConfigError, match="names no dialect"):
        _transport(RESPONSE).open(HttpRequest(url="https://x.example/"), Timeouts())


def test_a_closed_reply_is_at_its_end() -> None:
    """After `close`, whole and streamed replies give nothing more."""
    transport = _transport(RESPONSE)
    for stream in (False, True):
        reply = transport.open(chat_request("Hi", stream=stream), Timeouts())
        reply.close()
        assert reply.read() == b""
    transport.close()


def test_bad_request_class_survives() -> None:
    """Any class of provider error arrives as the class it was."""
    with pytest.raises(BadRequestError):
        ask(_transport(BadRequestError("no", status=400)), "Hi")


@pytest.mark.parametrize(
    ("dialect", "path", "body", "kind", "first"),
    [
        ("ollama", "/api/generate", {"prompt": "Hi"}, "application/x-ndjson", b'{"model"'),
        (
            "google",
            "/v1beta/models/m:streamGenerateContent",
            {"contents": [{"parts": [{"text": "Hi"}]}]},
            "application/json",
            b"[{",
        ),
        (
            "google",
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            {"contents": [{"parts": [{"text": "Hi"}]}]},
            "text/event-stream",
            b"data: ",
        ),
        ("openai-responses", "/responses", {"input": "Hi"}, "text/event-stream", b"event: response.created"),
    ],
)
def test_the_framing_is_the_one_that_was_asked_for(
    dialect: str, path: str, body: dict[str, Any], kind: str, first: bytes
) -> None:
    """What the path says about the form of the answer reaches the encoder, and the content type tells its form."""
    raw = json.dumps({"model": "m", "stream": True, **body} if dialect != "google" else body).encode()
    request = HttpRequest(url=f"fake://host{path}", body=raw, dialect=dialect)
    reply = _transport(Response(parts=(TextPart("Hello."),), finish_reason="stop")).open(request, Timeouts())
    told = b"".join(iter(reply.read, b""))
    assert reply.headers == (("content-type", kind),)
    assert told.startswith(first)
    assert (b'"response":"Hello."' in told) is (dialect == "ollama")
