"""Hypothesis strategies for what generateContent can say without loss, and for bodies that only look like it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from interlingua.dialects.google import wire as shapes
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Json,
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
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.types.usage import Usage
from interlingua.wire.json import WireStruct
from tests.support.strategies import (
    argument_objects,
    counts,
    ids,
    json_objects,
    json_values,
    names,
    present_values,
    some_text,
    taken_schemas,
    unnamed_values,
)

__all__ = ["NAME", "google_conversations", "google_requests", "google_responses", "wild_bodies"]

NAME = "google"

_extras: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(
    st.sampled_from(["xNew", "vendor"]), present_values
).map(lambda members: {NAME: members} if members else {})
"""Members that nobody knows."""
_ids = ids.filter(lambda text: not text.startswith("call_"))
_seals = some_text.map(lambda text: Sealed(NAME, {"thoughtSignature": text}))

_texts = st.builds(TextPart, some_text, extra=_extras)
_images = st.builds(ImagePart, st.binary(max_size=9), st.sampled_from(["image/png", "image/webp"]), extra=_extras)
_media = (
    _images
    | st.builds(AudioPart, st.binary(max_size=9), st.just("audio/wav"), extra=_extras)
    | st.builds(
        DocumentPart,
        st.binary(max_size=9),
        st.sampled_from(["application/pdf", "video/mp4"]),
        st.none() | some_text,
        extra=_extras,
    )
)
_references = some_text.map(lambda uri: OpaquePart(NAME, "media_ref", {"fileData": {"fileUri": uri}}))
_code = some_text.map(
    lambda code: ServerToolPart(
        NAME, "executableCode", {"executableCode": {"code": code}}, "code_execution", input={"code": code}
    )
)
_signed = st.builds(TextPart, st.just("") | some_text, sealed=_seals)
_said = st.builds(TextPart, some_text) | _signed | _code
_calls = st.builds(
    ToolCall,
    _ids,
    names,
    argument_objects.filter(lambda text: "\n" not in text),
    sealed=st.none() | _seals,
    extra=_extras,
)


def _neighbours(part: Part) -> Any:
    """What joins with its like in a stream: unsigned texts, unsigned thoughts."""
    if isinstance(part, TextPart | ThinkingPart) and part.sealed is None and not part.extra:
        return type(part)
    return None


def _parted(parts: list[Part]) -> list[Part]:
    """Without neighbours that are one part in a stream."""
    kept: list[Part] = []
    for part in parts:
        if not kept or _neighbours(part) is None or _neighbours(part) is not _neighbours(kept[-1]):
            kept.append(part)
    return kept


@st.composite
def _turns(draw: st.DrawFn, taken: set[str], others: Any) -> tuple[list[Part], list[ToolCall]]:
    """What a model says, in any order, and its calls."""
    drawn: list[ToolCall] = draw(st.lists(_calls, max_size=3, unique_by=lambda call: call.id))
    calls = [call for call in drawn if call.id not in taken]
    said: list[Part] = draw(st.lists(others, min_size=0 if calls else 1, max_size=3))
    mixed = draw(st.permutations([*said, *calls]))
    return _parted(mixed), [part for part in mixed if isinstance(part, ToolCall)]


def _outcomes() -> st.SearchStrategy[Any]:
    return some_text | unnamed_values.map(Json) | st.lists(_media, min_size=1, max_size=2).map(tuple)


def _results(calls: list[ToolCall]) -> st.SearchStrategy[Message]:
    return st.tuples(
        *[
            st.builds(
                ToolResult,
                st.just(call.id),
                st.just(call.name),
                some_text if failed else _outcomes(),
                is_error=st.just(failed),
                extra=_extras,
            )
            for place, call in enumerate(calls)
            for failed in [place == 1]
        ]
    ).map(lambda results: Message("tool", results))


@st.composite
def google_conversations(draw: st.DrawFn) -> list[Message]:
    """A conversation of some turns, every call answered, call ids unique."""
    found: list[Message] = []
    taken: set[str] = set()
    thoughts = st.builds(ThinkingPart, some_text, st.none() | _seals)
    for _ in range(draw(st.integers(1, 3))):
        prompt = st.lists(_texts | _media | _references, min_size=1, max_size=2)
        found.append(Message("user", tuple(draw(prompt)), extra=draw(_extras)))
        parts, calls = draw(_turns(taken, _said | thoughts | _media))
        taken |= {call.id for call in calls}
        found.append(Message("assistant", tuple(parts)))
        if calls:
            found.append(draw(_results(calls)))
            found.append(Message("assistant", (TextPart("Then."),)))
    return found


_tools = st.builds(
    Tool,
    name=names,
    description=st.none() | some_text,
    parameters=taken_schemas,
    extra=_extras,
)


_options: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "system": st.lists(_texts, max_size=2).map(tuple),
        "max_tokens": st.none() | counts,
        "temperature": st.none() | st.floats(0, 2),
        "top_k": st.none() | counts,
        "seed": st.none() | counts,
        "n": st.none() | st.integers(1, 8),
        "logprobs": st.none() | st.integers(0, 20),
        "stop": st.lists(some_text, max_size=2).map(tuple),
        "thinking_summary": st.none() | st.sampled_from(["none", "auto"]),
        "metadata": st.none() | json_objects,
        "extra": _extras,
    }
)
"""What stands for itself."""


@st.composite
def google_requests(draw: st.DrawFn) -> Request:
    """Requests that this dialect says without loss."""
    tools: list[Any] = draw(st.lists(_tools, max_size=3, unique_by=lambda tool: tool.name))
    choices: list[Any] = [None]
    if tools:
        choices += ["auto", "none", "required"]
        own = tuple([tool.name for tool in tools])
        choices += [NamedTool(own[0]), AllowedTools(own, "auto")]
        choices += [AllowedTools(own, "required")] if len(own) > 1 else []
    choice = draw(st.sampled_from(choices))
    if draw(st.booleans()):
        tools.append(OpaqueTool(NAME, "googleSearch", {"googleSearch": {}}))
    schema = draw(st.none() | taken_schemas)
    effort = draw(st.none() | st.sampled_from(["minimal", "low", "medium", "high", "xhigh"]))
    budget = draw(st.none() | st.integers(1, 9000)) if effort is None else None
    fields: dict[str, Any] = {
        "tool_choice": choice,
        "output_schema": schema,
        "json_mode": draw(st.booleans()) if schema is None else False,
        "effort": effort,
        "thinking_budget": budget,
        "thinking": draw(st.none() | st.booleans()) if effort is None and budget is None else None,
        **draw(_options),
    }
    return Request(messages=tuple(draw(google_conversations())), tools=tuple(tools), **fields)


@st.composite
def _usage(draw: st.DrawFn) -> Usage:
    thoughts = draw(st.none() | counts)
    return Usage(
        input_tokens=draw(counts),
        output_tokens=draw(counts) + (thoughts or 0),
        cache_read_tokens=draw(st.none() | counts),
        reasoning_tokens=thoughts,
    )


_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "MALFORMED_FUNCTION_CALL": "error",
}


@st.composite
def google_responses(draw: st.DrawFn) -> Response[Any]:
    """Answers that this dialect says without loss, streamed too: signatures there follow on empty texts."""
    plain = st.builds(TextPart, some_text) | st.builds(ThinkingPart, some_text) | _code | _images
    empty = st.builds(TextPart, st.just(""), sealed=_seals) | st.builds(ThinkingPart, st.just(""), _seals)
    parts, calls = draw(_turns(set(), plain | empty))
    raw = draw(st.sampled_from(sorted(_REASONS)))
    model = draw(names)
    return Response(
        parts=tuple(parts),
        finish_reason="tool_calls" if calls and raw == "STOP" else _REASONS[raw],
        finish_reason_raw=raw,
        usage=draw(_usage()),
        model=model,
        wire_model=model,
        id=draw(ids),
        extra=draw(_extras),
    )


# Bodies that only look right: known members with values of any kind

_STRUCTS = [kind for kind in vars(shapes).values() if isinstance(kind, type) and issubclass(kind, WireStruct)]
_MEMBERS = sorted({name for kind in _STRUCTS for name in kind.__struct_fields__} | {"function_call", "jsonPath", "zzz"})
_WORDS = [
    "user", "model", "function", "STOP", "MAX_TOKENS", "AUTO", "ANY", "VALIDATED", "application/json", "image/png",
    "AAAA", "{}", "f", "$.a", "$.a[0]", "LOW", "STRING", "",
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
_piece: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"jsonPath": st.sampled_from(["$.a", "$.a[0]", "$.a[]", "$.a.b", "x"])},
    optional={"stringValue": some_text, "numberValue": st.integers(), "boolValue": st.booleans()},
)
_wild_call: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "name": names,
        "id": ids,
        "args": json_values,
        "willContinue": st.booleans(),
        "partialArgs": st.lists(_piece, max_size=2),
    },
)
_wild_text: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"text": some_text}, optional={"thought": st.booleans(), "thoughtSignature": some_text}
)
_wild_other: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "functionCall": _wild_call,
        "functionResponse": st.fixed_dictionaries({"name": names, "response": json_values}),
        "inlineData": st.fixed_dictionaries({"mimeType": st.just("image/png"), "data": st.just("AAAA")}),
        "thoughtSignature": some_text,
    },
)
_wild_part: st.SearchStrategy[Any] = st.one_of(_wild_text, _wild_other, _wild_objects)
_wild_parts: st.SearchStrategy[Any] = st.lists(_wild_part, max_size=3)
_wild_contents: st.SearchStrategy[Any] = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(_WORDS[:3]), "parts": _wild_parts}), max_size=3
)
_wild_candidates: st.SearchStrategy[Any] = st.lists(
    st.fixed_dictionaries(
        {"content": st.fixed_dictionaries({"parts": _wild_parts})},
        optional={"finishReason": st.sampled_from(["STOP", 2]), "index": st.integers(0, 2)},
    ),
    max_size=2,
)
wild_bodies: st.SearchStrategy[dict[str, Any]] = st.one_of(
    _wild_objects,
    st.tuples(_wild_objects, _wild_contents).map(lambda pair: {**pair[0], "contents": pair[1]}),
    _wild_contents.map(lambda contents: {"contents": contents}),
    st.tuples(_wild_objects, _wild_candidates).map(lambda pair: {**pair[0], "candidates": pair[1]}),
    _wild_candidates.map(lambda candidates: {"candidates": candidates}),
)
"""Parsed bodies in which every member may hold anything."""
