"""Messages answers: one object, or named events from `message_start` to `message_stop`.

Source: Anthropic, sections 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import Ids, Say, halves, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

__all__ = ["fail_anthropic", "stream_anthropic", "whole_anthropic"]

Block = dict[str, Any]
_TOLD_AGAIN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "server_tool_use")
"""Counts that stand at the end of a stream, too."""
_STOPS = {"length": "max_tokens", "content_filter": "refusal"}


def whole_anthropic(say: Say, request: Asked, ids: Ids, issued: Issued) -> dict[str, Any]:
    """The whole answer."""
    blocks = [{**block, "input": call.arguments} if call else block for block, call in _blocks(say, ids, issued)]
    return {
        **_head(request, ids),
        "content": blocks,
        "stop_reason": _stop(say),
        "stop_sequence": None,
        "stop_details": _details(say),
        "container": None,
        "usage": {**_input_usage(say), **_output_usage(say)},
    }


def stream_anthropic(say: Say, request: Asked, ids: Ids, issued: Issued) -> Iterator[bytes]:
    """The events of the streamed answer."""
    usage = {**_input_usage(say), "output_tokens": 1, "output_tokens_details": None}
    begun: dict[str, Any] = {
        **_head(request, ids),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": usage,
    }
    yield _frame({"type": "message_start", "message": begun})
    yield _frame({"type": "ping"})
    for place, (block, call) in enumerate(_blocks(say, ids, issued)):
        start, deltas = _opened({**block, "json": call.json} if call else block)
        yield _frame({"type": "content_block_start", "index": place, "content_block": start})
        for delta in deltas:
            yield _frame({"type": "content_block_delta", "index": place, "delta": delta})
        yield _frame({"type": "content_block_stop", "index": place})
    delta = {"stop_reason": _stop(say), "stop_sequence": None, "stop_details": _details(say), "container": None}
    counts = {name: count for name, count in _input_usage(say).items() if name in _TOLD_AGAIN}
    yield _frame({"type": "message_delta", "delta": delta, "usage": {**counts, **_output_usage(say)}})
    yield _frame({"type": "message_stop"})


def fail_anthropic(status: int, message: str | None) -> bytes:
    """The event of an error in a stream."""
    return _frame(error_body("anthropic", status, message))


def _frame(body: dict[str, Any]) -> bytes:
    return encode_event(encode(body, nulls=16), event=body["type"])


def _head(request: Asked, ids: Ids) -> dict[str, Any]:
    return {"id": ids.next("msg_"), "type": "message", "role": "assistant", "model": request.model}


def _blocks(say: Say, ids: Ids, issued: Issued) -> list[tuple[Block, Any]]:
    """Every block, with its call when it is one."""
    blocks: list[tuple[Block, Any]] = []
    if say.thinking:
        seal = ids.next("EqQBseal")
        issued.seals[seal] = say.thinking
        blocks.append(({"type": "thinking", "thinking": say.thinking, "signature": seal}, None))
    if say.text or say.refusal:
        blocks.append(({"type": "text", "text": say.text or say.refusal, "citations": None}, None))
    for call in say.calls:
        block: Block = {"type": "tool_use", "id": ids.next("toolu_"), "name": call.name, "input": {}}
        block["caller"] = {"type": "direct"}
        blocks.append((block, call))
    return blocks


def _opened(block: Block) -> tuple[Block, list[Block]]:
    """A block as it starts, and the deltas that fill it."""
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in words(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in words(block["text"])]
    pieces = ["", *halves(block.pop("json"))]
    return block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _stop(say: Say) -> str:
    if say.refusal:
        return "refusal"
    return _STOPS.get(say.finish) or ("tool_use" if say.calls else "end_turn")


def _details(say: Say) -> dict[str, Any] | None:
    if not say.refusal:
        return None
    return {"type": "refusal", "category": "general_harms", "explanation": say.refusal}


def _input_usage(say: Say) -> dict[str, Any]:
    return {
        "input_tokens": say.input_tokens - say.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": say.cached_tokens,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "inference_geo": None,
        "server_tool_use": None,
        "service_tier": "standard",
    }


def _output_usage(say: Say) -> dict[str, Any]:
    return {
        "output_tokens": say.output_tokens,
        "output_tokens_details": {"thinking_tokens": say.reasoning_tokens},
    }
