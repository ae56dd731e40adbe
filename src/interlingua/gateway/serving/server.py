"""The gateway on a socket, from start to end: it ends without dropping what is under way.

Strategy: it ends in steps. First readiness says no and every reply closes its connection, so that who distributes
requests takes this server out; then nothing new is taken, and what is under way is finished; at last what is not done
in time is told so in its own dialect.

Rules
- Told by SIGTERM, new requests are still taken for `notice_s`; from the keyboard, or by `stop`, the end begins at once.
- Then new connections are turned away before those are closed that wait to be accepted (Linux alone can do that), and
  who has just connected has a moment to ask.
- After `drain_s` what has not begun to be answered gets a 503, and a stream ends with its dialect's error. A second
  Ctrl-C waits for nothing.
- A worker whose supervisor is gone ends, too.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from interlingua.gateway.serving.connection import Connection
from interlingua.gateway.serving.draining import CUT_S, turn_away
from interlingua.gateway.serving.heads import Heads
from interlingua.gateway.serving.response_writer import FlushBatch
from interlingua.gateway.serving.writer import date_line

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Generator
    from types import FrameType

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.serving.socket import Socket

__all__ = ["GatewayServer"]

LINGER_S = 0.5
"""How long who has just connected has to ask."""
TICK_S = 1.0
"""How often is looked around."""
_ENDING = tuple([getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)])


class GatewayServer:
    """A server of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        """A server that was not started yet."""
        self.gateway: Gateway = gateway
        """The gateway that answers."""
        self.date: bytes = date_line(time.time())
        """The header line that says when a reply was written; it is a second old at most."""
        self.closes: bool = False
        """Whether every reply is the last of its connection."""
        self.is_started: bool = False
        """Whether it takes connections."""
        self.on_second: Callable[[], object] | None = None
        """The function that is called once a second, between requests; it must not wait."""
        self.room: int = sys.maxsize
        """How many clients may be connected, whatever the settings say."""
        self.supervisor: int | None = None
        """The process that started it as a worker, and with which it ends; None for one that is no worker."""
        self.connections: set[Connection | Socket] = set()
        """The connections that are served."""
        self.heads: Heads = Heads()
        """The heads of requests that they know."""
        self.flush_batch: FlushBatch = FlushBatch()
        """The writer of all that they send at the end of a turn."""
        self._lingering: set[Connection | Socket] = set()
        self._signals: list[int] = []
        self._is_told = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()

    # Its connections

    def enter(self, connection: Connection | Socket) -> None:
        """Serve a new connection."""
        self.connections.add(connection)

    def let_linger(self, connection: Connection | Socket) -> None:
        """Serve a connection no more that is about to end; of too many of them, some end at once."""
        self.connections.discard(connection)
        self._lingering.add(connection)
        if len(self._lingering) > self.most_connections:
            self._lingering.pop().abort()

    def leave(self, connection: Connection | Socket) -> None:
        """Forget a connection that is over."""
        self.connections.discard(connection)
        self._lingering.discard(connection)
        if not (self.connections or self._lingering):
            self._changed.set()

    @property
    def most_connections(self) -> int:
        """How many connections are served at once."""
        return min(self.gateway.settings.max_connections, self.room)

    @property
    def _open(self) -> list[Connection | Socket]:
        return [*self.connections, *self._lingering]

    # From start to end

    def run(self, listener: socket.socket) -> None:
        """Serve who connects to a socket that listens, until a signal or `stop` ends it; the socket is closed then.

        In the main thread it hears SIGINT and SIGTERM for as long as it runs.
        """
        with self._hearing_signals(), asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._serve(listener))

    def stop(self) -> None:
        """Have it end, from any thread."""
        self._is_told = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: it has ended already
                self._loop.call_soon_threadsafe(self._changed.set)

    @contextmanager
    def _hearing_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {number: signal.signal(number, self._hear) for number in _ENDING}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the form of a signal's handler
        self._signals.append(number)
        self.stop()

    async def _serve(self, listener: socket.socket) -> None:
        loop = self._loop = asyncio.get_running_loop()
        accepting = await loop.create_server(lambda: Connection(self, loop), sock=listener, backlog=2_048)
        self.is_started = True
        while not self._is_told:
            self.date = date_line(time.time())
            if self.on_second is not None:
                self.on_second()
            if self.supervisor is not None and os.getppid() != self.supervisor:
                self._is_told = True
            await self._wait(TICK_S)
        gateway, settings = self.gateway, self.gateway.settings
        gateway.lifecycle.is_draining = self.closes = True
        if signal.SIGTERM in self._signals:
            await self._pause(settings.notice_s)
            if self.supervisor is None:  # else it does that, for all workers
                turn_away(listener)
            await self._pause(LINGER_S / 2)
            accepting.close()
            await self._pause(LINGER_S / 2)
        accepting.close()
        for connection in self._open:
            connection.end()
        await self._emptied(settings.drain_s)
        gateway.lifecycle.is_ending = True
        for connection in self._open:
            connection.cut()
        await self._emptied(CUT_S)
        for connection in self._open:
            connection.abort()
        await gateway.close()

    async def _wait(self, seconds: float) -> None:
        """Wait until something changes, so many seconds at most."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    # Waiting, before its end

    async def _pause(self, seconds: float) -> None:
        until_s = time.monotonic() + seconds
        while not self._is_hurried and (rest_s := until_s - time.monotonic()) > 0:
            self.date = date_line(time.time())
            await self._wait(min(rest_s, TICK_S))

    async def _emptied(self, seconds: float) -> None:
        """Wait until there is no connection any more, so many seconds at most."""
        until_s = time.monotonic() + seconds
        while self._open and not self._is_hurried and (rest_s := until_s - time.monotonic()) > 0:
            await self._wait(min(rest_s, TICK_S))

    @property
    def _is_hurried(self) -> bool:
        return self._signals.count(signal.SIGINT) > 1


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where it is installed, which does the same with less."""
    if find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
