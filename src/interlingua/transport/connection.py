"""One connection of the asyncio transport: callbacks of the loop on one side, awaiting on the other."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from interlingua.errors import APIConnectionError, Error
from interlingua.transport.options import MAX_READ_BYTES
from interlingua.transport.problems import CROSSING_S, exchange_failed
from interlingua.transport.sockets import Probe

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from interlingua.errors import Phase
    from interlingua.transport.http1 import ResponseReader
    from interlingua.transport.problems import Deadlines
    from interlingua.transport.url import Origin

__all__ = ["AsyncConnection"]

_NEVER = float("inf")
_JOIN_BYTES = 262_144
_FRESH_S = 0.1
"""How long a connection lies in the pool before it is looked at once more when it is taken."""


class AsyncConnection(asyncio.BufferedProtocol):
    """One socket, the reader of what comes from it, and at most one task that waits for more."""

    __slots__ = (
        "_deadline",
        "_deadlines",
        "_failure",
        "_heard_at",
        "_idle_since",
        "_loop",
        "_on_lost",
        "_paused",
        "_phase",
        "_probe",
        "_room",
        "_sent_at",
        "_take",
        "_timer",
        "_torn",
        "_transport",
        "_unsent_bytes",
        "_waiter",
        "idle",
        "lost",
        "origin",
        "reader",
        "socket",
    )

    def __init__(
        self,
        link: socket.socket,
        origin: Origin,
        reader: ResponseReader,
        loop: asyncio.AbstractEventLoop,
        on_lost: Callable[[AsyncConnection], None],
        *,
        room: memoryview,
    ) -> None:
        """A connection over `link`, read by way of `room`; `on_lost` is called once when it is gone."""
        self.socket: socket.socket = link
        self.origin: Origin = origin
        self.reader: ResponseReader = reader
        """Where the bytes go."""
        self.idle: bool = False
        """Whether it lies in the pool."""
        self.lost: bool = False
        """Whether its end was seen."""
        self._loop = loop
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._take: Callable[[bytes], bool] | None = None
        self._heard_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._deadline = _NEVER
        self._deadlines: Deadlines | None = None
        self._phase: Phase = "idle"
        self._idle_since = 0.0
        self._probe = Probe(link)
        self._room = room
        self._failure: Error | None = None
        self._paused = False
        self._torn = False
        self._unsent_bytes = 0
        self._sent_at = 0.0

    @property
    def reusable(self) -> bool:
        """Whether another request may follow the reply that was read."""
        return self.reader.reusable and not self.lost and not self._torn

    def rest(self) -> None:
        """Lie in the pool from now on."""
        self.idle = True
        self._idle_since = self._loop.time()

    def stale(self) -> bool:
        """Whether an idle connection has ended, or holds what nobody asked for.

        The loop tells of both. Only what came in its latest turn it may not have told yet, and to look for that takes a
        system call: it is worth it once a connection has lain long enough for its peer to have grown tired of it.
        """
        return self.lost or (self._loop.time() - self._idle_since > _FRESH_S and self._probe.readable())

    def _crossed(self) -> bool:
        """Whether the peer's close crossed our request on the wire, so that the request was not looked at.

        The reasons are those of the blocking driver: the end, or a reset, came within a round trip after sending and
        before any byte of an answer, which is how a server that closes idle connections looks from here.
        """
        return not self.reader.started and self._loop.time() - self._sent_at <= CROSSING_S

    # Awaiting.

    async def ask(self, method: str, head: bytes, body: bytes, deadlines: Deadlines, *, kept: bool = False) -> bool:
        """Send a request and read the head of its reply; False when a `kept` connection had been closed before."""
        reader = self.reader
        reader.start(method)
        transport = self._transport
        if transport is None or self.lost:
            raise APIConnectionError(f"{reader.peer} closed the connection")
        if len(body) <= _JOIN_BYTES:
            transport.write(head + body)
        else:
            transport.write(head)
            transport.write(body)
        self._sent_at = self._loop.time()
        try:
            if transport.get_write_buffer_size():
                await self._sent(transport, deadlines)
            while not reader.head_done:
                await self.more("idle" if reader.in_head else "first_byte", deadlines)
        except APIConnectionError:
            if kept and self._crossed():
                return False
            raise
        return True

    async def _sent(self, transport: asyncio.Transport, deadlines: Deadlines) -> None:
        """Wait until the request has left, or an early reply is there."""
        while self._failure is None and not self.lost:
            self._unsent_bytes = transport.get_write_buffer_size()
            if self._unsent_bytes == 0:
                break
            if self.reader.head_done:
                self._torn = True
                break
            await self._wait("idle", deadlines)
        self._unsent_bytes = 0
        self._sent_at = self._loop.time()

    def more(self, phase: Phase, deadlines: Deadlines) -> asyncio.Future[None]:
        """To be awaited: done when the reader was fed, or its end is known.

        Raises: APIConnectionError, LimitExceededError; the future also APITimeoutError.
        """
        if self._failure is not None:
            raise self._failure
        if self.lost:
            self.reader.eof()
            ended = self._loop.create_future()
            ended.set_result(None)
            return ended
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return self._wait(phase, deadlines)

    def pour(self, take: Callable[[bytes], bool], deadlines: Deadlines) -> asyncio.Future[None]:
        """To be awaited: `take` is given each piece of the body where it arrives, without a turn of the loop.

        Done when `take` says that it wants no more so, or when what comes next is for `read` to tell: the end of the
        body with its last piece, a failure. Nothing is taken of a body that has to be inflated.
        Raises: the future APITimeoutError, as `more`.
        """
        reader = self.reader
        piece = b"" if reader.complete or reader.inflates else reader.take()
        goes_on = take(piece) if piece else not (reader.complete or reader.inflates)
        if not goes_on or self.lost or self._failure is not None:
            poured = self._loop.create_future()
            poured.set_result(None)
            return poured
        poured = self.more("idle", deadlines)
        self._take, self._heard_at = take, self._loop.time()
        return poured

    def _wait(self, phase: Phase, deadlines: Deadlines) -> asyncio.Future[None]:
        now = self._loop.time()
        at, phase = deadlines.by(phase, now)
        if at <= now:
            raise deadlines.passed(phase)
        self._deadline, self._phase, self._deadlines = at, phase, deadlines
        # One timer lives as long as the connection and is set forward when it rings too early: timers are dear.
        if at != _NEVER and (self._timer is None or self._timer.when() > at):
            self._ring_at(at)
        self._waiter = self._loop.create_future()
        return self._waiter

    def _ring_at(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._waiter is None or self._waiter.done() or self._deadlines is None:
            return
        if self._take is not None:  # each piece sets it forward
            self._deadline, self._phase = self._deadlines.by("idle", self._heard_at)
        if self._loop.time() < self._deadline:
            self._ring_at(self._deadline)
        elif self._still_sending():
            self._waiter.set_result(None)
        else:
            self._waiter.set_exception(self._deadlines.passed(self._phase))

    def _still_sending(self) -> bool:
        if not self._unsent_bytes or self._phase == "total" or self._transport is None:
            return False
        return self._transport.get_write_buffer_size() < self._unsent_bytes

    def _wake(self) -> None:
        self._take = None
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Speak TLS from here on."""
        if self._transport is None:
            raise ConnectionResetError
        transport = await self._loop.start_tls(self._transport, self, context, server_hostname=host)
        if transport is None:
            raise ConnectionResetError
        self.connection_made(transport)

    def abort(self) -> None:
        """Close the socket without farewell; the peer sees it now, the loop tidies up in its next turn."""
        self.lost = True
        self._take = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        with suppress(OSError):  # it may have been closed or reset already
            self.socket.shutdown(socket.SHUT_RDWR)
        if self._transport is not None:
            self._transport.abort()
        else:
            self.socket.close()

    # What follows is called by the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The transport is there; a request counts as sent when nothing of it is buffered."""
        # A cast, because the transports of uvloop are no subclasses.
        made = self._transport = cast("asyncio.Transport", transport)
        made.set_write_buffer_limits(high=0)
        if self.lost:
            made.abort()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the loop asks so
        """Where to put what comes next: it is read at once, so that the connections of a loop share one room."""
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        if self._failure is not None:
            return
        try:
            self.reader.feed(self._room[:nbytes])
        except Error as error:
            self._failure = error
        take = self._take
        if take is not None and not self.reader.complete and self._failure is None:
            self._heard_at = self._loop.time()
            piece = self.reader.take()
            if not piece or take(piece):
                return
        if self.idle:
            self.abort()  # nobody asked: whatever it is, the next reply could not be told from it
        elif self.reader.buffered_bytes > MAX_READ_BYTES and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """The peer will send no more."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed."""
        self._end(exc)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._on_lost(self)
        self._transport = None

    def _end(self, error: Exception | None) -> None:
        if not self.lost and not self.idle and not self.reader.complete and self._failure is None:
            self._failure = self._why(error)
        self.lost = True
        self._wake()

    def _why(self, error: Exception | None) -> Error | None:
        if isinstance(error, OSError):
            return exchange_failed(error, self.reader.peer)
        try:
            self.reader.eof()
        except Error as problem:
            return problem
        return None

    def resume_writing(self) -> None:
        """Everything was sent."""
        self._wake()
