"""The usual answer: one choice with text, thinking or calls, and nothing that has to be interpreted.

Source: recorded answers of the reference server and of those that answer with its members alone, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from interlingua.dialects._usual.answers import sound_calls
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.types.content import TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Count, Total, Usage
from interlingua.wire.json import ExactStruct, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.types.content import Part

__all__ = ["read_usual"]


class _Function(ExactStruct):
    name: str
    arguments: str


class _Call(ExactStruct, kw_only=True):
    id: str
    type: Literal["function"] = "function"
    function: _Function
    index: int | None = None


class _Message(ExactStruct, kw_only=True):
    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: None = None
    annotations: tuple[()] | None = None
    audio: None = None
    function_call: None = None


class _Choice(ExactStruct, kw_only=True):
    index: int | None = None
    message: _Message
    logprobs: None = None
    finish_reason: Literal["stop", "length", "tool_calls"]


class _InputDetails(ExactStruct):
    cached_tokens: Count | None = None
    audio_tokens: Count | None = None


class _OutputDetails(ExactStruct):
    reasoning_tokens: Count | None = None
    audio_tokens: Count | None = None
    accepted_prediction_tokens: Count | None = None
    rejected_prediction_tokens: Count | None = None


class _Usage(ExactStruct):
    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Total
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Answer(ExactStruct, kw_only=True):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int | None = None
    model: str
    choices: tuple[_Choice]
    usage: _Usage | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None


_read = exact_reader(_Answer)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    if wire is None:
        return None
    (choice,) = wire.choices
    reason, message = choice.finish_reason, choice.message
    parts: list[Part] = []
    if message.reasoning_content:
        parts.append(ThinkingPart(message.reasoning_content))
    if message.content:
        parts.append(TextPart(message.content))
    if message.tool_calls:
        calls = reason == "tool_calls" and sound_calls(
            [ToolCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls], context
        )
        if not calls:
            return None
        parts += calls
    elif reason == "tool_calls":
        return None
    extra: dict[str, Any] = {}
    if wire.created is not None:
        extra["created"] = wire.created
    if wire.service_tier is not None:
        extra["service_tier"] = wire.service_tier
    if wire.system_fingerprint is not None:
        extra["system_fingerprint"] = wire.system_fingerprint
    return Response(
        parts=tuple(parts),
        finish_reason=reason,
        finish_reason_raw=reason,
        usage=None if wire.usage is None else _usage(wire.usage),
        model=wire.model,
        wire_model=wire.model or None,
        id=wire.id or None,
        extra={NAME: extra} if extra else {},
    )


def _usage(wire: _Usage) -> Usage:
    extra: dict[str, Any] = {}
    read, written = wire.prompt_tokens, wire.completion_tokens
    if wire.total_tokens != read + written:
        extra["total_tokens"] = wire.total_tokens
    cached = reasoning = None
    details = wire.prompt_tokens_details
    if details is not None:
        cached = details.cached_tokens
        if details.audio_tokens is not None:
            extra["prompt_tokens_details"] = {"audio_tokens": details.audio_tokens}
    more = wire.completion_tokens_details
    if more is not None:
        reasoning = more.reasoning_tokens
        rest = _rest(more)
        if rest:
            extra["completion_tokens_details"] = rest
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cache_read_tokens=cached,
        reasoning_tokens=reasoning,
        extra={NAME: extra} if extra else {},
    )


def _rest(details: _OutputDetails) -> dict[str, int]:
    """The parts of the output tokens that have no count of ours."""
    rest: dict[str, int] = {}
    if details.audio_tokens is not None:
        rest["audio_tokens"] = details.audio_tokens
    if details.accepted_prediction_tokens is not None:
        rest["accepted_prediction_tokens"] = details.accepted_prediction_tokens
    if details.rejected_prediction_tokens is not None:
        rest["rejected_prediction_tokens"] = details.rejected_prediction_tokens
    return rest
