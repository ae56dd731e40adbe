"""The usual answer, written at once: thinking, texts and calls, and no members but those that every answer has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._usual_turn import note_seals, plain_turn
from interlingua.dialects.anthropic.parts import NAME
from interlingua.dialects.anthropic.reasons import encode_finish
from interlingua.dialects.anthropic.usage import encode_usage
from interlingua.dialects.anthropic.whole import USAGE
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual_turn import Turn
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
    usage: dict[str, Any]


_DIRECT = _Caller("direct")
_NOTHING = Changes(NAME, "encode_response")
"""Counts that are known and fit change nothing."""


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    usage = response.usage
    if usage is None or response.alternatives or not _is_plain(usage) or response.extra.get(NAME):
        return None
    word, exact = (
        (response.finish_reason_raw, True) if context.source == NAME else encode_finish(response.finish_reason)
    )
    turn = plain_turn(response.parts, NAME)
    if turn is None or word is None or not exact:
        return None
    whole = context.request is not None
    absent = None if whole else UNSET
    counts = encode_usage(usage, _NOTHING)
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
            {**USAGE, **counts} if whole else counts,
        )
    )
    if body is None:
        return None
    if context.changes is not None and turn.seals:
        changes = Changes(NAME, "encode_response")
        note_seals(changes, turn)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _blocks(turn: Turn, citations: UnsetType | None, caller: _Caller | UnsetType) -> list[_Thinking | _Text | _Call]:
    """The blocks of a turn."""
    thinking, texts, calls, _ = turn
    blocks: list[_Thinking | _Text | _Call] = [_Thinking("thinking", thinking, "")] if thinking else []
    blocks += [_Text(citations, "text", text) for text in texts]
    blocks += [_Call(caller, "tool_use", call.id, call.name, Raw(call.arguments_json)) for call in calls]
    return blocks


def _is_plain(usage: Usage) -> bool:
    """Whether all counts are known that clients insist on, none has to give way, and nothing stands beside them."""
    total = usage.input_tokens
    if total is None or usage.output_tokens is None or usage.extra.get(NAME):
        return False
    return total >= (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
