"""Hypothesis strategies for what our own HTTP format says without loss, and for bodies that only look like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, cast, get_args

import msgspec
from hypothesis import strategies as st

from interlingua.dialects.unified import wire as shapes
from interlingua.stream.calls import settle_finish
from interlingua.types.capability import Effort
from interlingua.types.content import BrokenToolCall, Cache, Json, Part, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.request import Request, ServerState, ThinkingSummary
from interlingua.types.response import Alternative, FinishReason, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from interlingua.wire.json import WireStruct
from tests.support.strategies import (
    DIALECTS,
    alternatives,
    assistant_parts,
    attempts,
    broken_calls,
    changes,
    counts,
    image_parts,
    json_objects,
    json_values,
    media_parts,
    names,
    opaque_parts,
    refusal_parts,
    some_text,
    text_parts,
    texts,
    thinking_parts,
    tool_calls,
    usages,
)

__all__ = [
    "NAME", "broken_responses", "foreign", "later", "unified_conversations", "unified_requests", "unified_responses",
    "wild_bodies", "wild_events",
]  # fmt: skip

NAME = "unified"
OTHERS = tuple(name for name in DIALECTS if name != NAME)


def foreign(value: Any) -> Any:
    """A canonical value without members of our own dialect: a client has none."""
    return _with_extras(value, _none)


def later(value: Any) -> Any:
    """A canonical value whose members of our own dialect have names that only a later version could know."""
    return _with_extras(value, _renamed)


def _none(members: dict[str, Any]) -> dict[str, Any]:
    del members
    return {}


def _renamed(members: dict[str, Any]) -> dict[str, Any]:
    return {f"x_{name}": member for name, member in members.items()}


def _with_extras(value: Any, own: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = {name: _with_extras(getattr(value, name), own) for name in value.__struct_fields__ if name != "extra"}
        if "extra" in value.__struct_fields__:
            extra: dict[str, dict[str, Any]] = cast("Any", value).extra
            told = {dialect: own(members) if dialect == NAME else members for dialect, members in extra.items()}
            fields["extra"] = {dialect: members for dialect, members in told.items() if members or dialect != NAME}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, tuple):
        return tuple([_with_extras(item, own) for item in cast("tuple[Any, ...]", value)])
    return value


# Conversations

_prompts = text_parts | media_parts | opaque_parts
_said = text_parts | thinking_parts | refusal_parts | image_parts | opaque_parts
_content: st.SearchStrategy[Any] = (
    texts
    | st.builds(Json, json_values)
    | st.lists(text_parts | media_parts | opaque_parts | st.builds(Json, st.integers()), max_size=3).map(tuple)
)


@st.composite
def unified_conversations(draw: st.DrawFn) -> list[Message]:
    """A conversation of some turns, call ids unique; a call that was cut off may stand without its result."""
    found: list[Message] = []
    numbers = count()
    for _ in range(draw(st.integers(1, 2))):
        found.append(Message("user", tuple(draw(st.lists(_prompts, max_size=2))), draw(st.none() | names)))
        calls = [
            msgspec.structs.replace(call, id=f"call {next(numbers)}")
            for call in draw(st.lists(tool_calls | broken_calls, max_size=2))
        ]
        parts: list[Part] = draw(st.permutations([*draw(st.lists(_said, max_size=2)), *calls]))
        found.append(Message("assistant", tuple(parts)))
        answered = [call for call in calls if getattr(call, "reason", None) != "cut_off" or draw(st.booleans())]
        if answered:
            results = [
                ToolResult(call.id, call.name, draw(_content), draw(st.booleans()), draw(st.sampled_from([None, "5m"])))
                for call in answered
            ]
            found.append(Message("tool", tuple(results)))
    return [foreign(message) for message in found]


# Requests


def _property(text: str) -> dict[str, Any]:
    return {"type": "string", "description": f"a{text}"}


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _described(text: str) -> str:
    return f"A tool. {text}"


def _name_of(tool: Tool) -> str:
    return tool.name


_schemas: st.SearchStrategy[dict[str, Any]] = st.dictionaries(names, texts.map(_property), max_size=2).map(_schema)
_tools = st.builds(
    Tool,
    name=names,
    description=texts.map(_described),
    parameters=_schemas,
    strict=st.none() | st.booleans(),
    cache=st.sampled_from([None, "auto", "1h"]),
    freeform=st.none() | st.builds(Freeform, st.sampled_from(["text", "lark"]), st.none() | some_text),
    extra=st.dictionaries(st.sampled_from(OTHERS), json_objects, max_size=1),
)
_opaque_tools = st.builds(OpaqueTool, st.sampled_from(OTHERS), names, json_values)


_knobs: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "system": st.lists(text_parts, max_size=2).map(tuple),
        "output_schema": _schemas,
        "schema_name": names,
        "schema_description": some_text,
        "schema_strict": st.booleans(),
        "json_mode": st.booleans(),
        "max_tokens": counts,
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0, 1),
        "top_k": counts,
        "min_p": st.floats(0, 1),
        "stop": st.lists(some_text, max_size=2).map(tuple),
        "seed": st.integers(-(2**63), 2**63 - 1),
        "presence_penalty": st.floats(-2, 2),
        "frequency_penalty": st.floats(-2, 2),
        "logit_bias": st.dictionaries(st.sampled_from(["1", "50256"]), st.floats(-100, 100)),
        "logprobs": st.integers(0, 20),
        "n": st.integers(1, 8),
        "effort": st.sampled_from(get_args(Effort)),
        "thinking": st.booleans(),
        "thinking_summary": st.sampled_from(get_args(ThinkingSummary)),
        "thinking_budget": counts,
        "parallel_tool_calls": st.booleans(),
        "verbosity": st.sampled_from(["low", "high"]),
        "service_tier": names,
        "user": names,
        "metadata": json_objects,
        "store": st.booleans(),
        "cache": st.sampled_from(get_args(Cache)),
        "cache_key": names,
        "continues": st.builds(ServerState, st.sampled_from(OTHERS), json_objects),
        "extra": st.dictionaries(st.sampled_from(OTHERS), json_objects, max_size=2),
    },
)
"""Everything of a request but its conversation and its tools."""


@st.composite
def unified_requests(draw: st.DrawFn) -> Request:
    """Requests in which everything may be set, that keep to the rules."""
    tools: list[Any] = draw(st.lists(_tools, max_size=2, unique_by=_name_of))
    choices: list[Any] = [None, "auto", "none", "required"]
    if tools:
        choices += [NamedTool(tools[0].name), AllowedTools((tools[-1].name,), "required")]
    return foreign(
        Request(
            messages=tuple(draw(unified_conversations())),
            tools=tuple(draw(st.permutations([*tools, *draw(st.lists(_opaque_tools, max_size=1))]))),
            tool_choice=draw(st.sampled_from(choices)),
            **draw(_knobs),
        )
    )


# Answers


def _numbered(parts: tuple[Part, ...], numbers: Iterator[int]) -> tuple[Part, ...]:
    """The parts with call ids that are unique, and with broken calls that were cut off."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, BrokenToolCall):
            found.append(msgspec.structs.replace(part, id=f"call {next(numbers)}", reason="cut_off"))
        elif isinstance(part, ToolCall):
            found.append(msgspec.structs.replace(part, id=f"call {next(numbers)}"))
        else:
            found.append(part)
    return tuple(found)


