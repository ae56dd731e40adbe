"""Where every finished input is, over all journals of a folder: sorted rows of one length, searched by halves.

Shape of a row: 16 bytes of a digest of the id, one byte whether the input failed, the number of the journal, the place
of the line and its length. Rows are sorted, so that an answer stands before a failure of the same id.

Rules
- 33 bytes for each input, in one buffer, so that the workers of one machine can share it.
- An index is read once and does not change; a journal that is written meanwhile has an index of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from hashlib import sha256
from heapq import merge
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.client.journal import Known

__all__ = ["Index", "Location", "make_index"]

_DIGEST_BYTES = 16
_ROW = Struct(f">{_DIGEST_BYTES}s?IQI")


class Location(NamedTuple):
    """Where the line of an input is."""

    name: str
    """The name of its journal."""
    place: int
    """Its first byte."""
    size: int
    """How many bytes it has."""
    failed: bool
    """Whether its input failed."""


class Index:
    """The index of a folder."""

    __slots__ = ("names", "rows")

    def __init__(self, names: tuple[str, ...] = (), rows: bytes | memoryview = b"") -> None:
        """An index of these journals, by number, with its sorted rows."""
        self.names: tuple[str, ...] = names
        """The journals, by number."""
        self.rows: bytes | memoryview = rows
        """The sorted rows."""

    def __len__(self) -> int:
        """How many lines it knows."""
        return len(self.rows) // _ROW.size

    def find(self, identity: str) -> Location | None:
        """The line of an id: an answer before a failure; None when there is none."""
        digest = _digest(identity)
        number = bisect_left(range(len(self)), digest, key=lambda row: bytes(self._row(row)[:_DIGEST_BYTES]))
        if number == len(self):
            return None
        row, failed, name, place, size = _ROW.unpack(self._row(number))
        return Location(self.names[name], place, size, failed) if row == digest else None

    def _row(self, number: int) -> bytes | memoryview:
        return self.rows[number * _ROW.size : (number + 1) * _ROW.size]


def make_index(journals: Iterable[tuple[str, dict[str, Known]]]) -> Index:
    """The index of journals, each with its name and where its lines are."""
    names: list[str] = []
    parts: list[bytes] = []
    for name, lines in journals:
        rows = [
            _ROW.pack(_digest(identity), line.failed, len(names), line.place, line.size)
            for identity, line in lines.items()
        ]
        names.append(name)
        parts.append(b"".join(sorted(rows)))
    rows = bytearray()
    for row in merge(*[_ROW.iter_unpack(part) for part in parts]):
        rows += _ROW.pack(*row)
    return Index(tuple(names), bytes(rows))


def _digest(identity: str) -> bytes:
    return sha256(identity.encode()).digest()[:_DIGEST_BYTES]
