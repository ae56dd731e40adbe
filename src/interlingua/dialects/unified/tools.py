"""Tools and tool choice, both ways.

Rules
- A client's tools keep to the strict rules (`schema/tool_rules.py`); each rule has a name, which is the error's `code`.
- The client's role keeps to them by itself: names are mapped and back, a missing description is the name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import UNSET, Raw

from interlingua.dialects.unified.parts import NAME, extra_of, split_extra, with_members
from interlingua.dialects.unified.wire import AllowedToolsWire, FreeformWire, NamedToolWire, ToolWire
from interlingua.errors import DecodeError
from interlingua.schema.tool_rules import filled, tool_faults
from interlingua.types.tool import (
    EMPTY_PARAMETERS,
    AllowedTools,
    Freeform,
    NamedTool,
    OpaqueTool,
    Tool,
    empty_parameters,
)
from interlingua.wire.json import exact_reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects.unified.wire import ChoiceWire
    from interlingua.types.change import Changes
    from interlingua.types.tool import ToolChoice

__all__ = ["check_choice", "check_tools", "decode_choice", "decode_tool", "encode_choice", "encode_tool"]


# Reading


def decode_tool(wire: ToolWire, path: str) -> Tool | OpaqueTool:
    """One entry of `tools`.

    Raises: DecodeError for a member that is missing, or that belongs to the other kind.
    """
    if wire.type == "opaque_tool":
        if wire.dialect is None or wire.kind is None or wire.raw is UNSET:
            missing = next(name for name in ("dialect", "kind", "raw") if getattr(wire, name) in (None, UNSET))
            raise _misfit(path, missing, "an opaque tool has dialect, kind and raw")
        if wire != ToolWire(type=wire.type, dialect=wire.dialect, kind=wire.kind, raw=wire.raw):
            raise _misfit(path, "type", "an opaque tool has dialect, kind and raw, and nothing else")
        return OpaqueTool(wire.dialect, wire.kind, wire.raw)
    if not (wire.dialect is wire.kind is None and wire.raw is UNSET):
        member = "dialect" if wire.dialect is not None else "kind" if wire.kind is not None else "raw"
        raise _misfit(path, member, "only a tool of the type opaque_tool has one")
    if wire.name is None:
        raise _misfit(path, "name", "a tool must have a name")
    freeform = None
    if wire.freeform is not None:
        freeform = Freeform(wire.freeform.syntax, wire.freeform.definition)
    elif wire.parameters is None:
        raise _misfit(path, "parameters", f"the tool {wire.name!r} has no parameters; one that takes none says {{}}")
    return Tool(
        name=wire.name,
        description=wire.description,
        parameters=empty_parameters() if wire.parameters is None else wire.parameters,
        strict=wire.strict,
        cache=wire.cache,
        freeform=freeform,
        extra=extra_of(wire.members, wire.extra),
    )


def _misfit(path: str, member: str, sentence: str) -> DecodeError:
    return DecodeError(f"{path}/{member}: {sentence}", path=f"{path}/{member}")


class _ToolText(msgspec.Struct, gc=False):
    """A tool, of which nothing but the text of its schema is read."""

    parameters: Raw = Raw()


_read_texts = exact_reader(list[_ToolText])


def check_tools(tools: Sequence[Tool | OpaqueTool], text: bytes) -> None:
    """Nothing; the tools, which were read of the JSON array `text`, keep to the strict rules.

    Raises: DecodeError, whose `code` is the name of the first rule that is broken.
    """
    texts = [bytes(tool.parameters) for tool in _read_texts(text) or ()]
    for fault in tool_faults([tool if isinstance(tool, Tool) else None for tool in tools], texts):
        path = f"/tools{fault.place}"
        raise DecodeError(f"{path}: {fault.sentence}", path=path, code=fault.rule)


def decode_choice(wire: ChoiceWire | None) -> ToolChoice | None:
    """The tool choice."""
    match wire:
        case NamedToolWire():
            return NamedTool(wire.name)
        case AllowedToolsWire():
            return AllowedTools(tuple(wire.names), wire.mode)
        case _:
            return wire


def check_choice(choice: ToolChoice | None, tools: Sequence[Tool | OpaqueTool]) -> None:
    """Nothing; every tool that the choice names is there.

    Raises: DecodeError, with the name that is not.
    """
    match choice:
        case NamedTool(name=name):
            named: tuple[str, ...] = (name,)
        case AllowedTools(names=names):
            named = names
        case _:
            return
    offered = {tool.name for tool in tools if isinstance(tool, Tool)}
    for name in named:
        if name not in offered and len(offered) == len(tools):
            sentence = f"/tool_choice: it names the tool {name!r}, which is not among the tools"
            raise DecodeError(sentence, path="/tool_choice", code="tool_choice_unknown")


# Writing


def encode_tool(tool: Tool | OpaqueTool, names: Mapping[str, str], changes: Changes, path: str) -> ToolWire:
    """One entry of `tools`, with a description of everything; an entry for what was described by its name."""
    if isinstance(tool, OpaqueTool):
        return ToolWire(type="opaque_tool", dialect=tool.dialect, kind=tool.kind, raw=tool.raw)
    whole = filled(tool)
    if whole.description != tool.description:
        changes.add("description_added", f"{path}/description", f"{tool.name}: its name stands for it")
    if whole.parameters is not tool.parameters:
        changes.add("description_added", f"{path}/parameters", f"{tool.name}: names stand for descriptions")
    wire = ToolWire(
        name=names.get(tool.name, tool.name),
        description=whole.description,
        parameters=whole.parameters,
        strict=tool.strict,
        cache=tool.cache,
        members=split_extra(tool.extra) if tool.extra else {},
    )
    if tool.freeform is not None:
        wire.freeform = FreeformWire(tool.freeform.syntax, tool.freeform.definition)
        wire.parameters = None if tool.parameters == EMPTY_PARAMETERS else tool.parameters
    return cast("ToolWire", with_members(wire, tool.extra[NAME])) if NAME in tool.extra else wire


def encode_choice(choice: ToolChoice | None, names: Mapping[str, str]) -> ChoiceWire | None:
    """The tool choice, names mapped."""
    match choice:
        case NamedTool(name=name):
            return NamedToolWire(names.get(name, name))
        case AllowedTools(names=allowed, mode=mode):
            return AllowedToolsWire([names.get(name, name) for name in allowed], mode)
        case _:
            return choice
