"""Tools, tool choice and structured output, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._freeform import freeform_description
from interlingua.dialects._members import merge_members, plain
from interlingua.dialects.google.parts import NAME
from interlingua.dialects.google.schemas import UPPER, from_json_schema, style_of, to_json_schema
from interlingua.dialects.google.wire import CallingWire, DeclarationWire, ToolWire
from interlingua.errors import DecodeError
from interlingua.types.tool import EMPTY_PARAMETERS, AllowedTools, NamedTool, OpaqueTool, Tool, empty_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.tool import ToolChoice

__all__ = [
    "FIELD",
    "MIME",
    "decode_choice",
    "decode_tools",
    "encode_choice",
    "encode_tool",
    "is_strict",
    "strict_tools",
]

FIELD = "field"
"""The member of `extra` that says in which form a schema was written."""
MIME = "response_mime"
"""The member of `extra` that says in which media type an answer under a schema is wanted, where that is not JSON."""
FREEFORM: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""The parameters of a function that stands for a freeform tool."""
CHOICES: dict[str, ToolChoice] = {"AUTO": "auto", "NONE": "none", "ANY": "required"}
STRICT = "VALIDATED"
"""The mode that holds free calls to their schemas."""
MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


_NO_MORE = ToolWire()
"""An entry of functions alone, without them."""

# Reading


def decode_tools(wires: Sequence[ToolWire]) -> tuple[Tool | OpaqueTool, ...]:
    """The tools of all entries: functions, and one opaque tool for each that the provider runs.

    Raises: DecodeError for a function without a name.
    """
    tools: list[Tool | OpaqueTool] = []
    for place, wire in enumerate(wires):
        for number, declaration in enumerate(wire.functionDeclarations or ()):
            path = f"/tools/{place}/functionDeclarations/{number}"
            if not declaration.name:
                raise DecodeError(f"{path}/name: a tool must have a name", path=f"{path}/name")
            extra: dict[str, Any] = dict(declaration.extra) if declaration.extra else {}
            parameters = declaration.parametersJsonSchema
            if parameters is None and declaration.parameters is not None:
                parameters = to_json_schema(declaration.parameters)
                extra[FIELD] = style_of(declaration.parameters)
            tools.append(
                Tool(
                    name=declaration.name,
                    description=declaration.description,
                    parameters=empty_parameters() if parameters is None else parameters,
                    extra={NAME: extra} if extra else {},
                )
            )
        wire.functionDeclarations = None
        if wire != _NO_MORE:
            tools.extend(OpaqueTool(NAME, kind, {kind: definition}) for kind, definition in plain(wire).items())
    return tuple(tools)


def is_strict(wire: CallingWire | None) -> bool:
    """Whether free calls are held to their schemas; an allowed subset has no other mode, so that its mode says less."""
    return wire is not None and str(wire.mode or "").upper() == STRICT and not wire.allowedFunctionNames


def strict_tools(tools: Sequence[Tool | OpaqueTool]) -> tuple[Tool | OpaqueTool, ...]:
    """The tools with strict functions."""
    return tuple([replace(tool, strict=True) if isinstance(tool, Tool) else tool for tool in tools])


def decode_choice(wire: CallingWire, tools: Sequence[Tool | OpaqueTool]) -> tuple[ToolChoice | None, dict[str, Any]]:
    """The tool choice, and the members that neither it nor the tools say."""
    mode, names = str(wire.mode or "").upper(), tuple(wire.allowedFunctionNames or ())
    rest: dict[str, Any] = dict(wire.extra) if wire.extra else {}
    if mode == "ANY" and names:
        return (NamedTool(names[0]) if len(names) == 1 else AllowedTools(names, "required")), rest
    if names and mode != "NONE":
        return AllowedTools(names, "auto"), rest | ({} if mode == STRICT else {"mode": wire.mode})
    if names:
        rest["allowedFunctionNames"] = list(names)
    if is_strict(wire) and any(isinstance(tool, Tool) for tool in tools):
        return "auto", rest
    if mode not in CHOICES:
        return ("auto" if mode == STRICT else None), rest | ({"mode": wire.mode} if mode else {})
    return CHOICES[mode], rest


# Writing


def encode_tool(tool: Tool, names: Mapping[str, str], quirks: Quirks, changes: Changes, path: str) -> DeclarationWire:
    """One function declaration; a tool without parameters has none."""
    members = dict(tool.extra.get(NAME, {}))
    style = members.pop(FIELD, UPPER if quirks.schema_form == "openapi" else None)
    wire = DeclarationWire(name=names.get(tool.name, tool.name), description=freeform_description(tool))
    if tool.freeform is not None:
        changes.add("freeform_as_function", path, f"{tool.name} takes its text as `input`")
    parameters = tool.parameters if tool.freeform is None else FREEFORM
    if style is not None and (FIELD in tool.extra.get(NAME, {}) or parameters.get("properties")):
        wire.parameters = from_json_schema(parameters, style)
    elif style is None and parameters != EMPTY_PARAMETERS:
        wire.parametersJsonSchema = parameters
    if tool.cache is not None:
        changes.add("cache_unsupported", f"{path}/cache")
    if tool.extra:
        note_foreign(changes, tool.extra, path)
        merge_members(wire, members)
    return wire


def encode_choice(choice: ToolChoice | None, names: Mapping[str, str], *, strict: bool) -> CallingWire | None:
    """A tool choice on the wire; `strict` holds free calls to their schemas."""
    match choice:
        case NamedTool(name=name):
            return CallingWire(mode="ANY", allowedFunctionNames=[names.get(name, name)])
        case AllowedTools(names=allowed, mode=mode):
            listed = [names.get(name, name) for name in allowed]
            return CallingWire(mode="ANY" if mode == "required" else STRICT, allowedFunctionNames=listed)
        case None | "auto" if strict:
            return CallingWire(mode=STRICT)
        case None:
            return None
        case word:
            return CallingWire(mode=MODES[word])
