"""Cache marks, both ways, and how many of them one request may carry.

Rules
- Marks are counted where they stand on the wire: in tools, system text and messages, in this order, in blocks that
  pass through unread, and at the top. There are never more than four.
- The first ones stay. So a further turn never takes a mark from a turn before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.wire.json import Extra

if TYPE_CHECKING:
    from interlingua.dialects._contract import Quirks
    from interlingua.dialects.anthropic.wire import BlockWire, ToolWire
    from interlingua.types.change import Changes
    from interlingua.types.content import Cache

__all__ = ["MAX_MARKS", "Marks", "cache_of", "decode_mark", "encode_mark"]

MAX_MARKS = 4
"""The most marks that the service takes in one request."""


def cache_of(mark: dict[str, Any]) -> Cache | None:
    """The canonical mark; None for one that says more than a life time."""
    if mark.get("type") != "ephemeral" or not mark.keys() <= {"type", "ttl"} or mark.get("ttl") not in _LIFE_TIMES:
        return None
    return "1h" if mark.get("ttl") == "1h" else "5m"


_LIFE_TIMES = (None, "5m", "1h")


def decode_mark(wire: BlockWire | ToolWire) -> Cache | None:
    """The mark of a block or tool, taken out of it; one of an unknown kind stays with the members."""
    mark = wire.cache_control
    if mark is None:
        return None
    wire.cache_control = None
    cache = cache_of(mark)
    if cache is None:
        wire.extra = Extra({**(wire.extra or {}), "cache_control": mark})
    return cache


def encode_mark(cache: Cache) -> dict[str, Any]:
    """The mark on the wire; five minutes are the service's own life time."""
    return {"type": "ephemeral", "ttl": "1h"} if cache == "1h" else {"type": "ephemeral"}


class Marks:
    """Writes the marks of one request."""

    def __init__(self, quirks: Quirks, changes: Changes) -> None:
        """No mark is written yet."""
        self.known: bool = quirks.cache_marks != "none"
        self.changes = changes
        self.left: int = MAX_MARKS

    def top(self, cache: Cache | None, path: str) -> dict[str, Any] | None:
        """The mark of the request as a whole, which the service puts on the last block."""
        if cache is None:
            return None
        if self._is_free(path):
            return encode_mark(cache)
        return None

    def put(self, wire: BlockWire | ToolWire, cache: Cache | None, path: str) -> None:
        """Mark `wire` after `cache`, or keep the mark that it has from its members, as long as there is room."""
        if cache is not None:
            wire.cache_control = encode_mark(cache)
        if wire.cache_control is not None and not self._is_free(path):
            wire.cache_control = None

    def _is_free(self, path: str) -> bool:
        if self.known and self.left > 0:
            self.left -= 1
            return True
        why = f"a request has no more than {MAX_MARKS} marks" if self.known else "the server knows no marks"
        self.changes.add("cache_unsupported", f"{path}/cache", why)
        return False
