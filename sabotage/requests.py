"""Losses in a request: what a client asks, or what is sent for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

from msgspec.structs import replace

from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Json,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, NamedTool, Tool

__all__ = ["REQUESTS", "Spoil", "other_arguments"]

Spoil: TypeAlias = Callable[[Any], Any]
"""Gives a value with something lost; the value itself where it has nothing to lose."""

SETTINGS = (
    "max_tokens", "temperature", "top_p", "top_k", "stop", "seed", "presence_penalty", "frequency_penalty", "effort",
    "thinking", "thinking_budget", "service_tier", "user", "metadata", "logprobs",
    "verbosity", "store", "schema_strict",
)  # fmt: skip
"""Settings that are lost, each by itself."""


def parts_changed(request: Request, change: Callable[[Any], Any]) -> Request:
    """A request with every part put through `change`; None takes it out."""
    messages = [_message(message, change) for message in request.messages]
    system = tuple([part for one in request.system if (part := change(one)) is not None])
    return replace(request, messages=tuple(messages), system=system)


def _message(message: Message, change: Callable[[Any], Any]) -> Message:
    return replace(message, parts=tuple([part for one in message.parts if (part := change(one)) is not None]))


def first_only(change: Callable[[Any], Any], *kinds: type) -> Spoil:
    """A spoiler that changes the first part of these kinds alone."""

    def spoil(request: Any) -> Any:
        done: list[bool] = []

        def once(part: Any) -> Any:
            if done or not isinstance(part, kinds):
                return part
            changed = change(part)
            if changed is not part:
                done.append(True)
            return changed

        return parts_changed(request, once)

    return spoil


def _gone(part: Any) -> None:
    del part


def other_arguments(text: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """Arguments put through `change`, as text."""
    value = json.loads(text)
    changed = change(value)
    return text if changed == value else json.dumps(changed)


def _call(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Spoil:
    return first_only(lambda call: _with_arguments(call, change), ToolCall)


def _with_arguments(call: ToolCall, change: Callable[[dict[str, Any]], dict[str, Any]]) -> ToolCall:
    text = other_arguments(call.arguments_json, change)
    return call if text == call.arguments_json else replace(call, arguments_json=text)


def rounded(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments with fractions made whole and large numbers made round."""
    return {name: _rounded(value) for name, value in arguments.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round(value) if isinstance(value, float) else value // 10 * 10


def less(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments without the last one."""
    return dict(list(arguments.items())[:-1])


def less_inside(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments without the last member or item of the first object or list among them that has any."""
    for name, value in arguments.items():
        if value and isinstance(value, dict):
            return {**arguments, name: less(cast("dict[str, Any]", value))}
        if value and isinstance(value, list):
            return {**arguments, name: cast("list[Any]", value)[:-1]}
    return arguments


def as_texts(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments with numbers and truth values as text."""
    return {name: str(value) if isinstance(value, bool | int | float) else value for name, value in arguments.items()}


def pairs_swapped(parts: tuple[Any, ...], kind: type, *members: str) -> tuple[Any, ...]:
    """Parts in which two neighbours of a kind have each other's members."""
    places = [place for place, part in enumerate(parts) if isinstance(part, kind)]
    if len(places) < 2:
        return parts
    one, other = places[:2]
    spoiled = list(parts)
    first, second = parts[one], parts[other]
    spoiled[one] = replace(first, **{name: getattr(second, name) for name in members})
    spoiled[other] = replace(second, **{name: getattr(first, name) for name in members})
    return tuple(spoiled)


def _swapped(kind: type, *members: str) -> Spoil:
    def spoil(request: Any) -> Any:
        messages = [replace(one, parts=pairs_swapped(one.parts, kind, *members)) for one in request.messages]
        return replace(request, messages=tuple(messages))

    return spoil


# Texts


def _without_second_system(request: Any) -> Any:
    """Without the second text that is the system's."""
    if len(request.system) > 1:
        return replace(request, system=(request.system[0], *request.system[2:]))
    places = [place for place, one in enumerate(request.messages) if one.role == "system"]
    if len(places) + len(request.system) < 2:
        return request
    lost = places[0 if request.system else 1]
    return replace(request, messages=(*request.messages[:lost], *request.messages[lost + 1 :]))


def _without_last_message(request: Any) -> Any:
    plain = len(request.messages) > 1 and all(isinstance(part, TextPart) for part in request.messages[-1].parts)
    return replace(request, messages=request.messages[:-1]) if plain else request


def _system_as_user(request: Any) -> Any:
    if not request.system:
        return request
    return replace(request, system=(), messages=(Message("user", request.system), *request.messages))


def _roles_swapped(request: Any) -> Any:
    roles = {"user": "assistant", "assistant": "user"}
    plain = [all(isinstance(part, TextPart) for part in one.parts) for one in request.messages]
    if len(plain) < 2 or not all(plain):
        return request
    return replace(
        request, messages=tuple([replace(one, role=roles.get(one.role, one.role)) for one in request.messages])
    )


def _turns_swapped(request: Any) -> Any:
    places = [place for place, one in enumerate(request.messages) if one.role == "user" and one.parts]
    if len(places) < 2 or request.messages[places[0]].parts == request.messages[places[1]].parts:
        return request
    messages = list(request.messages)
    one, other = messages[places[0]], messages[places[1]]
    messages[places[0]], messages[places[1]] = replace(one, parts=other.parts), replace(other, parts=one.parts)
    return replace(request, messages=tuple(messages))


def text_cut(part: Any) -> Any:
    """A text without its last character."""
    return replace(part, text=part.text[:-1]) if len(part.text) > 1 else part


def text_stripped(part: Any) -> Any:
    """A text without the white space around it."""
    bare = part.text.strip()
    return replace(part, text=bare) if bare and bare != part.text else part


def text_ascii(part: Any) -> Any:
    """A text whose other letters are question marks."""
    plain = part.text.encode("ascii", "replace").decode()
    return replace(part, text=plain) if plain != part.text else part


def text_lines(part: Any) -> Any:
    """A text whose lines are one."""
    return replace(part, text=part.text.replace("\n", " ")) if "\n" in part.text else part


# Media, results, thinking


def other_type(part: Any) -> Any:
    """Media under another MIME type."""
    other = {"image": "image/gif", "audio": "audio/ogg"}.get(part.media_type.partition("/")[0], "text/csv")
    return replace(part, media_type=other) if part.media_type != other else part


def other_bytes(part: Any) -> Any:
    """Media without its last byte."""
    return replace(part, data=part.data[:-1])


def _content_cut(result: ToolResult) -> ToolResult:
    match result.content:
        case str(text) if len(text) > 1:
            return replace(result, content=text[:-1])
        case Json(value=dict(value)) if value:
            return replace(result, content=Json(less(value)))
        case tuple(parts) if parts:
            return replace(result, content=parts[:-1])
        case _:
            return result


def unsealed(part: Any) -> Any:
    """A part without its sealed state."""
    return replace(part, sealed=None) if part.sealed is not None else part


def _seal_changed(part: Any) -> Any:
    if part.sealed is None:
        return part
    data = {name: value[:-1] if isinstance(value, str) and value else value for name, value in part.sealed.data.items()}
    return replace(part, sealed=replace(part.sealed, data=data))


def _cache_short(part: Any) -> Any:
    return replace(part, cache="5m") if part.cache == "1h" else part


# Tools


def _tools(change: Callable[[Tool], Tool | None], *, last: bool = False) -> Spoil:
    def spoil(request: Any) -> Any:
        own = [tool for tool in request.tools if isinstance(tool, Tool)]
        target = own[-1:] if last else [tool for tool in own if change(tool) is not tool][:1]
        changed = [(change(tool) if any(tool is one for one in target) else tool) for tool in request.tools]
        return replace(request, tools=tuple([tool for tool in changed if tool is not None]))

    return spoil


def _schema(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Spoil:
    def spoil(tool: Tool) -> Tool:
        changed = change(tool.parameters)
        return replace(tool, parameters=changed) if changed != tool.parameters else tool

    return _tools(spoil)


def without_member(name: str) -> Callable[[Any], Any]:
    """A change of schemas: without a member, at any depth."""

    def change(schema: Any) -> Any:
        if isinstance(schema, list):
            return [change(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        return {key: change(value) for key, value in schema.items() if key != name or isinstance(value, dict)}

    return change


def _without_property(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(properties) < 2:
        return schema
    return {**schema, "properties": dict(list(properties.items())[:-1])}


def _no_tool(tool: Tool) -> None:
    del tool


def _choice(request: Any) -> Any:
    if request.tool_choice in (None, "auto") or not request.tools:
        return request
    return replace(request, tool_choice=None)


def _choice_loose(request: Any) -> Any:
    match request.tool_choice:
        case NamedTool() | AllowedTools(mode="required"):
            return replace(request, tool_choice="required") if len(request.tools) > 1 else request
        case _:
            return request


def _as_json_mode(request: Any) -> Any:
    return request if request.output_schema is None else replace(request, output_schema=None, json_mode=True)


def _output_schema(change: Callable[[Any], Any]) -> Spoil:
    def spoil(request: Any) -> Any:
        changed = None if request.output_schema is None else change(request.output_schema)
        return request if changed == request.output_schema else replace(request, output_schema=changed)

    return spoil


# Settings


def _unset(name: str) -> Spoil:
    def spoil(request: Any) -> Any:
        empty: Any = () if name == "stop" else None
        return request if getattr(request, name) == empty else replace(request, **{name: empty})

    return spoil


def _unset_where(name: str, matters: Callable[[Any], bool]) -> Spoil:
    """A loss of a setting where it says something else than the default."""

    def spoil(request: Any) -> Any:
        value = getattr(request, name)
        return replace(request, **{name: None}) if value is not None and matters(value) else request

    return spoil


def _set(name: str, change: Callable[[Any], Any]) -> Spoil:
    def spoil(request: Any) -> Any:
        value = getattr(request, name)
        return request if value in (None, ()) or change(value) == value else replace(request, **{name: change(value)})

    return spoil


def _texts() -> Iterator[tuple[str, Spoil]]:
    yield "second system text lost", _without_second_system
    yield "last message lost", _without_last_message
    yield "system text sent as the user's", _system_as_user
    yield "roles swapped", _roles_swapped
    yield "two turns of the user swapped", _turns_swapped
    yield "first text lost", first_only(_gone, TextPart)
    yield "last character of a text lost", first_only(text_cut, TextPart)
    yield "white space around a text lost", first_only(text_stripped, TextPart)
    yield "letters beyond ASCII lost", first_only(text_ascii, TextPart)
    yield "lines of a text joined", first_only(text_lines, TextPart)


def _parts() -> Iterator[tuple[str, Spoil]]:
    yield "image lost", first_only(_gone, ImagePart)
    yield "document lost", first_only(_gone, DocumentPart)
    yield "audio lost", first_only(_gone, AudioPart)
    yield "MIME type of media changed", first_only(other_type, ImagePart, AudioPart, DocumentPart)
    yield "last byte of media lost", first_only(other_bytes, ImagePart, AudioPart, DocumentPart)
    yield "thinking lost", first_only(_gone, ThinkingPart)
    yield "thinking text lost", first_only(lambda part: replace(part, text="") if part.text else part, ThinkingPart)
    yield "signature lost", first_only(unsealed, ThinkingPart, ToolCall)
    yield "signature cut", first_only(_seal_changed, ThinkingPart)
    yield "refusal lost", first_only(_gone, RefusalPart)
    yield "call and result lost", _pair_lost
    yield "step of a server tool lost", first_only(_gone, ServerToolPart)
    yield "arguments of parallel calls swapped", _swapped(ToolCall, "arguments_json")
    yield "ids of parallel calls swapped", _swapped(ToolCall, "id")
    yield "results of parallel calls swapped", _swapped(ToolResult, "content")
    yield "last argument of a call lost", _call(less)
    yield "last member inside of an argument lost", _call(less_inside)
    yield "numbers of a call rounded", _call(rounded)
    yield "numbers of a call sent as text", _call(as_texts)
    yield "name of a call changed", first_only(lambda call: replace(call, name=f"{call.name}_2"), ToolCall)
    yield "end of a result lost", first_only(_content_cut, ToolResult)
    yield "error flag of a result lost", first_only(_no_error, ToolResult)
    yield (
        "error flag of a result added",
        first_only(lambda one: one if one.is_error else replace(one, is_error=True), ToolResult),
    )


def _offers() -> Iterator[tuple[str, Spoil]]:
    yield "last tool lost", _tools(_no_tool, last=True)
    yield (
        "description of a tool lost",
        _tools(lambda tool: replace(tool, description=None) if tool.description else tool),
    )
    yield "description of a tool cut", _tools(_description_cut)
    yield "description of a parameter lost", _schema(without_member("description"))
    yield "required parameters lost", _schema(without_member("required"))
    yield "choices of a parameter lost", _schema(without_member("enum"))
    yield "last parameter lost", _schema(_without_property)
    yield "strict of a tool lost", _tools(lambda tool: replace(tool, strict=None) if tool.strict else tool)
    yield "name of a tool changed", _tools(lambda tool: replace(tool, name=f"{tool.name}_2"))
    yield "tool choice lost", _choice
    yield "named choice sent as any", _choice_loose
    yield "output schema lost", _output_schema(lambda _: None)
    yield "output schema sent as JSON mode", _as_json_mode
    yield "required members of the output lost", _output_schema(without_member("required"))


def _knobs() -> Iterator[tuple[str, Spoil]]:
    for name in SETTINGS:
        yield f"{name} lost", _unset(name)
    yield "parallel_tool_calls lost", _unset_where("parallel_tool_calls", lambda value: value is False)
    yield "n lost", _unset_where("n", lambda value: value > 1)
    yield "temperature rounded", _set("temperature", lambda value: float(round(value)))
    yield "max_tokens grown", _set("max_tokens", lambda value: value + 1)
    yield "last stop sequence lost", _set("stop", lambda value: value[:-1])
    yield "effort lowered", _set("effort", lambda _: "low")
    yield (
        "cache mark of a text lost",
        first_only(lambda part: replace(part, cache=None) if part.cache else part, TextPart),
    )
    yield "cache mark of a tool lost", _tools(lambda tool: replace(tool, cache=None) if tool.cache else tool)
    yield "cache mark shortened", first_only(_cache_short, TextPart)


def _no_error(result: ToolResult) -> ToolResult:
    return replace(result, is_error=False) if result.is_error else result


def _description_cut(tool: Tool) -> Tool:
    text = tool.description or ""
    return replace(tool, description=text[:-1]) if len(text) > 1 else tool


def _pair_lost(request: Any) -> Any:
    """Without the last call and the result that answers it."""
    calls = [part for message in request.messages for part in message.parts if isinstance(part, ToolCall)]
    if not calls:
        return request
    lost = calls[-1].id
    return parts_changed(
        request, lambda part: None if lost in (getattr(part, "id", None), getattr(part, "call_id", None)) else part
    )


REQUESTS: dict[str, Spoil] = dict([*_texts(), *_parts(), *_offers(), *_knobs()])
"""Every loss, by name."""
