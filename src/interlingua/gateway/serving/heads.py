"""Heads of requests that were read before, found again by their bytes: clients send the same ones again and again.

Rules
- A head is known by every byte from its first to the end of its empty line, but for the digits of its length: two heads
  that differ in nothing else say the same of everything else.
- Only plain heads are kept: those of HTTP/1.1 that leave the connection open and wait for nothing, of a body with a
  length or of none, that is not compressed.
- The table is bounded; what was not asked for lately goes first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from interlingua.gateway.http import Head

__all__ = ["MAX_DIGITS", "Heads", "Known"]

MAX_KEPT_BYTES = 4_096
"""The longest head that is kept."""
MAX_DIGITS = 15
"""The longest length that is read; a larger one is no body's."""
_KEPT = 256
"""How many heads are kept that were asked for lately, and as many that were asked for before those."""
_LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,%d})\r\n" % MAX_DIGITS, re.IGNORECASE)


class Known:
    """A head that was read, and how to know it again."""

    __slots__ = ("after", "before", "head")

    def __init__(self, before: bytes, after: bytes, head: Head) -> None:
        """A head as the bytes before and after the digits of its length; a head without one is all before."""
        self.before: bytes = before
        """The bytes before the digits."""
        self.after: bytes = after
        """The bytes after them; empty where there are none."""
        self.head: Head = head
        """The head."""


class _Measured(NamedTuple):
    before: bytes
    after: bytes
    digits: bytes


class Heads:
    """The heads that are known in one process."""

    __slots__ = ("_before", "_lately", "latest")

    def __init__(self) -> None:
        """A table that knows none."""
        self.latest: Known | None = None
        """The one that was found or kept last: a new connection probably begins with it."""
        self._lately: dict[tuple[bytes, bytes], Known] = {}
        self._before: dict[tuple[bytes, bytes], Known] = {}

    def find(self, data: bytes) -> Known | None:
        """The head that data begin with, where it is known."""
        measured = _measured(data)
        if measured is None:
            return None
        key = measured[:2]
        entry = self._lately.get(key)
        if entry is None and (entry := self._before.get(key)) is not None:
            self._put(key, entry)
        if entry is not None:
            self.latest = entry
        return entry

    def keep(self, data: bytes, head: Head, *, lines: int, length: str) -> Known | None:
        """Know a plain head again that data begin with; it has so many lines with the empty one, and said that length.

        Where the parser has seen another head in the data than is seen here, nothing is kept.
        """
        measured = _measured(data)
        if measured is None:
            return None
        before, after, digits = measured
        if before.count(b"\n") + after.count(b"\n") != lines or digits != length.encode("latin-1"):
            return None
        entry = self.latest = Known(before, after, head)
        self._put((before, after), entry)
        return entry

    def _put(self, key: tuple[bytes, bytes], entry: Known) -> None:
        if len(self._lately) >= _KEPT:
            self._lately, self._before = {}, self._lately
        self._lately[key] = entry


def _measured(data: bytes) -> _Measured | None:
    """The bytes before and after the length in the head that data begin with, and the length; None without a head."""
    end = data.find(b"\r\n\r\n", 0, MAX_KEPT_BYTES)
    if end < 0:
        return None
    match = _LENGTH.search(data, 0, end + 2)
    if match is None:
        return _Measured(data[: end + 4], b"", b"")
    return _Measured(data[: match.start(1)], data[match.end(1) : end + 4], match[1])
