"""Tools of Responses in places that other targets do not know: in namespaces, and in items of the conversation.

Codex has the tools of its MCP servers in namespaces, and tells its newest models of all tools by an item.

Rules
- The tools of an item are tools of the request, wherever the item stands.
- Each becomes a tool of its own, under the name of its namespace and its own. What a namespace is for stands in the
  description of its first tool.
- Calls of a history are named alike; calls of the answer come back in their namespace.
- A request without any of this stays the very same object.

Source: description of Responses, `NamespaceToolParam`, `FunctionToolCall.namespace`, `AdditionalTools`; Codex 0.169.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import msgspec

from interlingua.dialects._members import is_list
from interlingua.dialects.openai_responses.tools import decode_tool
from interlingua.dialects.openai_responses.wire import ToolWire
from interlingua.errors import DecodeError
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, OpaquePart, ToolCall, ToolResult
from interlingua.types.event import BlockEnd, BlockStart, StreamEnd, ToolCallReady
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.json import decode_wire, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["Spaces", "in_spaces", "in_spaces_event", "without_spaces"]

DIALECT = "openai-responses"
MANY_NULLS = 1 << 30
"""For `encode`: whatever a client wrote may hold as many nulls as it likes."""
JOINT = "__"
"""The joint between the name of a namespace and that of a tool."""

Spaces: TypeAlias = dict[str, tuple[str, str]]
"""Name of a tool by itself -> its namespace, and its name there."""
P = TypeVar("P")


def without_spaces(request: Request) -> tuple[Request, Spaces]:
    """The request with every tool by itself, and where each belongs.

    Raises: DecodeError with the status 400 and the place, for a namespace or an item that holds no list of tools.
    """
    request = _without_items(request)
    if not any(_is_space(tool) for tool in request.tools):
        return request, {}
    spaces: Spaces = {}
    tools: list[Tool | OpaqueTool] = []
    for place, tool in enumerate(request.tools):
        tools += _opened(tool, spaces, place) if isinstance(tool, OpaqueTool) and _is_space(tool) else [tool]
    names: dict[str, str] = {}
    messages = tuple([_renamed_message(message, names) for message in request.messages])
    return msgspec.structs.replace(request, tools=tuple(tools), messages=messages), spaces


def _without_items(request: Request) -> Request:
    """The request with the tools that items of its conversation bring among its own."""
    items = [part for message in request.messages for part in message.parts if _is_item(part)]
    if not items:
        return request
    tools = [tool for item in items for tool in _tools(cast("OpaquePart", item).raw, "/input")]
    others = [
        msgspec.structs.replace(message, parts=tuple([part for part in message.parts if not _is_item(part)]))
        for message in request.messages
    ]
    messages = tuple([message for message in others if message.parts])
    return msgspec.structs.replace(request, tools=(*request.tools, *tools), messages=messages)


def _is_item(part: Part) -> bool:
    return isinstance(part, OpaquePart) and part.dialect == DIALECT and part.kind == "additional_tools"


def _tools(raw: dict[str, Any], path: str) -> list[Tool | OpaqueTool]:
    """The tools that an item or a namespace holds.

    Raises: DecodeError with the status 400 and the place, for what is no list of tools.
    """
    entries = raw.get("tools")
    if entries is None:
        return []
    path = f"{path}/tools"
    if not is_list(entries):
        raise DecodeError(f"{path}: expected a list, got {type(entries).__name__}", path=path, status=400)
    return [_tool(entry, f"{path}/{place}") for place, entry in enumerate(entries)]


def _tool(entry: object, path: str) -> Tool | OpaqueTool:
    try:
        wire = decode_wire(encode(entry, nulls=MANY_NULLS), ToolWire)
    except DecodeError as error:
        located = error.under(path)
        located.status = 400
        raise located from None
    try:
        return decode_tool(wire, Changes(DIALECT, "decode_request"), path)
    except DecodeError as error:
        error.status = 400
        raise


def _is_space(tool: Tool | OpaqueTool) -> bool:
    return isinstance(tool, OpaqueTool) and tool.dialect == DIALECT and tool.kind == "namespace"


def _opened(space: OpaqueTool, spaces: Spaces, at: int) -> Iterator[Tool | OpaqueTool]:
    """The tools of the namespace that is the tool at a place.

    Raises: DecodeError, as `_tools`.
    """
    raw = cast("dict[str, Any]", space.raw)
    name, about = str(raw.get("name", "")), raw.get("description")
    if about is not None and not isinstance(about, str):
        path = f"/tools/{at}/description"
        raise DecodeError(f"{path}: expected a string, got {type(about).__name__}", path=path, status=400)
    for place, tool in enumerate(_tools(raw, f"/tools/{at}")):
        if not isinstance(tool, Tool):
            yield tool
            continue
        description = tool.description if place or not about else "\n\n".join(filter(None, (tool.description, about)))
        alone = f"{name}{JOINT}{tool.name}"
        spaces[alone] = (name, tool.name)
        yield msgspec.structs.replace(tool, name=alone, description=description)


def _renamed_message(message: Message, names: dict[str, str]) -> Message:
    """A message of the conversation, its calls and results named as the tools are."""
    parts = tuple([_renamed_part(part, names) for part in message.parts])
    changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
    return msgspec.structs.replace(message, parts=parts) if changed else message


def _renamed_part(part: Part, names: dict[str, str]) -> Part:
    match part:
        case (
            ToolCall(extra={"openai-responses": {"namespace": str(space)}})
            | BrokenToolCall(extra={"openai-responses": {"namespace": str(space)}})
        ):
            alone = names[part.id] = f"{space}{JOINT}{part.name}"
            members = {name: value for name, value in part.extra[DIALECT].items() if name != "namespace"}
            rest = {dialect: own for dialect, own in part.extra.items() if dialect != DIALECT}
            return msgspec.structs.replace(part, name=alone, extra={**rest, DIALECT: members} if members else rest)
        case ToolResult(call_id=call_id) if call_id in names:
            return msgspec.structs.replace(part, name=names[call_id])
        case _:
            return part


# The answer


def in_spaces(response: Response[Any], spaces: Spaces) -> Response[Any]:
    """The answer with its calls in their namespaces."""
    if not spaces:
        return response
    alternatives = [
        msgspec.structs.replace(choice, parts=_placed_parts(choice.parts, spaces)) for choice in response.alternatives
    ]
    parts = _placed_parts(response.parts, spaces)
    return msgspec.structs.replace(response, parts=parts, alternatives=tuple(alternatives))


def in_spaces_event(event: Event, spaces: Spaces) -> Event:
    """An event with the call that it tells in its namespace."""
    match event:
        case BlockStart(name=str(name), extra=extra) if name in spaces:
            space, inner = spaces[name]
            return msgspec.structs.replace(event, name=inner, extra=_with_space(extra, space))
        case BlockEnd(part=part):
            return msgspec.structs.replace(event, part=_placed(part, spaces))
        case ToolCallReady(call=call):
            return msgspec.structs.replace(event, call=_placed(call, spaces))
        case StreamEnd(response=response):
            return StreamEnd(in_spaces(response, spaces))
        case _:
            return event


def _placed_parts(parts: tuple[Part, ...], spaces: Spaces) -> tuple[Part, ...]:
    return tuple([_placed(part, spaces) for part in parts])


def _placed(part: P, spaces: Spaces) -> P:
    if not isinstance(part, ToolCall | BrokenToolCall) or part.name not in spaces:
        return part
    space, inner = spaces[part.name]
    return cast("P", msgspec.structs.replace(part, name=inner, extra=_with_space(part.extra, space)))


def _with_space(extra: dict[str, dict[str, Any]], space: str) -> dict[str, dict[str, Any]]:
    return {**extra, DIALECT: {**extra.get(DIALECT, {}), "namespace": space}}
