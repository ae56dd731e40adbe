"""Marks for the prompt cache: blocks behind what they mark, and how many of them one request may carry.

Rules
- Marks are counted in the order tools, system text, messages. There are never more than four: of more the first ones
  stay, so that a further turn never takes a mark from a turn before it.
- `auto` for the request as a whole marks the end of what stands before the conversation: the dialect has no mark that
  moves along, and one of ours in a message would change its bytes with the next turn. Another life time is not told.
- Marks of an hour stand before those of five minutes; a later one is sent as five minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects.bedrock.wire import BlockWire

if TYPE_CHECKING:
    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.content import Cache

__all__ = ["MAX_MARKS", "Marks"]

MAX_MARKS = 4
"""The most marks that the service takes in one request."""


class Marks:
    """Writes the marks of one request."""

    def __init__(self, quirks: Quirks, changes: Changes) -> None:
        """An encoder that notes in `changes` what it leaves out."""
        self.takes_marks: bool = quirks.cache_marks != "none"
        self.changes = changes
        self.left: int = MAX_MARKS
        self._short = False

    def block(self, cache: Cache, path: str) -> list[BlockWire]:
        """The block that marks what stands before it; none where there is no room."""
        mark = self.mark(cache, path)
        return [] if mark is None else [BlockWire(cachePoint=mark)]

    def mark(self, cache: Cache, path: str) -> dict[str, Any] | None:
        """A mark; None where there is no room."""
        if not self.takes_marks or not self.left:
            why = f"a request has no more than {MAX_MARKS} marks" if self.takes_marks else "the server knows no marks"
            self.changes.add("cache_unsupported", f"{path}/cache", why)
            return None
        self.left -= 1
        if cache == "1h" and self._short:
            why = "an hour after five minutes is sent as five minutes"
            self.changes.add("parameter_adjusted", f"{path}/cache", why)
            cache = "5m"
        self._short = self._short or cache != "1h"
        return {"type": "default", "ttl": "1h"} if cache == "1h" else {"type": "default"}
