"""The usual answer, written at once: texts, thinking and calls, without alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects.unified.parts import NAME
from interlingua.types.change import Change
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Attempt
from interlingua.types.shared import owned_part
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
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
    texts: list[str] = []
    views: list[_View] = []
    told: list[TextPart | ThinkingPart | _Call] = []
    for part in response.parts:
        if isinstance(part, ToolCall) and NAME not in part.extra:
            text = Raw(part.arguments_json)
            views.append(_View(part.id, part.name, text))
            told.append(_Call(part.id, part.name, text, part.freeform, part.sealed, part.extra))
        elif isinstance(part, TextPart) and NAME not in part.extra:
            texts.append(part.text)
            told.append(owned_part(part))
        elif isinstance(part, ThinkingPart) and NAME not in part.extra:
            told.append(owned_part(part))
        else:
            return None
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
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode(wire))
