"""The asyncio HTTP transport: an `asyncio.Protocol` around the framing of `http1`, a pool for each running loop.

Rules
- One transport serves any number of event loops, one after the other or in several threads; each has its own pool.
- The pool of a loop closes with the loop's asynchronous generators, as `asyncio.run` ends them: nothing is left open.
- Cancellation anywhere closes the socket and frees its place in the pool.
- A kept connection that the peer had closed meanwhile is replaced once, in silence (see `AsyncConnection.ask`).
- A peer that sends faster than the body is read is slowed down.

Not responsible for: retries, what a status or a body means, event loops other than asyncio's (uvloop is one of these).
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from interlingua.errors import APIConnectionError
from interlingua.transport.base import Timeouts
from interlingua.transport.connection import AsyncConnection, BufferedConnection, PlainConnection, Wanted
from interlingua.transport.http1 import ResponseReader, encode_connect
from interlingua.transport.options import HttpOptions
from interlingua.transport.pool import Pool
from interlingua.transport.problems import Deadlines, connecting_failed
from interlingua.transport.process import this_process
from interlingua.transport.proxies import check_tunnel
from interlingua.transport.routes import Routes
from interlingua.transport.sockets import Network, attempt_s, known_addresses, new_socket, ordered
from interlingua.transport.url import redirected
from interlingua.wire.http import HttpReply, header

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from interlingua.transport.base import AsyncReply
    from interlingua.transport.options import Environment
    from interlingua.transport.pool import Slot
    from interlingua.transport.proxies import Proxy
    from interlingua.transport.routes import Route
    from interlingua.transport.sockets import Address, Found
    from interlingua.transport.url import Origin
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["HttpTransport"]

_RECEIVE_BYTES = 65_536
_NEVER = float("inf")
_NO_LIMITS = Timeouts(connect_s=None, first_byte_s=None, idle_s=None, total_s=None, pool_s=None)


class _Reply:
    """One reply, read from its connection."""

    __slots__ = ("_connection", "_deadlines", "_ended", "_home", "headers", "status")

    def __init__(self, home: _Home, connection: AsyncConnection, deadlines: Deadlines) -> None:
        self._home = home
        self._connection: AsyncConnection | None = connection
        self._deadlines = deadlines
        self._ended = False
        self.status: int = connection.reader.status
        self.headers: Headers = connection.reader.headers

    async def read(self) -> bytes:
        connection = self._connection
        if connection is None:
            if self._ended:
                return b""
            raise APIConnectionError("this reply was closed before its end", retryable=False)
        reader = connection.reader
        try:
            data = reader.take()
            while not data and not reader.finished:
                await connection.more(Wanted.ANYTHING, "idle", self._deadlines)
                data = reader.take()
        except BaseException:
            self._leave(keep=False)
            raise
        if reader.finished:
            self._ended = True
            self._leave(keep=True)
        return data

    def pour(self, take: Callable[[bytes], bool]) -> Awaitable[None]:
        connection = self._connection
        return _nothing() if connection is None else connection.pour(take, self._deadlines)

    async def rest(self) -> bytes:
        pieces: list[bytes] = []
        while piece := await self.read():
            pieces.append(piece)
        return b"".join(pieces)

    async def close(self) -> None:
        self._leave(keep=True)

    def _leave(self, *, keep: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._home.leave(connection, keep=keep)

    def __del__(self) -> None:
        connection = self._connection
        if connection is not None and not self._home.loop.is_closed():
            # A reply that nobody closed; its loop may be another thread's.
            with suppress(RuntimeError):
                self._home.loop.call_soon_threadsafe(self._home.leave, connection)


async def _nothing() -> None:
    """For who awaits what is over."""


class _Waiter:
    """A task that waits for a slot."""

    __slots__ = ("future", "origin")

    def __init__(self, origin: Origin, future: asyncio.Future[Slot[AsyncConnection]]) -> None:
        self.origin = origin
        self.future = future


_Homes: TypeAlias = "dict[asyncio.AbstractEventLoop, _Home]"


class _Home:
    """The connections of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, options: HttpOptions, homes: _Homes) -> None:
        self.loop = loop
        self.time = loop.time
        self._homes = homes
        self.process = this_process()
        self.pool: Pool[AsyncConnection, _Waiter] = Pool(options)
        self.connections: set[AsyncConnection] = set()
        self._room = memoryview(bytearray(_RECEIVE_BYTES)) if isinstance(loop, asyncio.BaseEventLoop) else None
        self._lookups: dict[tuple[str, int], asyncio.Future[Sequence[Found]]] = {}
        self._guard: AsyncGenerator[None, None] | None = None
        self._keep_alive_s = options.keep_alive_s
        self._sweeping: asyncio.TimerHandle | None = None

    async def settle(self) -> None:
        """Tie the connections to the loop: a loop that ends closes its asynchronous generators, and this is one."""
        self._guard = self._until_the_loop_ends()
        await anext(self._guard)

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._homes.pop(self.loop, None)
            await self.shut()

    async def shut(self) -> None:
        """Close every connection and wait until the sockets are gone."""
        self.abort()
        for _ in range(3):  # a TLS transport tells its socket, which tells the loop, which closes it
            await asyncio.sleep(0)

    def abort(self) -> None:
        """Close every connection."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        self.pool.drain()
        self.pool.discarded.clear()
        for connection in list(self.connections):
            connection.abort()

    def abandon(self) -> None:
        """Close the sockets of a loop that is closed, or that belongs to the parent of this process."""
        for connection in self.connections:
            connection.socket.close()
        self.connections.clear()

    def connection(self, link: socket.socket, origin: Origin, reader: ResponseReader) -> AsyncConnection:
        """A connection over `link`, which belongs to this loop from now on."""
        if self._room is None:
            made = PlainConnection(link, origin, reader, self.loop, self.lost)
        else:
            made = BufferedConnection(link, origin, reader, self.loop, self.lost, room=self._room)
        self.connections.add(made)
        return made

    async def addresses(self, origin: Origin, network: Network) -> Sequence[Address]:
        """Where `origin` is, in the order in which it is tried.

        Whoever asks for a name that is being looked up waits for the same answer: resolvers have a few threads, and one
        name that hangs would take all of them.
        """
        addresses = known_addresses(origin.host, origin.port)
        if addresses is None:
            place = origin.host, origin.port
            lookup = self._lookups.get(place)
            if lookup is None:
                if network.resolve is None:
                    finding = self.loop.getaddrinfo(*place, type=socket.SOCK_STREAM)
                else:
                    finding = self.loop.run_in_executor(None, network.resolve, *place)
                lookup = self._lookups[place] = asyncio.ensure_future(finding)
                lookup.add_done_callback(lambda _: self._lookups.pop(place))
            addresses = ordered(await asyncio.shield(lookup))
        return network.admitted(origin, addresses)

    async def lease(self, origin: Origin, deadlines: Deadlines, now: float) -> AsyncConnection | None:
        """A slot, with the idle connection that is in it; waits where there is none."""
        slot = self.pool.lease(origin, now)
        if slot is None:
            slot = await self.wait(origin, deadlines)
        else:
            self._close_discarded()
        return slot.connection

    async def wait(self, origin: Origin, deadlines: Deadlines) -> Slot[AsyncConnection]:
        """The next slot for `origin` that is free."""
        at, phase = deadlines.by("pool", self.loop.time())
        waiter = _Waiter(origin, self.loop.create_future())
        self.pool.wait(origin, waiter)
        try:
            async with asyncio.timeout_at(None if at == _NEVER else at):
                return await waiter.future
        except BaseException as error:
            self.pool.give_up(origin, waiter)
            if waiter.future.done() and not waiter.future.cancelled():
                # The slot was handed to somebody who had left.
                connection = waiter.future.result().connection
                if connection is None:
                    self.release(origin)
                else:
                    self.leave(connection, keep=True)
            if isinstance(error, TimeoutError):
                raise deadlines.passed(phase) from None
            raise

    def leave(self, connection: AsyncConnection, *, keep: bool = False) -> None:
        """Take a connection back from a reply, to keep it if it may be used again, or to close it."""
        now = self.time()
        if not keep or not connection.rest(now):
            connection.abort()
            self.release(connection.origin)
            return
        if self._sweeping is None:
            self._sweeping = self.loop.call_later(self._keep_alive_s, self._sweep)
        handed = self.pool.release(connection.origin, connection, now)
        if handed is not None or self.pool.discarded:
            self._hand_over(handed)

    def release(self, origin: Origin) -> None:
        """Give back a slot without a connection, and hand it to whoever waits."""
        self._hand_over(self.pool.release(origin, None, self.time()))

    def _sweep(self) -> None:
        """Close what was not used for too long, also where nobody asks for anything any more."""
        next_at = self.pool.expire(self.loop.time())
        self._close_discarded()
        self._sweeping = None if next_at is None else self.loop.call_at(next_at, self._sweep)

    def _hand_over(self, handed: tuple[_Waiter, Slot[AsyncConnection]] | None) -> None:
        while handed is not None:
            waiter, slot = handed
            if not waiter.future.done():
                waiter.future.set_result(slot)
                break
            handed = self.pool.release(waiter.origin, slot.connection, self.loop.time())
        self._close_discarded()

    def _close_discarded(self) -> None:
        while self.pool.discarded:
            self.pool.discarded.pop().abort()

    def lost(self, connection: AsyncConnection) -> None:
        """Forget a connection that is gone."""
        self.connections.discard(connection)
        if connection.idle:
            self._hand_over(self.pool.forget_idle(connection.origin, connection))


class HttpTransport:
    """Opens HTTP/1.1 exchanges on the running event loop, with a pool of connections for each loop."""

    def __init__(
        self,
        options: HttpOptions | None = None,
        *,
        environment: Environment | None = None,
        network: Network | None = None,
    ) -> None:
        """A transport with `options`; proxies are read from `environment`, none when it is None.

        Opens nothing yet, and needs no running loop. What the environment says about an origin is remembered at its
        first use.
        """
        self._options = options or HttpOptions()
        self._routes = Routes({} if environment is None else environment)
        self._network = network or Network()
        self._context: ssl.SSLContext | None = None
        self._homes: _Homes = {}

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply to `request`, its headers read and its body not yet.

        A 307 or 308 within the origin is followed, `max_redirects` times at most; any other one is given back as it is.

        Raises: ConfigError, APIConnectionError, APITimeoutError, LimitExceededError.
        """
        loop = asyncio.get_running_loop()
        home = self._homes.get(loop) or await self._settle(loop)
        route = self._routes[request.url]
        now = home.time()
        deadlines = Deadlines(timeouts, route.peer, now)
        connection = await self._ask(home, request, route, deadlines, now=now, extent=Wanted.HEAD)
        reply = _Reply(home, connection, deadlines)
        return reply if reply.status < 300 else await self._followed(home, request, reply, deadlines)

    async def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        """The whole reply to `request`, as `open`, reading to the end and closing would give it."""
        loop = asyncio.get_running_loop()
        home = self._homes.get(loop) or await self._settle(loop)
        route = self._routes[request.url]
        now = home.time()
        deadlines = Deadlines(timeouts, route.peer, now)
        connection = await self._ask(home, request, route, deadlines, now=now, extent=Wanted.WHOLE)
        reader = connection.reader
        if reader.complete and reader.status < 300 and not reader.inflates:
            reply = HttpReply(status=reader.status, headers=reader.headers, body=reader.take())
            home.leave(connection, keep=True)
            return reply
        opened = await self._followed(home, request, _Reply(home, connection, deadlines), deadlines)
        try:
            body = await opened.rest()
        finally:
            await opened.close()
        return HttpReply(status=opened.status, headers=opened.headers, body=body)

    async def _followed(self, home: _Home, request: HttpRequest, reply: _Reply, deadlines: Deadlines) -> _Reply:
        """The reply that a redirect leads to within the origin, else the one that is there."""
        url = request.url
        for _ in range(self._options.max_redirects):
            there = redirected(url, reply.status, header(reply.headers, "location")) if reply.status >= 300 else None
            if there is None:
                break
            await reply.close()
            url = there
            connection = await self._ask(
                home, request, self._routes[url], deadlines, now=home.time(), extent=Wanted.HEAD
            )
            reply = _Reply(home, connection, deadlines)
        return reply

    async def close(self) -> None:
        """Close every connection, those of other loops included. The transport may be used again."""
        current = asyncio.get_running_loop()
        for loop, home in list(self._homes.items()):
            if loop is current:
                await home.shut()
            else:
                self._close_elsewhere(loop, home)

    def close_without_loop(self) -> None:
        """Close every connection from outside of any loop, as at the end of a process."""
        for loop, home in list(self._homes.items()):
            self._close_elsewhere(loop, home)

    def _close_elsewhere(self, loop: asyncio.AbstractEventLoop, home: _Home) -> None:
        if home.process is not this_process() or loop.is_closed():
            del self._homes[loop]
            home.abandon()
        elif loop.is_running():
            loop.call_soon_threadsafe(home.abort)
        else:
            loop.run_until_complete(home.shut())

    async def _settle(self, loop: asyncio.AbstractEventLoop) -> _Home:
        for other, home in list(self._homes.items()):
            if other.is_closed() or home.process is not this_process():
                self._homes.pop(other, None)
                home.abandon()
        home = self._homes[loop] = _Home(loop, self._options, self._homes)
        await home.settle()
        return home

    async def _ask(
        self, home: _Home, request: HttpRequest, route: Route, deadlines: Deadlines, *, now: float, extent: Wanted
    ) -> AsyncConnection:
        """A connection that has what is wanted of the reply."""
        written = route.written(request)
        idle = home.pool.take(route.origin, now)
        if idle is None:
            idle = await home.lease(route.origin, deadlines, now)
            now = home.time()
        connection = idle if idle is not None and idle.is_ready(now) else None
        try:
            while True:
                if connection is None:
                    connection = await self._connect(home, route, deadlines)
                    now = home.time()
                try:
                    await connection.ask(request.method, written, extent, deadlines, now)
                    while not connection.reader.head_done:
                        await connection.more(extent, "first_byte", deadlines)
                    return connection
                except APIConnectionError:
                    if connection is not idle or not connection.crossed():
                        raise
                    connection.abort()
                    connection = None
        except BaseException:
            if connection is not None:
                connection.abort()
            home.release(route.origin)
            raise

    async def _connect(self, home: _Home, route: Route, deadlines: Deadlines) -> AsyncConnection:
        loop = home.loop
        at, phase = deadlines.by("connect", loop.time())
        via = None if route.proxy is None else route.proxy.origin.peer
        limit = asyncio.timeout_at(None if at == _NEVER else at)
        try:
            async with limit:
                return await self._link(home, route.origin, route.proxy, at)
        except TimeoutError as error:
            if limit.expired():  # some loops round times, so that the clock may say that there is time left
                raise deadlines.passed(phase) from None
            raise connecting_failed(error, route.peer, via=via) from error
        except OSError as error:
            raise connecting_failed(error, route.peer, via=via) from error

    async def _link(self, home: _Home, origin: Origin, proxy: Proxy | None, at: float) -> AsyncConnection:
        direct_tls = self._tls() if origin.secure and proxy is None else None
        link = await _dial(home, proxy.origin if proxy is not None else origin, at, self._network)
        connection = home.connection(link, origin, self._reader(origin))
        try:
            await home.loop.create_connection(
                lambda: connection, sock=link, ssl=direct_tls, server_hostname=origin.host if direct_tls else None
            )
            if origin.secure and proxy is not None:
                # The proxy is asked for a tunnel, through which TLS is spoken; the caller sets the deadline.
                talk = connection.reader = ResponseReader(proxy.origin.peer)
                forever = Deadlines(_NO_LIMITS, origin.peer, 0.0)
                written = (encode_connect(origin.peer, proxy.authorization), b"")
                await connection.ask("CONNECT", written, Wanted.HEAD, forever, 0.0)
                while not talk.head_done:
                    await connection.more(Wanted.HEAD, "first_byte", forever)
                check_tunnel(talk, origin, proxy)
                connection.reader = self._reader(origin)
                await connection.start_tls(self._tls(), origin.host)
        except BaseException:
            connection.abort()
            home.connections.discard(connection)
            raise
        return connection

    def _reader(self, origin: Origin) -> ResponseReader:
        return ResponseReader(origin.peer, max_body_bytes=self._options.max_body_bytes)

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            from interlingua.transport.tls import tls_context  # here, because plain http needs no context

            self._context = tls_context(self._options)
        return self._context


async def _dial(home: _Home, origin: Origin, at: float, network: Network) -> socket.socket:
    """A connected socket to the first address of `origin` that answers."""
    loop = home.loop
    addresses = await home.addresses(origin, network)
    failure: OSError = TimeoutError()
    for place, address in enumerate(addresses):
        link = new_socket(address[0])
        link.setblocking(False)
        try:
            async with asyncio.timeout(attempt_s(max(0.0, at - loop.time()), len(addresses) - place)):
                await loop.sock_connect(link, address[1])
        except OSError as error:
            link.close()
            failure = error
        except BaseException:
            link.close()
            raise
        else:
            return link
    raise failure
