"""Hypothesis strategies for what Anthropic Messages can say without loss, and for bodies that only look like it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from interlingua.dialects.anthropic import wire as shapes
from interlingua.types.content import (
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Part,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import FinishReason, Response
from interlingua.types.tool import NamedTool, OpaqueTool, Tool
from interlingua.types.usage import Usage
from interlingua.wire.json import WireStruct
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

__all__ = [
    "NAME",
    "conversations",
    "messages_requests",
    "messages_responses",
    "wild_bodies",
    "wild_events",
]

NAME = "anthropic"

_extras: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(
    st.sampled_from(["x_new", "vendor"]), present_values
).map(lambda members: {NAME: members} if members else {})
"""Members that nobody knows."""
_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_ids = st.text(_letters, min_size=1, max_size=12).filter(lambda text: text not in ("null", "None"))
_names = st.text(_letters, min_size=1, max_size=12)

_words = some_text.map(lambda text: f"{text}." if text.isspace() else text)
"""Any text that says something: one of white space alone is not taken."""
_texts = st.builds(TextPart, _words, extra=_extras)
_images = st.builds(ImagePart, st.binary(max_size=9), st.sampled_from(["image/png", "image/webp"]), extra=_extras)
_documents = st.builds(
    DocumentPart, st.binary(max_size=9), st.just("application/pdf"), st.none() | some_text, extra=_extras
) | st.builds(DocumentPart, texts.map(str.encode), st.just("text/plain"), st.none() | some_text, extra=_extras)
_references = some_text.map(
    lambda url: OpaquePart(NAME, "media_ref", {"type": "image", "source": {"type": "url", "url": url}})
)
_prompt_parts = _texts | _images | _documents | _references

_seals = some_text.map(lambda text: Sealed(NAME, {"signature": text}))
_redacted = some_text.map(lambda text: ThinkingPart("", Sealed(NAME, {"data": text})))
_thinking = st.builds(ThinkingPart, texts, _seals) | _redacted
_citations = json_objects.map(lambda raw: Citation(NAME, {"type": "char_location", **raw}))
_said_texts = st.builds(TextPart, _words, st.lists(_citations, max_size=2).map(tuple), extra=_extras)
_ran = json_objects.map(
    lambda given: ServerToolPart(
        NAME,
        "server_tool_use",
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "s", "input": given},
        "s",
        "srvtoolu_1",
        given,
    )
)
_calls = st.builds(ToolCall, _ids, _names, argument_objects, extra=_extras)
_call_lists = st.lists(_calls, max_size=3, unique_by=lambda call: call.id)


@st.composite
def _turns(draw: st.DrawFn, taken: set[str]) -> tuple[list[Part], list[ToolCall]]:
    """What an assistant says, in any order, and its calls."""
    calls = [call for call in draw(_call_lists) if call.id not in taken]
    others: list[Part] = draw(st.lists(_thinking | _said_texts | _ran, min_size=0 if calls else 1, max_size=3))
    return draw(st.permutations([*others, *calls])), calls


def _results(calls: list[ToolCall]) -> st.SearchStrategy[Message]:
    media = st.lists(_images | _documents, min_size=1, max_size=2).map(tuple)
    return st.tuples(
        *[
            st.builds(
                ToolResult,
                st.just(call.id),
                st.just(call.name),
                some_text | media,
                is_error=st.booleans(),
                extra=_extras,
            )
            for call in calls
        ]
    ).map(lambda results: Message("tool", results))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A conversation of some turns, every call answered, call ids unique."""
    found: list[Message] = []
    taken: set[str] = set()
    for _ in range(draw(st.integers(1, 3))):
        found.append(Message("user", tuple(draw(st.lists(_prompt_parts, min_size=1, max_size=2)))))
        parts, calls = draw(_turns(taken))
        taken |= {call.id for call in calls}
        found.append(Message("assistant", tuple(parts)))
        if calls:
            found.append(draw(_results(calls)))
            found.append(Message("assistant", (TextPart("Then."),)))
    return found


_tools = st.builds(
    Tool,
    name=_names,
    description=st.none() | some_text,
    parameters=taken_schemas,
    strict=st.none() | st.booleans(),
    extra=_extras,
)


