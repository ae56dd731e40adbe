"""One connection of the asyncio transport: callbacks of the loop on one side, awaiting on the other.

Strategy: a request leaves by a call of the socket, and one future is done when what was asked for is there: the head,
the whole reply, or the next piece. In between the loop's callbacks feed the reader, and nobody is woken.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from enum import IntEnum
from typing import TYPE_CHECKING, cast

from interlingua.errors import APIConnectionError, Error
from interlingua.transport.options import MAX_READ_BYTES
from interlingua.transport.problems import CROSSING_S, exchange_failed
from interlingua.transport.sockets import Probe

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from interlingua.errors import Phase
    from interlingua.transport.http1 import ResponseReader
    from interlingua.transport.problems import Deadlines
    from interlingua.transport.url import Origin

__all__ = ["AsyncConnection", "BufferedConnection", "PlainConnection", "Wanted"]

_NEVER = float("inf")
_FRESH_S = 0.1
"""How long a connection lies in the pool before it is looked at once more when it is taken."""


class Wanted(IntEnum):
    """The event that a task waits for."""

    ANYTHING = 0
    """Whatever comes next."""
    HEAD = 1
    """Status and headers."""
    WHOLE = 2
    """The whole reply, or so much of it that it has to be taken before more is read."""


_ANYTHING = Wanted.ANYTHING  # members of an enumeration are looked up slowly
_HEAD = Wanted.HEAD


class AsyncConnection(asyncio.BaseProtocol):
    """One socket, the reader of what comes from it, and at most one task that waits for more."""

    __slots__ = (
        "_deadlines",
        "_extent",
        "_failure",
        "_idle_since",
        "_is_direct",
        "_loop",
        "_on_lost",
        "_paused",
        "_phase",
        "_probe",
        "_rings_at",
        "_sent_at",
        "_since",
        "_take",
        "_time",
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
    ) -> None:
        """A connection over `link`; `on_lost` is called once when it is gone."""
        self.socket: socket.socket = link
        self.origin: Origin = origin
        self.reader: ResponseReader = reader
        """Where the bytes go."""
        self.idle: bool = False
        """Whether it lies in the pool."""
        self.lost: bool = False
        """Whether its end was seen."""
        self._loop = loop
        self._time = loop.time
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._is_direct = not origin.secure
        self._waiter: asyncio.Future[None] | None = None
        self._extent = _ANYTHING
        self._take: Callable[[bytes], bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = _NEVER
        self._deadlines: Deadlines | None = None
        self._phase: Phase = "idle"
        self._since = 0.0
        self._idle_since = 0.0
        self._probe = Probe(link)
        self._failure: Error | None = None
        self._paused = False
        self._torn = False
        self._unsent_bytes = 0
        self._sent_at = 0.0

    def rest(self, now: float) -> bool:
        """Lie in the pool from now on; False where no other request may follow the reply that was read."""
        if self.lost or self._torn or not self.reader.reusable:
            return False
        self.idle = True
        self._idle_since = now
        if self._paused:
            self._go_on_reading()
        return True

    def is_ready(self, now: float) -> bool:
        """Whether it may be used again, now that it leaves the pool; closed where not.

        It has ended, or holds what nobody asked for: the loop tells of both. Only what came in its latest turn it may
        not have told yet, and to look for that takes a system call: it is worth it once a connection has lain long
        enough for its peer to have grown tired of it.
        """
        self.idle = False
        if self.lost or (now - self._idle_since > _FRESH_S and self._probe.readable()):
            self.abort()
            return False
        return True

    def crossed(self) -> bool:
        """Whether the peer's close crossed our request on the wire, so that the request was not looked at.

        The reasons are those of the blocking driver: the end, or a reset, came within a round trip after sending and
        before any byte of an answer, which is how a server that closes idle connections looks from here.
        """
        return not self.reader.started and self._time() - self._sent_at <= CROSSING_S

    # Awaiting.

    def ask(
        self, method: str, written: tuple[bytes, bytes], extent: Wanted, deadlines: Deadlines, now: float
    ) -> Awaitable[None]:
        """Send a request, in one or two parts; to be awaited: done when what is wanted of the reply is there.

        Raises: as `more`, here or where it is awaited.
        """
        data, rest = written
        self.reader.start(method)
        transport = self._transport
        if transport is None or self.lost:
            raise APIConnectionError(f"{self.reader.peer} closed the connection")
        self._sent_at = now
        if self._is_direct and not rest:
            # Nothing lies in the transport's buffer yet, so we may write ahead of it: it would do no more than this,
            # and uvloop's would wait for the end of the turn.
            try:
                sent = self.socket.send(data)
            except OSError:  # the same happens to the transport, which tells it
                sent = 0
            if sent == len(data):
                return self._wait(extent, "first_byte", deadlines, now)
            data = data[sent:]
        transport.write(data)
        if rest:
            transport.write(rest)
        if transport.get_write_buffer_size() == 0:
            return self._wait(extent, "first_byte", deadlines, now)
        return self._ask_slowly(transport, extent, deadlines)

    async def _ask_slowly(self, transport: asyncio.Transport, extent: Wanted, deadlines: Deadlines) -> None:
        """Wait until the request has left, or an early reply is there, and then as `more`."""
        while self._failure is None and not self.lost:
            self._unsent_bytes = transport.get_write_buffer_size()
            if self._unsent_bytes == 0:
                break
            if self.reader.head_done:
                self._torn = True
                break
            await self._wait(_ANYTHING, "idle", deadlines, self._time())
        self._unsent_bytes = 0
        self._sent_at = self._time()
        if not self.reader.complete and not (extent is _HEAD and self.reader.head_done):
            await self.more(extent, "idle" if self.reader.in_head else "first_byte", deadlines)

    def more(self, extent: Wanted, phase: Phase, deadlines: Deadlines) -> asyncio.Future[None]:
        """To be awaited: done when the reader was fed with what is wanted, or its end is known.

        Raises: APIConnectionError, LimitExceededError, APITimeoutError: what ended the connection before.
        """
        if self._failure is not None:
            raise self._failure
        if self.lost:
            self.reader.eof()
            return self._done()
        if self._paused:
            self._go_on_reading()
        return self._wait(extent, phase, deadlines, self._time())

    def pour(self, take: Callable[[bytes], bool], deadlines: Deadlines) -> asyncio.Future[None]:
        """To be awaited: `take` is given each piece of the body where it arrives, without a turn of the loop.

        Done when `take` says that it wants no more so, or when what comes next is for `read` to tell: the end of the
        body with its last piece, a failure, a deadline. Nothing is taken of a body that has to be inflated.
        """
        reader = self.reader
        if reader.complete or reader.inflates or self.lost or self._failure is not None:
            return self._done()
        piece = reader.take()
        if piece and not take(piece):
            return self._done()
        poured = self.more(_ANYTHING, "idle", deadlines)
        self._take = take
        return poured

    def _done(self) -> asyncio.Future[None]:
        done = self._loop.create_future()
        done.set_result(None)
        return done

    def _wait(self, extent: Wanted, phase: Phase, deadlines: Deadlines, now: float) -> asyncio.Future[None]:
        """To be awaited: done when what is wanted is there, or after no longer than `phase`, which begins now."""
        at, ends = deadlines.by(phase, now)
        if at <= now:
            raise deadlines.passed(ends)
        self._phase, self._deadlines, self._since = phase, deadlines, now
        # One timer lives as long as the connection and is set forward when it rings too early: timers are dear.
        if at < self._rings_at:
            self._ring_at(at)
        self._extent = extent
        waiter = self._waiter = asyncio.Future(loop=self._loop)
        return waiter

    def _ring_at(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = at
        self._timer = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._still()
        if self._waiter is None or self._waiter.done() or self._deadlines is None:
            return
        at, ends = self._deadlines.by(self._phase, self._since)
        if self._time() < at:
            if at != _NEVER:
                self._ring_at(at)
            return
        is_sending = (  # for as long as some of what was to be sent has gone since
            self._unsent_bytes
            and ends != "total"
            and self._transport is not None
            and self._transport.get_write_buffer_size() < self._unsent_bytes
        )
        if not is_sending:
            self._failure = self._deadlines.passed(ends)
        self._wake()

    def _still(self) -> None:
        """No timer any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._rings_at = None, _NEVER

    def _wake(self) -> None:
        self._take = None
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)

    def _go_on_reading(self) -> None:
        self._paused = False
        if self._transport is not None:
            self._transport.resume_reading()

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
        self._still()
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

    def data_received(self, data: bytes | memoryview) -> None:
        """Bytes came."""
        if self._failure is not None:
            return
        reader, piece = self.reader, b""
        try:
            if self._take is None:
                reader.feed(data)
            else:
                piece = reader.feed_and_take(data)
        except Error as error:
            self._failure = error
            self._wake()
        if self._waiter is None:
            self._came_unawaited()
        elif reader.complete or (self._extent is _HEAD and reader.head_done):
            waiter, self._waiter, self._take = self._waiter, None, None  # as `_wake`, which this is nearly always
            if not waiter.done():
                waiter.set_result(None)
        elif self._take is not None:
            self._since = self._time()
            if piece and not self._take(piece):
                self._wake()
        else:
            self._came_in_part()

    def _came_unawaited(self) -> None:
        if self.idle:
            self.abort()  # nobody asked: whatever it is, the next reply could not be told from it
        elif self.reader.body.buffered_bytes > MAX_READ_BYTES:
            self._slow_down()

    def _came_in_part(self) -> None:
        """Not all that is waited for came: the next of it has its own time."""
        reader = self.reader
        if self._extent is _ANYTHING:
            self._wake()
            return
        if reader.body.buffered_bytes > MAX_READ_BYTES:
            self._slow_down()
            return
        self._phase = "idle" if reader.head_done or reader.in_head else "first_byte"
        self._since = self._time()
        if self._deadlines is not None:
            at, _ = self._deadlines.by(self._phase, self._since)
            if at < self._rings_at:
                self._ring_at(at)

    def _slow_down(self) -> None:
        """Have the peer wait: nobody has read what is there."""
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """The peer will send no more."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed."""
        self._end(exc)
        self._still()
        self._on_lost(self)
        self._transport = None

    def _end(self, error: Exception | None) -> None:
        if not self.lost and not self.idle and not self.reader.complete and self._failure is None:
            if isinstance(error, OSError):
                self._failure = exchange_failed(error, self.reader.peer)
            else:
                try:
                    self.reader.eof(is_torn=self._is_torn())
                except Error as problem:
                    self._failure = problem
        self.lost = True
        self._wake()

    def _is_torn(self) -> bool:
        """Whether the peer closed the connection without ending TLS: the loop tells both as an end."""
        tls = None if self._transport is None else self._transport.get_extra_info("ssl_object")
        if tls is None:
            return False
        import ssl  # here, because plain http needs none

        try:
            return bool(tls.read(1))
        except ssl.SSLError:  # it would have to wait for more, where TLS has an end it gives nothing
            return True

    def resume_writing(self) -> None:
        """Everything was sent."""
        if self._unsent_bytes:
            self._wake()


class BufferedConnection(AsyncConnection, asyncio.BufferedProtocol):
    """A connection of asyncio's own loops, read by way of a room that all connections of a loop share.

    For a protocol without one they make 256 kB for each read, which the allocator takes from the system and gives back.
    """

    __slots__ = ("_room",)

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
        super().__init__(link, origin, reader, loop, on_lost)
        self._room = room

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the loop asks so
        """Where to put what comes next: it is read at once, so that the connections of a loop share one room."""
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        self.data_received(self._room[:nbytes])


class PlainConnection(AsyncConnection, asyncio.Protocol):
    """A connection of any other loop, which has a room of its own."""

    __slots__ = ()
