"""A cache whose keys a peer may choose, bounded in bytes: many short keys and few long ones take the same memory.

Rules
- Keys and values both count. An entry that takes more than an eighth of the bound is computed each time.
- A full cache forgets everything: whoever sends ever new keys gains nothing by it, and a hit is one look-up in a dict.
- Threads need no lock: each step is one operation on a dict; a lost race counts an entry once too often, or not until
  the cache is emptied the next time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

import msgspec

__all__ = ["ENTRY_BYTES", "ByteCache", "weight_of"]

K = TypeVar("K")
V = TypeVar("V")

ENTRY_BYTES = 100
"""The place of an entry in a dict, with its hash and the free places beside it."""
_SHARE = 8
"""The part of the bound that one entry may take."""
_DEEPEST = 16
"""How many levels of containers are weighed; what lies deeper counts as nothing."""


class ByteCache(dict[K, V]):
    """Values by their keys; `cache[key]` computes a value that is not there, and `put` keeps one computed elsewhere."""

    __slots__ = ("_compute", "_max_bytes", "_weigh", "size_bytes")

    def __init__(
        self,
        max_bytes: int,
        compute: Callable[[K], V] | None = None,
        *,
        weigh: Callable[[K, V], int] | None = None,
    ) -> None:
        """An empty cache of at most `max_bytes`; `weigh` gives the bytes of a key and its value, `weight_of` if None.

        A value that is larger than it looks, such as a compiled schema, needs a `weigh` of its own.
        """
        super().__init__()
        self._compute = compute
        self._max_bytes = max_bytes
        self._weigh = weigh
        self.size_bytes: int = 0
        """How much it holds."""

    def __missing__(self, key: K) -> V:
        """The value of a key that is not there, computed and kept.

        Raises: KeyError without a function that computes values; else what that raises, and then nothing is kept.
        """
        if self._compute is None:
            raise KeyError
        value = self._compute(key)
        self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep a value, unless it takes too much of the bound."""
        size = ENTRY_BYTES + (weight_of(key, value) if self._weigh is None else self._weigh(key, value))
        if size * _SHARE > self._max_bytes:
            return
        if self.size_bytes + size > self._max_bytes:
            self.clear()
        self.size_bytes += size
        self[key] = value

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.size_bytes = 0


def weight_of(*values: object) -> int:
    """The bytes that values take in memory, with those in their containers and structs; shared ones count each time."""
    return _weight(values, 0) if values else 0


def _weight(values: Iterable[Any], level: int) -> int:
    total = 0
    for value in values:
        total += sys.getsizeof(value)
        below = _below(value) if level < _DEEPEST else ()
        if below:
            total += _weight(below, level + 1)
    return total


def _below(value: object) -> Iterable[object]:
    """The values in a container or struct."""
    match value:
        case str() | bytes() | int() | float() | None:
            return ()
        case tuple() | list() | set() | frozenset():
            return cast("Iterable[object]", value)
        case dict():
            mapping = cast("Mapping[object, object]", value)
            return (*mapping.keys(), *mapping.values())
        case msgspec.Struct():
            return [getattr(value, name) for name in value.__struct_fields__]
        case _:
            return ()
