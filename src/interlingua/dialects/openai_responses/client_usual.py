"""The usual answer: pieces of reasoning, messages and then calls, and nothing that has to be interpreted.

Source: recorded answers of the reference server, November 2026.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._usual.answers import sound_calls
from interlingua.dialects.openai_responses.client import REPEATED, TOP_MEMBERS
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Count, Total, Usage
from interlingua.wire.json import MAX_DEPTH, ExactStruct, decode_any, exact_reader, shallow

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext, Target
    from interlingua.types.content import Part

__all__ = ["read_usual"]

if TYPE_CHECKING:
    _Scalar: TypeAlias = Any
    _Flat: TypeAlias = Any
    _Nested: TypeAlias = Any
else:
    _Scalar, _Flat, _Nested = shallow(0), shallow(1), shallow(3)


class _Text(ExactStruct, kw_only=True):
    type: Literal["output_text"]
    text: str
    annotations: tuple[()] | None = None
    logprobs: tuple[()] | None = None


@final
class _Message(ExactStruct, tag="message", tag_field="type", kw_only=True):
    id: str
    role: Literal["assistant"] | None = None
    status: Literal["completed"] | None = None
    content: list[_Text]


@final
class _Call(ExactStruct, tag="function_call", tag_field="type", kw_only=True):
    id: str | None = None
    status: Literal["completed"] | None = None
    call_id: str
    name: str
    arguments: str


@final
class _Reasoning(ExactStruct, tag="reasoning", tag_field="type", kw_only=True):
    id: str | None = None
    status: str | None = None
    summary: list[dict[str, str]]
    encrypted_content: str | None = None


class _InputDetails(ExactStruct):
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class _OutputDetails(ExactStruct):
    reasoning_tokens: Count | None = None


class _Usage(ExactStruct, kw_only=True):
    input_tokens: Count
    input_tokens_details: _InputDetails | None = None
    output_tokens: Count
    output_tokens_details: _OutputDetails | None = None
    total_tokens: Total | None = None


class _Answer(ExactStruct, kw_only=True):
    """The members in the order in which they come, since the parser looks for the next one first.

    Those that hold schemas are left as text: how deep they are is only looked at where they say something.
    """

    id: str
    object: Literal["response"] = "response"
    created_at: _Scalar = None
    status: Literal["completed"]
    background: _Scalar = None
    billing: _Flat = None
    completed_at: _Scalar = None
    error: None = None
    frequency_penalty: _Scalar = None
    incomplete_details: None = None
    instructions: _Scalar = None
    max_output_tokens: _Scalar = None
    max_tool_calls: _Scalar = None
    model: str
    moderation: _Nested = None
    output: list[_Message | _Call | _Reasoning]
    parallel_tool_calls: _Scalar = None
    presence_penalty: _Scalar = None
    previous_response_id: _Scalar = None
    prompt_cache_key: _Scalar = None
    prompt_cache_retention: _Scalar = None
    reasoning: _Flat = None
    safety_identifier: _Scalar = None
    service_tier: _Scalar = None
    store: _Scalar = None
    temperature: _Scalar = None
    text: Raw | UnsetType = UNSET
    tool_choice: _Nested = None
    tools: Raw | UnsetType = UNSET
    top_logprobs: _Scalar = None
    top_p: _Scalar = None
    truncation: _Scalar = None
    usage: _Usage | None = None
    user: _Scalar = None
    metadata: _Flat = None


_NAMES = tuple([name for name in TOP_MEMBERS if name in _Answer.__struct_fields__])
"""Members that only pass through, in the order in which they are kept."""
_FEW = ("created_at", "store", *REPEATED)
"""Those of them that an answer has which repeats nothing of its request."""
_beside: Callable[[_Answer], tuple[Any, ...]] = attrgetter(*_NAMES)
_repeated: Callable[[_Answer], tuple[Any, ...]] = attrgetter(*REPEATED)
_further: Callable[[_Answer], tuple[Any, ...]] = attrgetter(*[name for name in _NAMES if name not in _FEW])
_NOTHING_REPEATED = tuple([Raw(b"[]") if name == "tools" else nothing for name, nothing in REPEATED.items()])
_NOTHING_FURTHER = tuple([UNSET if name == "text" else None for name in _NAMES if name not in _FEW])
_read = exact_reader(_Answer)


def read_usual(body: bytes, context: DecodeContext) -> Response[Any] | None:
    """The response that a usual answer is; None for any other."""
    wire = _read(body)
    if wire is None:
        return None
    try:
        said = _said(wire)
    except (DecodeError, LimitExceededError):
        return None
    parts = _parts(wire, context)
    if parts is None:
        return None
    usage = wire.usage
    return Response(
        parts=parts,
        finish_reason="tool_calls" if parts and type(parts[-1]) is ToolCall else "stop",
        finish_reason_raw="completed",
        usage=None if usage is None else _usage(usage),
        model=wire.model,
        wire_model=wire.model or None,
        id=wire.id or None,
        extra={NAME: said} if said else {},
    )


def _said(wire: _Answer) -> dict[str, Any]:
    """The members that only pass through.

    Raises: DecodeError, LimitExceededError, for what was left as text.
    """
    if _further(wire) == _NOTHING_FURTHER and _repeated(wire) == _NOTHING_REPEATED:
        few: dict[str, Any] = {} if wire.created_at is None else {"created_at": wire.created_at}
        if wire.store is not None:
            few["store"] = wire.store
        return few
    said = {name: value for name, value in zip(_NAMES, _beside(wire), strict=True) if value is not None}
    for name in ("text", "tools"):
        value = None if said[name] is UNSET else decode_any(said[name], max_depth=MAX_DEPTH - 1)
        if value is None:
            del said[name]
        else:
            said[name] = value
    for name, nothing in REPEATED.items():
        if said.get(name) == nothing:
            said.pop(name, None)
    return said


def _parts(wire: _Answer, context: DecodeContext) -> tuple[Part, ...] | None:
    """The parts of an answer; None where one is unusual, or stands behind a call."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    provider, model = context.target.provider or None, context.target.model or None
    for item in wire.output:
        if type(item) is _Call:
            sealed = None if item.id is None else Sealed(NAME, {"id": item.id}, provider, model)
            calls.append(ToolCall(item.call_id, item.name, item.arguments, False, sealed))
        elif calls:
            return None
        elif type(item) is _Message:
            if not item.content:
                return None
            sealed = Sealed(NAME, {"id": item.id}, provider, model)
            parts += [TextPart(part.text, (), None, sealed) for part in item.content]
        else:
            parts.append(_thinking(item, context.target))
    if not calls:
        return tuple(parts)
    sound = sound_calls(calls, context)
    return None if sound is None else (*parts, *sound)


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
    sealed = Sealed(NAME, members, target.provider or None, target.model or None)
    texts = [part["text"] for part in item.summary if "text" in part]
    return ThinkingPart("\n\n".join(texts), sealed)


def _usage(wire: _Usage) -> Usage:
    given, output = wire.input_tokens, wire.output_tokens
    read, written = wire.input_tokens_details, wire.output_tokens_details
    extra: dict[str, Any] = {}
    if wire.total_tokens is not None and wire.total_tokens != given + output:
        extra[NAME] = {"total_tokens": wire.total_tokens}
    return Usage(
        input_tokens=given,
        output_tokens=output,
        cache_read_tokens=None if read is None else read.cached_tokens,
        cache_write_tokens=None if read is None else read.cache_write_tokens,
        reasoning_tokens=None if written is None else written.reasoning_tokens,
        extra=extra,
    )
