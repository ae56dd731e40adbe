"""The usual tools: the caller's own, with a name, a description and a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._usual.tools import ToolName, usual_reader
from interlingua.types.tool import Tool
from interlingua.wire.json import ExactStruct

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.dialects._usual.tools import PlainTools, ReadUsualTools

__all__ = ["read_usual_tools", "write_usual_tools"]


class _Tool(ExactStruct, omit_defaults=True, kw_only=True):
    name: ToolName
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None


def _tools(wires: list[_Tool]) -> list[Tool]:
    return [
        Tool(name=wire.name, description=wire.description, parameters=wire.input_schema, strict=wire.strict)
        for wire in wires
    ]


read_usual_tools: ReadUsualTools = usual_reader(_Tool, _tools)


def write_usual_tools(tools: PlainTools, target: Target) -> list[_Tool]:
    """Plain tools, each with its schema as it is written, as elements of `tools`."""
    strict = target.quirks.strict_schemas
    return [
        _Tool(
            name=tool.name,
            description=tool.description,
            input_schema=schema,
            strict=tool.strict if strict else None,
        )
        for tool, schema in tools
    ]
