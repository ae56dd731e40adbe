"""Answers of our own format: one object, or an event for each canonical event.

Source: the page of the format, "unified": the answer, Streaming.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import Ids, Say, halves, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

__all__ = ["fail_unified", "stream_unified", "whole_unified"]

Part = dict[str, Any]


def whole_unified(say: Say, request: Asked, ids: Ids, _: Issued) -> dict[str, Any]:
    """The whole answer."""
    parts = _parts(say, ids)
    calls = [part for part in parts if part["type"] == "tool_call"]
    finish = "refusal" if say.refusal else say.finish or ("tool_calls" if calls else "stop")
    return {
        "id": ids.next("resp_"),
        "model": request.model,
        "text": say.text,
        "tool_calls": [{name: call[name] for name in ("id", "name", "arguments")} for call in calls],
        "parts": parts,
        "finish_reason": finish,
        "usage": {
            "input_tokens": say.input_tokens,
            "output_tokens": say.output_tokens,
            "cache_read_tokens": say.cached_tokens,
            "reasoning_tokens": say.reasoning_tokens,
        },
    }


def stream_unified(say: Say, request: Asked, ids: Ids, issued: Issued) -> Iterator[bytes]:
    """The events of the streamed answer."""
    whole = whole_unified(say, request, ids, issued)
    yield _frame("stream_start", model=request.model, id=whole["id"])
    for place, part in enumerate(whole["parts"]):
        yield from _block(place, part)
    yield _frame("usage_update", usage=whole["usage"])
    yield _frame("stream_end", response=whole)


def fail_unified(status: int, message: str | None) -> bytes:
    """The event of an error in a stream."""
    return _frame("stream_error", error=error_body("unified", status, message)["error"])


def _frame(kind: str, **members: Any) -> bytes:
    return encode_event(encode({"type": kind, **members}), event=kind)


def _parts(say: Say, ids: Ids) -> list[Part]:
    parts: list[Part] = []
    if say.thinking:
        parts.append({"type": "thinking", "text": say.thinking})
    if say.text:
        parts.append({"type": "text", "text": say.text})
    if say.refusal:
        parts.append({"type": "refusal", "text": say.refusal})
    for call in say.calls:
        call_part: Part = {"type": "tool_call", "id": ids.next("call_"), "name": call.name, "arguments": call.arguments}
        parts.append(call_part)
    return parts


def _block(place: int, part: Part) -> Iterator[bytes]:
    kind = part["type"]
    if kind == "tool_call":
        yield _frame("block_start", index=place, block=kind, id=part["id"], name=part["name"])
        for piece in halves(encode(part["arguments"]).decode()):
            yield _frame("tool_call_delta", index=place, arguments=piece)
    else:
        yield _frame("block_start", index=place, block=kind)
        for piece in words(part["text"]):
            yield _frame(f"{kind}_delta", index=place, text=piece)
    yield _frame("block_end", index=place, part=part)
    if kind == "tool_call":
        yield _frame("tool_call_ready", index=place, call=part)
