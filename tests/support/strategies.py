"""Hypothesis strategies for every canonical type: small values, strange texts, nothing that JSON cannot say."""

from __future__ import annotations

import string
from typing import Any, get_args

from hypothesis import strategies as st

from interlingua.stream.unfold import unfold
from interlingua.types.capability import Effort
from interlingua.types.change import CODES, Action, Change, Stage
from interlingua.types.content import (
    AudioPart,
    BrokenReason,
    BrokenToolCall,
    Cache,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Part,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockKind,
    BlockStart,
    DataDelta,
    Event,
    Extra,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.message import Message, Role
from interlingua.types.request import Request
from interlingua.types.response import Alternative, Attempt, FinishReason, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool, ToolChoice
from interlingua.types.usage import Usage
from interlingua.wire.json import encode

__all__ = [
    "alternatives",
    "argument_objects",
    "assistant_parts",
    "broken_calls",
    "changes",
    "conversations",
    "event_lists",
    "events",
    "json_objects",
    "json_values",
    "media_parts",
    "messages",
    "parts",
    "present_values",
    "requests",
    "responses",
    "sealed",
    "streams",
    "taken_schemas",
    "tool_calls",
    "tool_choices",
    "tool_results",
    "tools",
    "unnamed_values",
    "usages",
]

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified")


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def _tuples(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


texts = st.text(max_size=20)
"""Any text, every plane, empty ones too."""
some_text = st.text(min_size=1, max_size=20)
"""Any text but the empty one."""
# Texts over an alphabet, not regular expressions: those are drawn character by character, at twenty times the price.
_WORD = string.ascii_letters + string.digits + "_"
names = st.tuples(st.sampled_from(string.ascii_letters + "_"), st.text(_WORD, max_size=11)).map("".join)
"""Names of tools and parameters that every dialect takes."""
ids = st.text(_WORD + "-", min_size=1, max_size=24).filter(lambda text: text not in {"None", "null"})
"""Ids of calls and answers; the two words mean that there is none."""
numbers = st.floats(allow_nan=False, allow_infinity=False)
"""Finite floats."""
counts = st.integers(0, 2**53)
"""Counts of tokens and the like."""

_scalars = st.booleans() | st.integers() | numbers
_plain = st.none() | _scalars | texts
_flat = st.one_of(_plain, st.lists(_plain, max_size=3), st.dictionaries(texts, _plain, max_size=3))
_flat_lists = st.lists(_flat, max_size=3)
# Not filters of `json_values`: a filter goes into each choice, and `null` alone would never pass it.
unnamed_values: st.SearchStrategy[Any] = st.none() | _scalars | _flat_lists
"""Any JSON value but texts and objects."""
present_values: st.SearchStrategy[Any] = st.one_of(
    _scalars, texts, _flat_lists, st.dictionaries(texts, _flat, max_size=3)
)
"""Any JSON value but null."""
json_values: st.SearchStrategy[Any] = st.none() | present_values
"""Any JSON value, with integers beyond 64 bits."""
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(texts, json_values, max_size=3)
"""Any JSON object."""


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


taken_schemas: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    names,
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": "array", "items": {"type": "number"}},
            {"type": "string", "enum": ["a", "b"]},
            _closed({"x": {"type": "boolean"}}),
        ]
    ),
    max_size=3,
).map(_closed)
"""Schemas that every place of every dialect takes as they are, strict ones among them."""
extras = st.builds(dict[str, Any]) | st.dictionaries(st.sampled_from(DIALECTS), json_objects, max_size=2)
"""Wire members without a canonical field, by dialect."""
cache_marks = st.sampled_from(get_args(Cache))
"""Prompt-cache marks."""

sealed = st.builds(Sealed, st.sampled_from(DIALECTS), json_objects, provider=_maybe(ids), model=_maybe(ids))
"""Sealed reasoning state."""

citations = st.builds(Citation, st.sampled_from(DIALECTS), json_objects)
"""Annotations of texts."""

