"""Hypothesis strategies for what Ollama's wire can say without loss, and for bodies that only look like it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from interlingua.types.content import ImagePart, Part, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.types.usage import Usage
from tests.support.strategies import (
    argument_objects,
    counts,
    ids,
    names,
    present_values,
    some_text,
    taken_schemas,
    texts,
)

__all__ = ["NAME", "ollama_requests", "ollama_responses", "tool_turns", "wild_bodies"]

NAME = "ollama"

_extras: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(
    st.sampled_from(["x_new", "vendor"]), present_values
).map(lambda members: {NAME: members} if members else {})
"""Members that nobody knows."""
_images = st.sampled_from(
    [
        ImagePart(b"\x89PNG\r\n", "image/png"),
        ImagePart(b"\xff\xd8\xff\xe0", "image/jpeg"),
        ImagePart(b"RIFF\0\0\0\0WEBP", "image/webp"),
    ]
)
_calls: st.SearchStrategy[ToolCall] = st.builds(ToolCall, ids, names, argument_objects, extra=_extras)
_call_lists = st.lists(_calls, max_size=3, unique_by=lambda call: call.id)


@st.composite
def _said(draw: st.DrawFn, *, thinking: bool) -> tuple[Part, ...]:
    """Thinking, one text, images, in the order of the wire."""
    thoughts = draw(st.lists(some_text.map(ThinkingPart), max_size=1)) if thinking else []
    spoken = draw(st.lists(some_text.map(TextPart), max_size=1))
    return (*thoughts, *spoken, *draw(st.lists(_images, max_size=2)))


def _results(calls: list[ToolCall]) -> st.SearchStrategy[Message]:
    plain = texts.filter(lambda text: not text.startswith("ERROR: "))
    named = _extras.map(lambda extra: {NAME: {"field": "tool_name tool_call_id", **extra.get(NAME, {})}})
    results = [
        st.builds(ToolResult, st.just(call.id), st.just(call.name), plain, is_error=st.booleans(), extra=named)
        for call in calls
    ]
    return st.tuples(*results).map(lambda told: Message("tool", told))


@st.composite
def tool_turns(draw: st.DrawFn) -> list[Message]:
    """A conversation of some turns, every call answered, call ids unique."""
    found: list[Message] = []
    taken: set[str] = set()
    for _ in range(draw(st.integers(1, 3))):
        found.append(draw(st.builds(Message, st.just("user"), _said(thinking=False), extra=_extras)))
        calls = [call for call in draw(_call_lists) if call.id not in taken]
        taken |= {call.id for call in calls}
        found.append(Message("assistant", (*draw(_said(thinking=True)), *calls), extra=draw(_extras)))
        if calls:
            found.append(draw(_results(calls)))
    return found


_tools = st.builds(Tool, name=names, description=st.none() | some_text, parameters=taken_schemas, extra=_extras)


_options: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "system": st.lists(some_text.map(TextPart), max_size=1).map(tuple),
        "max_tokens": st.none() | st.integers(1, 9999),
        "temperature": st.none() | st.floats(0, 2),
        "top_p": st.none() | st.floats(0, 1),
        "top_k": st.none() | st.integers(0, 99),
        "stop": st.lists(some_text, max_size=2).map(tuple),
        "seed": st.none() | st.integers(0, 2**63 - 1),
        "logprobs": st.none() | st.integers(0, 20),
        "extra": _extras,
    }
)
"""What stands for itself."""


@st.composite
def ollama_requests(draw: st.DrawFn) -> Request:
    """Requests that this dialect says without loss."""
    schema = draw(st.none() | taken_schemas)
    fields: dict[str, Any] = {
        "json_mode": schema is None and draw(st.booleans()),
        "output_schema": schema,
        **draw(_options),
    }
    thought: dict[str, Any] = draw(
        st.sampled_from([{}, {"thinking": True}, {"thinking": False}, {"effort": "low"}, {"effort": "max"}])
    )
    tools = draw(st.lists(_tools, max_size=3, unique_by=lambda tool: tool.name))
    return Request(messages=tuple(draw(tool_turns())), tools=tuple(tools), **fields, **thought)


@st.composite
def ollama_responses(draw: st.DrawFn) -> Response[Any]:
    """Answers that this dialect says without loss, whole and streamed, in either form."""
    parts = draw(_said(thinking=True))
    calls = draw(_call_lists)
    raw = draw(st.sampled_from(["stop", "length", "load", "new"]))
    finish: Any = {"load": "stop", "new": "other"}.get(raw, raw)
    if calls and finish in ("stop", "other"):
        finish = "tool_calls"
    members: dict[str, Any] = draw(_extras).get(NAME, {}) | draw(
        st.sampled_from([{}, {"created_at": "2026-11-21T10:00:00Z"}])
    )
    if not any(isinstance(part, ImagePart) for part in parts):
        members |= draw(st.sampled_from([{}, {"field": "response"}]))
    model = draw(names)
    usage = st.builds(Usage, input_tokens=st.none() | counts, output_tokens=counts)
    return Response(
        parts=(*parts, *calls),
        finish_reason=finish,
        finish_reason_raw=raw,
        usage=draw(st.none() | usage),
        model=model,
        wire_model=model,
        extra={NAME: members} if members else {},
    )


_leaves: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "m", "user", "tool", "stop", "aXM="])
)
_wild_names = st.sampled_from(
    ["model", "messages", "message", "role", "content", "thinking", "images", "tool_calls", "function", "name", "id",
     "arguments", "tool_name", "tool_call_id", "done", "done_reason", "error", "status", "response", "prompt", "think",
     "format", "options", "stop", "num_predict", "context", "tools", "parameters", "eval_count", "logprobs", "x"]
)  # fmt: skip
_wild: st.SearchStrategy[Any] = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_wild_names, inner, max_size=4),
    max_leaves=12,
)
_turns: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"])},
    optional={
        "content": st.none() | texts,
        "thinking": texts,
        "images": st.lists(st.sampled_from(["iVBORw==", "?", "data:image/png;base64,AA=="]), max_size=2),
        "tool_calls": st.lists(st.fixed_dictionaries({"function": _wild | st.just({"name": "go"})}), max_size=2),
        "tool_name": texts,
        "tool_call_id": ids,
    },
)
_likely: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"model": st.just("m")},
    optional={
        "messages": st.lists(_turns, max_size=3),
        "message": _turns,
        "response": texts,
        "prompt": texts,
        "options": _wild,
        "done": st.booleans(),
        "done_reason": texts,
    },
)
wild_bodies: st.SearchStrategy[dict[str, Any]] = st.dictionaries(_wild_names, _wild, max_size=6) | _likely
"""Bodies with the members of the wire and anything in them."""
