"""Counts and places that come as `12.0` or as `"12"`: read in answers, told once, and refused in requests."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.types.event import StreamEnd
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode

SAID = [{"type": "text", "text": "Hi"}]
ANSWERS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m", "timings": {"ms": 1.0},
        "choices": [{"index": 0.0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
        "usage": {"prompt_tokens": 12.0, "completion_tokens": 3.0, "total_tokens": 15.0},
    },
    "openai-responses": {
        "id": "r", "object": "response", "status": "completed", "model": "m",
        "output": [{"type": "message", "id": "i", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}],
        "usage": {"input_tokens": 12.0, "output_tokens": 3.0, "total_tokens": 15.0},
    },
    "anthropic": {
        "id": "a", "type": "message", "role": "assistant", "model": "m", "content": SAID, "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 12.0, "output_tokens": 3.0},
    },
    "google": {
        "candidates": [{"index": 0.0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "Hi"}]}}],
        "usageMetadata": {"promptTokenCount": 12.0, "candidatesTokenCount": 3.0}, "modelVersion": "m",
    },
    "ollama": {
        "model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True, "done_reason": "stop",
        "prompt_eval_count": 12.0, "eval_count": 3.0,
    },
    "cohere": {
        "id": "c", "message": {"role": "assistant", "content": SAID}, "finish_reason": "COMPLETE",
        "usage": {"tokens": {"input_tokens": 12.0, "output_tokens": 3.0}},
    },
}  # fmt: skip
ASK = [{"role": "user", "content": "Hi"}]
SENT = {
    "openai-chat": ("/chat/completions", {"model": "m", "max_tokens": "5", "messages": ASK}),
    "openai-responses": ("/responses", {"model": "m", "max_output_tokens": "5", "input": "Hi"}),
    "anthropic": ("/messages", {"model": "m", "max_tokens": "5", "messages": ASK}),
}


def as_text(value: Any) -> Any:
    """The same with every other number as text."""
    if isinstance(value, dict):
        return {name: as_text(member) for name, member in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [as_text(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return f"{value:.0f}" if isinstance(value, float) else value


@pytest.mark.parametrize("dialect", ANSWERS)
@pytest.mark.parametrize("spelling", ["fraction", "text"])
def test_counts_of_an_answer_are_read_and_told(dialect: str, spelling: str) -> None:
    """The answer is paid for: it is not lost for the way in which its counts are written."""
    answer = ANSWERS[dialect] if spelling == "fraction" else as_text(ANSWERS[dialect])
    reply = HttpReply(status=200, headers=(), body=encode(answer))
    response = get_dialect(dialect).decode_response(reply, DecodeContext())
    assert (response.text, response.usage) == ("Hi", Usage(input_tokens=12, output_tokens=3))
    assert [(one.action, one.code, one.path) for one in response.changes] == [("repaired", "whole_number", "")]


def test_one_count_as_text_beside_plain_ones_is_told() -> None:
    """On the short road, too, where the others are as usual."""
    counts = {"input_tokens": 12, "cache_creation_input_tokens": "2", "output_tokens": 3}
    reply = HttpReply(status=200, headers=(), body=encode({**ANSWERS["anthropic"], "usage": counts}))
    response = get_dialect("anthropic").decode_response(reply, DecodeContext())
    assert response.usage == Usage(input_tokens=14, output_tokens=3, cache_write_tokens=2)
    assert [one.code for one in response.changes] == ["whole_number"]


STREAMS = {
    "openai-chat": (
        b'data: {"id":"c","choices":[{"index":0.0,"delta":{"role":"assistant","content":"H"}}]}\n\n'
        b'data: {"id":"c","choices":[{"index":0.0,"delta":{"content":"i"}}]}\n\n'
        b'data: {"id":"c","choices":[{"index":0.0,"delta":{},"finish_reason":"stop"}]}\n\n'
        b'data: {"id":"c","choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":3.0}}\n\ndata: [DONE]\n\n'
    ),
    "anthropic": (
        b'data: {"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"m",'
        b'"content":[],"usage":{"input_tokens":12.0,"output_tokens":1.0}}}\n\n'
        b'data: {"type":"content_block_start","index":0.0,"content_block":{"type":"text","text":""}}\n\n'
        b'data: {"type":"content_block_delta","index":0.0,"delta":{"type":"text_delta","text":"Hi"}}\n\n'
        b'data: {"type":"content_block_stop","index":0.0}\n\n'
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3.0}}\n\n'
        b'data: {"type":"message_stop"}\n\n'
    ),
    "google": (
        b'data: {"candidates":[{"index":0.0,"content":{"role":"model","parts":[{"text":"H"}]}}]}\n\n'
        b'data: {"candidates":[{"index":0.0,"finishReason":"STOP","content":{"role":"model","parts":[{"text":"i"}]}}],'
        b'"usageMetadata":{"promptTokenCount":12.0,"candidatesTokenCount":3.0}}\n\n'
    ),
    "ollama": (
        b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n'
        b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",'
        b'"prompt_eval_count":12.0,"eval_count":3.0}\n'
    ),
    "cohere": (
        b'data: {"type":"content-delta","index":0.0,"delta":{"message":{"content":{"text":"Hi"}}}}\n\n'
        b'data: {"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":12.0,'
        b'"output_tokens":3.0}}}}\n\n'
    ),
}


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_stream_of_such_events_tells_it_once(dialect: str) -> None:
    """However many of its events are written so."""
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    end = [*decoder.feed(STREAMS[dialect]), *decoder.close()][-1]
    assert isinstance(end, StreamEnd)
    assert (end.response.text, end.response.usage) == ("Hi", Usage(input_tokens=12, output_tokens=3))
    assert [one.code for one in end.response.changes] == ["whole_number"]


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "ollama", "cohere"])
def test_half_a_token_is_none(dialect: str) -> None:
    """A count with a fraction says nothing that could be counted; the answer is kept all the same."""
    body = encode(ANSWERS[dialect]).replace(b"3.0", b"3.5")
    response = get_dialect(dialect).decode_response(HttpReply(status=200, headers=(), body=body), DecodeContext())
    assert response.usage is not None
    assert (response.text, response.usage.input_tokens, response.usage.output_tokens) == ("Hi", 12, None)
    assert [one.code for one in response.changes] == ["whole_number", "unexpected_type"]


@pytest.mark.parametrize("dialect", SENT)
def test_a_request_is_held_to_its_dialect(dialect: str) -> None:
    """Its service refuses the same."""
    path, body = SENT[dialect]
    with pytest.raises(DecodeError, match="got `str`"):
        get_dialect(dialect).decode_request(HttpRequest(url=f"http://x{path}", body=encode(body)), DecodeOptions())
