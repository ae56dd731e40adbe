"""The usual tools: functions with a name, a description and a schema, and whether they are strict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from interlingua.dialects._usual.tools import ToolName, usual_reader
from interlingua.types.tool import Tool
from interlingua.wire.json import ExactStruct

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.dialects._schemas import PlainTools
    from interlingua.dialects._usual.tools import ReadUsualTools

__all__ = ["read_usual_tools", "write_usual_tools"]


class _Tool(ExactStruct, omit_defaults=True, kw_only=True):
    type: Literal["function"]
    name: ToolName
    description: str | None = None
    parameters: dict[str, Any]
    strict: bool


def _tools(wires: list[_Tool]) -> list[Tool]:
    return [
        Tool(name=wire.name, description=wire.description, parameters=wire.parameters, strict=wire.strict)
        for wire in wires
    ]


read_usual_tools: ReadUsualTools = usual_reader(_Tool, _tools)


def write_usual_tools(tools: PlainTools, target: Target) -> list[_Tool] | None:
    """Plain tools, each with its schema as it is written, as elements of `tools`; None where strictness is not said."""
    if not target.quirks.strict_schemas:
        return None
    return [
        _Tool(type="function", name=tool.name, description=tool.description, parameters=schema, strict=False)
        for tool, schema in tools
    ]