text_parts = st.builds(
    TextPart, some_text, _tuples(citations, 2), cache=_maybe(cache_marks), sealed=_maybe(sealed), extra=extras
)
"""Texts with annotations, marks and seals."""
image_parts = st.builds(
    ImagePart,
    st.binary(max_size=12),
    st.sampled_from(["image/png", "image/jpeg", "image/webp", "image/gif"]),
    detail=_maybe(st.sampled_from(["auto", "low", "high"])),
    cache=_maybe(cache_marks),
    sealed=_maybe(sealed),
    extra=extras,
)
"""Images whose bytes are anything."""
audio_parts = st.builds(
    AudioPart,
    st.binary(max_size=12),
    st.sampled_from(["audio/wav", "audio/mpeg"]),
    transcript=_maybe(some_text),
    cache=_maybe(cache_marks),
    extra=extras,
)
"""Audio whose bytes are anything."""
document_parts = st.builds(
    DocumentPart,
    st.binary(max_size=12),
    st.sampled_from(["application/pdf", "text/plain"]),
    name=_maybe(some_text),
    cache=_maybe(cache_marks),
    extra=extras,
)
"""Documents whose bytes are anything."""
media_parts = image_parts | audio_parts | document_parts
"""Parts that hold bytes."""
thinking_parts = st.builds(ThinkingPart, texts, _maybe(sealed), extra=extras)
"""Thinking, readable, sealed, both or neither."""
refusal_parts = st.builds(RefusalPart, some_text, extra=extras)
"""Refusals."""
opaque_parts = st.builds(
    OpaquePart,
    st.sampled_from(DIALECTS),
    st.sampled_from(["media_ref", "other"]),
    json_values,
    cache=_maybe(cache_marks),
)
"""Parts that one dialect alone understands."""

argument_objects = st.dictionaries(names, json_values, max_size=3).map(lambda value: encode(value).decode())
"""Texts of one JSON object with unique keys."""
tool_calls = st.builds(ToolCall, ids, names, argument_objects, st.booleans(), _maybe(sealed), extras)
"""Whole calls."""
broken_calls = st.builds(
    BrokenToolCall,
    ids,
    names,
    st.sampled_from(["", "{", '{"a": ', "[1]", '{"a":1,"a":2}', "no"]),
    st.sampled_from(get_args(BrokenReason)),
    extra=extras,
)
"""Broken calls."""
tool_results = st.builds(
    ToolResult,
    ids,
    names,
    texts | st.builds(Json, json_values) | _tuples(text_parts | media_parts | opaque_parts),
    is_error=st.booleans(),
    cache=_maybe(cache_marks),
    extra=extras,
)
"""Results: text, any JSON value, or parts."""

parts: st.SearchStrategy[Part] = (
    text_parts | media_parts | thinking_parts | refusal_parts | tool_calls | broken_calls | tool_results | opaque_parts
)
"""Every kind of part."""
assistant_parts = text_parts | thinking_parts | refusal_parts | tool_calls | broken_calls
"""What a model says, media aside."""

messages = st.builds(Message, st.sampled_from(get_args(Role)), _tuples(parts), name=_maybe(names), extra=extras)
"""Messages of any role with any parts."""
conversations = _tuples(messages, 4)
"""Messages in any order: what canonical JSON must carry, not what a provider would take."""

tools = st.builds(
    Tool,
    name=names,
    description=_maybe(some_text),
    parameters=json_objects,
    strict=_maybe(st.booleans()),
    cache=_maybe(cache_marks),
    freeform=_maybe(st.builds(Freeform, st.sampled_from(["text", "lark", "regex"]), _maybe(some_text))),
    metadata=json_objects,
    extra=extras,
) | st.builds(OpaqueTool, st.sampled_from(DIALECTS), names, json_values)
"""Functions and provider-run tools; the schemas are any JSON object."""
_CHOICES: tuple[ToolChoice, ...] = ("auto", "none", "required")
tool_choices: st.SearchStrategy[ToolChoice] = (
    st.sampled_from(_CHOICES)
    | st.builds(NamedTool, names)
    | st.builds(AllowedTools, _tuples(names), st.sampled_from(["auto", "required"]))
)
"""Every tool choice."""

