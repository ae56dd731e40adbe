"""The bookkeeping of a pool, without sockets."""

from __future__ import annotations

from interlingua.transport.options import HttpOptions
from interlingua.transport.pool import Pool, Slot
from interlingua.transport.url import Origin

A, B = Origin("http", "a.test", 80), Origin("http", "b.test", 80)


def pool(connections: int = 2, per_origin: int = 2) -> Pool[str, str]:
    """A small pool whose connections and waiters are strings."""
    return Pool(HttpOptions(max_connections=connections, max_connections_per_origin=per_origin, keep_alive_s=10.0))


def test_a_slot_is_granted_up_to_the_bounds() -> None:
    """Per origin and in all; beyond that: wait."""
    made = pool(connections=3, per_origin=2)
    assert [made.lease(origin, 0.0) for origin in (A, A, A, B, B)] == [Slot(None), Slot(None), None, Slot(None), None]
    assert made.slots_in_use == 3


def test_the_newest_idle_connection_comes_back_first_and_old_ones_are_discarded() -> None:
    """Last in, first out; what is past its time is handed to the driver for closing."""
    made = pool()
    made.lease(A, 0.0)
    made.lease(A, 0.0)
    made.release(A, "old", 0.0)
    made.release(A, "new", 8.0)
    assert made.lease(A, 0.0) == Slot("new")
    made.release(A, "new", 8.0)
    assert made.lease(A, 8.0) == Slot("new")
    assert made.lease(A, 12.0) == Slot(None)
    assert made.discarded == ["old"]
    assert made.slots_in_use == 2


def test_a_released_slot_goes_to_the_longest_waiter() -> None:
    """In order, with the connection, and the count stays."""
    made = pool(connections=1)
    made.lease(A, 0.0)
    made.wait(A, "first")
    made.wait(A, "second")
    assert made.release(A, "link", 0.0) == ("first", Slot("link"))
    assert made.release(A, None, 0.0) == ("second", Slot(None))
    assert made.release(A, None, 0.0) is None
    assert made.slots_in_use == 0


def test_a_waiter_of_another_origin_is_served_when_room_is_made() -> None:
    """A slot that becomes free in all serves whoever was held up by the total; an idle connection gives way."""
    made = pool(connections=1)
    made.lease(A, 0.0)
    made.wait(B, "other")
    assert made.release(A, "link", 0.0) == ("other", Slot(None))
    assert made.discarded == ["link"]


def test_who_gave_up_is_not_served() -> None:
    """A waiter that left the queue gets nothing, also when it leaves twice."""
    made = pool(connections=1)
    made.lease(A, 0.0)
    made.wait(A, "gone")
    made.give_up(A, "gone")
    made.give_up(A, "gone")
    assert made.release(A, None, 0.0) is None


def test_a_lost_idle_connection_frees_its_slot() -> None:
    """An idle connection that closed by itself is forgotten once."""
    made = pool(connections=1)
    made.lease(A, 0.0)
    made.release(A, "link", 0.0)
    made.forget_idle(A, "link")
    made.forget_idle(A, "link")
    assert made.slots_in_use == 0
    assert made.lease(A, 0.0) == Slot(None)


def test_expiry_and_draining() -> None:
    """`expire` says when to come back; `drain` discards everything idle."""
    made = pool()
    made.lease(A, 0.0)
    made.lease(B, 0.0)
    made.release(A, "one", 0.0)
    made.release(B, "two", 5.0)
    assert made.expire(9.0) == 10.0
    assert made.expire(10.0) == 15.0
    assert made.discarded == ["one"]
    made.drain()
    assert made.discarded == ["one", "two"]
    assert made.slots_in_use == 0
