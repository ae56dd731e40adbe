"""generateContent answers: one object; frames of `data:`, or the elements of one array.

Source: Google, sections 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import Ids, Say, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

__all__ = ["as_array", "fail_google", "stream_google", "whole_google"]

_FINISHES = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}


def whole_google(say: Say, request: Asked, ids: Ids, issued: Issued) -> dict[str, Any]:
    """The whole answer."""
    parts = [*_thoughts(say.thinking), *_texts(say.text or say.refusal)]
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": [*parts, *_calls(say, ids, issued)]},
        "finishReason": _finish(say),
    }
    return {"candidates": [candidate], "usageMetadata": _usage(say), **_tail(request, ids)}


def stream_google(say: Say, request: Asked, ids: Ids, issued: Issued) -> Iterator[bytes]:
    """The frames of the streamed answer, as server-sent events."""
    tail = _tail(request, ids)

    def frame(parts: list[dict[str, Any]], finish: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish is not None:
            candidate["finishReason"] = finish
        return _frame({"candidates": [candidate], "usageMetadata": _usage(say), **tail})

    for piece in words(say.thinking):
        yield frame(_thoughts(piece))
    for piece in words(say.text or say.refusal):
        yield frame(_texts(piece))
    calls = _calls(say, ids, issued)
    if calls:
        yield frame(calls)
    yield frame([{"text": ""}], _finish(say))


def as_array(frames: Iterator[bytes]) -> Iterator[bytes]:
    """Frames as the elements of one array: the framing without `alt=sse`."""
    opening = b"["
    for frame in frames:
        yield opening + frame.removeprefix(b"data: ").strip()
        opening = b",\r\n"
    yield b"]"


def fail_google(status: int, message: str | None) -> bytes:
    """The frame of an error in a stream."""
    return _frame(error_body("google", status, message))


def _frame(body: dict[str, Any]) -> bytes:
    return encode_event(encode(body))


def _thoughts(text: str) -> list[dict[str, Any]]:
    return [{"text": text, "thought": True}] if text else []


def _texts(text: str) -> list[dict[str, Any]]:
    return [{"text": text}] if text else []


def _calls(say: Say, ids: Ids, issued: Issued) -> list[dict[str, Any]]:
    """The calls; the first one carries the signature."""
    parts: list[dict[str, Any]] = [
        {"functionCall": {"id": ids.next("fc-"), "name": call.name, "args": call.arguments}} for call in say.calls
    ]
    if parts:
        seal = ids.next("c2VhbDog")  # with eight digits behind it, whole groups of base64
        issued.seals[seal] = say.thinking
        parts[0]["thoughtSignature"] = seal
    return parts


def _finish(say: Say) -> str:
    return "SAFETY" if say.refusal else _FINISHES.get(say.finish, "STOP")


def _tail(request: Asked, ids: Ids) -> dict[str, Any]:
    return {"modelVersion": request.model, "responseId": ids.next("r-")}


def _usage(say: Say) -> dict[str, Any]:
    usage = {
        "promptTokenCount": say.input_tokens,
        "candidatesTokenCount": say.output_tokens - say.reasoning_tokens,
        "totalTokenCount": say.input_tokens + say.output_tokens,
    }
    if say.cached_tokens:
        usage["cachedContentTokenCount"] = say.cached_tokens
    if say.reasoning_tokens:
        usage["thoughtsTokenCount"] = say.reasoning_tokens
    return usage
