"""Tools and tool choice, both ways; whether all tools are strict is one member of the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._freeform import freeform_description
from interlingua.dialects._members import merge_members, plain
from interlingua.dialects.cohere.parts import NAME
from interlingua.dialects.cohere.wire import FunctionWire, ToolWire
from interlingua.errors import DecodeError
from interlingua.types.tool import OpaqueTool, Tool, empty_parameters

if TYPE_CHECKING:
    from interlingua.types.tool import ToolChoice

__all__ = ["CHOICES", "decode_tool", "encode_tool"]

CHOICES: dict[str, ToolChoice] = {"REQUIRED": "required", "NONE": "none"}
"""The words of a tool choice; without one the model is free."""


def decode_tool(wire: ToolWire, path: str) -> Tool | OpaqueTool:
    """One entry of `tools`.

    Raises: DecodeError for a function without a name.
    """
    function = wire.function
    if function is None:
        if wire.type in (None, "function"):
            raise DecodeError(f"{path}: a tool without a function", path=path)
        return OpaqueTool(NAME, wire.type, plain(wire))
    if not function.name:
        raise DecodeError(f"{path}/function/name: a tool must have a name", path=f"{path}/function/name")
    extra: dict[str, Any] = dict(wire.extra) if wire.extra else {}
    if wire.type not in (None, "function"):
        extra["type"] = wire.type
    if function.extra:
        extra["function"] = dict(function.extra)
    return Tool(
        name=function.name,
        description=function.description,
        parameters=empty_parameters() if function.parameters is None else function.parameters,
        extra={NAME: extra} if extra else {},
    )


def encode_tool(tool: Tool, name: str) -> ToolWire:
    """One entry of `tools`, under its name on the wire; a freeform tool is a function that takes one string."""
    function = FunctionWire(name=name, description=freeform_description(tool), parameters=tool.parameters)
    wire = ToolWire(type="function", function=function)
    if tool.extra:
        merge_members(wire, tool.extra.get(NAME, {}))
    return wire
