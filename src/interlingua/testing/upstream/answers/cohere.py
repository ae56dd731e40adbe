"""Cohere answers: one object, or named events up to `[DONE]`.

Rules
- The text of an answer with calls is its plan.

Source: Cohere, sections 2, 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import Ids, Say, halves, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

__all__ = ["fail_cohere", "stream_cohere", "whole_cohere"]


def whole_cohere(say: Say, _: Asked, ids: Ids, __: Issued) -> dict[str, Any]:
    """The whole answer."""
    message: dict[str, Any] = {"role": "assistant"}
    blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": say.thinking}] if say.thinking else []
    calls, text = _calls(say, ids), say.text or say.refusal
    if text and not calls:
        blocks.append({"type": "text", "text": text})
    if calls:
        message |= {"tool_plan": text, "tool_calls": calls} if text else {"tool_calls": calls}
    if blocks:
        message["content"] = blocks
    return {"id": ids.next("c-"), "message": message, "finish_reason": _finish(say), "usage": _usage(say)}


def stream_cohere(say: Say, _: Asked, ids: Ids, __: Issued) -> Iterator[bytes]:
    """The events of the streamed answer."""
    opening: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    calls, text = _calls(say, ids), say.text or say.refusal
    yield _event({"id": ids.next("c-"), "type": "message-start", "delta": {"message": opening}})
    blocks = [("thinking", say.thinking), ("text", "" if calls else text)]
    for index, (kind, prose) in enumerate([block for block in blocks if block[1]]):
        yield _event({"type": "content-start", "index": index, **_message_delta(content={"type": kind, kind: ""})})
        for piece in words(prose):
            yield _event({"type": "content-delta", "index": index, **_message_delta(content={kind: piece})})
        yield _event({"type": "content-end", "index": index})
    for piece in words(text) if calls else []:
        yield _event({"type": "tool-plan-delta", **_message_delta(tool_plan=piece)})
    for index, call in enumerate(calls):
        first = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield _event({"type": "tool-call-start", "index": index, **_message_delta(tool_calls=first)})
        for piece in halves(call["function"]["arguments"]):
            function = {"function": {"arguments": piece}}
            yield _event({"type": "tool-call-delta", "index": index, **_message_delta(tool_calls=function)})
        yield _event({"type": "tool-call-end", "index": index})
    yield _event({"type": "message-end", "delta": {"finish_reason": _finish(say), "usage": _usage(say)}})
    yield encode_event(b"[DONE]")


def fail_cohere(status: int, message: str | None) -> bytes:
    """The event of an error in a stream."""
    error = error_body("cohere", status, message)["message"]
    return _event({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": error}})


def _event(body: dict[str, Any]) -> bytes:
    return encode_event(encode(body), event=str(body["type"]))


def _message_delta(**message: Any) -> dict[str, Any]:
    return {"delta": {"message": message}}


def _calls(say: Say, ids: Ids) -> list[dict[str, Any]]:
    return [
        {
            "id": ids.next(f"{call.name}_"),
            "type": "function",
            "function": {"name": call.name, "arguments": call.json},
        }
        for call in say.calls
    ]


def _finish(say: Say) -> str:
    return "MAX_TOKENS" if say.finish == "length" else "TOOL_CALL" if say.calls else "COMPLETE"


def _usage(say: Say) -> dict[str, Any]:
    tokens = {"input_tokens": say.input_tokens, "output_tokens": say.output_tokens}
    return {"billed_units": tokens, "tokens": tokens, "cached_tokens": say.cached_tokens}
