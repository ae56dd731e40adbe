"""The usual answer, written at once: one choice with text and calls, and no members but those that every answer has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from interlingua.dialects._members import is_object
from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._usual_turn import note_foreign, note_seals, plain_turn
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.usage import encode_usage
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual_turn import Turn
    from interlingua.types._base import JsonObject
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["write_usual"]

WORDS = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}
"""Finish reasons that the wire says just so."""
MEMBERS = frozenset({"created", "service_tier", "system_fingerprint"})
"""Members of our own `extra` that are written without further ado."""

DETAILS = frozenset({"prompt_tokens_details", "completion_tokens_details"})
PLAIN = frozenset({int, str})
INTEGER: frozenset[type] = frozenset({int})


class _Function(ExactStruct):
    name: str
    arguments: str


class _Call(ExactStruct):
    id: str
    type: str
    function: _Function


class _Message(ExactStruct):
    role: str
    content: str | None
    tool_calls: list[_Call] | UnsetType
    refusal: None
    reasoning_content: str | UnsetType
    annotations: tuple[()]


class _Choice(ExactStruct):
    index: int
    message: _Message
    finish_reason: str
    logprobs: None


class _InputDetails(ExactStruct):
    cached_tokens: int | UnsetType
    cache_write_tokens: int | UnsetType


class _OutputDetails(ExactStruct):
    reasoning_tokens: int


class _Usage(ExactStruct):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: _InputDetails | UnsetType
    completion_tokens_details: _OutputDetails | UnsetType


class _Answer(ExactStruct):
    id: str | UnsetType
    object: str
    created: Any
    model: str
    choices: tuple[_Choice]
    usage: _Usage | JsonObject | UnsetType
    service_tier: Any = UNSET
    system_fingerprint: Any = UNSET


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    own = context.source == NAME
    word = response.finish_reason_raw if own else WORDS.get(response.finish_reason)
    turn = None if word is None or response.alternatives else plain_turn(response.parts, NAME)
    usage, extra = response.usage, response.extra
    members = extra.get(NAME)
    if turn is None or word is None or (members and not _is_plain(members)):
        return None
    message = _message(turn)
    counts = UNSET if usage is None else _usage(usage)
    if counts is None:
        return None
    wire = _Answer(
        response.id or (context.make_id() if context.make_id else UNSET),
        "chat.completion",
        context.created or UNSET,
        context.model or response.wire_model or response.model,
        (_Choice(0, message, word, None),),
        counts,
    )
    if members:
        for name, value in members.items():
            setattr(wire, name, value)
    body = encode_exact(wire)
    if body is None:
        return None
    if context.changes is not None and (extra or turn.seals):
        changes = Changes(NAME, "encode_response")
        note_foreign(changes, extra)
        note_seals(changes, turn)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _is_plain(members: dict[str, Any]) -> bool:
    """Whether members are those that are written as they are, and hold no number that JSON has not."""
    return MEMBERS.issuperset(members) and PLAIN.issuperset(map(type, members.values()))


def _message(turn: Turn) -> _Message:
    thinking, texts, calls, _ = turn
    return _Message(
        "assistant",
        (texts[0] if len(texts) == 1 else "".join(texts)) if texts else None,
        [_Call(call.id, "function", _Function(call.name, call.arguments_json)) for call in calls] or UNSET,
        None,
        thinking or UNSET,
        (),
    )


def _usage(usage: Usage) -> _Usage | JsonObject | None:
    """The counts as they are written; None where one is unknown, or is told in an unusual way."""
    read, written = usage.input_tokens, usage.output_tokens
    if read is None or written is None:
        return None
    own = usage.extra.get(NAME)
    if own:
        return encode_usage(usage, _NOTHING) if _counts_alone(own) else None
    cached, stored, reasoning = usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens
    details = UNSET
    if cached is not None or stored is not None:
        details = _InputDetails(UNSET if cached is None else cached, UNSET if stored is None else stored)
    more = UNSET if reasoning is None else _OutputDetails(reasoning)
    return _Usage(read, written, read + written, details, more)


def _counts_alone(members: JsonObject) -> bool:
    """Whether members beside the counts are parts of them."""
    for name, details in members.items():
        if name not in DETAILS or not is_object(details) or not INTEGER.issuperset(map(type, details.values())):
            return False
    return True


_NOTHING = Changes(NAME, "encode_response")
"""Counts that are known change nothing."""
