"""What the gateway keeps in memory: bounded in bytes, entries and time, and apart by owner."""

from __future__ import annotations

import asyncio

from interlingua.gateway.state.store import OVERHEAD_BYTES, Entry, Key, MemoryStore

A: Key = ("", "kind", "a")
B: Key = ("", "kind", "b")
C: Key = ("", "kind", "c")


class Clock:
    """A clock that stands until somebody moves it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """The time that it shows."""
        return self.now_s


def _store(clock: Clock, **bounds: int) -> MemoryStore[str]:
    return MemoryStore(
        max_bytes=bounds.get("max_bytes", 10_000),
        max_entries=bounds.get("max_entries", 10),
        max_entry_bytes=bounds.get("max_entry_bytes", 0),
        keep_s=60.0,
        clock=clock,
    )


def test_what_is_put_is_there_until_its_time_is_over() -> None:
    """A value lives its time and not a moment longer, however often it is asked for."""
    clock = Clock()
    store = _store(clock)
    asyncio.run(store.put([Entry(A, "x", 1)]))
    clock.now_s += 59.9
    assert asyncio.run(store.get([A, B])) == ["x", None]
    clock.now_s += 0.1
    assert asyncio.run(store.get([A])) == [None]
    assert (len(store), store.size_bytes, store.is_empty) == (0, 0, True)


def test_the_one_that_was_not_asked_for_the_longest_goes_first() -> None:
    """Entries are bounded; being asked for keeps one."""
    store = _store(Clock(), max_entries=2)
    asyncio.run(store.put([Entry(A, "x", 1), Entry(B, "y", 1)]))
    asyncio.run(store.get([A]))
    asyncio.run(store.put([Entry(C, "z", 1)]))
    assert asyncio.run(store.get([A, B, C])) == ["x", None, "z"]


def test_bytes_are_bounded_at_the_edge() -> None:
    """What fits exactly stays, one byte more drops the oldest."""
    store = _store(Clock(), max_bytes=2 * (OVERHEAD_BYTES + 100), max_entry_bytes=200)
    asyncio.run(store.put([Entry(A, "x", 100), Entry(B, "y", 100)]))
    assert store.size_bytes == 2 * (OVERHEAD_BYTES + 100)
    asyncio.run(store.put([Entry(B, "y", 101)]))
    assert asyncio.run(store.get([A, B])) == [None, "y"]


def test_what_is_too_large_is_not_kept_and_what_it_replaced_is_gone() -> None:
    """A new value that does not fit must not leave the old one to be found."""
    store = _store(Clock(), max_entry_bytes=100)
    asyncio.run(store.put([Entry(A, "old", 100)]))
    asyncio.run(store.put([Entry(A, "new", 101)]))
    assert asyncio.run(store.get([A])) == [None]
    assert store.size_bytes == 0


def test_dropping_is_once_and_for_all() -> None:
    """A dropped key is gone; dropping what is not there is nothing."""
    store = _store(Clock())
    asyncio.run(store.put([Entry(A, "x", 1)]))
    asyncio.run(store.drop([A, B]))
    assert (asyncio.run(store.get([A])), store.size_bytes) == ([None], 0)


def test_sec_11_no_name_reaches_the_key_of_another_owner() -> None:
    """Owner, kind and name stay apart, wherever the borders between them are moved to."""
    store = _store(Clock())
    asyncio.run(store.put([Entry(("team-a", "response", "resp_1"), "x", 1)]))
    others: list[Key] = [
        ("team-b", "response", "resp_1"),
        ("team-a", "call", "resp_1"),
        ("team-a\0response", "", "resp_1"),
        ("", "team-a\0response", "resp_1"),
        ("", "response", "../team-a/resp_1"),
        ("team-a/response", "resp_1", ""),
        ("\ud800", "response", "resp_1"),
    ]
    assert asyncio.run(store.get(others)) == [None] * 7
