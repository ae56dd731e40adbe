"""Where turns are kept: found by the ids of their calls, or by what they say, and by their owner alone.

Rules
- In memory everything is bounded: in bytes, in keys, in time. What is full forgets what was not asked for the longest.
- A turn is one thing under all its keys, and they all go with it. Where two turns say the same, their words lead to the
  later one; the earlier one is forgotten in its time.
- Owners have shelves of their own, and ids and words are never looked for in one place: no name leads to what is kept
  under another one.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import msgspec

from interlingua.gateway.state.store import OVERHEAD_BYTES, Entry, Key
from interlingua.gateway.state.turns import AFTER, Turn, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from typing import Self

    from interlingua.gateway.state.store import Store

__all__ = ["Lookups", "MemoryTurns", "Remembered", "StoredTurns", "Turns"]

Remembered: TypeAlias = "Turn | Key"
"""A turn in a store, or the key that it is kept under there."""


class Lookups(NamedTuple):
    """What a conversation asks for: places of turns, with what these may be found by."""

    by_id: list[tuple[int, str]]
    """Ids of calls."""
    by_words: list[tuple[int, str]]
    """What a turn says."""
    ids: frozenset[str]
    """All of the ids."""
    words: frozenset[str]
    """All of the words."""

    @classmethod
    def of(cls, by_id: list[tuple[int, str]], by_words: list[tuple[int, str]]) -> Self:
        """What is asked for by ids and by words."""
        return cls(by_id, by_words, frozenset([one for _, one in by_id]), frozenset([one for _, one in by_words]))


Found: TypeAlias = dict[int, tuple[Turn, ...]]
"""Turns by the places that show them."""


class Turns(Protocol):
    """Keeps turns for a while."""

    def lacks(self, owner: str, asked: Lookups) -> bool:
        """Whether it certainly holds nothing of what is asked for; False where that is not known."""
        ...

    async def find(self, owner: str, asked: Lookups) -> Found:
        """The turns of an owner; by words only what is not found by ids. What was found counts as just used."""
        ...

    def put(self, owner: str, turn: Turn, call_ids: Sequence[str], words: Sequence[str]) -> bool | Awaitable[bool]:
        """Keep a turn; one that is larger than may be is not kept. Whether there was one that says the same.

        It is found by our own ids of its calls, each once, by what it says after the message before it, and by what it
        says alone.
        """
        ...


class _Kept(msgspec.Struct, eq=False, gc=False):
    """A turn in memory, and what leads to it."""

    owner: str
    packed: bytes
    call_ids: Sequence[str]
    words: Sequence[str]
    until_s: float


_Tables: TypeAlias = tuple[dict[str, _Kept], dict[str, _Kept]]
"""The turns of one owner, by the ids of their calls and by what they say."""
_NO_TABLES: _Tables = ({}, {})


class MemoryTurns:
    """Turns in the memory of this process."""

    def __init__(self, *, max_bytes: int, max_entries: int, keep_s: float, clock: Callable[[], float]) -> None:
        """An empty place; `clock` gives seconds that only grow, and a turn may take an eighth of all bytes."""
        self._max_bytes = max_bytes
        self._max_entry_bytes = max_bytes // 8
        self._max_entries = max_entries
        self._keep_s = keep_s
        self._clock = clock
        self._tables: dict[str, _Tables] = {}
        self._used: OrderedDict[_Kept, None] = OrderedDict()
        """All of them, the one that was not asked for the longest first."""
        self._entries = 0
        self.size_bytes: int = 0
        """How much it holds."""

    def __len__(self) -> int:
        """How many keys it has."""
        return self._entries

    def lacks(self, owner: str, asked: Lookups) -> bool:
        """Whether it holds nothing of what is asked for."""
        tables = self._tables.get(owner)
        if tables is None:
            return True
        by_id, by_words = tables
        return by_words.keys().isdisjoint(asked.words) and by_id.keys().isdisjoint(asked.ids)

    async def find(self, owner: str, asked: Lookups) -> Found:
        """The turns of an owner; what was found counts as just used."""
        now_s, shown = self._clock(), dict[int, list[bytes]]()
        by_id, by_words = self._tables.get(owner, _NO_TABLES)
        for place, call_id in asked.by_id:
            kept = self._asked_for(by_id.get(call_id), now_s)
            if kept is not None and kept.packed not in shown.setdefault(place, []):
                shown[place].append(kept.packed)
        by_id_alone = frozenset(shown)
        for place, words in asked.by_words:
            if place not in by_id_alone and (kept := self._asked_for(by_words.get(words), now_s)) is not None:
                shown.setdefault(place, [kept.packed])
        return {place: tuple(map(unpacked, several)) for place, several in shown.items()}

    def _asked_for(self, kept: _Kept | None, now_s: float) -> _Kept | None:
        if kept is None:
            return None
        if kept.until_s <= now_s:
            self._forget(kept)
            return None
        self._used.move_to_end(kept)
        return kept

    def put(self, owner: str, turn: Turn, call_ids: Sequence[str], words: Sequence[str]) -> bool:
        """Keep a turn; one that is larger than may be is not kept. Whether there was one that says the same."""
        if not call_ids and not words:
            return False
        by_id, by_words = self._tables.get(owner) or self._tables.setdefault(owner, ({}, {}))
        is_said_again = bool(words) and words[0] in by_words
        kept = _Kept(owner, packed(turn), call_ids, words, self._clock() + self._keep_s)
        for name in call_ids:
            by_id[name] = kept
        for name in words:
            by_words[name] = kept
        self._used[kept] = None
        self._entries += (keys := len(call_ids) + len(words))
        self.size_bytes += len(kept.packed) + keys * OVERHEAD_BYTES
        if len(kept.packed) > self._max_entry_bytes:
            self._forget(kept)
        while self.size_bytes > self._max_bytes or self._entries > self._max_entries:
            self._forget(next(iter(self._used)))
        return is_said_again

    def _forget(self, kept: _Kept) -> None:
        del self._used[kept]
        self._entries -= (keys := len(kept.call_ids) + len(kept.words))
        self.size_bytes -= len(kept.packed) + keys * OVERHEAD_BYTES
        tables = self._tables[kept.owner]
        for table, names in zip(tables, (kept.call_ids, kept.words), strict=True):
            for name in names:
                if table.get(name) is kept:
                    del table[name]
        if tables == _NO_TABLES:
            del self._tables[kept.owner]


class StoredTurns:
    """Turns in a store that others may have, too.

    A turn is put under its first key, and the other keys lead to that one.
    """

    def __init__(self, store: Store[Remembered]) -> None:
        """The turns of a store."""
        self._store = store

    def lacks(self, owner: str, asked: Lookups) -> bool:
        """Whether the store holds nothing of what is asked for, as far as it knows without asking."""
        by_id, by_words = _keys_by_id(owner, asked.ids), _keys_by_words(owner, asked.words)
        return self._store.is_empty or self._store.lacks([*by_id, *by_words])

    async def find(self, owner: str, asked: Lookups) -> Found:
        """The turns of an owner; by words only what is not found by ids."""
        found = Found()
        turns = await self._turns(_keys_by_id(owner, [one for _, one in asked.by_id]))
        for (place, _), turn in zip(asked.by_id, turns, strict=True):
            known = found.get(place, ())
            if turn is not None and turn not in known:
                found[place] = (*known, turn)
        rest = [pair for pair in asked.by_words if pair[0] not in found]
        turns = await self._turns(_keys_by_words(owner, [one for _, one in rest]))
        for (place, _), turn in zip(rest, turns, strict=True):
            if turn is not None:
                found.setdefault(place, (turn,))
        return found

    async def put(self, owner: str, turn: Turn, call_ids: Sequence[str], words: Sequence[str]) -> bool:
        """Keep a turn; whether there was one that says the same."""
        by_words = _keys_by_words(owner, words)
        said = by_words[:1]
        is_said_again = bool(said) and (await self._store.get(said))[0] is not None
        entries: list[Entry[Remembered]] = []
        for key in dict.fromkeys([*_keys_by_id(owner, call_ids), *by_words]):
            leads = Entry[Remembered](key, entries[0].key, 0) if entries else None
            entries.append(leads or Entry[Remembered](key, turn, len(packed(turn))))
        await self._store.put(entries)
        return is_said_again

    async def _turns(self, keys: Sequence[Key]) -> list[Turn | None]:
        """The turn of each key, wherever it is kept."""
        if not keys:
            return []
        values = await self._store.get(keys)
        elsewhere = list(dict.fromkeys([value for value in values if isinstance(value, tuple)]))
        if not elsewhere:
            return [value if isinstance(value, Turn) else None for value in values]
        there = dict(zip(elsewhere, await self._store.get(elsewhere), strict=True))
        ends = [there[value] if isinstance(value, tuple) else value for value in values]
        return [end if isinstance(end, Turn) else None for end in ends]


def _keys_by_id(owner: str, ids: Iterable[str]) -> list[Key]:
    return [(owner, "call", one) for one in ids]


def _keys_by_words(owner: str, words: Iterable[str]) -> list[Key]:
    """The keys of what a turn says: after a message, or alone."""
    return [(owner, "turn" if AFTER in one else "words", one) for one in words]
