"""Where turns are kept: found by the ids of their calls or by their keys, and by their owner alone.

Rules
- In memory everything is bounded: in bytes, in names, in time. What is full forgets what was not asked for the longest.
- A turn is one entry under all its names, and they all go with it. Of two turns with one key the key leads to the later
  one; the earlier one is still found by its ids, and is forgotten in its time.
- Owners have tables of their own, and ids and keys are never looked for in one place: no name leads to an entry of
  another owner. Names are ids of ours and digests: they hold no text of a message.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import msgspec

from interlingua.gateway.state.store import OVERHEAD_BYTES, Entry, Key
from interlingua.gateway.state.turns import Turn, call_ids_of, packed, unpacked
from interlingua.stream.calls import is_made_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interlingua.gateway.state.store import Store
    from interlingua.gateway.state.turns import ModelTurn

__all__ = ["Matches", "MemoryTurns", "Remembered", "StoredTurns", "Turns"]

Remembered: TypeAlias = "Turn | Key"
"""A turn in a store, or the key that it is kept under there."""
FORM = "2"
"""The end of the kinds of keys in a store: entries of another form are never read."""


Matches: TypeAlias = "list[tuple[Turn, ...]]"
"""For each turn of a request the turns under its ids, else the one under its key, else one after the same words.

Empty where there is none. Only a turn with the same key may be given back; any other one shows that something is lost.
"""


class Turns(Protocol):
    """Keeps turns for a while."""

    def lacks(self, owner: str) -> bool:
        """Whether it certainly holds nothing of an owner; False where that is not known."""
        ...

    async def find(self, owner: str, turns: Sequence[ModelTurn]) -> Matches:
        """The turns of an owner; what was found counts as just used."""
        ...

    async def put(self, owner: str, turn: Turn) -> None:
        """Keep a turn; one that is larger than may be is not kept."""
        ...


class _Entry(msgspec.Struct, eq=False, gc=False):
    """A turn in memory, and what leads to it."""

    owner: str
    packed: bytes
    key: str
    call_ids: tuple[str, ...]
    step_key: str
    until_s: float

    @property
    def names(self) -> int:
        """How many names lead to it."""
        return 1 + len(self.call_ids) + bool(self.step_key)

    @property
    def size_bytes(self) -> int:
        """How much of the bound it takes."""
        return len(self.packed) + self.names * OVERHEAD_BYTES


def _names_of(turn: Turn) -> tuple[str, ...]:
    """The ids by which a turn is found; one that was made for a call without id is everybody's."""
    return tuple(dict.fromkeys([call_id for call_id in call_ids_of(turn.parts) if not is_made_id(call_id)]))


