"""Tools and tool choice, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._freeform import freeform_description, freeform_parameters
from interlingua.dialects._members import is_object, merge_members, plain
from interlingua.dialects.bedrock.parts import NAME, cache_of
from interlingua.dialects.bedrock.wire import SpecWire, ToolWire, check_union
from interlingua.errors import DecodeError
from interlingua.types.tool import NamedTool, OpaqueTool, Tool, empty_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.tool import ToolChoice

__all__ = ["choice_rest", "decode_choice", "decode_tools", "encode_choice", "encode_tool"]


_CHOICES = frozenset({"auto", "any", "tool"})
_NAMED = ("tool", "name")

# Reading


def decode_tools(wires: Sequence[ToolWire]) -> tuple[Tool | OpaqueTool, ...]:
    """The entries of `tools`; a mark belongs to the tool before it.

    Raises: DecodeError for a tool without a name.
    """
    tools: list[Tool | OpaqueTool] = []
    for place, wire in enumerate(wires):
        try:
            check_union(wire)
        except DecodeError as error:
            raise error.under(f"/toolConfig/tools/{place}") from None
        cache = None if wire.cachePoint is None else cache_of(wire.cachePoint)
        last = tools[-1] if tools else None
        if cache is not None and isinstance(last, Tool) and last.cache is None:
            tools[-1] = replace(last, cache=cache)
        else:
            tools.append(_tool(wire, f"/toolConfig/tools/{place}"))
    return tuple(tools)


def _tool(wire: ToolWire, path: str) -> Tool | OpaqueTool:
    spec = wire.toolSpec
    if spec is None:
        raw = plain(wire)
        return OpaqueTool(NAME, next(iter(raw), "unknown"), raw)
    if not spec.name:
        raise DecodeError(f"{path}/toolSpec/name: a tool must have a name", path=f"{path}/toolSpec/name")
    holder = spec.inputSchema or {}
    schema = holder.get("json")
    rest = {name: value for name, value in holder.items() if name != "json" or not is_object(value)}
    inner: dict[str, Any] = dict(spec.extra or {}) | ({"inputSchema": rest} if rest else {})
    extra: dict[str, Any] = dict(wire.extra or {}) | ({"toolSpec": inner} if inner else {})
    return Tool(
        name=spec.name,
        description=spec.description,
        parameters=schema if is_object(schema) else empty_parameters(),
        strict=spec.strict,
        extra={NAME: extra} if extra else {},
    )


def choice_rest(choice: dict[str, Any]) -> dict[str, Any]:
    """The members of a choice that no choice of ours has."""
    rest: dict[str, Any] = {}
    for kind, value in choice.items():
        if kind not in _CHOICES:
            rest[kind] = value
        elif is_object(value) and (inner := {name: one for name, one in value.items() if (kind, name) != _NAMED}):
            rest[kind] = inner
    return rest


def decode_choice(choice: dict[str, Any]) -> ToolChoice:
    """A tool choice; `choice_rest` has what it leaves.

    Raises: DecodeError for anything but `auto`, `any` and `tool`.
    """
    path = "/toolConfig/toolChoice"
    if len(_CHOICES.intersection(choice)) > 1:
        raise DecodeError(f"{path}: {choice!r} is more than one tool choice", path=path)
    match choice:
        case {"tool": {"name": str(name)}}:
            return NamedTool(name)
        case {"any": _}:
            return "required"
        case {"auto": _}:
            return "auto"
        case _:
            raise DecodeError(f"{path}: {choice!r} is no tool choice (auto, any, tool)", path=path)


# Writing


def encode_tool(tool: Tool, names: Mapping[str, str], path: str, *, quirks: Quirks, changes: Changes) -> ToolWire:
    """One entry of `tools`, without its mark."""
    parameters = tool.parameters
    if tool.freeform is not None:
        changes.add("freeform_as_function", path, "the dialect has no freeform tools")
        parameters = freeform_parameters()
    spec = SpecWire(
        name=names.get(tool.name, tool.name),
        description=freeform_description(tool) or None,
        inputSchema={"json": parameters},
    )
    if quirks.strict_schemas:
        spec.strict = tool.strict
    elif tool.strict:
        changes.add("strict_unsupported", f"{path}/strict")
    wire = ToolWire(toolSpec=spec)
    if tool.extra:
        note_foreign(changes, tool.extra, path)
        merge_members(wire, tool.extra.get(NAME, {}))
    return wire


def encode_choice(choice: ToolChoice | None, names: Mapping[str, str]) -> dict[str, Any] | None:
    """A tool choice on the wire; None where nothing has to be said."""
    match choice:
        case NamedTool(name=name):
            return {"tool": {"name": names.get(name, name)}}
        case "required":
            return {"any": {}}
        case "auto":
            return {"auto": {}}
        case _:
            return None
