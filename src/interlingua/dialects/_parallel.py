"""Calls that a model wrapped into one: taken apart.

Some models call a function that nobody declared, `multi_tool_use.parallel` or `parallel`, with the calls they mean as
its arguments: `{"tool_uses": [{"recipient_name": "functions.look", "parameters": {…}}]}`. Each becomes a call of its
own.

Rules
- Only when every recipient is a declared tool; anything else stays the call it is, and fails as a call of an unknown
  tool does.
- A tool that really has such a name is a tool.
- The arguments keep their exact text.
Source: vendor SDKs expand the same wrapper, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, Struct, UnsetType

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.json import WireStruct, decode_wire

if TYPE_CHECKING:
    from interlingua.dialects._contract import Undo

__all__ = ["WRAPPERS", "InnerCall", "inner_calls", "is_wrapper"]

WRAPPERS = frozenset({"multi_tool_use.parallel", "parallel"})
PREFIX = "functions."
"""The prefix of the name of a tool."""


class InnerCall(Struct, frozen=True):
    """A call that was inside another."""

    name: str
    """The caller's own name of the tool."""
    arguments_json: str
    """The exact text of its arguments."""


class _Use(WireStruct):
    recipient_name: str | None = None
    parameters: Raw | UnsetType = UNSET


class _Wrapper(WireStruct):
    tool_uses: list[_Use] = []


def is_wrapper(name: str, undo: Undo) -> bool:
    """Whether a call of that name may hold others; never where the tools are not known."""
    return name in WRAPPERS and bool(undo.tool_names) and name not in undo.tool_names


def inner_calls(name: str, arguments_json: str, undo: Undo) -> list[InnerCall]:
    """The calls inside a call; none where it holds no calls of declared tools."""
    if not is_wrapper(name, undo):
        return []
    try:
        wire = decode_wire(arguments_json.encode(), _Wrapper)
    except (DecodeError, LimitExceededError):
        return []
    calls: list[InnerCall] = []
    for use in wire.tool_uses:
        own = (use.recipient_name or "").removeprefix(PREFIX)
        text = "{}" if use.parameters is UNSET else bytes(use.parameters).decode()
        calls.append(InnerCall(undo.names.get(own, own), text))
    return calls if all(call.name in undo.tool_names for call in calls) else []
