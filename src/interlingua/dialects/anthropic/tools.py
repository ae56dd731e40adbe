"""Tools, tool choice and structured output, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import is_object, merge_members, plain
from interlingua.dialects.anthropic.marks import decode_mark
from interlingua.dialects.anthropic.parts import NAME
from interlingua.dialects.anthropic.wire import ToolWire
from interlingua.errors import DecodeError
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool, empty_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects._contract import Quirks
    from interlingua.dialects.anthropic.marks import Marks
    from interlingua.types.change import Changes
    from interlingua.types.tool import ToolChoice

__all__ = [
    "FREEFORM_PARAMETERS",
    "MCP_SERVER",
    "decode_choice",
    "decode_servers",
    "decode_tool",
    "encode_choice",
    "encode_tool",
]

CHOICES: dict[str, ToolChoice] = {"auto": "auto", "none": "none", "any": "required", "required": "required"}
"""Tool choices without a name; `required` is another dialect's word."""
WORDS: dict[str, str] = {"auto": "auto", "none": "none", "required": "any"}
"""The wire's words."""
MEMBERS = ("defer_loading", "eager_input_streaming", "input_examples", "allowed_callers")
"""Members of the caller's own tools that only pass through."""
NO_MEMBERS = (None, None, None, None)
"""Their values in nearly every tool."""
MCP_SERVER = "mcp_server"
"""Kind of a tool server that the provider connects to by itself."""
FREEFORM_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input, as plain text."}},
    "required": ["input"],
}
"""The schema of a freeform tool, which the wire does not know."""


# Reading


def decode_tool(wire: ToolWire, changes: Changes, path: str) -> Tool | OpaqueTool:
    """One entry of `tools`.

    Raises: DecodeError for a tool of the caller's own without a name.
    """
    function = wire.function
    if function is not None:
        changes.add("foreign_shape", path, "the nested shape of another dialect")
        wire = ToolWire(
            name=function.name,
            description=function.description,
            input_schema=function.parameters,
            strict=function.strict,
            cache_control=wire.cache_control,
        )
    if wire.type not in (None, "", "custom"):
        return OpaqueTool(NAME, wire.type, plain(wire))
    if not wire.name:
        raise DecodeError(f"{path}/name: a tool must have a name", path=f"{path}/name")
    cache = decode_mark(wire)
    extra: dict[str, Any] = dict(wire.extra) if wire.extra else {}
    members = (wire.defer_loading, wire.eager_input_streaming, wire.input_examples, wire.allowed_callers)
    if members != NO_MEMBERS:
        extra |= {name: value for name, value in zip(MEMBERS, members, strict=True) if value is not None}
    return Tool(
        name=wire.name,
        description=wire.description,
        parameters=empty_parameters() if wire.input_schema is None else wire.input_schema,
        strict=wire.strict,
        cache=cache,
        extra={NAME: extra} if extra else {},
    )


def decode_servers(servers: Sequence[dict[str, Any]] | None) -> list[OpaqueTool]:
    """The tool servers that the provider connects to."""
    return [OpaqueTool(NAME, MCP_SERVER, server) for server in servers or ()]


def decode_choice(choice: object, changes: Changes, path: str = "/tool_choice") -> tuple[ToolChoice, bool | None]:
    """A tool choice, and whether one turn may hold several calls; the shapes of other dialects are understood.

    Raises: DecodeError for anything else.
    """
    members: dict[str, Any] = choice if is_object(choice) else {"type": choice}
    kind = members.get("type")
    if is_object(kind):
        changes.add("foreign_shape", path, "wrapped twice")
        members, kind = kind, kind.get("type")
    word = CHOICES.get(kind) if isinstance(kind, str) else None
    disabled = members.get("disable_parallel_tool_use")
    parallel = None if disabled is None else not disabled
    if word is not None:
        if not is_object(choice) or kind == "required":
            changes.add("foreign_shape", path, "the shape of another dialect")
        return word, parallel
    name = members.get("name")
    if kind == "function":
        changes.add("foreign_shape", path, "the shape of another dialect")
        name = (members.get("function") or members).get("name")
    if kind not in ("tool", "function") or not isinstance(name, str):
        raise DecodeError(f"{path}: {choice!r} is no tool choice (auto, any, tool, none)", path=path)
    # A named choice lets the model call the tool several times unless it says otherwise.
    return NamedTool(name), True if parallel is None else parallel


# Writing


def encode_tool(
    tool: Tool,
    names: Mapping[str, str],
    path: str,
    *,
    quirks: Quirks,
    marks: Marks,
    changes: Changes,
) -> ToolWire:
    """One entry of `tools`."""
    wire = ToolWire(name=names.get(tool.name, tool.name), description=tool.description, input_schema=tool.parameters)
    if tool.freeform is not None:
        changes.add("freeform_as_function", path, "the dialect has no freeform tools")
        wire.input_schema = FREEFORM_PARAMETERS
        if tool.freeform.definition is not None:
            rule = f"The input must match this {tool.freeform.syntax} grammar:\n{tool.freeform.definition}"
            wire.description = "\n\n".join([text for text in (tool.description, rule) if text])
    if quirks.strict_schemas:
        wire.strict = tool.strict
    elif tool.strict:
        changes.add("strict_unsupported", f"{path}/strict")
    if tool.extra:
        note_foreign(changes, tool.extra, path)
        merge_members(wire, tool.extra.get(NAME, {}))
    if tool.cache is not None or wire.cache_control is not None:
        marks.put(wire, tool.cache, path)
    return wire


def encode_choice(choice: ToolChoice | None, names: Mapping[str, str], *, parallel: bool | None) -> dict[str, Any]:
    """A tool choice on the wire; where only the parallel calls were said, the model may choose.

    A named tool is asked for exactly once, unless several calls were allowed in so many words.
    """
    match choice:
        case NamedTool(name=name):
            members: dict[str, Any] = {"type": "tool", "name": names.get(name, name)}
            parallel = None if parallel else False
        case AllowedTools(mode=mode):
            members = {"type": WORDS[mode]}
        case word:
            members = {"type": WORDS[word or "auto"]}
    if parallel is not None and members["type"] != "none":
        members["disable_parallel_tool_use"] = not parallel
    return members
