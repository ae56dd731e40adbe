"""Tools, tool choice and structured output, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._freeform import as_function, freeform_parameters
from interlingua.dialects._members import merge_members, passing, plain
from interlingua.dialects.openai_chat.parts import NAME, decode_cache, encode_cache
from interlingua.dialects.openai_chat.wire import (
    CustomWire,
    FunctionWire,
    JsonSchemaWire,
    PartWire,
    ResponseFormatWire,
    ToolWire,
)
from interlingua.errors import DecodeError
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool, empty_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.content import Cache
    from interlingua.types.request import Request
    from interlingua.types.tool import ToolChoice

__all__ = [
    "decode_tool",
    "encode_choice",
    "encode_format",
    "encode_tool",
]

_flat_members = passing("name", "description", "parameters", "strict")
"""Reads the members of the flat shape, which some send beside the nested one."""

DEFAULT_SCHEMA_NAME = "response"
"""The schema's name when the caller gave none."""


# Reading


def decode_tool(wire: ToolWire, changes: Changes, path: str) -> Tool | OpaqueTool:
    """One entry of `tools`.

    Raises: DecodeError for an entry without a name.
    """
    function = wire.function
    if function is None:
        if wire.custom is not None:
            return _freeform(wire, wire.custom, path)
        if wire.type not in (None, "function"):
            return OpaqueTool(NAME, wire.type or "unknown", plain(wire))
        if not wire.name:
            raise DecodeError(f"{path}: a tool without a function", path=path)
        changes.add("foreign_shape", path, "the flat shape of another dialect")
        function = FunctionWire(
            name=wire.name, description=wire.description, parameters=wire.parameters, strict=wire.strict
        )
        wire = ToolWire(extra=wire.extra, cache_control=wire.cache_control)
    if not function.name:
        raise DecodeError(f"{path}/function/name: a tool must have a name", path=f"{path}/function/name")
    is_bare = (
        wire.name is wire.description is wire.parameters is wire.strict is wire.cache_control is wire.extra is None
    )
    cache, extra = (None, {}) if is_bare else _beside(wire)
    if function.extra:
        extra["function"] = dict(function.extra)
    return Tool(
        name=function.name,
        description=function.description,
        parameters=empty_parameters() if function.parameters is None else function.parameters,
        strict=function.strict,
        cache=cache,
        extra={NAME: extra} if extra else {},
    )


def _beside(wire: ToolWire) -> tuple[Cache | None, dict[str, Any]]:
    """The cache mark and the members beside the function, those of the flat shape among them."""
    extra = _flat_members(wire)
    if wire.cache_control is None:
        return None, extra
    marked = PartWire(cache_control=wire.cache_control)
    cache = decode_cache(marked)
    return cache, {**extra, **(marked.extra or {})}


def _freeform(wire: ToolWire, custom: CustomWire, path: str) -> Tool:
    if not custom.name:
        raise DecodeError(f"{path}/custom/name: a tool must have a name", path=f"{path}/custom/name")
    cache, extra = _beside(wire)
    members = dict(custom.extra or {})
    freeform = Freeform()
    match custom.format:
        case None | {"type": "text"}:
            pass
        case {"type": "grammar", "grammar": {"syntax": str(syntax), "definition": str(definition)}}:
            freeform = Freeform(syntax, definition)
        case other:  # a format that we cannot say stays a member
            members["format"] = other
    if members:
        extra["custom"] = members
    return Tool(
        name=custom.name,
        description=custom.description,
        parameters=freeform_parameters(),
        cache=cache,
        freeform=freeform,
        extra={NAME: extra} if extra else {},
    )


# Writing


def encode_tool(tool: Tool, names: Mapping[str, str], quirks: Quirks, changes: Changes, path: str) -> ToolWire:
    """One entry of `tools`."""
    name = names.get(tool.name, tool.name)
    if tool.freeform is not None and not quirks.freeform_tools:
        changes.add("freeform_as_function", path, f"{tool.name} takes its text as `input`")
        tool = as_function(tool)
    strict = tool.strict if quirks.strict_schemas and tool.freeform is None else None
    if tool.freeform is not None:
        form: dict[str, Any] | None = None
        if tool.freeform.syntax != "text":
            grammar = {"syntax": tool.freeform.syntax, "definition": tool.freeform.definition}
            form = {"type": "grammar", "grammar": grammar}
        wire = ToolWire(type="custom", custom=CustomWire(name=name, description=tool.description, format=form))
    else:
        function = FunctionWire(name=name, description=tool.description, parameters=tool.parameters, strict=strict)
        wire = ToolWire(type="function", function=function)
    if tool.cache is not None:
        wire.cache_control = encode_cache(tool.cache, quirks)
        if wire.cache_control is None:
            changes.add("cache_unsupported", f"{path}/cache")
    if tool.strict and not strict:
        changes.add("strict_unsupported", f"{path}/strict")
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
            entries = [_entry(name, names, freeform) for name in allowed]
            return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": entries}}
        case word:
            return word


def _entry(name: str, names: Mapping[str, str], freeform: frozenset[str]) -> dict[str, Any]:
    kind = "custom" if name in freeform else "function"
    return {"type": kind, kind: {"name": names.get(name, name)}}


def encode_format(request: Request, quirks: Quirks) -> ResponseFormatWire | None:
    """`response_format` for the output that the request asks for, as far as the server knows it."""
    if request.json_mode and request.output_schema is not None and quirks.schema_in_json_mode:
        return ResponseFormatWire(type="json_object", schema=request.output_schema)
    if request.output_schema is not None and quirks.output_schema == "json_schema":
        schema = JsonSchemaWire(
            name=request.schema_name or DEFAULT_SCHEMA_NAME,
            description=request.schema_description,
            schema=request.output_schema,
            strict=request.schema_strict if quirks.strict_schemas else None,
        )
        return ResponseFormatWire(type="json_schema", json_schema=schema)
    wants_json = request.json_mode or request.output_schema is not None
    return ResponseFormatWire(type="json_object") if wants_json and quirks.output_schema != "none" else None
