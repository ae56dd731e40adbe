"""Calls and tool choices, as far as the two OpenAI dialects say them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from interlingua.dialects._members import is_list, is_object
from interlingua.errors import DecodeError
from interlingua.stream.calls import decoded_twice, is_empty_arguments
from interlingua.types.tool import AllowedTools, NamedTool
from interlingua.wire.json import decode_any, encode, raw_text

if TYPE_CHECKING:
    from msgspec import Raw, UnsetType

    from interlingua.dialects._contract import Undo
    from interlingua.types.change import Changes
    from interlingua.types.tool import ToolChoice

__all__ = [
    "arguments_text",
    "clean_name",
    "decode_choice",
    "freeform_arguments",
    "freeform_input",
    "repaired_arguments",
]

CHOICES: dict[str, ToolChoice] = {"auto": "auto", "none": "none", "required": "required", "any": "required"}
"""Tool choices that are one word; `any` is what some servers call required."""


# Calls


def arguments_text(arguments: str | Raw | UnsetType) -> tuple[str, bool]:
    """The text of the arguments, and whether they came, wrongly, as an object."""
    if isinstance(arguments, str):
        return arguments, False
    if arguments is UNSET:
        return "", False
    raw = bytes(arguments)
    if raw[:1] == b'"':
        return raw_text(raw), False
    return ("", False) if raw == b"null" else (raw.decode(), True)


def repaired_arguments(text: str, changes: Changes, path: str, *, cut_off: bool) -> str:
    """Arguments that do not begin like an object: those encoded twice decoded, and an entry for none."""
    inner = decoded_twice(text)
    if inner is not None:
        changes.add("arguments_twice", path)
        text = inner
    if not cut_off and is_empty_arguments(text):
        changes.add("arguments_empty", path)
    return text


def clean_name(name: str, undo: Undo, changes: Changes, path: str) -> str:
    """The caller's own name of a called tool; control tokens after a declared name are cut off."""
    own = undo.names.get(name)
    if own is not None:
        return own
    head, marker, _ = name.partition("<|")
    head = undo.names.get(head, head)
    if marker and head in undo.tool_names:
        changes.add("call_name_cleaned", path, f"{name!r} was called")
        return head
    return name


def freeform_arguments(text: str) -> str:
    """The arguments of a freeform call."""
    return encode({"input": text}).decode()


def freeform_input(arguments_json: str) -> str:
    """The text of a freeform call."""
    value = decode_any(arguments_json).get("input")
    return value if isinstance(value, str) else arguments_json


# Choices


def decode_choice(choice: str | dict[str, Any], changes: Changes, path: str = "/tool_choice") -> ToolChoice:
    """A tool choice: a word, a named tool, a subset; the shapes of other dialects are understood.

    Raises: DecodeError for anything else.
    """
    if isinstance(choice, str):
        return _word(choice, path)
    kind = choice.get("type")
    match kind:
        case "allowed_tools":
            allowed = choice.get("allowed_tools") or choice
            tools = allowed.get("tools", []) if is_object(allowed) else None
            if not is_object(allowed) or not is_list(tools):
                raise DecodeError(f"{path}: a choice of allowed tools without a list of them", path=path)
            names = tuple([_named(tool, path) for tool in tools])
            return AllowedTools(names, "required" if allowed.get("mode") == "required" else "auto")
        case "auto" | "none" | "any" | "required":
            changes.add("foreign_shape", path, "the shape of another dialect")
            return _word(str(kind), path)
        case _:
            if kind not in (None, "function", "custom"):
                changes.add("foreign_shape", path, "the shape of another dialect")
            return NamedTool(_named(choice, path))


def _word(choice: str, path: str) -> ToolChoice:
    word = CHOICES.get(choice)
    if word is None:
        raise DecodeError(f"{path}: {choice!r} is no tool choice (auto, none, required)", path=path)
    return word


def _named(choice: object, path: str) -> str:
    if is_object(choice):
        for holder in (choice.get("function"), choice.get("custom"), choice):
            if is_object(holder) and isinstance(holder.get("name"), str):
                return holder["name"]
    raise DecodeError(f"{path}: a named tool choice without a name", path=path)
