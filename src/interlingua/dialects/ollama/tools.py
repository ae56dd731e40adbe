"""Tools, tool choice and structured output, both ways.

The server keeps of a parameter schema only what its templates can show and drops the rest without a word; schemas are
sent whole all the same, since servers differ and ignore what they do not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._freeform import freeform_description
from interlingua.dialects._members import merge_members, plain
from interlingua.dialects.ollama.parts import NAME
from interlingua.dialects.ollama.wire import FunctionWire, ToolWire
from interlingua.errors import DecodeError, UsageError
from interlingua.types.tool import EMPTY_PARAMETERS, AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.tool import ToolChoice

__all__ = ["check_choice", "chosen_names", "decode_tool", "encode_tool", "schema_prompt"]


# Reading


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
        parameters=dict(EMPTY_PARAMETERS) if function.parameters is None else function.parameters,
        extra={NAME: extra} if extra else {},
    )


# Writing


def encode_tool(tool: Tool) -> ToolWire:
    """One entry of `tools`; a freeform tool is a function that takes one string."""
    function = FunctionWire(name=tool.name, description=freeform_description(tool), parameters=tool.parameters)
    wire = ToolWire(type="function", function=function)
    if tool.extra:
        merge_members(wire, tool.extra.get(NAME, {}))
    return wire


def chosen_names(choice: ToolChoice | None) -> frozenset[str]:
    """The only tools that a choice leaves; empty when it leaves all."""
    match choice:
        case NamedTool(name=name):
            return frozenset({name})
        case AllowedTools(names=names):
            return frozenset(names)
        case _:
            return frozenset()


def check_choice(choice: ToolChoice | None, tools: Sequence[Tool | OpaqueTool]) -> None:
    """Nothing; every tool that the choice names is there.

    Raises: UsageError for one that is not; an opaque tool may have any name.
    """
    known = {tool.name for tool in tools if isinstance(tool, Tool)}
    unknown = sorted(chosen_names(choice) - known)
    if unknown and len(known) == len(tools):
        names = ", ".join(repr(name) for name in unknown)
        raise UsageError(f"tool_choice names {names}, and no such tool is in the request")


def schema_prompt(schema: dict[str, Any] | None) -> str:
    """What asks a server for structured output that ignores `format`."""
    if schema is None:
        return "Answer with one JSON object and nothing else."
    return f"Answer with JSON that fits this JSON Schema, and nothing else:\n{encode(schema).decode()}"
