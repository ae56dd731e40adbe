"""The usual answer of the chat form: thinking, a text and calls, and nothing that has to be interpreted.

Source: recorded answers of the server, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Raw

from interlingua.dialects._usual.answers import sound_calls
from interlingua.dialects.ollama.parts import NAME
from interlingua.types.content import TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Count, Usage
from interlingua.wire.json import ExactStruct, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.types.content import Part

__all__ = ["read_usual"]


class _Function(ExactStruct, kw_only=True):
    index: int | None = None
    name: str
    arguments: Raw


class _Call(ExactStruct, kw_only=True):
    id: str | None = None
    type: Literal["function"] | None = None
    function: _Function


class _Message(ExactStruct, kw_only=True):
    role: Literal["assistant"] | None = None
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Answer(ExactStruct, kw_only=True):
    model: str
    created_at: str | None = None
    message: _Message
    done: bool
    done_reason: Literal["stop", "length"]
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_count: Count | None = None
    prompt_eval_duration: int | None = None
    eval_count: Count | None = None
    eval_duration: int | None = None


_read = exact_reader(_Answer)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    if wire is None or not wire.done:
        return None
    message, raw = wire.message, wire.done_reason
    parts: list[Part] = []
    if message.thinking:
        parts.append(ThinkingPart(message.thinking))
    if message.content:
        parts.append(TextPart(message.content))
    if message.tool_calls:
        calls = _calls(message.tool_calls, context) if raw == "stop" else None
        if calls is None:
            return None
        parts += calls
    given, written = wire.prompt_eval_count, wire.eval_count
    extra = _extra(wire)
    return Response(
        parts=tuple(parts),
        finish_reason="tool_calls" if message.tool_calls else raw,
        finish_reason_raw=raw,
        usage=None if given is None and written is None else Usage(input_tokens=given, output_tokens=written),
        model=wire.model,
        wire_model=wire.model or None,
        extra={NAME: extra} if extra else {},
    )


def _calls(found: list[_Call], context: DecodeContext) -> list[ToolCall] | None:
    """The calls of an answer; None where one is unusual."""
    calls: list[ToolCall] = []
    try:
        for call in found:
            function = call.function
            calls.append(ToolCall(call.id or "", function.name, str(function.arguments, "utf-8")))
    except UnicodeDecodeError:
        return None
    return sound_calls(calls, context)


def _extra(wire: _Answer) -> dict[str, Any]:
    """The members that only pass through."""
    extra: dict[str, Any] = {}
    if wire.created_at is not None:
        extra["created_at"] = wire.created_at
    if wire.total_duration is not None:
        extra["total_duration"] = wire.total_duration
    if wire.load_duration is not None:
        extra["load_duration"] = wire.load_duration
    if wire.prompt_eval_duration is not None:
        extra["prompt_eval_duration"] = wire.prompt_eval_duration
    if wire.eval_duration is not None:
        extra["eval_duration"] = wire.eval_duration
    return extra