def _lawful(response: Response[Any]) -> Response[Any]:
    numbers = count()
    parts = _numbered(response.parts, numbers)
    others = [_lawful_choice(one, numbers) for one in response.alternatives]
    reason = settle_finish(response.finish_reason, parts)
    return msgspec.structs.replace(
        response, parts=parts, finish_reason=reason, alternatives=tuple(others), request=None
    )


def _lawful_choice(one: Alternative, numbers: Iterator[int]) -> Alternative:
    parts = _numbered(one.parts, numbers)
    return msgspec.structs.replace(one, parts=parts, finish_reason=settle_finish(one.finish_reason, parts))


_responses: st.SearchStrategy[Response[Any]] = st.builds(
    Response,
    parts=st.lists(assistant_parts | media_parts | opaque_parts, max_size=3).map(tuple),
    finish_reason=st.sampled_from(get_args(FinishReason)),
    finish_reason_raw=st.none() | names,
    usage=st.none() | usages,
    model=names,
    wire_model=st.none() | names,
    id=st.none() | names,
    alternatives=st.lists(alternatives, max_size=1).map(tuple),
    changes=st.lists(changes, max_size=2).map(tuple),
    attempts=st.lists(attempts, max_size=1).map(tuple),
    cost_usd=st.none() | st.floats(0, 100),
    extra=st.dictionaries(st.sampled_from(DIALECTS), json_objects, max_size=2),
)
unified_responses: st.SearchStrategy[Response[Any]] = _responses.map(_lawful).map(later)
"""Answers in which everything may be set, with members of a later version too."""


