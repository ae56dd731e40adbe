"""The usual answer, written at once: one candidate with thoughts, texts and calls, and no further members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._usual.turns import SEALED, note_seals, plain_turn
from interlingua.dialects.google.parts import NAME
from interlingua.dialects.google.reasons import WIRE_REASONS
from interlingua.dialects.google.usage import note_uncounted
from interlingua.stream.calls import is_made_id
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual.turns import Turn
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["write_usual"]

OWN_WORDS = frozenset({"STOP", "MAX_TOKENS"})
UNUSUAL = frozenset({"refusal", "pause", "error"})
"""Finish reasons that the wire has only nearly, or that fail the answer."""


class _Call(ExactStruct):
    id: str | UnsetType
    name: str
    args: Raw


class _Text(ExactStruct):
    text: str


class _Thought(ExactStruct):
    text: str
    thought: bool


class _Called(ExactStruct):
    functionCall: _Call


class _Content(ExactStruct):
    parts: list[_Text | _Thought | _Called]
    role: str


class _Candidate(ExactStruct):
    content: _Content
    finishReason: str
    index: int


class _Usage(ExactStruct):
    promptTokenCount: int
    candidatesTokenCount: int
    thoughtsTokenCount: int | UnsetType
    cachedContentTokenCount: int | UnsetType
    totalTokenCount: int


class _Answer(ExactStruct):
    candidates: tuple[_Candidate]
    usageMetadata: _Usage | UnsetType
    modelVersion: str | UnsetType
    responseId: str | UnsetType


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    word = _word(response, own=context.says_own(NAME))
    turn = None if word is None or response.alternatives else plain_turn(response.parts, NAME)
    if turn is None or word is None or response.extra.get(NAME):
        return None
    parts = _parts(turn, own=context.source == NAME)
    usage = UNSET if response.usage is None else _usage(response.usage)
    if usage is None or not parts:
        return None
    body = encode_exact(
        _Answer(
            (_Candidate(_Content(parts, "model"), word, 0),),
            usage,
            context.model or response.wire_model or response.model or UNSET,
            response.id or (context.make_id() if context.make_id else UNSET),
        )
    )
    if body is None:
        return None
    if context.changes is not None:
        changes = Changes(NAME, "encode_response")
        if turn[SEALED]:
            note_seals(changes, response.parts)
        if response.usage is not None:
            note_uncounted(response.usage, changes)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _word(response: Response[Any], *, own: bool) -> str | None:
    """The finish reason on the wire; None where it is unusual."""
    if own:
        return response.finish_reason_raw if response.finish_reason_raw in OWN_WORDS else None
    return None if response.finish_reason in UNUSUAL else WIRE_REASONS[response.finish_reason]


def _parts(turn: Turn, *, own: bool) -> list[_Text | _Thought | _Called]:
    """The parts of a turn."""
    thinking, texts, calls, _ = turn
    parts: list[_Text | _Thought | _Called] = [_Thought(thinking, True)] if thinking else []
    if texts:
        parts += [_Text(texts[0])] if len(texts) == 1 else [_Text(text) for text in texts]
    for call in calls:
        call_id = UNSET if own and is_made_id(call.id) else call.id
        parts.append(_Called(_Call(call_id, call.name, Raw(call.arguments_json))))
    return parts


def _usage(usage: Usage) -> _Usage | None:
    """The counts; None where one is unknown, or is told in an unusual way."""
    given, output, thoughts = usage.input_tokens, usage.output_tokens, usage.reasoning_tokens
    if given is None or output is None or (usage.extra and usage.extra.get(NAME)):
        return None
    cached = UNSET if usage.cache_read_tokens is None else usage.cache_read_tokens
    if thoughts is None:
        return _Usage(given, output, UNSET, cached, given + output)
    return _Usage(given, output - thoughts, thoughts, cached, given + output)
