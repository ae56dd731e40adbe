"""The bookkeeping of a pool's connections, without locks, sockets or time of its own.

The blocking driver calls it under its lock, the asyncio driver from its loop. Connections are opaque here.

Rules
- A *slot* is the right to have one connection; `lease` grants one with an idle connection in it or with none (then the
  driver opens one), and every granted slot is released exactly once.
- Idle connections are taken newest first; those past their time are put into `discarded` for the driver to close.
- At the total bound the oldest idle connection of another origin makes room.
- Waiters are served in order: a released slot is handed over, so a newcomer cannot overtake.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from interlingua.transport.options import HttpOptions
    from interlingua.transport.url import Origin

__all__ = ["Pool", "Slot"]

ConnectionT = TypeVar("ConnectionT")
WaiterT = TypeVar("WaiterT")


class Slot(NamedTuple, Generic[ConnectionT]):
    """The right to have one connection."""

    connection: ConnectionT | None
    """An idle connection, or None: open one."""


class Pool(Generic[ConnectionT, WaiterT]):
    """Slots, idle connections and waiters of one transport."""

    def __init__(self, options: HttpOptions) -> None:
        """An empty pool with the bounds of `options`."""
        self._options = options
        self._keep_alive_s = options.keep_alive_s
        self._slots: dict[Origin, int] = {}
        self._total = 0
        self._idle: dict[Origin, deque[tuple[float, ConnectionT]]] = {}
        self._waiting: dict[Origin, deque[WaiterT]] = {}
        self.discarded: list[ConnectionT] = []
        """Connections that the driver has to close; it empties the list."""

    @property
    def slots_in_use(self) -> int:
        """Slots granted or holding an idle connection."""
        return self._total

    def lease(self, origin: Origin, now: float) -> Slot[ConnectionT] | None:
        """A slot for `origin`, or None: wait."""
        connection = self.take(origin, now)
        if connection is not None:
            return Slot(connection)
        if self._may_open(origin):
            self._count(origin, 1)
            return Slot(None)
        return None

    def take(self, origin: Origin, now: float) -> ConnectionT | None:
        """An idle connection with its slot; None where there is none: ask `lease`."""
        idle = self._idle.get(origin)
        while idle:
            expires_at, connection = idle.pop()
            if expires_at > now:
                return connection
            self._discard(origin, connection)
        return None

    def release(
        self, origin: Origin, connection: ConnectionT | None, now: float
    ) -> tuple[WaiterT, Slot[ConnectionT]] | None:
        """Give a slot back, with its connection when that may be used again; returns whom to hand a slot.

        The driver must hand the slot over, or release it again when that waiter is gone.
        """
        waiting = self._waiting.get(origin)
        if waiting:
            return self._pop_waiter(origin, waiting), Slot(connection)
        if connection is None:
            self._count(origin, -1)
        else:
            idle = self._idle.get(origin)
            if idle is None:
                idle = self._idle[origin] = deque()
            idle.append((now + self._keep_alive_s, connection))
        for other, line in self._waiting.items():  # what is free now may serve another origin
            if line and self._may_open(other):
                self._count(other, 1)
                return self._pop_waiter(other, line), Slot(None)
        return None

    def wait(self, origin: Origin, waiter: WaiterT) -> None:
        """Queue `waiter` for the next slot of `origin`."""
        self._waiting.setdefault(origin, deque()).append(waiter)

    def give_up(self, origin: Origin, waiter: WaiterT) -> None:
        """Take `waiter` out of the queue, if it is still there."""
        waiting = self._waiting.get(origin)
        if waiting and waiter in waiting:
            waiting.remove(waiter)
            if not waiting:
                del self._waiting[origin]

    def forget_idle(self, origin: Origin, connection: ConnectionT) -> tuple[WaiterT, Slot[ConnectionT]] | None:
        """Take an idle connection that closed by itself out of the pool; returns whom to hand its slot."""
        idle = self._idle.get(origin, deque())
        for entry in idle:
            if entry[1] is connection:
                idle.remove(entry)
                return self.release(origin, None, 0.0)
        return None

    def expire(self, now: float) -> float | None:
        """Discard what is past its time; returns when the next idle connection is, or None."""
        next_at: float | None = None
        for origin, idle in list(self._idle.items()):
            while idle and idle[0][0] <= now:
                self._discard(origin, idle.popleft()[1])
            if idle:
                next_at = idle[0][0] if next_at is None else min(next_at, idle[0][0])
            else:
                del self._idle[origin]
        return next_at

    def drain(self) -> None:
        """Discard every idle connection."""
        self.expire(float("inf"))

    def _may_open(self, origin: Origin) -> bool:
        if self._slots.get(origin, 0) >= self._options.max_connections_per_origin:
            return False
        return self._total < self._options.max_connections or self._make_room()

    def _make_room(self) -> bool:
        oldest = min(((idle[0][0], origin) for origin, idle in self._idle.items() if idle), default=None)
        if oldest is None:
            return False
        self._discard(oldest[1], self._idle[oldest[1]].popleft()[1])
        return True

    def _pop_waiter(self, origin: Origin, waiting: deque[WaiterT]) -> WaiterT:
        waiter = waiting.popleft()
        if not waiting:
            del self._waiting[origin]
        return waiter

    def _discard(self, origin: Origin, connection: ConnectionT) -> None:
        self.discarded.append(connection)
        self._count(origin, -1)

    def _count(self, origin: Origin, change: int) -> None:
        self._total += change
        count = self._slots.get(origin, 0) + change
        if count:
            self._slots[origin] = count
        else:
            self._slots.pop(origin, None)
