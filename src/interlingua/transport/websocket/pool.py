"""The connections that turns go over: kept between turns, bounded, one turn on each at a time.

Rules
- A turn gets the connection whose latest response it goes on from; else one that is idle; else a new one.
- Beyond `MAX_CONNECTIONS`, and where a server refuses to switch, HTTP carries the request; a refusal is remembered for
  as long as the pool lives.
- A connection is not used beyond `LIFE_S`: vendors end them after an hour.
- A connection belongs to one address, one set of headers and one event loop.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from interlingua.transport.websocket.turn import Latest, Turn

__all__ = ["LIFE_S", "MAX_CONNECTIONS", "Counts", "Pool", "Pooled"]

LIFE_S = 55 * 60.0
"""How old a connection gets on which a turn begins."""
MAX_CONNECTIONS = 16
"""How many connections there are at once."""


class Pooled(Protocol):
    """The facts of a connection that the pool needs."""

    latest: Latest | None
    """The response that it can go on from."""
    made_s: float
    """When it was made."""

    def is_ready(self) -> bool:
        """Whether a turn can begin on it."""
        ...

    def abort(self) -> None:
        """Close it at once, from anywhere."""
        ...


C = TypeVar("C", bound=Pooled)


class Counts:
    """Counts of the traffic over WebSockets."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.connections: int = 0
        """How many connections were made."""
        self.turns: int = 0
        """How many requests they carried."""
        self.continued: int = 0
        """How many of these sent new items alone."""
        self.refused: int = 0
        """How many handshakes were refused, or reached nobody; those requests went over HTTP."""


class Pool(Generic[C]):
    """Connections of one kind."""

    def __init__(self, counts: Counts) -> None:
        """None yet."""
        self.counts: Counts = counts
        """The counts of their traffic."""
        self._lock = threading.RLock()  # a reply that nobody closed is closed by the collector, anywhere
        self._idle: dict[object, list[C]] = {}
        self._all: set[C] = set()
        self._opening = 0
        self._refused: set[object] = set()
        self._is_closed = False

    def take(self, key: object, turn: Turn, now_s: float) -> C | None:
        """An idle connection for a turn, best the one that it goes on from."""
        with self._lock:
            idle = self._idle.get(key, [])
            stale = [one for one in idle if now_s - one.made_s > LIFE_S or not one.is_ready()]
            for one in stale:
                idle.remove(one)
            best = max(idle, key=lambda one: turn.fits(one.latest), default=None)
            if best is not None:
                idle.remove(best)
        for one in stale:
            self.drop(one)
        return best

    def may_open(self, key: object) -> bool:
        """Whether a connection may be made now; it counts until `opened` or `refuse` is told of it."""
        with self._lock:
            is_full = len(self._all) + self._opening >= MAX_CONNECTIONS
            if self._is_closed or is_full or key in self._refused:
                return False
            self._opening += 1
            return True

    def opened(self, connection: C) -> None:
        """A connection was made."""
        with self._lock:
            self._opening -= 1
            self._all.add(connection)
            self.counts.connections += 1

    def refuse(self, key: object, *, is_final: bool = True) -> None:
        """A connection was not made; where that is final, none is tried again."""
        with self._lock:
            self._opening -= 1
            self.counts.refused += 1
            if is_final:
                self._refused.add(key)

    def give(self, key: object, connection: C) -> None:
        """Take a connection back, for the next turn."""
        with self._lock:
            if not self._is_closed and connection in self._all:
                self._idle.setdefault(key, []).append(connection)
                return
        connection.abort()

    def drop(self, connection: C) -> None:
        """Close a connection that no turn can use."""
        with self._lock:
            self._all.discard(connection)
        connection.abort()

    def close(self) -> None:
        """Close every connection; none is made any more."""
        with self._lock:
            self._is_closed = True
            connections, self._all, self._idle = self._all, set[C](), {}
        for connection in connections:
            connection.abort()