_options: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "system": st.lists(_texts, max_size=2).map(tuple),
        "output_schema": st.none() | taken_schemas,
        "max_tokens": counts,
        "temperature": st.none() | st.floats(0, 1),
        "top_k": st.none() | counts,
        "stop": st.lists(_words, max_size=2).map(tuple),
        "effort": st.none() | st.sampled_from(["low", "medium", "high", "xhigh", "max"]),
        "thinking": st.none() | st.booleans(),
        "user": st.none() | ids,
        "service_tier": st.none() | st.sampled_from(["auto", "standard_only"]),
        "cache": st.none() | st.sampled_from(["5m", "1h"]),
        "extra": _extras,
    }
)
"""What stands for itself."""


@st.composite
def messages_requests(draw: st.DrawFn) -> Request:
    """Requests that this dialect says without loss."""
    tools: list[Any] = draw(st.lists(_tools, max_size=3, unique_by=lambda tool: tool.name))
    choices: list[Any] = [(None, None), ("auto", None), ("none", None), ("required", True), ("auto", False)]
    if tools:
        choices += [(NamedTool(tools[0].name), True), (NamedTool(tools[0].name), False)]
    if draw(st.booleans()):
        tools.append(OpaqueTool(NAME, "web_search_1", {"type": "web_search_1", "name": "longer_than_drawn"}))
    choice, parallel = draw(st.sampled_from(choices if tools else choices[:1]))
    fields: dict[str, Any] = {
        "tool_choice": choice,
        "parallel_tool_calls": parallel,
        **draw(_options),
    }
    return Request(messages=tuple(draw(conversations())), tools=tuple(tools), **fields)


@st.composite
def _usage(draw: st.DrawFn) -> Usage:
    read, written = draw(st.none() | counts), draw(st.none() | counts)
    return Usage(
        input_tokens=draw(counts) + (read or 0) + (written or 0),
        output_tokens=draw(counts),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=draw(st.none() | counts),
    )


_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "max_tokens": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
    "tool_use": "tool_calls",
}


@st.composite
def messages_responses(draw: st.DrawFn) -> Response[Any]:
    """Answers that this dialect says without loss."""
    parts, calls = draw(_turns(set()))
    raw = draw(st.sampled_from(["end_turn", "max_tokens", "refusal", "pause_turn"]))
    is_cut = raw == "max_tokens" and any([call.arguments_json == "{}" for call in calls])  # that is a broken call
    if calls and (raw == "end_turn" or is_cut):
        raw = "tool_use"
    model = draw(names)
    return Response(
        parts=tuple(parts),
        finish_reason=_REASONS[raw],
        finish_reason_raw=raw,
        usage=draw(_usage()),
        model=model,
        wire_model=model,
        id=draw(ids),
        extra=draw(_extras),
    )


# Bodies that only look right: known members with values of any kind

_STRUCTS = [kind for kind in vars(shapes).values() if isinstance(kind, type) and issubclass(kind, WireStruct)]
_MEMBERS = sorted({name for kind in _STRUCTS for name in kind.__struct_fields__} | {"media_type", "ttl", "zzz"})
_WORDS = [
    "user", "assistant", "system", "text", "image", "document", "thinking", "redacted_thinking", "tool_use",
    "tool_result", "server_tool_use", "base64", "url", "end_turn", "max_tokens", "refusal", "auto", "any", "tool",
    "none", "json_schema", "ephemeral", "5m", "enabled", "adaptive", "disabled", "image/png", "AAAA", "{}", "{",
    "text_delta", "input_json_delta", "signature_delta", "citations_delta", "thinking_delta", "error", "f",
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
_wild_blocks: st.SearchStrategy[Any] = st.lists(
    st.tuples(_wild_objects, st.sampled_from(_WORDS[3:11])).map(lambda pair: {**pair[0], "type": pair[1]}), max_size=3
)
_wild_messages: st.SearchStrategy[Any] = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(_WORDS[:3]), "content": _wild_blocks | some_text}), max_size=3
)
wild_bodies: st.SearchStrategy[dict[str, Any]] = st.one_of(
    _wild_objects,
    st.tuples(_wild_objects, _wild_messages).map(lambda pair: {**pair[0], "model": "m", "messages": pair[1]}),
    st.tuples(_wild_objects, _wild_blocks).map(lambda pair: {**pair[0], "type": "message", "content": pair[1]}),
)
"""Parsed bodies in which every member may hold anything."""
wild_events: st.SearchStrategy[dict[str, Any]] = st.tuples(
    _wild_objects,
    st.sampled_from(
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "ping",
            "x",
        ]
    ),
    st.integers(0, 2),
    _wild_blocks.filter(bool),
).map(lambda event: {**event[0], "type": event[1], "index": event[2], "content_block": event[3][0]})
"""Parsed stream events in which every member may hold anything."""
