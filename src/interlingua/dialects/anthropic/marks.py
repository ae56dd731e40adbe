"""Cache marks, both ways, and how many of them one request may carry.

Rules
- Marks are counted where they stand on the wire: in tools, system text and messages, in this order, in blocks that
  pass through unread, and at the top. There are never more than four.
- The caller's own come first, one at the top with a life time among them. Of more than four the first ones stay, so
  that a further turn never takes a mark from a turn before it.
- `auto` for the request as a whole takes what is left: one mark at the top, which the service moves along to the last
  block, and one where the conversation begins, so that a new one with the same tools and system text finds them. No
  mark of ours ever stands in a message: a further turn changes no byte of those before it.
- Marks of an hour stand before those of five minutes, as the service insists; a later one is sent as five minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._members import is_object
from interlingua.dialects.anthropic.wire import BlockWire
from interlingua.wire.json import Extra

if TYPE_CHECKING:
    from interlingua.dialects._contract import Quirks
    from interlingua.dialects.anthropic.wire import RequestWire, ToolWire
    from interlingua.types.change import Changes
    from interlingua.types.content import Cache

__all__ = ["MARK", "MAX_MARKS", "Marks", "cache_of", "decode_mark", "encode_mark"]

MARK = b'"cache_control"'
"""The name of a mark, as JSON."""
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

    def __init__(self, quirks: Quirks, changes: Changes, cache: Cache | None = None) -> None:
        """No mark is written yet; `cache` is what the request wants for itself as a whole."""
        self.takes_marks: bool = quirks.cache_marks != "none"
        self.changes = changes
        self.cache: Cache | None = cache
        self.left: int = MAX_MARKS - (cache in ("5m", "1h"))
        self._short = False
        self._long = False

    @property
    def counted(self) -> tuple[int, bool, bool]:
        """How many are left up to here, and whether there are some of five minutes and of an hour."""
        return self.left, self._short, self._long

    @counted.setter
    def counted(self, counted: tuple[int, bool, bool]) -> None:
        self.left, self._short, self._long = counted

    def put(self, wire: BlockWire | ToolWire, cache: Cache | None, path: str) -> None:
        """Mark `wire` after `cache`, or keep the mark that it has from its members, as long as there is room."""
        if cache is not None:
            wire.cache_control = encode_mark(cache)
        mark: object = wire.cache_control
        if is_object(mark):
            wire.cache_control = self._ordered(mark, path) if self._is_free(path) else None

    def finish(self, wire: RequestWire) -> None:
        """Write the marks for the request as a whole, after all others."""
        cache = self.cache
        if cache is None:
            return
        if (cache == "auto" or not self.takes_marks) and not self._is_free(""):
            return
        wire.cache_control = self._ordered(encode_mark(cache), "")
        if cache != "auto" or not self.left:
            return
        # the end of what stands before the conversation is marked, unless the caller has marked something there
        blocks: list[BlockWire] = wire.system if isinstance(wire.system, list) else []
        tools = wire.tools or []
        if any(entry.cache_control is not None for entry in (*tools, *blocks)):
            return
        mark = encode_mark("1h" if self._long else "auto")
        if isinstance(wire.system, str):
            wire.system = [BlockWire(type="text", text=wire.system, cache_control=mark)]
        elif blocks:
            blocks[-1].cache_control = mark
        elif tools:
            wire.tools = [*tools[:-1], msgspec.structs.replace(tools[-1], cache_control=mark)]

    def _ordered(self, mark: dict[str, Any], path: str) -> dict[str, Any]:
        """The mark itself, or one of five minutes where an hour would come too late."""
        if mark.get("ttl") != "1h":
            self._short = True
        elif self._short:
            self.changes.add(
                "parameter_adjusted", f"{path}/cache", "an hour after five minutes is sent as five minutes"
            )
            return {name: value for name, value in mark.items() if name != "ttl"}
        else:
            self._long = True
        return mark

    def _is_free(self, path: str) -> bool:
        if self.takes_marks and self.left > 0:
            self.left -= 1
            return True
        why = f"a request has no more than {MAX_MARKS} marks" if self.takes_marks else "the server knows no marks"
        self.changes.add("cache_unsupported", f"{path}/cache", why)
        return False
