"""The usual tools: functions with a name, a description and a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from interlingua.dialects._usual.tools import ToolName, usual_reader
from interlingua.types.tool import Tool
from interlingua.wire.json import ExactStruct

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.dialects._usual.tools import PlainTools, ReadUsualTools

__all__ = ["read_usual_tools", "write_usual_tools"]


class _Function(ExactStruct, omit_defaults=True, kw_only=True):
    name: ToolName
    description: str | None = None
    parameters: dict[str, Any]
    strict: bool | None = None


class _Tool(ExactStruct):
    type: Literal["function"]
    function: _Function


def _tools(wires: list[_Tool]) -> list[Tool]:
    return [
        Tool(name=told.name, description=told.description, parameters=told.parameters, strict=told.strict)
        for told in [wire.function for wire in wires]
    ]


read_usual_tools: ReadUsualTools = usual_reader(_Tool, _tools)


def write_usual_tools(tools: PlainTools, target: Target) -> list[_Tool]:
    """Plain tools, each with its schema as it is written, as elements of `tools`."""
    strict = target.quirks.strict_schemas
    return [
        _Tool(
            "function",
            _Function(
                name=tool.name,
                description=tool.description,
                parameters=schema,
                strict=tool.strict if strict else None,
            ),
        )
        for tool, schema in tools
    ]