def _failed(response: Response[Any], call: BrokenToolCall) -> Response[Any]:
    call = msgspec.structs.replace(call, reason="malformed")
    return msgspec.structs.replace(response, parts=(*response.parts, call))


broken_responses: st.SearchStrategy[Response[Any]] = st.builds(_failed, unified_responses, broken_calls.map(later))
"""Answers with a call that fails them."""


# Bodies that only look right: known members with values of any kind

_STRUCTS = [kind for kind in vars(shapes).values() if isinstance(kind, type) and issubclass(kind, WireStruct)]
_MEMBERS = sorted({name for kind in _STRUCTS for name in kind.__struct_fields__} | {"zzz", "index", "choice", "usage"})
_WORDS = [
    "user", "assistant", "system", "tool", "text", "image", "thinking", "tool_call", "tool_result", "opaque", "json",
    "broken_tool_call", "named_tool", "opaque_tool", "required", "stop", "length", "tool_calls", "cut_off", "5m",
    "AAAA", "{}", "f", "unified", "anthropic", "rate_limit_error",
]  # fmt: skip
_TYPES = [
    "stream_start", "block_start", "block_end", "text_delta", "thinking_delta", "tool_call_delta", "tool_call_ready",
    "data_delta", "seal", "annotation", "usage_update", "extra", "stream_end", "stream_error", "later",
]  # fmt: skip
_leaves = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(_WORDS)
_wild: st.SearchStrategy[Any] = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4),
    max_leaves=20,
)
_wild_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.sampled_from(_MEMBERS), _wild, max_size=3)
_part_members: dict[str, st.SearchStrategy[Any]] = {
    "text": some_text,
    "id": names,
    "name": names,
    "arguments": json_objects,
    "tool_call_id": names,
    "content": _wild,
    "dialect": names,
    "kind": names,
    "raw": _wild,
    "zzz": _wild,
}
_wild_part: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.sampled_from(_WORDS[4:14])}, optional=_part_members
)
_wild_parts: st.SearchStrategy[list[Any]] = st.lists(_wild_part, max_size=3)
_message_members: dict[str, st.SearchStrategy[Any]] = {"content": some_text, "parts": _wild_parts}
_wild_messages: st.SearchStrategy[list[Any]] = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(_WORDS[:4])}, optional=_message_members), max_size=3
)


def _request_of(messages: list[Any]) -> dict[str, Any]:
    return {"model": "m", "messages": messages}


def _answer_of(parts: list[Any]) -> dict[str, Any]:
    return {"model": "m", "parts": parts, "finish_reason": "stop"}


def _joined(pair: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return {**pair[0], **pair[1]}


_wild_requests = _wild_messages.map(_request_of)
_wild_answers = _wild_parts.map(_answer_of)
wild_bodies: st.SearchStrategy[dict[str, Any]] = st.one_of(
    _wild_objects,
    _wild_requests,
    _wild_answers,
    st.tuples(_wild_objects, _wild_requests | _wild_answers).map(_joined),
)
"""Parsed bodies in which every member may hold anything."""
_event_members: dict[str, st.SearchStrategy[Any]] = {
    "block": st.sampled_from(["text", "tool_call", "thinking", "image"]),
    "text": texts,
    "arguments": st.sampled_from(["{}", "{", '{"a":1}']),
    "name": names,
    "part": _wild_part,
    "response": _wild_answers,
    "error": st.just({"type": "rate_limit_error", "message": "Slow."}),
    "usage": st.just({"input_tokens": 1}),
    "zzz": _wild,
}
wild_events: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.sampled_from(_TYPES), "index": st.integers(0, 1)}, optional=_event_members
)
"""Parsed stream events in which every member may hold anything."""
