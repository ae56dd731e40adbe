"""The usual tools: functions with a name, a description and a JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._usual.tools import ToolName, usual_reader
from interlingua.types.tool import EMPTY_PARAMETERS, Tool
from interlingua.wire.json import ExactStruct

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.dialects._schemas import PlainTools
    from interlingua.dialects._usual.tools import ReadUsualTools

__all__ = ["read_usual_tools", "write_usual_tools"]


class _Declaration(ExactStruct, omit_defaults=True, rename="camel", kw_only=True):
    name: ToolName
    description: str | None = None
    parameters_json_schema: dict[str, Any] | None = None


class _Tool(ExactStruct, rename="camel"):
    function_declarations: list[_Declaration]


def _tools(wires: list[_Tool]) -> list[Tool]:
    return [
        Tool(name=told.name, description=told.description)
        if told.parameters_json_schema is None
        else Tool(name=told.name, description=told.description, parameters=told.parameters_json_schema)
        for wire in wires
        for told in wire.function_declarations
    ]


read_usual_tools: ReadUsualTools = usual_reader(_Tool, _tools)


def write_usual_tools(tools: PlainTools, target: Target) -> list[_Tool] | None:
    """Plain tools, each with its schema as it is written, as one entry of `tools`; None for the OpenAPI form."""
    if target.quirks.schema_form == "openapi":
        return None
    return [
        _Tool([
            _Declaration(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=None if tool.parameters == EMPTY_PARAMETERS else schema,
            )
            for tool, schema in tools
        ])
    ]  # fmt: skip
