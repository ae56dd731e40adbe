"""The usual answer, written at once: one choice with text and calls, and no members but those that every answer has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._usual.turns import SEALED, note_seals, plain_turn
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual.turns import Turn
    from interlingua.types._base import JsonObject
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["write_usual"]

WORDS = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}
"""Finish reasons that the wire says just so."""
DETAILS = ("prompt_tokens_details", "completion_tokens_details")
"""Parts of the counts, in the order in which they are written."""


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
    prompt_tokens_details: _InputDetails | dict[str, Any] | UnsetType
    completion_tokens_details: _OutputDetails | dict[str, Any] | UnsetType


class _Answer(ExactStruct):
    id: str | UnsetType
    object: str
    created: Any
    model: str
    choices: tuple[_Choice]
    usage: _Usage | UnsetType
    service_tier: Any
    system_fingerprint: Any


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    word = response.finish_reason_raw if context.says_own(NAME) else WORDS.get(response.finish_reason)
    turn = None if word is None or response.alternatives else plain_turn(response.parts, NAME)
    usage, extra = response.usage, response.extra
    counts = UNSET if usage is None else _usage(usage)
    members = _members(extra[NAME]) if NAME in extra else _NO_MEMBERS
    if turn is None or word is None or counts is None or members is None:
        return None
    created, tier, fingerprint = members
    body = encode_exact(
        _Answer(
            response.id or (context.make_id() if context.make_id else UNSET),
            "chat.completion",
            (context.created or UNSET) if created is UNSET else created,
            context.model or response.wire_model or response.model,
            (_Choice(0, _message(turn), word, None),),
            counts,
            tier,
            fingerprint,
        )
    )
    if body is None:
        return None
    if context.changes is not None and (extra or turn[SEALED]):
        changes = Changes(NAME, "encode_response")
        note_foreign(changes, extra)
        note_seals(changes, response.parts)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _members(members: dict[str, Any]) -> tuple[Any, Any, Any] | None:
    """The members of our own `extra`, each of its usual type; None where there are others."""
    get = members.get
    created, tier, fingerprint = get("created", UNSET), get("service_tier", UNSET), get("system_fingerprint", UNSET)
    known = 0
    if created is not UNSET:
        known = 1
        if type(created) is not int:
            return None
    if tier is not UNSET:
        known += 1
        if type(tier) is not str:
            return None
    if fingerprint is not UNSET:
        known += 1
        if type(fingerprint) is not str:
            return None
    return (created, tier, fingerprint) if known == len(members) else None


_NO_MEMBERS = (UNSET, UNSET, UNSET)


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


def _usage(usage: Usage) -> _Usage | None:
    """The counts as they are written; None where one is unknown, or is told in an unusual way."""
    read, written = usage.input_tokens, usage.output_tokens
    if read is None or written is None:
        return None
    cached, stored, reasoning = usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens
    own = usage.extra.get(NAME) if usage.extra else None
    if own:
        return _usage_with(usage, read, written, own)
    details = UNSET
    if cached is not None or stored is not None:
        details = _InputDetails(UNSET if cached is None else cached, UNSET if stored is None else stored)
    more = UNSET if reasoning is None else _OutputDetails(reasoning)
    return _Usage(read, written, read + written, details, more)


def _usage_with(usage: Usage, read: int, written: int, own: JsonObject) -> _Usage | None:
    """The counts with parts of them that have no count of ours; None where something else stands beside them."""
    if tuple(own) != DETAILS or usage.cache_write_tokens is not None:
        return None
    prompt: JsonObject
    completion: JsonObject
    prompt, completion = own.values()
    if type(prompt) is not dict or type(completion) is not dict:
        return None
    for part in (*prompt.values(), *completion.values()):
        if type(part) is not int:
            return None
    cached, reasoning = usage.cache_read_tokens, usage.reasoning_tokens
    prompt = prompt if cached is None else {"cached_tokens": cached, **prompt}
    completion = completion if reasoning is None else {"reasoning_tokens": reasoning, **completion}
    return _Usage(read, written, read + written, prompt, completion)
