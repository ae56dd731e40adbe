"""The usual answer, written at once: texts, thinking and calls, without alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects.unified.parts import NAME
from interlingua.types.change import Change
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Attempt
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode, encode_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import ServerContext
    from interlingua.types.content import Part
    from interlingua.types.response import Response

__all__ = ["write_usual"]


class _Call(ExactStruct, tag="tool_call", tag_field="type", omit_defaults=True):
    id: str
    name: str
    arguments: Raw
    freeform: bool = False
    sealed: Sealed | None = None
    extra: dict[str, dict[str, Any]] = {}


class _View(ExactStruct):
    id: str
    name: str
    arguments: Raw


class _Answer(ExactStruct, omit_defaults=True):
    id: str | UnsetType
    model: str
    wire_model: str | UnsetType
    text: str
    tool_calls: list[_View]
    parts: list[Any]
    finish_reason: str
    finish_reason_raw: str | UnsetType
    usage: Usage | UnsetType
    changes: tuple[Change, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    cost_usd: float | None = None
    extra: dict[str, dict[str, Any]] = {}


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    usage = response.usage
    if response.alternatives or NAME in response.extra or (usage is not None and NAME in usage.extra):
        return None
    if response.finish_reason == "error" and not context.says_own(NAME):
        return None
    parts = _parts(response.parts)
    if parts is None:
        return None
    texts, views, told, plain = parts
    wire = _Answer(
        response.id or (context.make_id() if context.make_id else UNSET),
        context.model or response.model,
        UNSET if response.wire_model is None else response.wire_model,
        "".join(texts),
        views,
        told,
        response.finish_reason,
        UNSET if response.finish_reason_raw is None else response.finish_reason_raw,
        UNSET if usage is None else usage,
        response.changes,
        response.attempts,
        response.cost_usd,
        response.extra,
    )
    plain = plain and not response.attempts and response.cost_usd is None and _is_plain(response.extra)
    body = encode_exact(wire) if plain and (usage is None or _is_plain(usage.extra)) else encode(wire)
    return None if body is None else HttpReply(status=200, headers=JSON_HEADERS, body=body)


_Told: TypeAlias = tuple[list[str], "list[_View]", "list[TextPart | ThinkingPart | _Call]", bool]
"""Texts, views of the calls, parts, and whether nothing stands beside what the parts say."""


def _parts(parts: Sequence[Part]) -> _Told | None:
    """The parts of an answer on the wire; None where one is unusual."""
    texts: list[str] = []
    views: list[_View] = []
    told: list[TextPart | ThinkingPart | _Call] = []
    plain = True
    for part in parts:
        if type(part) is ToolCall:
            text = Raw(part.arguments_json)
            views.append(_View(part.id, part.name, text))
            told.append(_Call(part.id, part.name, text, part.freeform, part.sealed, part.extra))
        elif type(part) is TextPart:
            texts.append(part.text)
            told.append(part)
            plain = plain and not part.annotations
        elif type(part) is ThinkingPart:
            told.append(part)
        else:
            return None
        if part.extra or part.sealed is not None:
            plain = False
            if NAME in part.extra:
                return None
    return texts, views, told, plain


def _is_plain(extra: dict[str, dict[str, Any]]) -> bool:
    """Whether no number that JSON has not can be among these members, which is told at once of nearly all."""
    for members in extra.values():
        for value in members.values():
            if type(value) is not str and type(value) is not int:
                return False
    return True
