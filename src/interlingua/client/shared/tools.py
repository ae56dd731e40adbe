"""Tools that several calls have in common: what a dialect made of them is made once.

Strategy: a program sends the same tools with every call. From the second call on that has them, a request gets equal
tools that remember how they were written, as those have that a gateway reads (`dialects._known.tools`).

Rules
- The tools have to be the same objects in the same order, and still say what they said: each object and array of their
  schemas is compared with a copy of it at every call, once, however many tools have it in common.
- Schemas in a request that was made so cannot be changed; those of the caller stay the caller's own.
- A few dozen lists are remembered, then all are forgotten. Threads need no lock: each step is one operation on a dict.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from msgspec import Struct

from interlingua.dialects._tool_cache import CachedTools, known_tools
from interlingua.types.shared import ReadOnlyDict, ReadOnlyList
from interlingua.types.tool import OpaqueTool, Tool

__all__ = ["MOST_REMEMBERED", "shared_tools"]

_Tools: TypeAlias = tuple[Tool | OpaqueTool, ...]

MOST_REMEMBERED = 64
"""How many lists of tools are remembered."""

_READ_ONLY = (ReadOnlyDict, ReadOnlyList)


class _Met(Struct, frozen=True, eq=False):
    """A list of tools that was sent before."""

    tools: _Tools
    """The tools; that they are kept keeps their identities."""
    known: CachedTools | None = None
    """Equal tools whose schemas nobody can change; None where they were sent once."""
    live: list[Any] = []
    """What their caller could change in them: every object and array, each once."""
    told: list[Any] = []
    """What these held, one level deep: what lies deeper is told by the objects and arrays there."""


_seen: dict[tuple[int, ...], _Met] = {}
"""By the identities of the tools."""
_lists: dict[int, _Met] = {}
"""Those of them that came in the very same tuple again, by its identity."""


def shared_tools(tools: _Tools) -> _Tools:
    """The same tools, with a memory where an earlier call had them; provider-run ones among them are never shared."""
    if not tools or type(tools) is CachedTools:
        return tools
    met = _lists.get(id(tools))
    if met is not None and met.known is not None and met.tools is tools and met.live == met.told:
        return met.known
    key = tuple(map(id, tools))
    met = _seen.get(key)
    if met is None:
        if len(_seen) >= MOST_REMEMBERED:
            _seen.clear()
        _seen[key] = _Met(tools)
        return tools
    if met.known is None or met.live != met.told:
        met = _known(tools)
        if met is None:
            return tools
        if len(_lists) >= MOST_REMEMBERED:
            _lists.clear()
        _seen[key] = _lists[id(tools)] = met
    return met.known or tools


def _known(tools: _Tools) -> _Met | None:
    """What is known of tools from now on; None where one of them is run by its provider."""
    own = [tool for tool in tools if isinstance(tool, Tool)]
    if len(own) < len(tools):
        return None
    live = _changeable(own)
    told = [value.copy() for value in live]  # before the schemas are copied, so that a change in between is seen
    return _Met(tools, known_tools(own), live, told)


def _changeable(tools: list[Tool]) -> list[Any]:
    """Every object and array in the schemas of tools that somebody could change."""
    found: dict[int, Any] = {}
    waiting: list[Any] = [tool.parameters for tool in tools]
    while waiting:
        value = waiting.pop()
        if isinstance(value, _READ_ONLY) or id(cast("object", value)) in found:
            continue
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            found[id(members)] = members
            waiting += members.values()
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            found[id(items)] = items
            waiting += items
    return list(found.values())
