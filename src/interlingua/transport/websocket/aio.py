"""Turns over WebSockets, awaited; the rules are those of the blocking face (`sync`).

A connection reads and answers pings also between two turns; while nobody takes its texts, it reads no more than a few.
A task that is cancelled closes the connection of its turn.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from interlingua.errors import APIConnectionError
from interlingua.transport.base import async_fetch_of
from interlingua.transport.default import default_options
from interlingua.transport.problems import Deadlines
from interlingua.transport.tls import tls_context
from interlingua.transport.url import parse_url
from interlingua.transport.websocket.link import Link, handshake_headers
from interlingua.transport.websocket.turn import LOST, TOO_OLD, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.errors import Phase
    from interlingua.transport.base import AsyncReply, AsyncTransport, Timeouts
    from interlingua.transport.websocket.pool import Pool
    from interlingua.transport.websocket.turn import Latest, Turn
    from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = ["AsyncConnection", "AsyncSocketTransport"]

_MOST_WAITING = 64
"""How many texts may wait before nothing more is read."""


class AsyncConnection(asyncio.Protocol):
    """One connection."""

    def __init__(self, link: Link, name: str, loop: asyncio.AbstractEventLoop) -> None:
        """A connection whose handshake is to be sent; `name` is whom errors name."""
        self._link = link
        self._name = name
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._news = asyncio.Event()
        self._is_lost = self._is_paused = False
        self.latest: Latest | None = None
        """The response that it can go on from."""
        self.made_s: float = time.monotonic()
        """When it was made."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the handshake."""
        made: Any = transport  # those of uvloop are no subclasses of asyncio's
        self._transport = made
        self._write(self._link.to_send())

    def data_received(self, data: bytes) -> None:
        """Take what came, and answer pings."""
        self._write(self._link.feed(data))
        self._news.set()
        if len(self._link.texts) >= _MOST_WAITING and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """The server sends no more."""
        self._link.feed(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the form of a protocol
        """Nothing more comes."""
        self._is_lost = True
        self._news.set()

    async def greet(self, deadlines: Deadlines) -> bool:
        """Whether the server takes the handshake."""
        while not self._link.is_greeted and not self._is_lost:
            await self._more("connect", deadlines)
        return self._link.is_open and not self._is_lost

    def is_ready(self) -> bool:
        """Whether a turn can begin."""
        return self._link.is_open and not self._is_lost and not self._link.texts and not self._loop.is_closed()

    def send(self, text: bytes) -> None:
        """Send a text."""
        if not self._link.is_open or self._is_lost:
            raise self._closed()
        self._write(self._link.send(text))

    async def receive(self, phase: Phase, deadlines: Deadlines) -> bytes:
        """The next text.

        Raises: APIConnectionError, APITimeoutError.
        """
        while not self._link.texts:
            if self._is_lost or not self._link.is_open:
                raise self._closed()
            await self._more(phase, deadlines)
        text = self._link.texts.popleft()
        if self._is_paused and not self._link.texts and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()
        return text

    async def _more(self, phase: Phase, deadlines: Deadlines) -> None:
        now = time.monotonic()
        at, ends = deadlines.by(phase, now)
        self._news.clear()
        try:
            async with asyncio.timeout(None if at == float("inf") else max(0.0, at - now)):
                await self._news.wait()
        except TimeoutError:
            raise deadlines.passed(ends) from None

    def _closed(self) -> APIConnectionError:
        return APIConnectionError(f"{self._name} closed the WebSocket before the response was whole")

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def abort(self) -> None:
        """Close it at once, from any thread."""
        transport = self._transport
        if transport is None or self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(transport.abort)


class _Reply:
    """The stream of one turn."""

    status = 200

    def __init__(
        self,
        pool: Pool[AsyncConnection],
        key: object,
        connection: AsyncConnection,
        begun: tuple[Turn, bytes],
        ends: Deadlines,
    ) -> None:
        self._pool, self._key, self._deadlines = pool, key, ends
        self._turn, self._begun = begun
        self._connection: AsyncConnection | None = connection
        self.headers: Headers = self._turn.headers

    async def read(self) -> bytes:
        """The next piece; `b""` at the end."""
        piece, self._begun = self._begun, b""
        connection, turn = self._connection, self._turn
        if not piece and connection is not None:
            try:
                piece = turn.take(await connection.receive("idle", self._deadlines))
            except BaseException:
                await self.close()
                raise
        if turn.is_over and connection is not None:
            connection.latest, self._connection = turn.latest, None
            self._pool.give(self._key, connection)
        return piece

    async def close(self) -> None:
        """Close the connection of a turn that is not over."""
        self._leave()

    def _leave(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.drop(connection)

    def __del__(self) -> None:
        """Close what nobody closed."""
        self._leave()


class _Whole:
    """A reply that is there."""

    def __init__(self, reply: HttpReply) -> None:
        self.status: int = reply.status
        self.headers: Headers = reply.headers
        self._body = reply.body

    async def read(self) -> bytes:
        """The body, then its end."""
        body, self._body = self._body, b""
        return body

    async def close(self) -> None:
        """Nothing: there is nothing open."""


class AsyncSocketTransport:
    """Opens exchanges over WebSockets where the server has them, awaited."""

    def __init__(
        self, inner: AsyncTransport, pool: Pool[AsyncConnection], serves: Callable[[HttpRequest], bool]
    ) -> None:
        """A transport before `inner`; `serves` says whether the server of a request has WebSockets."""
        self._inner = inner
        self._pool = pool
        self._serves = serves

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply to `request`, its headers read and its body not yet.

        Raises: as the transport behind.
        """
        turn = turn_of(request) if self._serves(request) else None
        reply = None if turn is None else await self._begun(request, turn, timeouts)
        if turn is None or reply is None:
            return await self._inner.open(request, timeouts)
        if turn.is_stream and turn.refusal is None:
            return reply
        await _read_on(reply)
        return _Whole(turn.reply())

    async def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        """The whole reply to `request`.

        Raises: as the transport behind.
        """
        turn = turn_of(request) if self._serves(request) else None
        reply = None if turn is None else await self._begun(request, turn, timeouts)
        if turn is None or reply is None:
            return await async_fetch_of(self._inner)(request, timeouts)
        await _read_on(reply)
        return turn.reply()

    async def _begun(self, request: HttpRequest, turn: Turn, timeouts: Timeouts) -> _Reply | None:
        """The stream of a turn whose first event has come; None where HTTP is to carry the request."""
        loop = asyncio.get_running_loop()
        key = request.url, handshake_headers(request.headers), loop
        deadlines = Deadlines(timeouts, parse_url(request.url).origin.peer, time.monotonic())
        connection = self._pool.take(key, turn, time.monotonic()) or await self._connected(key, deadlines)
        if connection is None:
            return None
        try:
            piece = await self._first(connection, turn, deadlines)
            if turn.error_code == TOO_OLD:
                self._pool.drop(connection)
                connection = await self._connected(key, deadlines)
                if connection is None:
                    return None
                piece = await self._first(connection, turn, deadlines)
        except BaseException:
            if connection is not None:
                self._pool.drop(connection)
            raise
        self._pool.counts.turns += 1
        self._pool.counts.continued += turn.is_continued
        return _Reply(self._pool, key, connection, (turn, piece), deadlines)

    async def _first(self, connection: AsyncConnection, turn: Turn, deadlines: Deadlines) -> bytes:
        """The first piece of a turn, sent whole where what it goes on from is not there any more."""
        turn.is_over = False
        connection.send(turn.event(connection.latest))
        piece = turn.take(await connection.receive("first_byte", deadlines))
        if turn.is_continued and turn.error_code in LOST:
            turn.is_over, connection.latest = False, None
            connection.send(turn.event(None))
            piece = turn.take(await connection.receive("first_byte", deadlines))
        return piece

    async def _connected(
        self, key: tuple[str, Headers, asyncio.AbstractEventLoop], deadlines: Deadlines
    ) -> AsyncConnection | None:
        """A new connection; None where there is none to be had."""
        if not self._pool.may_open(key):
            return None
        url, headers, loop = key
        made = AsyncConnection(Link(url, headers), parse_url(url).origin.peer, loop)
        is_reached = is_open = False
        try:
            await _dial(made, url, deadlines)
            is_reached = True
            is_open = await made.greet(deadlines)
        except (OSError, APIConnectionError):
            is_open = False
        finally:
            if not is_open:
                self._pool.refuse(key, is_final=is_reached)
                made.abort()
        if not is_open:
            return None
        self._pool.opened(made)
        return made

    async def close(self) -> None:
        """Close the transport behind; the connections are those of the pool."""
        await self._inner.close()


async def _read_on(reply: _Reply) -> None:
    try:
        while await reply.read():
            pass
    finally:
        await reply.close()


async def _dial(connection: AsyncConnection, url: str, deadlines: Deadlines) -> None:
    origin = parse_url(url).origin
    now = time.monotonic()
    at, ends = deadlines.by("connect", now)
    context = tls_context(default_options()) if origin.secure else None
    try:
        async with asyncio.timeout(None if at == float("inf") else max(0.0, at - now)):
            await asyncio.get_running_loop().create_connection(
                lambda: connection,
                origin.host,
                origin.port,
                ssl=context,
                server_hostname=origin.host if context else None,
            )
    except TimeoutError:
        raise deadlines.passed(ends) from None
