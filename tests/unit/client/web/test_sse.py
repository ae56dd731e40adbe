"""Streams told to web clients: bytes, headers, errors and what stays open, in both faces."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from typing import TYPE_CHECKING, Any, cast

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.web.sse import answer_ids
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.testing import FakeModel, tool_call, use
from tests.support.client import AWAITED, BLOCKING, Face, chunk, chunks, scripted, sse

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.web.sse import SseBody

SPEC = "openai-chat/gpt-4.1"
CUT = il.IncompleteStreamError("cut", partial=il.Response(parts=(il.TextPart("Once"),)))
EVERY = sorted(DIALECTS)


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


def _told(face: Face, body: Any) -> bytes:
    """All bytes of a body."""
    return b"".join(cast("list[bytes]", face.events(body)))


def _stream(face: Face, **options: Any) -> Any:
    return face.model(SPEC).stream("Hi", **options)


def _ai_parts(told: bytes) -> list[dict[str, Any]]:
    """The parts of a UI message stream, which ends as it should."""
    *frames, done, nothing = told.split(b"\n\n")
    assert (done, nothing) == (b"data: [DONE]", b"")
    return [json.loads(frame.removeprefix(b"data: ")) for frame in frames]


# Dialects


@pytest.mark.parametrize("dialect", EVERY)
def test_what_is_told_is_the_answer(face: Face, dialect: str) -> None:
    """In any dialect, its own client side reads the text and the call that the model gave."""
    with use(FakeModel([il.Response(parts=(il.TextPart("Hello"), tool_call("f", city="Oslo")))])):
        told = _told(face, _stream(face, tools=[il.Tool(name="f")]).sse(dialect))
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    events = [*decoder.feed(told), *decoder.close()]
    reply = il.fold(events)
    assert (reply.text, [call.arguments for call in reply.tool_calls]) == ("Hello", [{"city": "Oslo"}])
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("dialect", EVERY)
def test_sse_15_a_cut_is_the_error_of_the_dialect(face: Face, dialect: str) -> None:
    """A stream that breaks ends in the dialect's own error event, never as if it had come to its end."""
    with use(FakeModel([CUT])):
        told = _told(face, _stream(face).sse(dialect))
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    last = [*decoder.feed(told), *decoder.close()][-1]
    assert isinstance(last, il.StreamError)
    assert last.message.startswith("the stream ended")
    assert last.partial is not None
    assert last.partial.text == "Once"


@pytest.mark.parametrize("dialect", EVERY)
def test_what_fails_unopened_is_an_error_event(face: Face, dialect: str) -> None:
    """Of a stream that was not opened before, an early failure is told in the body, the only place that is left."""
    with use(FakeModel([il.RateLimitError("slow down", status=429)])):
        told = _told(face, _stream(face).sse(dialect))
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    [event] = [*decoder.feed(told), *decoder.close()]
    assert isinstance(event, il.StreamError)
    assert "slow down" in event.message


def test_sse_14_what_fails_on_opening_is_raised(face: Face) -> None:
    """What fails before the first content is raised by `open`, so that it can still be a status."""
    with use(FakeModel([il.RateLimitError("slow down", status=429)])):
        stream = _stream(face)
        with pytest.raises(il.RateLimitError, match="slow down"):
            face.settle(stream.open)


def test_chunks_of_chat(face: Face) -> None:
    """The provider's id and model, the text as it came, the counts, and the end, in exact bytes."""
    head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-test-1",'
    usage = '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}'

    def piece(delta: str, finish: str = "null") -> str:
        return f'data: {head}"choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}\n\n'

    with scripted(sse(*chunks("Hel", "lo"))):
        told = _told(face, _stream(face).sse("openai-chat")).decode()
    assert told == "".join((
        piece('{"role":"assistant","content":""}'),
        piece('{"content":"Hel"}'),
        piece('{"content":"lo"}'),
        piece("{}", '"stop"'),
        f'data: {head}"choices":[],{usage}}}\n\n',
        "data: [DONE]\n\n",
    ))  # fmt: skip


def test_arguments_are_told_as_they_come(face: Face) -> None:
    """Also of a stream that was opened before it was told, and whose events would have shown calls only whole."""
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    more = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"a"', ":1}")]
    pieces = [chunk({"role": "assistant", "tool_calls": [call]}), *[chunk({"tool_calls": [one]}) for one in more]]
    with scripted(sse(*pieces, chunk({}, "tool_calls"), b"data: [DONE]\n\n")):
        body = _opened(face, lambda stream: stream.sse("ai-sdk"), tools=[il.Tool(name="f")])
    assert _ai_parts(body)[2:-2] == [
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "f"},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"a"'},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": ":1}"},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "f", "input": {"a": 1}},
    ]


