"""The usual answer, written at once: thinking, texts and calls, and no members but those that every answer has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._usual.turns import SEALED, note_seals, plain_turn
from interlingua.dialects.anthropic.parts import NAME
from interlingua.dialects.anthropic.reasons import APPROXIMATE, WIRE_REASONS
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual.turns import Turn
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["write_usual"]


class _Caller(ExactStruct):
    type: str


class _Thinking(ExactStruct):
    type: str
    thinking: str
    signature: str


class _Text(ExactStruct):
    citations: UnsetType | None
    type: str
    text: str


class _Call(ExactStruct):
    caller: _Caller | UnsetType
    type: str
    id: str
    name: str
    input: Raw


class _Details(ExactStruct):
    thinking_tokens: int


class _Usage(ExactStruct):
    input_tokens: int
    cache_creation_input_tokens: int | UnsetType
    cache_read_input_tokens: int | UnsetType
    output_tokens: int
    output_tokens_details: _Details | UnsetType


class _WholeUsage(ExactStruct):
    """With every member that the vendor's own description requires, in the order of `whole.USAGE`."""

    cache_creation: None
    cache_creation_input_tokens: int | None
    cache_read_input_tokens: int | None
    inference_geo: None
    output_tokens_details: _Details | None
    server_tool_use: None
    service_tier: None
    input_tokens: int
    output_tokens: int


class _Answer(ExactStruct):
    stop_details: UnsetType | None
    container: UnsetType | None
    id: str | UnsetType
    type: str
    role: str
    model: str
    content: list[_Thinking | _Text | _Call]
    stop_reason: str
    stop_sequence: None
    usage: _Usage | _WholeUsage


_DIRECT = _Caller("direct")
WORDS = {reason: word for reason, word in WIRE_REASONS.items() if reason not in APPROXIMATE}
"""Finish reasons that the wire says just so."""


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    usage = response.usage
    whole = context.request is not None
    counts = None if usage is None or response.alternatives else _usage(usage, whole=whole)
    if counts is None or response.extra.get(NAME):
        return None
    word = response.finish_reason_raw if context.says_own(NAME) else WORDS.get(response.finish_reason)
    turn = None if word is None else plain_turn(response.parts, NAME)
    if turn is None or word is None:
        return None
    absent = None if whole else UNSET
    body = encode_exact(
        _Answer(
            absent,
            absent,
            response.id or (context.make_id() if context.make_id else UNSET),
            "message",
            "assistant",
            context.model or response.wire_model or response.model,
            _blocks(turn, absent, _DIRECT if whole else UNSET),
            word,
            None,
            counts,
        )
    )
    if body is None:
        return None
    if context.changes is not None and turn[SEALED]:
        changes = Changes(NAME, "encode_response")
        note_seals(changes, response.parts)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _blocks(turn: Turn, citations: UnsetType | None, caller: _Caller | UnsetType) -> list[_Thinking | _Text | _Call]:
    """The blocks of a turn."""
    thinking, texts, calls, _ = turn
    blocks: list[_Thinking | _Text | _Call] = [_Thinking("thinking", thinking, "")] if thinking else []
    blocks += [_Text(citations, "text", text) for text in texts]
    blocks += [_Call(caller, "tool_use", call.id, call.name, Raw(call.arguments_json)) for call in calls]
    return blocks


def _usage(usage: Usage, *, whole: bool) -> _Usage | _WholeUsage | None:
    """The counts; None unless all are known that clients insist on, none has to give way, nothing stands beside."""
    total, output, reasoning = usage.input_tokens, usage.output_tokens, usage.reasoning_tokens
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    if total is None or output is None or usage.extra.get(NAME):
        return None
    fresh = total - (read or 0) - (written or 0)
    if fresh < 0:
        return None
    details = None if reasoning is None else _Details(reasoning)
    if whole:
        return _WholeUsage(None, written, read, None, details, None, None, fresh, output)
    return _Usage(
        fresh, UNSET if written is None else written, UNSET if read is None else read, output, details or UNSET
    )
