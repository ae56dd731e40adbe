"""Half of a surrogate pair in what is read a second time: an error, an event that nobody knows, a whole answer."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.types.event import Event, Extra, StreamEnd, StreamError
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply

HALF = rb"cut \ud83d"
"""As a server ends a sentence that counts in units of UTF-16."""
MENDED = "cut \N{REPLACEMENT CHARACTER}"
FAILURES = {
    "openai-chat": b'data: {"error":{"code":"overloaded","message":"%b"}}\n\n',
    "openai-responses": b'data: {"type":"error","code":"overloaded","message":"%b"}\n\n',
    "anthropic": b'data: {"type":"error","error":{"type":"overloaded_error","message":"%b"}}\n\n',
    "google": b'data: {"error":{"code":503,"status":"UNAVAILABLE","message":"%b"}}\n\n',
    "ollama": b'{"error":"%b","status":503}\n',
    "cohere": b'data: {"type":"message-end","delta":{"error":"%b","status":503}}\n\n',
}
BODIES = {
    "openai-chat": b'{"error":{"code":"context_length_exceeded","message":"%b"}}',
    "openai-responses": b'{"error":{"code":"context_length_exceeded","message":"%b"}}',
    "anthropic": b'{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %b"}}',
    "google": b'{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"exceeds the context length: %b"}}',
    "ollama": b'{"error":"exceeds the context length: %b"}',
    "cohere": b'{"message":"exceeds the context length: %b"}',
    "unified": b'{"error":{"type":"context_window_exceeded_error","message":"%b"}}',
}
ODD = {
    "openai-responses": b'data: {"type":"odd","text":"%b"}\n\ndata: {"type":"response.completed","response":'
    b'{"status":"completed","output":[]}}\n\n',
    "anthropic": b'data: {"type":"odd","text":"%b"}\n\ndata: {"type":"message_stop"}\n\n',
    "cohere": b'data: {"type":"odd","text":"%b"}\n\ndata: {"type":"message-end","delta":'
    b'{"finish_reason":"COMPLETE"}}\n\n',
}
WHOLE = {
    "openai-responses": b'data: {"object":"response","status":"completed","usage":{"input_tokens":3.0,'
    b'"output_tokens":4},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%b"}]}]}\n\n',
    "anthropic": b'data: {"type":"message","content":[{"type":"text","text":"%b"}],"stop_reason":"end_turn",'
    b'"usage":{"input_tokens":3.0,"output_tokens":4}}\n\n',
    "cohere": b'data: {"message":{"content":[{"type":"text","text":"%b"}]},"finish_reason":"COMPLETE",'
    b'"usage":{"tokens":{"input_tokens":3.0,"output_tokens":4}}}\n\n',
}


def events_of(name: str, stream: bytes) -> list[Event]:
    """What a stream is."""
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    return [*decoder.feed(stream % HALF), *decoder.close()]


@pytest.mark.parametrize("name", FAILURES)
def test_the_error_of_a_stream_keeps_its_class(name: str) -> None:
    """A sentence that was cut in the middle of a sign is no broken stream."""
    last = events_of(name, FAILURES[name])[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message) == ("OverloadedError", MENDED)


@pytest.mark.parametrize("name", BODIES)
def test_the_body_of_a_failed_answer_keeps_its_class(name: str) -> None:
    """The same of a whole answer."""
    reply = HttpReply(status=400, body=BODIES[name] % HALF)
    error = get_dialect(name).decode_error(reply, DecodeContext())
    assert type(error).__name__ == "ContextWindowExceededError"
    assert error.message.endswith(MENDED)


@pytest.mark.parametrize("name", ODD)
def test_an_event_that_nobody_knows_passes_on(name: str) -> None:
    """With an entry, as for any other."""
    events = events_of(name, ODD[name])
    assert next(event.raw["text"] for event in events if isinstance(event, Extra)) == MENDED
    assert isinstance(events[-1], StreamEnd)
    assert [change.code for change in events[-1].response.changes] == ["lone_surrogate"]


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_answer_in_place_of_a_stream_is_repaired(name: str) -> None:
    """Signs and counts, each told once."""
    last = events_of(name, WHOLE[name])[-1]
    assert isinstance(last, StreamEnd)
    assert (last.response.text, last.response.usage) == (MENDED, Usage(input_tokens=3, output_tokens=4))
    assert [change.code for change in last.response.changes] == ["lone_surrogate", "whole_number"]