def _opened(face: Face, tell: Callable[[Any], Any], **options: Any) -> bytes:
    """All bytes of a stream that is opened first, in one event loop."""
    if not face.awaited:
        return b"".join(tell(_stream(face, **options).open()))

    async def run() -> bytes:
        stream = await _stream(face, **options).open()
        return b"".join([piece async for piece in tell(stream)])

    return asyncio.run(run())


# Headers, names, misuse


@pytest.mark.parametrize(
    ("dialect", "media_type"), [("openai-chat", "text/event-stream"), ("gemini", "text/event-stream"),
                                ("cohere", "text/event-stream"), ("ollama", "application/x-ndjson")]
)  # fmt: skip
def test_sse_25_and_26_headers_of_the_answer(face: Face, dialect: str, media_type: str) -> None:
    """The dialect's own media type, and that proxies neither hold it back nor compress it."""
    body = _stream(face).sse(dialect)
    assert body.headers == {
        "content-type": media_type,
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
    }


def test_headers_of_the_ai_sdk(face: Face) -> None:
    """Its own header says which version of its protocol it is."""
    assert _stream(face).sse("ai-sdk").headers == {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
    }


def test_an_unknown_dialect(face: Face) -> None:
    """The error names the dialects that there are; nothing is sent."""
    with pytest.raises(il.ConfigError, match="no dialect 'chat'; there are: anthropic"):
        _stream(face).sse("chat")


def test_a_stream_is_told_from_its_beginning(face: Face) -> None:
    """Of a stream that was read already half would be told; that is refused."""
    with scripted(sse(*chunks("Hi"))):
        stream = _stream(face)
        face.finish(stream)
        with pytest.raises(il.UsageError, match="from its beginning, and something of this one was read already"):
            stream.sse("ai-sdk")


def test_the_response_is_there_afterwards(face: Face) -> None:
    """What was told is the stream's response, as after any other way to read it."""
    with scripted(sse(*chunks("Hi"))):
        stream = _stream(face)
        _told(face, stream.sse("anthropic"))
    assert stream.response.text == "Hi"


def test_changes_of_telling(face: Face) -> None:
    """What the dialect has no room for is an entry."""
    seal = il.Sealed("anthropic", {"signature": "abc"}, provider="anthropic")
    with use(FakeModel([il.Response(parts=(il.ThinkingPart("hm", seal), il.TextPart("Hi")))])):
        body = face.model("anthropic/claude-opus-5").stream("Hi").sse("ai-sdk")
        _told(face, body)
    assert [(change.action, change.code, change.path) for change in body.changes] == [
        ("dropped", "seal_foreign", "/parts/0")
    ]


@pytest.mark.parametrize("dialect", EVERY)
def test_made_ids_look_like_the_dialects(dialect: str) -> None:
    """An answer without an id gets one that begins as clients know it, and no two alike."""
    make = answer_ids(dialect)
    assert make() != make()
    prefixes = {"openai-chat": "chatcmpl-", "openai-responses": "resp_", "anthropic": "msg_"}
    assert make().startswith(prefixes.get(dialect, ""))


# What stays open


def test_closing_the_body_closes_the_stream() -> None:
    """`close`, which WSGI servers call, closes the exchange; nothing comes afterwards."""
    with scripted(sse(*chunks("Hel", "lo"))):
        stream = il.model(SPEC).stream("Hi").open()
        body = stream.sse("ai-sdk")
        next(body)
        body.close()
        assert list(body) == []
        with pytest.raises(il.UsageError, match="closed before its end"):
            _ = stream.response


async def test_closing_the_awaited_body_closes_the_stream() -> None:
    """The same for `aclose`."""
    with scripted(sse(*chunks("Hel", "lo"))):
        stream = await aio.model(SPEC).stream("Hi").open()
        body = stream.sse("ai-sdk")
        await anext(body)
        await body.aclose()
        assert [piece async for piece in body] == []
        with pytest.raises(il.UsageError, match="closed before its end"):
            _ = stream.response


def test_a_body_that_nobody_holds_is_collected() -> None:
    """No cycle keeps a dropped body, and with it its exchange, alive until the collector runs."""
    gc.collect()
    gc.disable()
    try:
        with scripted(sse(*chunks("Hel", "lo"))):
            body: SseBody | None = il.model(SPEC).stream("Hi").open().sse("ai-sdk")
            assert body is not None
            next(body)
            stream = weakref.ref(body._source)
            body = None
            assert stream() is None
    finally:
        gc.enable()
