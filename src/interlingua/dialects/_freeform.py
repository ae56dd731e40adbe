"""Freeform tools where there are only functions: the tool as a function with one string.

The way back is the calls' own: a call of a tool that `Undo.freeform` names is freeform, whatever the wire calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

if TYPE_CHECKING:
    from interlingua.types.tool import Tool

__all__ = ["as_function", "freeform_description", "freeform_parameters"]


def freeform_parameters() -> dict[str, Any]:
    """The schema of a freeform tool where there are only functions."""
    text = {"type": "string", "description": "The text that the tool takes, as it is."}
    return {"type": "object", "properties": {"input": text}, "required": ["input"]}


def freeform_description(tool: Tool) -> str | None:
    """The description of a freeform tool, and the grammar of its text in words, where it has one."""
    freeform = tool.freeform
    if freeform is None or freeform.definition is None:
        return tool.description
    grammar = f"The input follows this {freeform.syntax} grammar:\n{freeform.definition}"
    return f"{tool.description}\n{grammar}" if tool.description else grammar


def as_function(tool: Tool) -> Tool:
    """The function that a freeform tool is offered as; members of the wire that belong to the other kind are gone."""
    return replace(
        tool, description=freeform_description(tool), parameters=freeform_parameters(), freeform=None, extra={}
    )
