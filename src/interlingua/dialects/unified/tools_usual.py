"""The usual tools: a name, a description, and a schema that describes each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw

from interlingua.dialects._usual.tools import ToolName, usual_reader
from interlingua.dialects.unified.tools import check_tools
from interlingua.schema.tool_rules import describes_all
from interlingua.types.tool import Tool
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.dialects._schemas import PlainTools
    from interlingua.dialects._usual.tools import ReadUsualTools

__all__ = ["read_usual_tools", "write_usual_tools"]


class _Tool(ExactStruct, omit_defaults=True, kw_only=True):
    type: Literal["tool"] = "tool"
    name: ToolName
    description: str | None = None
    parameters: dict[str, Any]
    strict: bool | None = None


class _ToldTool(msgspec.Struct, gc=False, omit_defaults=True):
    name: str
    description: str | None
    parameters: Raw
    strict: bool | None = None


def _tools(wires: list[_Tool]) -> list[Tool]:
    tools = [
        Tool(name=wire.name, description=wire.description, parameters=wire.parameters, strict=wire.strict)
        for wire in wires
    ]
    check_tools(tools)
    return tools


read_usual_tools: ReadUsualTools = usual_reader(_Tool, _tools)


def write_usual_tools(tools: PlainTools, target: Target) -> list[_ToldTool] | None:
    """Plain tools, each with its schema as it is written, as elements of `tools`; None where something is added."""
    del target
    told: list[_ToldTool] = []
    for tool, schema in tools:
        text = encode_exact(schema)
        if not (tool.description or "").strip() or text is None or not describes_all(text):
            return None
        told.append(_ToldTool(tool.name, tool.description, Raw(text), tool.strict))
    return told
