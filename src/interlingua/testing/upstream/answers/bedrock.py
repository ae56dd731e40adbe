"""Converse answers: one object, or binary frames from `messageStart` to `metadata`.

Rules
- Every payload of a stream has a member of padding, as the service adds it against those who count bytes.
- A refusal is text that a filter let end.

Source: Bedrock, sections 2, 3 and 5; service model `bedrock-runtime/2023-09-30` of botocore 1.44.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import Ids, Say, halves, words
from interlingua.testing.upstream.refusals import error_body, exception_of
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.wire.eventstream import encode_event_frame
from interlingua.wire.json import encode

__all__ = ["fail_bedrock", "stream_bedrock", "whole_bedrock"]

_PADDING = "abcdefghijklmnopqrstuvwxyz"
_STOPS = {"length": "max_tokens", "content_filter": "content_filtered"}
_STREAMED = frozenset(
    {
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    }
)
"""The exceptions that a stream may hold."""


def whole_bedrock(say: Say, _: Asked, ids: Ids, issued: Issued) -> dict[str, Any]:
    """The whole answer."""
    blocks: list[dict[str, Any]] = []
    if say.thinking:
        thought = {"text": say.thinking, "signature": _seal(say, ids, issued)}
        blocks.append({"reasoningContent": {"reasoningText": thought}})
    if text := say.text or say.refusal:
        blocks.append({"text": text})
    blocks += [{"toolUse": {**_call(call.name, ids), "input": call.arguments}} for call in say.calls]
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": _stop(say),
        "usage": _usage(say),
        "metrics": {"latencyMs": 900},
    }


def stream_bedrock(say: Say, _: Asked, ids: Ids, issued: Issued) -> Iterator[bytes]:
    """The frames of the streamed answer."""
    yield _frame("messageStart", {"role": "assistant"})
    for place, (start, deltas) in enumerate(_streamed(say, ids, issued)):
        if start is not None:
            yield _frame("contentBlockStart", {"contentBlockIndex": place, "start": start})
        for delta in deltas:
            yield _frame("contentBlockDelta", {"contentBlockIndex": place, "delta": delta})
        yield _frame("contentBlockStop", {"contentBlockIndex": place})
    yield _frame("messageStop", {"stopReason": _stop(say)})
    yield _frame("metadata", {"usage": _usage(say), "metrics": {"latencyMs": 900}})


def fail_bedrock(status: int, message: str | None) -> bytes:
    """The frame of an exception in a stream."""
    name = exception_of(status)
    name = name[:1].lower() + name[1:]
    kind = name if name in _STREAMED else "validationException" if status < 500 else "modelStreamErrorException"
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return encode_event_frame(headers, encode(error_body("bedrock", status, message)))


def _frame(name: str, payload: dict[str, Any]) -> bytes:
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return encode_event_frame(headers, encode({**payload, "p": _PADDING}))


def _streamed(say: Say, ids: Ids, issued: Issued) -> Iterator[tuple[dict[str, Any] | None, list[dict[str, Any]]]]:
    """How each block begins, where its beginning has an event, and its deltas."""
    if say.thinking:
        thoughts = [{"reasoningContent": {"text": piece}} for piece in words(say.thinking)]
        yield None, [*thoughts, {"reasoningContent": {"signature": _seal(say, ids, issued)}}]
    if text := say.text or say.refusal:
        yield None, [{"text": piece} for piece in words(text)]
    for call in say.calls:
        yield {"toolUse": _call(call.name, ids)}, [{"toolUse": {"input": piece}} for piece in halves(call.json)]


def _seal(say: Say, ids: Ids, issued: Issued) -> str:
    seal = ids.next("EqQBseal")
    issued.seals[seal] = say.thinking
    return seal


def _call(name: str, ids: Ids) -> dict[str, Any]:
    return {"toolUseId": ids.next("tooluse_"), "name": name}


def _stop(say: Say) -> str:
    if say.refusal:
        return "content_filtered"
    return _STOPS.get(say.finish) or ("tool_use" if say.calls else "end_turn")


def _usage(say: Say) -> dict[str, Any]:
    usage = {
        "inputTokens": say.input_tokens - say.cached_tokens,
        "outputTokens": say.output_tokens,
        "totalTokens": say.input_tokens + say.output_tokens,
    }
    return {**usage, "cacheReadInputTokens": say.cached_tokens, "cacheWriteInputTokens": 0}
