"""Stores of the gateway for a while: an interface that another process can have, too, and the one in memory.

Rules
- Everything is bounded: in bytes, in entries, in time. What is full forgets what was not asked for the longest.
- A key is an owner, a kind and a name, which are never written into one another: no name leads to what another owner
  keeps. A store on another machine has to keep them apart as well.
- A value is never changed after it was put; whoever gets it shares it.
- The interface is awaited, so that a store on another machine can have it; the one in memory never waits.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Entry", "Key", "MemoryStore", "Store"]

V = TypeVar("V")
Key: TypeAlias = tuple[str, str, str]
"""Owner, kind and name of a value."""


class Entry(msgspec.Struct, Generic[V], frozen=True):
    """One thing to keep."""

    key: Key
    """Where it is kept."""
    value: V
    """The value."""
    size_bytes: int
    """How much of the bound it takes."""


class Store(Protocol[V]):
    """Keeps values by key for a while."""

    async def get(self, keys: Sequence[Key]) -> list[V | None]:
        """The value of each key, or None; what was found counts as just used."""
        ...

    async def put(self, entries: Sequence[Entry[V]]) -> None:
        """Keep values; one that is larger than the store may be is not kept."""
        ...

    async def drop(self, keys: Sequence[Key]) -> None:
        """Forget values."""
        ...


OVERHEAD_BYTES = 400
"""The bytes that an entry takes beside its value."""


class MemoryStore(Generic[V]):
    """A store in this process."""

    def __init__(
        self, *, max_bytes: int, max_entries: int, keep_s: float, clock: Callable[[], float], max_entry_bytes: int = 0
    ) -> None:
        """An empty store; `clock` gives seconds that only grow, `max_entry_bytes` 0 is an eighth of the whole."""
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._max_entry_bytes = max_entry_bytes or max_bytes // 8
        self._keep_s = keep_s
        self._clock = clock
        self._entries: OrderedDict[Key, tuple[V, int, float]] = OrderedDict()
        """Values, how much of the bound each takes, and until when it is kept."""
        self.size_bytes: int = 0
        """How much it holds."""

    def __len__(self) -> int:
        """How many keys it holds."""
        return len(self._entries)

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return not self._entries

    async def get(self, keys: Sequence[Key]) -> list[V | None]:
        """The value of each key, or None; what was found counts as just used."""
        now_s = self._clock()
        values: list[V | None] = []
        for key in keys:
            entry = self._entries.get(key)
            if entry is not None and entry[2] <= now_s:
                self._forget(key)
                entry = None
            if entry is not None:
                self._entries.move_to_end(key)
            values.append(None if entry is None else entry[0])
        return values

    async def put(self, entries: Sequence[Entry[V]]) -> None:
        """Keep values; one that is larger than the store may be is not kept."""
        until_s, stored = self._clock() + self._keep_s, self._entries
        for entry in entries:
            key, size = entry.key, entry.size_bytes
            if key in stored:
                self._forget(key)
            if size <= self._max_entry_bytes:
                stored[key] = entry.value, size + OVERHEAD_BYTES, until_s
                self.size_bytes += size + OVERHEAD_BYTES
        while self.size_bytes > self._max_bytes or len(self._entries) > self._max_entries:
            self._forget(next(iter(self._entries)))

    async def drop(self, keys: Sequence[Key]) -> None:
        """Forget values."""
        for key in keys:
            self._forget(key)

    def _forget(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size_bytes -= entry[1]