class _Tables(NamedTuple):
    """The entries of one owner."""

    by_id: dict[str, _Entry]
    by_key: dict[str, _Entry]
    by_step: dict[str, _Entry]


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
        self._used: OrderedDict[_Entry, None] = OrderedDict()
        """All entries, the one that was not asked for the longest first."""
        self._names = 0
        self.size_bytes: int = 0
        """How much it holds."""

    def __len__(self) -> int:
        """How many names lead to its entries."""
        return self._names

    def lacks(self, owner: str) -> bool:
        """Whether it holds nothing of an owner."""
        return owner not in self._tables

    async def find(self, owner: str, turns: Sequence[ModelTurn]) -> Matches:
        """The turns of an owner; what was found counts as just used."""
        tables = self._tables.get(owner)
        if tables is None:
            return [()] * len(turns)
        now_s = self._clock()
        matches: list[tuple[Turn, ...]] = []
        for turn in turns:
            entries = [tables.by_id[call_id] for call_id in turn.call_ids if call_id in tables.by_id]
            if entries:
                entries = [entry for entry in dict.fromkeys(entries) if self._is_current(entry, now_s)]
            if not entries:
                entry = tables.by_key.get(turn.key) or tables.by_step.get(turn.step_key)
                entries = [entry] if entry is not None and self._is_current(entry, now_s) else []
            matches.append(tuple([unpacked(entry.packed) for entry in entries]) if entries else ())
        return matches

    def _is_current(self, entry: _Entry, now_s: float) -> bool:
        if entry.until_s <= now_s:
            self._forget(entry)
            return False
        self._used.move_to_end(entry)
        return True

    async def put(self, owner: str, turn: Turn) -> None:
        """Keep a turn; one that is larger than may be is not kept."""
        tables = self._tables.get(owner) or self._tables.setdefault(owner, _Tables({}, {}, {}))
        call_ids = _names_of(turn)
        entry = _Entry(owner, packed(turn), turn.key, call_ids, turn.step_key, self._clock() + self._keep_s)
        tables.by_id.update(dict.fromkeys(call_ids, entry))
        tables.by_key[turn.key] = entry
        if turn.step_key:
            tables.by_step[turn.step_key] = entry
        self._used[entry] = None
        self._names += entry.names
        self.size_bytes += entry.size_bytes
        if len(entry.packed) > self._max_entry_bytes:
            self._forget(entry)
        while self.size_bytes > self._max_bytes or self._names > self._max_entries:
            self._forget(next(iter(self._used)))

    def _forget(self, entry: _Entry) -> None:
        del self._used[entry]
        self._names -= entry.names
        self.size_bytes -= entry.size_bytes
        tables = self._tables[entry.owner]
        for call_id in entry.call_ids:
            if tables.by_id.get(call_id) is entry:
                del tables.by_id[call_id]
        if tables.by_key.get(entry.key) is entry:
            del tables.by_key[entry.key]
        if tables.by_step.get(entry.step_key) is entry:
            del tables.by_step[entry.step_key]
        if not tables.by_id and not tables.by_key:
            del self._tables[entry.owner]


class StoredTurns:
    """Turns in a store that others may have, too.

    A turn is put under its first name, and the other names lead to that one.
    """

    def __init__(self, store: Store[Remembered]) -> None:
        """The turns of a store."""
        self._store = store

    def lacks(self, owner: str) -> bool:  # noqa: ARG002 - what others have put is not known here
        """Whether it certainly holds nothing of an owner, which only the store knows."""
        return False

    async def find(self, owner: str, turns: Sequence[ModelTurn]) -> Matches:
        """The turns of an owner."""
        keys = [key for turn in turns for key in _keys(owner, turn.call_ids, turn)]
        values = dict(zip(keys, await self._store.get(keys), strict=True))
        ends = [end for end in values.values() if isinstance(end, tuple) and end not in values]
        if ends:
            values |= dict(zip(ends, await self._store.get(ends), strict=True))
        return [_turns_in(values, owner, turn) for turn in turns]

    async def put(self, owner: str, turn: Turn) -> None:
        """Keep a turn."""
        keys = _keys(owner, _names_of(turn), turn)
        entries = [Entry[Remembered](keys[0], turn, len(packed(turn)))]
        entries += [Entry[Remembered](key, keys[0], 0) for key in keys[1:]]
        await self._store.put(entries)


def _turns_in(values: Mapping[Key, Remembered | None], owner: str, reply: ModelTurn) -> tuple[Turn, ...]:
    """The turns that values of a store have for one of a request."""
    turns: list[Turn] = []
    for key in _id_keys(owner, reply.call_ids):
        turn = _turn_at(values, key)
        if turn is not None and turn not in turns:
            turns.append(turn)
    for key in () if turns else _keys(owner, (), reply):
        turn = _turn_at(values, key)
        if turn is not None:
            return (turn,)
    return tuple(turns)


def _turn_at(values: Mapping[Key, Remembered | None], key: Key) -> Turn | None:
    value = values.get(key)
    if isinstance(value, tuple):
        value = values.get(value)
    return value if isinstance(value, Turn) else None


def _id_keys(owner: str, call_ids: Iterable[str]) -> list[Key]:
    return [(owner, f"call {FORM}", call_id) for call_id in call_ids]


def _keys(owner: str, call_ids: Iterable[str], turn: ModelTurn | Turn) -> list[Key]:
    """The keys that lead to a turn: ids of its calls, its key, and its words with those before it."""
    keys = [*_id_keys(owner, call_ids), (owner, f"turn {FORM}", turn.key)]
    return [*keys, (owner, f"step {FORM}", turn.step_key)] if turn.step_key else keys
