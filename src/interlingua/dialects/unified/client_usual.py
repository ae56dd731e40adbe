"""The usual answer: thinking, texts and then calls, without seals, alternatives or members that nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from msgspec import Raw

from interlingua.dialects._usual.answers import sound_calls
from interlingua.dialects.unified.parts import NAME
from interlingua.types.change import Change
from interlingua.types.content import TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Attempt, Response
from interlingua.types.usage import Count, Usage
from interlingua.wire.json import ExactStruct, exact_reader, shallow

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.types.content import Part

__all__ = ["read_usual"]

if TYPE_CHECKING:
    _Members: TypeAlias = dict[str, dict[str, Any]]
else:
    _Members = dict[str, dict[str, shallow(4)]]


@final
class _Text(ExactStruct, tag="text", tag_field="type"):
    text: str


@final
class _Thinking(ExactStruct, tag="thinking", tag_field="type"):
    text: str


@final
class _Call(ExactStruct, tag="tool_call", tag_field="type"):
    id: str
    name: str
    arguments: Raw


class _View(ExactStruct):
    id: str
    name: str
    arguments: Raw


class _Usage(ExactStruct):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    extra: _Members = {}


class _Answer(ExactStruct, kw_only=True):
    id: str | None = None
    model: str
    wire_model: str | None = None
    text: str | None = None
    tool_calls: list[_View] | None = None
    parts: list[_Text | _Thinking | _Call]
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter"]
    finish_reason_raw: str | None = None
    usage: _Usage | None = None
    changes: list[Change] = []
    attempts: list[Attempt] = []
    cost_usd: float | None = None
    extra: _Members = {}


_read = exact_reader(_Answer)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    if wire is None or NAME in wire.extra or (wire.usage is not None and NAME in wire.usage.extra):
        return None
    parts = _parts(wire, context)
    if parts is None:
        return None
    return Response(
        parts=parts,
        finish_reason=wire.finish_reason,
        finish_reason_raw=wire.finish_reason_raw,
        usage=None if wire.usage is None else _usage(wire.usage),
        model=wire.model,
        wire_model=wire.wire_model,
        id=wire.id,
        changes=tuple(wire.changes),
        attempts=tuple(wire.attempts),
        cost_usd=wire.cost_usd,
        extra=wire.extra,
    )


def _parts(wire: _Answer, context: DecodeContext) -> tuple[Part, ...] | None:
    """The parts of an answer; None where one is unusual, or stands behind a call."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    views = wire.tool_calls
    for part in wire.parts:
        if type(part) is _Call:
            if views and not _shows(views, len(calls), part):
                return None
            try:
                calls.append(ToolCall(part.id, part.name, str(part.arguments, "utf-8")))
            except UnicodeDecodeError:
                return None
        elif calls:
            return None
        else:
            parts.append(TextPart(part.text) if type(part) is _Text else ThinkingPart(part.text))
    if bool(calls) is not (wire.finish_reason == "tool_calls") or (views and len(views) != len(calls)):
        return None
    if not calls:
        return tuple(parts)
    sound = None if context.undo.freeform else sound_calls(calls, context)  # the wire says which calls are freeform
    return None if sound is None else (*parts, *sound)


def _shows(views: list[_View], place: int, call: _Call) -> bool:
    """Whether a call that is told again is the one of the parts, so that nobody has to look at its text."""
    if place >= len(views):
        return False
    view = views[place]
    return view.id == call.id and view.name == call.name and view.arguments == call.arguments


def _usage(wire: _Usage) -> Usage:
    return Usage(
        input_tokens=wire.input_tokens,
        output_tokens=wire.output_tokens,
        cache_read_tokens=wire.cache_read_tokens,
        cache_write_tokens=wire.cache_write_tokens,
        reasoning_tokens=wire.reasoning_tokens,
        extra=wire.extra,
    )
