"""Hypothesis strategies for what Responses can say without loss, and for bodies that only look like it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from interlingua.dialects._freeform import freeform_parameters
from interlingua.types.capability import Effort
from interlingua.types.content import (
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Part,
    RefusalPart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.types.request import Request, ServerState
from interlingua.types.response import FinishReason, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from interlingua.types.usage import Usage
from interlingua.wire.json import encode
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

__all__ = ["NAME", "responses_requests", "responses_responses", "wild_bodies"]

NAME = "openai-responses"

_extras: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(
    st.sampled_from(["x_new", "vendor"]), present_values
).map(lambda members: {NAME: members} if members else {})
"""Members that nobody knows."""
_efforts: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_images = st.builds(
    ImagePart,
    st.binary(min_size=1, max_size=9),
    st.sampled_from(["image/png", "image/jpeg"]),
    st.none() | st.sampled_from(["low", "high"]),
    extra=_extras,
)
_documents = st.builds(
    DocumentPart, st.binary(max_size=9), st.just("application/pdf"), st.none() | some_text, extra=_extras
)
_references = st.just(OpaquePart(NAME, "media_ref", {"type": "input_image", "image_url": "https://a.test/b.png"}))
_prompt_parts = st.builds(TextPart, some_text, extra=_extras) | _images | _documents | _references

_citations = st.lists(json_objects.filter(bool).map(lambda raw: Citation(NAME, raw)), max_size=2).map(tuple)


@st.composite
def _said(draw: st.DrawFn, taken: set[str]) -> tuple[Part, ...]:
    """What an assistant says in some order, every item with an id of its own."""
    made: list[Part] = []
    for kind in draw(
        st.lists(st.sampled_from(["reasoning", "text", "refusal", "hosted", "call", "patch"]), max_size=5)
    ):
        number = f"{len(taken)}_{len(made)}"
        match kind:
            case "reasoning":
                text = draw(texts)
                summary = [{"type": "summary_text", "text": text}] if text else []
                item = {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": draw(texts)}
                made.append(ThinkingPart(text, Sealed(NAME, item)))
            case "text":
                members = {"id": f"msg_{number}", **draw(st.sampled_from([{}, {"phase": "commentary"}]))}
                made.append(TextPart(draw(texts), draw(_citations), sealed=Sealed(NAME, members), extra=draw(_extras)))
            case "refusal":
                extra = draw(_extras).get(NAME, {})
                made.append(RefusalPart(draw(some_text), {NAME: {**extra, "item": {"id": f"msg_{number}"}}}))
            case "hosted":
                action = draw(json_objects)
                given = {name: value for name, value in action.items() if value is not None}
                item = {"type": "web_search_call", "id": f"ws_{number}", "action": action}
                made.append(ServerToolPart(NAME, "web_search_call", item, "web_search", f"ws_{number}", given))
            case _:
                made.append(draw(_calls(number, freeform=kind == "patch")))
    calls = [part.id for part in made if isinstance(part, ToolCall)]
    kept = [
        part for part in made if not isinstance(part, ToolCall) or (part.id not in taken and calls.count(part.id) == 1)
    ]
    taken.update(calls)
    return tuple(kept)


@st.composite
def _calls(draw: st.DrawFn, number: str, *, freeform: bool) -> ToolCall:
    text = encode({"input": draw(texts)}).decode() if freeform else draw(argument_objects)
    prefix = "ctc" if freeform else "fc"
    sealed = Sealed(NAME, {"id": f"{prefix}_{number}"}) if draw(st.booleans()) else None
    return ToolCall(draw(ids), draw(names), text, freeform, sealed, draw(_extras))


def _result(call: ToolCall) -> st.SearchStrategy[ToolResult]:
    plain = texts.filter(lambda text: not text.startswith("ERROR: "))
    media = st.lists(_images | _documents | _references, min_size=1, max_size=2).map(tuple)
    return st.builds(ToolResult, st.just(call.id), st.just(call.name), plain | media, extra=_extras) | st.builds(
        ToolResult, st.just(call.id), st.just(call.name), texts, is_error=st.just(True), extra=_extras
    ).filter(lambda result: not str(result.content).startswith("ERROR: "))


@st.composite
def _turns(draw: st.DrawFn) -> tuple[Message, ...]:
    """A conversation of some turns, every call answered, call ids unique."""
    found: list[Message] = []
    taken: set[str] = set()
    for _ in range(draw(st.integers(1, 3))):
        role: Any = draw(st.sampled_from(["user", "system"]))
        found.append(Message(role, tuple(draw(st.lists(_prompt_parts, max_size=2))), extra=draw(_extras)))
        said = draw(_said(taken))
        if said:
            found.append(Message("assistant", said))
        results = [draw(_result(part)) for part in said if isinstance(part, ToolCall)]
        if results:
            found.append(Message("tool", tuple(results)))
    return tuple(found)


_tools = (
    st.builds(
        Tool,
        name=names,
        description=st.none() | some_text,
        parameters=taken_schemas,
        strict=st.booleans(),
        extra=_extras,
    )
    | st.builds(
        Tool,
        name=names,
        description=st.none() | some_text,
        parameters=st.just(freeform_parameters()),
        freeform=st.just(Freeform()) | st.builds(Freeform, st.sampled_from(["lark", "regex"]), some_text),
        extra=_extras,
    )
    | st.just(OpaqueTool(NAME, "mcp", {"type": "mcp", "server_label": "x"}))
)


_options: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "system": st.lists(some_text.map(TextPart), max_size=1).map(tuple),
        "max_tokens": st.none() | counts,
        "temperature": st.none() | st.floats(0, 2),
        "top_p": st.none() | st.floats(0, 1),
        "effort": st.none() | st.sampled_from(_efforts),
        "thinking_summary": st.none() | st.sampled_from(["auto", "concise", "detailed"]),
        "verbosity": st.none() | st.sampled_from(["low", "high"]),
        "parallel_tool_calls": st.none() | st.booleans(),
        "service_tier": st.none() | ids,
        "user": st.none() | ids,
        "metadata": st.none() | json_objects,
        "store": st.none() | st.booleans(),
        "cache_key": st.none() | ids,
        "continues": st.none() | ids.map(lambda one: ServerState(NAME, {"previous_response_id": one})),
        "extra": _extras,
    }
)
"""What stands for itself."""


@st.composite
def responses_requests(draw: st.DrawFn) -> Request:
    """Requests that this dialect says without loss."""
    tools = draw(st.lists(_tools, max_size=3, unique_by=lambda tool: getattr(tool, "name", "")))
    own = [tool.name for tool in tools if isinstance(tool, Tool)]
    choices: list[Any] = [None, "auto", "none", "required"]
    if own:
        choices += [NamedTool(own[0]), AllowedTools((own[-1],), "required")]
    schema = draw(st.none() | taken_schemas)
    fields: dict[str, Any] = {
        "tool_choice": draw(st.sampled_from(choices)),
        "json_mode": schema is None and draw(st.booleans()),
        **draw(_options),
    }
    if schema is not None:
        described = draw(st.none() | some_text)
        fields |= {"output_schema": schema, "schema_name": draw(names), "schema_strict": draw(st.booleans())}
        fields |= {"schema_description": described}
    return Request(messages=draw(_turns()), tools=tuple(tools), **fields)


_usage = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    cache_read_tokens=st.none() | counts,
    cache_write_tokens=st.none() | counts,
    reasoning_tokens=st.none() | counts,
)


@st.composite
def responses_responses(draw: st.DrawFn) -> Response[Any]:
    """Answers that this dialect says without loss."""
    said = draw(_said(set()))
    raw, finish = draw(
        st.sampled_from([("completed", "stop"), ("incomplete/max_output_tokens", "length"), ("incomplete/x", "other")])
    )
    reason: FinishReason = finish  # type: ignore[assignment] - one of the words above
    if raw == "completed" and any(isinstance(part, RefusalPart) for part in said):
        reason = "refusal"
    if reason != "length" and any(isinstance(part, ToolCall) for part in said):
        reason = "tool_calls"
    return Response(
        parts=said,
        finish_reason=reason,
        finish_reason_raw=raw,
        usage=draw(st.none() | _usage),
        model="m",
        wire_model="m",
        id=draw(st.none() | ids),
        extra=draw(_extras),
    )


_words = st.sampled_from(
    ["type", "message", "reasoning", "function_call", "item", "content", "delta", "response", "output", "id", "status",
     "response.output_item.added", "response.output_text.delta", "response.output_item.done", "response.completed",
     "response.function_call_arguments.delta", "call_id", "name", "arguments", "completed", "item_id", "output_index",
     "part", "role", "assistant", "custom_tool_call", "input", "text", "output_text", "summary", "error"]
)  # fmt: skip
wild_bodies = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | _words | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=5),
    max_leaves=12,
)
"""JSON that uses the dialect's words in the wrong places."""
