"""Tools that several calls have in common: what a dialect made of them is made once.

Strategy: a program sends the same tools with every call. From the second call on that has them, a request gets equal
tools that remember how they were written, as those have that a gateway reads (`dialects._memo`).

Rules
- The tools have to be the same objects in the same order, and still say what they said: they are compared each time.
- Schemas in a request that was made so cannot be changed; those of the caller stay the caller's own.
- A few dozen lists are remembered, then all are forgotten. Threads need no lock: each step is one operation on a dict.
"""

from __future__ import annotations

from typing import TypeAlias

from interlingua.dialects._memo import KnownTools, known_tools
from interlingua.types.tool import OpaqueTool, Tool

__all__ = ["MOST_REMEMBERED", "shared_tools"]

_Tools: TypeAlias = tuple[Tool | OpaqueTool, ...]

MOST_REMEMBERED = 64
"""How many lists of tools are remembered."""

_seen: dict[tuple[int, ...], tuple[_Tools, KnownTools | None]] = {}
"""Lists by the identities of their tools, which stay theirs since the list is kept, and what is known of them."""


def shared_tools(tools: _Tools) -> _Tools:
    """The same tools, with a memory where an earlier call had them; provider-run ones among them are never shared."""
    if not tools or type(tools) is KnownTools:
        return tools
    key = tuple(map(id, tools))
    met = _seen.get(key)
    if met is None:
        if len(_seen) >= MOST_REMEMBERED:
            _seen.clear()
        _seen[key] = tools, None
        return tools
    known = met[1]
    if known is None or known != tools:
        own = [tool for tool in tools if isinstance(tool, Tool)]
        if len(own) < len(tools):
            return tools
        known = known_tools(own)
        _seen[key] = tools, known
    return known
