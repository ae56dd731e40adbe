"""Tools, tool choice and structured output, both ways.

Rules
- `strict` is on where nothing is said, so `false` is sent where nobody asked for it; a client's own silence is kept as
  a null in `extra` and comes back as silence.
- A choice that names tools which the provider runs has no canonical form; it stays a member of the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._freeform import as_function, freeform_parameters
from interlingua.dialects._members import is_list, is_object, merge_members, plain, text_or_none
from interlingua.dialects._openai.calls import decode_choice as decode_known_choice
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.wire import FormatWire, ToolWire
from interlingua.errors import DecodeError
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool, empty_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.request import Request
    from interlingua.types.tool import ToolChoice

__all__ = ["decode_choice", "decode_tool", "encode_choice", "encode_format", "encode_tool"]

CALLABLE = ("function", "custom")
"""The kinds of tools that the client runs."""
DEFAULT_SCHEMA_NAME = "response"
"""The schema's name when the caller gave none."""


# Reading


def decode_tool(wire: ToolWire, changes: Changes, path: str) -> Tool | OpaqueTool:
    """One entry of `tools`; the nested shape of Chat is understood.

    Raises: DecodeError for a function without a name.
    """
    if wire.type not in (None, *CALLABLE):
        return OpaqueTool(NAME, wire.type or "unknown", plain(wire))
    if wire.function is not None:
        changes.add("foreign_shape", path, "the nested shape of another dialect")
        merge_members(wire, wire.function)
        wire.function = None
    if not wire.name:
        raise DecodeError(f"{path}/name: a tool must have a name", path=f"{path}/name")
    extra: dict[str, Any] = dict(wire.extra or {})
    if wire.type == "custom":
        form = wire.format or {}
        syntax = text_or_none(form.get("syntax"), f"{path}/format/syntax")
        return Tool(
            name=wire.name,
            description=wire.description,
            parameters=freeform_parameters(),
            freeform=Freeform(syntax or "text", text_or_none(form.get("definition"), f"{path}/format/definition")),
            extra={NAME: extra} if extra else {},
        )
    if wire.strict is None:
        extra["strict"] = None
    return Tool(
        name=wire.name,
        description=wire.description,
        parameters=empty_parameters() if wire.parameters is None else wire.parameters,
        strict=wire.strict,
        extra={NAME: extra} if extra else {},
    )


def decode_choice(choice: str | dict[str, Any], changes: Changes) -> ToolChoice | None:
    """A tool choice; None for one that names tools which the provider runs.

    Raises: DecodeError for anything else.
    """
    if is_object(choice):
        kind, tools = choice.get("type"), choice.get("tools")
        if kind == "allowed_tools" and is_list(tools):
            is_hosted = any(is_object(tool) and tool.get("type") not in CALLABLE for tool in tools)
        else:
            is_hosted = kind not in (*CALLABLE, None, "allowed_tools", "auto", "none", "any", "required", "tool")
        if is_hosted:
            return None
    return decode_known_choice(choice, changes)


# Writing


def encode_tool(tool: Tool, names: Mapping[str, str], quirks: Quirks, changes: Changes, path: str) -> ToolWire:
    """One entry of `tools`."""
    name = names.get(tool.name, tool.name)
    if tool.freeform is not None and not quirks.freeform_tools:
        changes.add("freeform_as_function", path, f"{tool.name} takes its text as `input`")
        tool = as_function(tool)
    if tool.freeform is not None:
        grammar: dict[str, Any] | None = None
        if tool.freeform.syntax != "text":
            grammar = {"type": "grammar", "syntax": tool.freeform.syntax, "definition": tool.freeform.definition}
        wire = ToolWire(type="custom", name=name, description=tool.description, format=grammar)
    else:
        wire = ToolWire(type="function", name=name, description=tool.description, parameters=tool.parameters)
        wire.strict = tool.strict or False
        if not quirks.strict_schemas:
            wire.strict = None
            if tool.strict:
                changes.add("strict_unsupported", f"{path}/strict")
    if tool.cache is not None:
        changes.add("cache_unsupported", f"{path}/cache")
    if tool.extra:
        note_foreign(changes, tool.extra, path)
        merge_members(wire, tool.extra.get(NAME, {}))
    return wire


def encode_choice(choice: ToolChoice, names: Mapping[str, str], freeform: frozenset[str]) -> str | dict[str, Any]:
    """A tool choice on the wire."""
    match choice:
        case NamedTool(name=name):
            return _entry(name, names, freeform)
        case AllowedTools(names=allowed, mode=mode):
            return {"type": "allowed_tools", "mode": mode, "tools": [_entry(name, names, freeform) for name in allowed]}
        case word:
            return word


def _entry(name: str, names: Mapping[str, str], freeform: frozenset[str]) -> dict[str, Any]:
    return {"type": "custom" if name in freeform else "function", "name": names.get(name, name)}


def encode_format(request: Request, quirks: Quirks) -> FormatWire | None:
    """`text.format` for the output that the request asks for, as far as the server knows it."""
    if request.output_schema is not None and quirks.output_schema == "json_schema":
        return FormatWire(
            type="json_schema",
            name=request.schema_name or DEFAULT_SCHEMA_NAME,
            description=request.schema_description,
            schema=request.output_schema,
            strict=(request.schema_strict or False) if quirks.strict_schemas else None,
        )
    wants_json = request.json_mode or request.output_schema is not None
    return FormatWire(type="json_object") if wants_json and quirks.output_schema != "none" else None
