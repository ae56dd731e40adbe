"""The usual tools: a name, a description, and a schema that describes each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from interlingua.dialects._usual_tools import ToolName, usual_reader
from interlingua.dialects.unified.tools import check_tools
from interlingua.schema.tool_rules import filled
from interlingua.types.tool import Tool
from interlingua.wire.json import ExactStruct

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.dialects._usual_tools import PlainTools

__all__ = ["read_usual_tools", "write_usual_tools"]


class _Tool(ExactStruct, omit_defaults=True, kw_only=True):
    type: Literal["tool"] = "tool"
    name: ToolName
    description: str | None = None
    parameters: dict[str, Any]
    strict: bool | None = None


def _tools(wires: list[_Tool]) -> list[Tool]:
    tools = [
        Tool(name=wire.name, description=wire.description, parameters=wire.parameters, strict=wire.strict)
        for wire in wires
    ]
    check_tools(tools)
    return tools


read_usual_tools = usual_reader(_Tool, _tools)


def write_usual_tools(tools: PlainTools, target: Target) -> list[_Tool] | None:
    """Plain tools, each with its schema as it is written, as elements of `tools`; None where something is added."""
    del target
    if any([filled(tool) is not tool for tool, _ in tools]):  # noqa: C419 — a list is faster
        return None
    return [
        _Tool(name=tool.name, description=tool.description, parameters=schema, strict=tool.strict)
        for tool, schema in tools
    ]
