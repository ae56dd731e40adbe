"""Hypothesis strategies for what Chat Completions can say without loss, and for bodies that only look like it."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from interlingua.dialects._freeform import freeform_parameters
from interlingua.dialects.openai_chat import wire as shapes
from interlingua.types.capability import Effort
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Part,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Alternative, FinishReason, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, Tool
from interlingua.types.usage import Usage
from interlingua.wire.json import WireStruct, encode
from tests.support.strategies import (
    argument_objects,
    counts,
    ids,
    json_objects,
    names,
    present_values,
    some_text,
    taken_schemas,
    texts,
)

__all__ = ["NAME", "chat_requests", "chat_responses", "tool_turns", "wild_bodies"]

NAME = "openai-chat"

_extras: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(
    st.sampled_from(["x_new", "vendor"]), present_values
).map(lambda members: {NAME: members} if members else {})
"""Members that nobody knows."""
_marks = st.none() | st.sampled_from(["5m", "1h"])
_efforts: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_texts = st.builds(TextPart, some_text, cache=_marks, extra=_extras)
_images = st.builds(
    ImagePart,
    st.binary(max_size=9),
    st.sampled_from(["image/png", "image/jpeg"]),
    st.none() | st.sampled_from(["low", "high"]),
    _marks,
    extra=_extras,
)
_audio = st.builds(
    AudioPart, st.binary(max_size=9), st.sampled_from(["audio/wav", "audio/mpeg"]), cache=_marks, extra=_extras
)
_documents = st.builds(
    DocumentPart, st.binary(max_size=9), st.just("application/pdf"), st.none() | some_text, _marks, extra=_extras
)
_prompt_parts = _texts | _images | _audio | _documents
_plain_texts = some_text.map(TextPart)

_details = st.lists(
    st.fixed_dictionaries({"type": st.just("reasoning.encrypted"), "data": texts}), min_size=1, max_size=2
)
_fields: st.SearchStrategy[dict[str, dict[str, Any]]] = st.sampled_from([{}, {NAME: {"field": "reasoning"}}])
_seals = _details.map(lambda details: Sealed(NAME, {"reasoning_details": details}))
_thinking = st.builds(ThinkingPart, some_text, st.none() | _seals, _fields) | st.builds(
    ThinkingPart, st.just(""), _seals, st.just({NAME: {"field": "reasoning_details"}})
)


def _calls(call_ids: st.SearchStrategy[str]) -> st.SearchStrategy[ToolCall]:
    sealed = st.dictionaries(st.just("google"), json_objects, min_size=1).map(
        lambda content: Sealed(NAME, {"extra_content": content})
    )
    plain = st.builds(ToolCall, call_ids, names, argument_objects, st.just(False), st.none() | sealed, _extras)
    freeform = st.builds(_freeform, call_ids, names, texts)
    return plain | freeform


def _freeform(call_id: str, name: str, text: str) -> ToolCall:
    return ToolCall(call_id, name, encode({"input": text}).decode(), freeform=True)


call_lists = st.lists(_calls(ids), max_size=3, unique_by=lambda call: call.id)
"""Calls of one turn."""


@st.composite
def _said(draw: st.DrawFn, *, whole: bool) -> tuple[Part, ...]:
    """What an assistant says; of a whole answer one text."""
    thinking = draw(st.lists(_thinking, max_size=1))
    spoken = draw(st.lists(_plain_texts, max_size=1) if whole else st.lists(_texts, max_size=2))
    refusal = draw(st.lists(some_text.map(RefusalPart), max_size=1))
    return (*thinking, *spoken, *refusal)


def _results(calls: list[ToolCall]) -> st.SearchStrategy[Message]:
    plain = texts.filter(lambda text: not text.startswith("ERROR: "))
    media = st.lists(_images | _documents, min_size=1, max_size=2).map(tuple)
    return st.tuples(
        *[
            st.builds(
                ToolResult, st.just(call.id), st.just(call.name), plain | media, is_error=st.booleans(), extra=_extras
            )
            for call in calls
        ]
    ).map(lambda results: Message("tool", results))


@st.composite
def tool_turns(draw: st.DrawFn) -> list[Message]:
    """A conversation of some turns, every call answered, call ids unique."""
    found: list[Message] = []
    taken: set[str] = set()
    for _ in range(draw(st.integers(1, 3))):
        prompt = st.builds(
            Message, st.just("user"), st.lists(_prompt_parts, max_size=2).map(tuple), st.none() | names, _extras
        )
        found.append(draw(prompt))
        calls = [call for call in draw(call_lists) if call.id not in taken]
        taken |= {call.id for call in calls}
        found.append(Message("assistant", (*draw(_said(whole=False)), *calls), extra=draw(_extras)))
        if calls:
            found.append(draw(_results(calls)))
    return found


_tools = st.builds(
    Tool,
    name=names,
    description=st.none() | some_text,
    parameters=taken_schemas,
    strict=st.none() | st.booleans(),
    cache=_marks,
    extra=_extras,
) | st.builds(
    Tool,
    name=names,
    description=st.none() | some_text,
    parameters=st.just(freeform_parameters()),
    cache=_marks,
    freeform=st.just(Freeform()) | st.builds(Freeform, st.sampled_from(["lark", "regex"]), some_text),
    extra=_extras,
)


_options: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "system": st.lists(_texts, max_size=2).map(tuple),
        "max_tokens": st.none() | counts,
        "temperature": st.none() | st.floats(0, 2),
        "top_p": st.none() | st.floats(0, 1),
        "stop": st.lists(some_text, max_size=2).map(tuple),
        "seed": st.none() | st.integers(-(2**63), 2**63 - 1),
        "logit_bias": st.none() | st.dictionaries(ids, st.floats(-100, 100), max_size=2),
        "logprobs": st.none() | st.integers(0, 20),
        "n": st.none() | st.integers(1, 8),
        "effort": st.none() | st.sampled_from(_efforts),
        "parallel_tool_calls": st.none() | st.booleans(),
        "user": st.none() | ids,
        "metadata": st.none() | json_objects,
        "store": st.none() | st.booleans(),
        "extra": _extras,
    }
)
"""What stands for itself."""


@st.composite
def chat_requests(draw: st.DrawFn) -> Request:
    """Requests that this dialect says without loss."""
    tools = draw(st.lists(_tools, max_size=3, unique_by=lambda tool: tool.name))
    choices: list[Any] = [None, "auto", "none", "required"]
    if tools:
        choices += [NamedTool(tools[0].name), AllowedTools((tools[-1].name,), "required")]
    schema = draw(st.none() | taken_schemas)
    fields: dict[str, Any] = {
        "tool_choice": draw(st.sampled_from(choices)),
        "json_mode": schema is None and draw(st.booleans()),
        **draw(_options),
    }
    if schema is not None:
        fields |= {
            "output_schema": schema,
            "schema_name": draw(names),
            "schema_strict": draw(st.none() | st.booleans()),
        }
    return Request(messages=tuple(draw(tool_turns())), tools=tuple(tools), **fields)


_usage = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    cache_read_tokens=st.none() | counts,
    cache_write_tokens=st.none() | counts,
    reasoning_tokens=st.none() | counts,
)


@st.composite
def _alternatives(draw: st.DrawFn, call_ids: st.SearchStrategy[str]) -> Alternative:
    said = draw(_said(whole=True))
    calls = draw(st.lists(_calls(call_ids), max_size=2, unique_by=lambda call: call.id))
    raw: Any = draw(st.sampled_from(["stop", "length", "content_filter"]))
    finish: FinishReason = raw
    if calls and raw == "stop":
        raw = finish = "tool_calls"
    elif raw == "stop" and any(isinstance(part, RefusalPart) for part in said):
        finish = "refusal"
    return Alternative(parts=(*said, *calls), finish_reason=finish, finish_reason_raw=raw)


@st.composite
def chat_responses(draw: st.DrawFn) -> Response[Any]:
    """Answers that this dialect says without loss; the ids of all calls differ."""
    choices = [
        draw(_alternatives(ids.map(lambda text, place=place: f"{place}-{text}")))
        for place in range(draw(st.integers(1, 2)))
    ]
    first, *others = choices
    model = draw(names)
    members: dict[str, Any] = msgspec.structs.asdict(first) | {"alternatives": tuple(others)}
    members.pop("extra")
    return Response(
        **members,
        usage=draw(st.none() | _usage),
        model=model,
        wire_model=model,
        id=draw(ids),
        extra=draw(_extras),
    )


# Bodies that only look right: known members with values of any kind

_STRUCTS = [kind for kind in vars(shapes).values() if isinstance(kind, type) and issubclass(kind, WireStruct)]
_MEMBERS = sorted({name for kind in _STRUCTS for name in kind.__struct_fields__} | {"url", "data", "grammar", "zzz"})
_WORDS = [
    "user", "assistant", "tool", "system", "function", "text", "image_url", "input_audio", "file", "thinking",
    "refusal", "custom", "stop", "length", "tool_calls", "auto", "allowed_tools", "json_schema", "grammar", "ephemeral",
    "{}", "{",
    "data:image/png;base64,AAAA", "data:;base64,!", "https://h/", "null",
]  # fmt: skip
_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(_WORDS)
)
_wild: st.SearchStrategy[Any] = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4),
    max_leaves=25,
)
_wild_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.sampled_from(_MEMBERS), _wild, max_size=4)
_wild_messages: st.SearchStrategy[list[Any]] = st.lists(
    st.tuples(_wild_objects, st.sampled_from(["user", "assistant", "tool", "system", "function"])).map(
        lambda pair: {**pair[0], "role": pair[1]}
    ),
    max_size=2,
)
_wild_choices: st.SearchStrategy[list[Any]] = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "delta": _wild_objects,
            "message": _wild_objects,
            "index": _leaves,
            "finish_reason": st.sampled_from(["stop", "length", None]),
        },
    ),
    max_size=2,
)
wild_bodies: st.SearchStrategy[dict[str, Any]] = st.one_of(
    _wild_objects,
    st.tuples(_wild_objects, _wild_messages).map(lambda pair: {**pair[0], "model": "m", "messages": pair[1]}),
    st.tuples(_wild_objects, _wild_choices).map(lambda pair: {**pair[0], "choices": pair[1], "error": None}),
)
"""Parsed bodies in which every member may hold anything."""
