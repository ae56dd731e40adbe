"""The usual answer: pieces of reasoning, messages and then calls, and nothing that has to be interpreted.

Source: recorded answers of the reference server, November 2026.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from interlingua.dialects._usual import sound_calls
from interlingua.dialects.openai_responses.client import REPEATED, TOP_MEMBERS
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from interlingua.wire.json import ExactStruct, exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext, Target
    from interlingua.types.content import Part

__all__ = ["read_usual"]


class _Text(ExactStruct, kw_only=True):
    type: Literal["output_text"]
    text: str
    annotations: tuple[()] | None = None
    logprobs: tuple[()] | None = None


class _Message(ExactStruct, tag="message", tag_field="type", kw_only=True):
    id: str
    role: Literal["assistant"] | None = None
    status: Literal["completed"] | None = None
    content: list[_Text]


class _Call(ExactStruct, tag="function_call", tag_field="type", kw_only=True):
    id: str | None = None
    status: Literal["completed"] | None = None
    call_id: str
    name: str
    arguments: str


class _Reasoning(ExactStruct, tag="reasoning", tag_field="type", kw_only=True):
    id: str | None = None
    status: str | None = None
    summary: list[dict[str, str]]
    encrypted_content: str | None = None


class _InputDetails(ExactStruct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(ExactStruct):
    reasoning_tokens: int | None = None


class _Usage(ExactStruct, kw_only=True):
    input_tokens: int
    input_tokens_details: _InputDetails | None = None
    output_tokens: int
    output_tokens_details: _OutputDetails | None = None
    total_tokens: int | None = None


class _Answer(ExactStruct, kw_only=True):
    """The members in the order in which they come, since the parser looks for the next one first."""

    id: str
    object: Literal["response"] = "response"
    created_at: Any = None
    status: Literal["completed"]
    background: Any = None
    billing: Any = None
    completed_at: Any = None
    error: None = None
    frequency_penalty: Any = None
    incomplete_details: None = None
    instructions: Any = None
    max_output_tokens: Any = None
    max_tool_calls: Any = None
    model: str
    moderation: Any = None
    output: list[_Message | _Call | _Reasoning]
    parallel_tool_calls: Any = None
    presence_penalty: Any = None
    previous_response_id: Any = None
    prompt_cache_key: Any = None
    prompt_cache_retention: Any = None
    reasoning: Any = None
    safety_identifier: Any = None
    service_tier: Any = None
    store: Any = None
    temperature: Any = None
    text: Any = None
    tool_choice: Any = None
    tools: Any = None
    top_logprobs: Any = None
    top_p: Any = None
    truncation: Any = None
    usage: _Usage | None = None
    user: Any = None
    metadata: Any = None


_NAMES = tuple([name for name in TOP_MEMBERS if name in _Answer.__struct_fields__])
"""Members that only pass through, in the order in which they are kept."""
_beside: Callable[[_Answer], tuple[Any, ...]] = attrgetter(*_NAMES)
_read = exact_reader(_Answer, is_free=True)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    parts = None if wire is None else _parts(wire, context)
    if wire is None or parts is None:
        return None
    said = {name: value for name, value in zip(_NAMES, _beside(wire), strict=True) if value is not None}
    for name, nothing in REPEATED.items():
        if said.get(name) == nothing:
            said.pop(name, None)
    return Response(
        parts=parts,
        finish_reason="tool_calls" if parts and type(parts[-1]) is ToolCall else "stop",
        finish_reason_raw="completed",
        usage=None if wire.usage is None else _usage(wire.usage),
        model=wire.model,
        wire_model=wire.model,
        id=wire.id or None,
        extra={NAME: said} if said else {},
    )


def _parts(wire: _Answer, context: DecodeContext) -> tuple[Part, ...] | None:
    """The parts of an answer; None where one is unusual, or stands behind a call."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    target = context.target
    for item in wire.output:
        if type(item) is _Call:
            sealed = None if item.id is None else _sealed({"id": item.id}, target)
            calls.append(ToolCall(item.call_id, item.name, item.arguments, False, sealed))
        elif calls:
            return None
        elif type(item) is _Message:
            if not item.content:
                return None
            sealed = _sealed({"id": item.id}, target)
            for part in item.content:
                parts.append(TextPart(part.text, (), None, sealed))
        else:
            parts.append(_thinking(item, target))
    if not calls:
        return tuple(parts)
    sound = sound_calls(calls, context)
    return None if sound is None else (*parts, *sound)


def _sealed(members: dict[str, Any], target: Target) -> Sealed:
    return Sealed(NAME, members, target.provider or None, target.model or None)


def _thinking(item: _Reasoning, target: Target) -> ThinkingPart:
    """A piece of reasoning, sealed whole."""
    members: dict[str, Any] = {"type": "reasoning"}
    if item.id is not None:
        members["id"] = item.id
    if item.status is not None:
        members["status"] = item.status
    members["summary"] = item.summary
    if item.encrypted_content is not None:
        members["encrypted_content"] = item.encrypted_content
    texts = [part["text"] for part in item.summary if "text" in part]
    return ThinkingPart("\n\n".join(texts), _sealed(members, target))


def _usage(wire: _Usage) -> Usage:
    extra: dict[str, Any] = {}
    if wire.total_tokens is not None and wire.total_tokens != wire.input_tokens + wire.output_tokens:
        extra["total_tokens"] = wire.total_tokens
    read, written = wire.input_tokens_details, wire.output_tokens_details
    return Usage(
        input_tokens=wire.input_tokens,
        output_tokens=wire.output_tokens,
        cache_read_tokens=None if read is None else read.cached_tokens,
        cache_write_tokens=None if read is None else read.cache_write_tokens,
        reasoning_tokens=None if written is None else written.reasoning_tokens,
        extra={NAME: extra} if extra else {},
    )
