"""The recorder: the observers of a gateway's requests, and when they are called.

Strategy: what counts requests or writes a line of each can wait a moment. Their ends are gathered and told many at a
time, since the same few steps take a third of the time one after the other of what they take amid those of a request.
Whoever shows what is going on, or wants content, is told at once.

Rules
- An end waits for `GATHERED - 1` others at most, and no longer than `LATE_S`; whoever reads what was counted asks for
  `settle` before, from whatever thread, and so does the end of the gateway or of the process.
- A sink that fails is logged once and harms neither the request nor other sinks.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from interlingua.gateway.records.record import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.records.record import Origin, Record, Sink
    from interlingua.gateway.settings import GatewayKey

__all__ = ["GATHERED", "LATE_S", "Recorder"]

GATHERED = 32
"""How many ends are told at a time; it takes some 0.2 ms."""
LATE_S = 0.05
"""How long an end may wait until it is told, in seconds."""


class Recorder:
    """Makes the entries of one gateway, and tells its sinks what became of them."""

    def __init__(self, *, clock: Callable[[], float], now: Callable[[], float]) -> None:
        """A recorder with nobody who wants to know."""
        self.clock: Callable[[], float] = clock
        """Seconds that only grow."""
        self._now = now
        self._failed: set[int] = set()
        self._over: deque[Entry] = deque()
        self._telling = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None  # where a timer is set
        self._is_armed = False
        self.sinks: tuple[Sink, ...] = ()
        """Observers that get every record at once, without content."""
        self.late_sinks: tuple[Sink, ...] = ()
        """Observers that get every record a moment later, without content, maybe in another thread."""
        self.content_sinks: tuple[Sink, ...] = ()
        """Observers that get every record at once, with request and answer."""
        self.under_way: dict[Entry, None] = {}
        """The requests that have begun and are not over, in order."""

    @property
    def is_wanted(self) -> bool:
        """Whether anybody wants to know."""
        return bool(self.late_sinks or self.sinks or self.content_sinks)

    def begin(self, request: GatewayRequest, origin: Origin, name: str, key: GatewayKey | None) -> Entry:
        """The entry of a request that has just come, with the key that it brought; `name` is its id."""
        owner, team = ("", "") if key is None else (key.name, key.team)
        entry = Entry(self, origin, name, self._now(), self.clock(), request.peer, owner, team)
        if self.content_sinks:
            from interlingua.gateway.records.traffic import Traffic  # only who wants content pays for it

            entry.traffic = Traffic(request)
        self.under_way[entry] = None
        return entry

    def finish(self, entry: Entry) -> None:
        """Tell everybody about a request that is over."""
        self.under_way.pop(entry, None)
        if self.sinks or self.content_sinks or entry.ending is not None:
            record = entry.record(content=True)
            if entry.ending is not None:
                self._tell(entry.ending, record)
            for sink in self.content_sinks:
                self._tell(sink, record)
            plain = record if record.content is None else msgspec.structs.replace(record, content=None)
            for sink in self.sinks:
                self._tell(sink, plain)
        if self.late_sinks:
            over = self._over
            over.append(entry)
            if len(over) == 1 or len(over) >= GATHERED:
                self._settle_soon()

    def settle(self) -> None:
        """Tell who is told late of all that is over; from whatever thread."""
        over = self._over
        with self._telling:
            records = [over.popleft().record() for _ in range(len(over))]
            for sink in self.late_sinks:
                for record in records:
                    self._tell(sink, record)

    def close(self) -> None:
        """Tell what is left."""
        self.settle()
        self._is_armed, self._loop = False, None
        atexit.unregister(self.settle)

    def _settle_soon(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        if loop is None or not self._is_armed or len(self._over) >= GATHERED:
            self.settle()
            if not self._is_armed:  # after what the sinks have the end of the process do, so that it is done before it
                self._is_armed = True
                atexit.register(self.settle)
        elif loop is not self._loop:
            self._loop = loop
            loop.call_later(LATE_S, self._settle_late)

    def _settle_late(self) -> None:
        self._loop = None
        self.settle()

    def _tell(self, sink: Sink, record: Record) -> None:
        try:
            sink(record)
        except Exception as error:  # a sink cannot break a request
            if id(sink) not in self._failed:
                self._failed.add(id(sink))
                import logging  # only what fails needs it

                logger = logging.getLogger("interlingua.gateway")
                logger.warning("the sink %r failed; this is said once", sink, exc_info=error)
