"""The usual answer: thinking, texts and then calls, and nothing that has to be interpreted.

Source: recorded answers of the service, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from msgspec import Raw

from interlingua.dialects._usual.answers import sound_calls
from interlingua.dialects.anthropic.parts import NAME
from interlingua.dialects.anthropic.reasons import FINISH_REASONS
from interlingua.dialects.anthropic.usage import DETAILS, INPUT, OUTPUT, READ, THINKING, WRITTEN, decode_usage
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Count, Usage
from interlingua.wire.json import ExactStruct, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Target
    from interlingua.types.content import Part

__all__ = ["read_usual"]

_Counts: TypeAlias = dict[str, Count | str | dict[str, Count | None] | None]


@final
class _Text(ExactStruct, tag="text", tag_field="type"):
    text: str
    citations: None = None


@final
class _Call(ExactStruct, tag="tool_use", tag_field="type"):
    id: str
    name: str
    input: Raw
    caller: dict[str, str] | None = None


@final
class _Thinking(ExactStruct, tag="thinking", tag_field="type"):
    thinking: str
    signature: str


class _Answer(ExactStruct, kw_only=True):
    id: str
    type: Literal["message"]
    role: Literal["assistant"] | None = None
    model: str
    content: list[_Text | _Call | _Thinking]
    stop_reason: Literal["end_turn", "tool_use", "max_tokens", "stop_sequence"]
    stop_sequence: str | None = None
    stop_details: None = None
    container: None = None
    context_management: None = None
    usage: _Counts | None = None


_read = exact_reader(_Answer)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    usage = None if wire is None or wire.usage is None else _usage(wire.usage)
    if wire is None or (usage is None and wire.usage is not None):
        return None
    parts = _parts(wire, context)  # last: it uses up ids
    if parts is None:
        return None
    raw = wire.stop_reason
    return Response(
        parts=parts,
        finish_reason=FINISH_REASONS[raw],
        finish_reason_raw=raw,
        usage=usage,
        model=wire.model,
        wire_model=wire.model or None,
        id=wire.id or None,
        extra={NAME: {"stop_sequence": wire.stop_sequence}} if wire.stop_sequence else {},
    )


def _parts(wire: _Answer, context: DecodeContext) -> tuple[Part, ...] | None:
    """The parts of an answer; None where one is unusual, or stands behind a call."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for block in wire.content:
        if type(block) is _Call:
            try:
                call = ToolCall(block.id, block.name, str(block.input, "utf-8"))
            except UnicodeDecodeError:
                return None
            if block.caller is not None:
                call.extra[NAME] = {"caller": block.caller}
            calls.append(call)
        elif calls:
            return None
        elif type(block) is _Thinking:
            parts.append(_thinking(block, context.target))
        elif block.text:
            parts.append(TextPart(block.text))
    if bool(calls) is not (wire.stop_reason == "tool_use"):
        return None
    if not calls:
        return tuple(parts)
    sound = sound_calls(calls, context)
    return None if sound is None else (*parts, *sound)


def _thinking(block: _Thinking, target: Target) -> ThinkingPart:
    seal = {"signature": block.signature}
    sealed = Sealed(NAME, seal, target.provider or None, target.model or None) if block.signature else None
    return ThinkingPart(block.thinking, sealed)


def _usage(wire: _Counts) -> Usage | None:
    """The counts; those that have nothing beside them are told without a look at each member. None for odd ones."""
    fresh, read, output, details = wire.get(INPUT), wire.get(READ), wire.get(OUTPUT), wire.get(DETAILS)
    known = 2 + (read is not None) + (details is not None)
    if type(fresh) is not int or type(output) is not int or (read is not None and type(read) is not int):
        return None
    reasoning = None
    if type(details) is dict and len(details) == 1:
        reasoning = details.get(THINKING)
    if known != len(wire) or (details is not None and reasoning is None):
        return None if type(wire.get(WRITTEN)) is str else decode_usage(wire)
    return Usage(
        input_tokens=fresh + (read or 0), output_tokens=output, cache_read_tokens=read, reasoning_tokens=reasoning
    )
