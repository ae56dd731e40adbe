"""Ollama answers, for `/api/chat` and `/api/generate`: one object, or one object a line.

Source: Ollama, sections 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import Ids, Say, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.wire.json import encode
from interlingua.wire.ndjson import encode_line

__all__ = ["fail_ollama", "stream_ollama", "whole_ollama"]

_MOMENT = "2026-11-21T10:00:00.1Z"


def whole_ollama(say: Say, request: Asked, ids: Ids, _: Issued) -> dict[str, Any]:
    """The whole answer."""
    message = _message_members(request, say.text or say.refusal, say.thinking, _calls(say, ids))
    return {**_head(request), **message, **_ending(say)}


def stream_ollama(say: Say, request: Asked, ids: Ids, _: Issued) -> Iterator[bytes]:
    """The lines of the streamed answer."""

    def line(text: str = "", thinking: str = "", calls: list[dict[str, Any]] | None = None) -> bytes:
        return _line({**_head(request), **_message_members(request, text, thinking, calls or []), "done": False})

    yield from [line(thinking=piece) for piece in words(say.thinking)]
    yield from [line(piece) for piece in words(say.text or say.refusal)]
    yield from [line(calls=[call]) for call in _calls(say, ids)]
    yield _line({**_head(request), **_message_members(request, "", "", []), **_ending(say)})


def fail_ollama(status: int, message: str | None) -> bytes:
    """The line of an error in a stream."""
    return _line(error_body("ollama", status, message))


def _line(body: dict[str, Any]) -> bytes:
    return encode_line(encode(body))


def _head(request: Asked) -> dict[str, Any]:
    return {"model": request.model, "created_at": _MOMENT}


def _message_members(request: Asked, text: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    more = {"thinking": thinking} if thinking else {}
    if "prompt" in request.body:
        return {"response": text, **more}
    message: dict[str, Any] = {"role": "assistant", "content": text, **more}
    if calls:
        message["tool_calls"] = calls
    return {"message": message}


def _calls(say: Say, ids: Ids) -> list[dict[str, Any]]:
    return [
        {"id": ids.next("call_"), "function": {"index": place, "name": call.name, "arguments": call.arguments}}
        for place, call in enumerate(say.calls)
    ]


def _ending(say: Say) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": "length" if say.finish == "length" else "stop",
        "total_duration": 900_000_000,
        "load_duration": 20_000_000,
        "prompt_eval_count": say.input_tokens,
        "prompt_eval_duration": 100_000_000,
        "eval_count": say.output_tokens,
        "eval_duration": 700_000_000,
    }
