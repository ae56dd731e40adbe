"""The usual answer: one candidate with thoughts, texts and then calls, and nothing that has to be interpreted.

Source: recorded answers of the service, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._usual.answers import sound_calls
from interlingua.dialects.google.parts import NAME, on_one_line
from interlingua.dialects.google.spelling import MARK
from interlingua.stream.calls import is_made_id
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Count, Total, Usage
from interlingua.wire.json import ExactStruct, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Target
    from interlingua.types.content import Part
    from interlingua.types.response import FinishReason

__all__ = ["read_usual"]

REASONS: dict[str, FinishReason] = {"STOP": "stop", "MAX_TOKENS": "length"}
_Details: TypeAlias = list[dict[str, str | int]] | None


class _Call(ExactStruct):
    name: str
    args: Raw | UnsetType = UNSET
    id: str | None = None


class _Part(ExactStruct):
    text: str | None = None
    thought: bool | None = None
    thoughtSignature: str | None = None
    functionCall: _Call | None = None


class _Content(ExactStruct):
    parts: list[_Part] = []
    role: Literal["model"] | None = None


class _Candidate(ExactStruct, kw_only=True):
    content: _Content
    finishReason: Literal["STOP", "MAX_TOKENS"]
    index: int | None = None
    finishMessage: str | None = None
    avgLogprobs: int | float | None = None


class _Usage(ExactStruct):
    promptTokenCount: Count | None = None
    candidatesTokenCount: Count | None = None
    thoughtsTokenCount: Count | None = None
    cachedContentTokenCount: Count | None = None
    totalTokenCount: Total | None = None
    promptTokensDetails: _Details = None
    candidatesTokensDetails: _Details = None
    cacheTokensDetails: _Details = None
    serviceTier: str | None = None
    trafficType: str | None = None


class _Answer(ExactStruct, kw_only=True):
    candidates: tuple[_Candidate]
    usageMetadata: _Usage | None = None
    modelVersion: str | None = None
    responseId: str | None = None
    createTime: str | None = None


_read = exact_reader(_Answer)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    if wire is None:
        return None
    candidate = wire.candidates[0]
    counts = wire.usageMetadata
    usage = None if counts is None else _usage(counts)
    parts = None if usage is None and counts is not None else _parts(candidate, context)
    if parts is None:
        return None
    reason = REASONS[candidate.finishReason]
    extra = _extra(wire, candidate)
    return Response(
        parts=parts,
        finish_reason="tool_calls" if parts and type(parts[-1]) is ToolCall else reason,
        finish_reason_raw=candidate.finishReason,
        usage=usage,
        model=wire.modelVersion or "",
        wire_model=wire.modelVersion or None,
        id=wire.responseId or None,
        extra={NAME: extra} if extra else {},
    )


def _parts(candidate: _Candidate, context: DecodeContext) -> tuple[Part, ...] | None:
    """The parts of an answer; None where one is unusual, or stands behind a call."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for part in candidate.content.parts:
        sealed = None if part.thoughtSignature is None else _sealed(part.thoughtSignature, context.target)
        text = part.text
        if part.functionCall is not None:
            call = None if text is not None or part.thought else _call(part.functionCall, sealed)
            if call is None:
                return None
            calls.append(call)
        elif calls or not text:
            return None
        else:
            parts.append(ThinkingPart(text, sealed) if part.thought else TextPart(text, (), None, sealed))
    if not calls:
        return tuple(parts)
    sound = sound_calls(calls, context) if candidate.finishReason == "STOP" else None
    return None if sound is None else (*parts, *sound)


def _sealed(signature: str, target: Target) -> Sealed | None:
    seal = {"thoughtSignature": signature}
    return Sealed(NAME, seal, target.provider or None, target.model or None) if signature else None


def _call(call: _Call, sealed: Sealed | None) -> ToolCall | None:
    """A call, if it is usual so far."""
    try:
        text = "{}" if call.args is UNSET else str(call.args, "utf-8")
    except UnicodeDecodeError:
        return None
    text = on_one_line(text)
    if MARK in text:
        return None
    call_id = call.id
    if call_id is None:
        return ToolCall("", call.name, text, False, sealed)
    if is_made_id(call_id):
        return ToolCall(call_id, call.name, text, False, sealed, {NAME: {"functionCall": {"id": call_id}}})
    return ToolCall(call_id, call.name, text, False, sealed)


def _extra(wire: _Answer, candidate: _Candidate) -> dict[str, Any]:
    """The members that only pass through."""
    extra: dict[str, Any] = {}
    if wire.createTime is not None:
        extra["createTime"] = wire.createTime
    if candidate.finishMessage is not None or candidate.avgLogprobs is not None:
        said = {"finishMessage": candidate.finishMessage, "avgLogprobs": candidate.avgLogprobs}
        extra["candidate"] = {name: value for name, value in said.items() if value is not None}
    return extra


def _usage(wire: _Usage) -> Usage | None:
    """The counts; None where they are unusual."""
    given, written, thoughts = wire.promptTokenCount, wire.candidatesTokenCount, wire.thoughtsTokenCount
    if given is None or (written is None and thoughts is None):
        return None
    output = (written or 0) + (thoughts or 0)
    if wire.totalTokenCount is not None and wire.totalTokenCount != given + output:
        return None
    extra: dict[str, Any] = {}
    if wire.promptTokensDetails is not None:
        extra["promptTokensDetails"] = wire.promptTokensDetails
    if wire.candidatesTokensDetails is not None:
        extra["candidatesTokensDetails"] = wire.candidatesTokensDetails
    if wire.cacheTokensDetails is not None:
        extra["cacheTokensDetails"] = wire.cacheTokensDetails
    if wire.serviceTier is not None:
        extra["serviceTier"] = wire.serviceTier
    if wire.trafficType is not None:
        extra["trafficType"] = wire.trafficType
    return Usage(
        input_tokens=given,
        output_tokens=output,
        cache_read_tokens=wire.cachedContentTokenCount,
        reasoning_tokens=thoughts,
        extra={NAME: extra} if extra else {},
    )
