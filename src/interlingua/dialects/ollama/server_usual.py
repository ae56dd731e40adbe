"""The usual answer of the chat form, written at once: thinking, text and calls, and no further members."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._usual.turns import SEALED, note_seals, plain_turn
from interlingua.dialects.ollama.client import GENERATE_PATH
from interlingua.dialects.ollama.parts import NAME
from interlingua.dialects.ollama.reasons import WIRE_REASONS
from interlingua.dialects.ollama.usage import encode_usage
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual.turns import Turn
    from interlingua.types.response import Response

__all__ = ["JSON_HEADERS", "time_of", "write_usual"]

JSON_HEADERS = (("content-type", "application/json; charset=utf-8"),)


class _Function(ExactStruct):
    index: int
    name: str
    arguments: Raw


class _Call(ExactStruct):
    id: str
    function: _Function


class _Message(ExactStruct):
    role: str
    content: str
    thinking: str | UnsetType
    tool_calls: list[_Call] | UnsetType


class _Answer(ExactStruct):
    model: str
    created_at: str | UnsetType
    message: _Message
    done: bool
    done_reason: str
    prompt_eval_count: int | UnsetType
    eval_count: int | UnsetType


@lru_cache(maxsize=16)
def time_of(seconds: int) -> str:
    """A time as the wire says it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    usage = response.usage
    word = response.finish_reason_raw if context.says_own(NAME) else WIRE_REASONS.get(response.finish_reason)
    turn = None if word is None or response.alternatives else plain_turn(response.parts, NAME)
    if turn is None or word is None or response.extra.get(NAME) or GENERATE_PATH in context.path:
        return None
    read, written = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
    body = encode_exact(
        _Answer(
            context.model or response.wire_model or response.model,
            time_of(context.created) if context.created else UNSET,
            _message(turn),
            True,
            word,
            UNSET if read is None else read,
            UNSET if written is None else written,
        )
    )
    if body is None:
        return None
    if context.changes is not None:
        changes = Changes(NAME, "encode_response")
        if turn[SEALED]:
            note_seals(changes, response.parts)
        note_foreign(changes, response.extra)
        encode_usage(usage, changes)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _message(turn: Turn) -> _Message:
    thinking, texts, calls, _ = turn
    told: list[_Call] = []
    for call in calls:
        told.append(_Call(call.id, _Function(len(told), call.name, Raw(call.arguments_json))))
    return _Message("assistant", "".join(texts), thinking or UNSET, told or UNSET)