requests = st.builds(
    Request,
    messages=conversations,
    system=_tuples(text_parts, 2),
    tools=_tuples(tools),
    tool_choice=_maybe(tool_choices),
    output_schema=_maybe(json_objects),
    schema_name=_maybe(names),
    schema_strict=_maybe(st.booleans()),
    json_mode=st.booleans(),
    max_tokens=_maybe(counts),
    temperature=_maybe(st.floats(0, 2)),
    top_p=_maybe(st.floats(0, 1)),
    top_k=_maybe(counts),
    min_p=_maybe(st.floats(0, 1)),
    stop=_tuples(some_text),
    seed=_maybe(st.integers(-(2**63), 2**63 - 1)),
    presence_penalty=_maybe(st.floats(-2, 2)),
    frequency_penalty=_maybe(st.floats(-2, 2)),
    logit_bias=_maybe(st.dictionaries(st.from_regex(r"[0-9]{1,5}", fullmatch=True), st.floats(-100, 100), max_size=2)),
    logprobs=_maybe(st.integers(0, 20)),
    n=_maybe(st.integers(1, 8)),
    effort=_maybe(st.sampled_from(get_args(Effort))),
    thinking_budget=_maybe(counts),
    parallel_tool_calls=_maybe(st.booleans()),
    verbosity=_maybe(st.sampled_from(["low", "medium", "high"])),
    service_tier=_maybe(names),
    user=_maybe(ids),
    metadata=_maybe(json_objects),
    store=_maybe(st.booleans()),
    cache=_maybe(cache_marks),
    extra=extras,
)
"""Requests in which everything may be set."""

usages = st.builds(
    Usage,
    input_tokens=_maybe(counts),
    output_tokens=_maybe(counts),
    cache_read_tokens=_maybe(counts),
    cache_write_tokens=_maybe(counts),
    reasoning_tokens=_maybe(counts),
    extra=extras,
)
"""Token counts, each known or not."""
changes = st.builds(
    Change,
    st.sampled_from(get_args(Action)),
    st.sampled_from(sorted(CODES)),
    texts,
    _maybe(st.sampled_from(DIALECTS)),
    _maybe(st.sampled_from(get_args(Stage))),
    texts,
)
"""Entries of what translation changed."""
attempts = st.builds(
    Attempt,
    model=names,
    outcome=st.sampled_from(["served", "failed", "skipped"]),
    error=_maybe(texts),
    status=_maybe(st.integers(100, 599)),
    duration_s=_maybe(st.floats(0, 600)),
)
"""Tries of a chain."""
alternatives = st.builds(
    Alternative,
    parts=_tuples(assistant_parts),
    finish_reason=st.sampled_from(get_args(FinishReason)),
    finish_reason_raw=_maybe(names),
    extra=extras,
)
"""Further choices."""
responses: st.SearchStrategy[Response[Any]] = st.builds(
    Response,
    parts=_tuples(assistant_parts | media_parts | opaque_parts),
    finish_reason=st.sampled_from(get_args(FinishReason)),
    finish_reason_raw=_maybe(names),
    usage=_maybe(usages),
    model=names,
    wire_model=_maybe(names),
    id=_maybe(ids),
    alternatives=_tuples(alternatives, 2),
    changes=_tuples(changes, 2),
    attempts=_tuples(attempts, 2),
    cost_usd=_maybe(st.floats(0, 100)),
    extra=extras,
    request=_maybe(requests),
)
"""Responses in which everything may be set."""

streams: st.SearchStrategy[list[Event]] = responses.map(lambda response: list(unfold(response)))
"""Lawful streams."""

_index = st.integers(0, 3)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(StreamStart, names, _maybe(names), _maybe(ids), extras),
    st.builds(BlockStart, _index, st.sampled_from(get_args(BlockKind)), _maybe(ids), _maybe(names), _index),
    st.builds(TextDelta, _index, some_text, _index),
    st.builds(ThinkingDelta, _index, some_text, _index),
    st.builds(ToolCallDelta, _index, some_text, _index),
    st.builds(RefusalDelta, _index, some_text, _index),
    st.builds(DataDelta, _index, st.binary(max_size=12), texts, _index),
    st.builds(Annotation, _index, citations, _index),
    st.builds(Seal, _index, sealed, _index),
    st.builds(BlockEnd, _index, parts, _index),
    st.builds(ToolCallReady, _index, tool_calls, _index),
    st.builds(UsageUpdate, usages),
    st.builds(Extra, st.sampled_from(DIALECTS), json_values),
    st.builds(StreamEnd, responses),
    st.builds(
        StreamError,
        st.sampled_from(["IncompleteStreamError", "RateLimitError", "DecodeError"]),
        texts,
        _maybe(st.integers(100, 599)),
        _maybe(names),
        _maybe(st.floats(0, 100)),
        _maybe(ids),
        _maybe(responses),
    ),
)
"""Any event; a list of them is seldom a lawful stream."""
event_lists = st.lists(events, max_size=4)
"""Events in any order."""
