"""The blocking HTTP transport: sockets and time around the framing of `http1`, a pool around the sockets.

Rules
- Threads may share a transport; a reply belongs to the thread that reads it. No thread is started.
- A forked child never uses a connection of its parent: it starts with an empty pool.
- Whatever interrupts an exchange, KeyboardInterrupt included, closes its socket and frees its place in the pool.
- A kept connection that the peer had closed meanwhile is replaced once, in silence (see `_crossed`).
- Name resolution counts towards `connect_s` but cannot be interrupted: that would take a thread.

Not responsible for: retries, what a status or a body means.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from interlingua.errors import APIConnectionError
from interlingua.transport.http1 import ResponseReader, encode_connect
from interlingua.transport.options import HttpOptions
from interlingua.transport.pool import Pool, Slot
from interlingua.transport.problems import CROSSING_S, Deadlines, connecting_failed, exchange_failed, is_torn
from interlingua.transport.process import this_process
from interlingua.transport.proxies import check_tunnel
from interlingua.transport.routes import Routes
from interlingua.transport.sockets import (
    Network,
    Probe,
    attempt_s,
    known_addresses,
    new_socket,
    ordered,
    patience_of,
)
from interlingua.transport.url import redirected
from interlingua.wire.http import HttpReply, header

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

    from interlingua.errors import Phase
    from interlingua.transport.base import Reply, Timeouts
    from interlingua.transport.options import Environment
    from interlingua.transport.proxies import Proxy
    from interlingua.transport.routes import Route
    from interlingua.transport.sockets import Found
    from interlingua.transport.url import Origin
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["HttpTransport"]

_RECEIVE_BYTES = 65_536
_SEND_BYTES = 262_144
_NEVER = float("inf")
_DAY_S = 86_400.0
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_LOOKS_UP_S = 1.0
"""The longest wait of the system at a time: a signal that comes just before one is seen by Python only after it."""
_WAITED = (TimeoutError, BlockingIOError)
"""Exceptions of a socket that has waited for as long as it was told."""


class _Connection:
    """One socket and the reader of what comes from it."""

    __slots__ = (
        "_is_direct",
        "_patience_s",
        "_process",
        "_sent_at",
        "_wait_at_most",
        "generation",
        "origin",
        "reader",
        "socket",
        "stale",
        "torn",
    )

    def __init__(self, link: socket.socket, origin: Origin, reader: ResponseReader) -> None:
        self.socket: socket.socket = link
        self.origin: Origin = origin
        self.reader: ResponseReader = reader
        self.generation: int = 0
        self._process = this_process()
        self._sent_at = 0.0
        self.torn: bool = False
        """Whether a request did not leave as a whole."""
        self.stale: Callable[[], bool] = Probe(link).readable
        """Whether an idle connection has ended, or holds what nobody asked for."""
        self._is_direct = bool(_AT_ONCE) and not origin.secure
        self._wait_at_most = patience_of(link, secure=origin.secure)
        self._patience_s = _NEVER

    def crossed(self) -> bool:
        """Whether the peer's close crossed our request on the wire, so that the request was not looked at.

        A server that closes an idle connection does not know of the request that is on its way. We then see the end,
        or a reset, within a round trip after sending and before any byte of an answer. A later end means that the
        server was at work on the request; sending it again is then the caller's decision, not ours.
        """
        return not self.reader.started and time.monotonic() - self._sent_at <= CROSSING_S

    def ask(self, method: str, written: tuple[bytes, bytes], deadlines: Deadlines) -> None:
        """Send a request and read the head of its reply."""
        reader = self.reader
        reader.start(method)
        problem: APIConnectionError | None = None
        try:
            for data in written:
                if data:
                    self._send(data, deadlines)
        except OSError as error:
            # A server may refuse a large body with an answer and a close, so this is not yet the last word.
            self.torn = True
            problem = exchange_failed(error, reader.peer)
        self._sent_at = time.monotonic()
        try:
            while not reader.head_done:
                self.receive("idle" if reader.in_head else "first_byte", deadlines)
        except APIConnectionError as error:
            raise problem or error from None

    def _send(self, data: bytes, deadlines: Deadlines) -> None:
        try:  # most requests fit into the system's buffer: nothing waits, and nothing needs a limit
            sent = self.socket.send(data, _AT_ONCE) if self._is_direct else 0
        except _WAITED:
            sent = 0
        if sent >= len(data):
            return
        rest = memoryview(data)[sent:]
        at, ends = self._limit("idle", deadlines)
        while rest:
            try:
                sent = self.socket.send(rest[:_SEND_BYTES])
            except _WAITED:
                self._go_on(at, ends, deadlines)
                continue
            rest = rest[sent:]
            if rest:
                at, ends = self._limit("idle", deadlines)

    def receive(self, phase: Phase, deadlines: Deadlines) -> None:
        """Feed the reader with what comes next, or with the end."""
        at, ends = self._limit(phase, deadlines)
        while True:
            try:
                data = self.socket.recv(_RECEIVE_BYTES)
            except _WAITED:
                self._go_on(at, ends, deadlines)
            except OSError as error:
                if not is_torn(error):
                    raise exchange_failed(error, self.reader.peer) from error
                self.reader.eof(is_torn=True)
                return
            else:
                break
        if data:
            self.reader.feed(data)
        else:
            self.reader.eof()

    def _limit(self, phase: Phase, deadlines: Deadlines) -> tuple[float, Phase]:
        """When a wait that begins now has to be over, and why; the socket waits no longer, but maybe not so long."""
        now = time.monotonic()
        at, ends = deadlines.by(phase, now)
        if at <= now:
            raise deadlines.passed(ends)
        if at - now < self._patience_s:
            self._be_patient(at - now)
        return at, ends

    def _go_on(self, at: float, ends: Phase, deadlines: Deadlines) -> None:
        """The socket has waited for as long as it was told; APITimeoutError where that was long enough."""
        left_s = at - time.monotonic()
        if left_s <= 0:
            raise deadlines.passed(ends)
        self._be_patient(left_s)

    def _be_patient(self, seconds: float) -> None:
        self._patience_s = min(seconds, _LOOKS_UP_S)
        self._wait_at_most(self._patience_s)

    def close(self) -> None:
        """Close the socket, waking whoever waits for it; in a forked child only the child's handle."""
        if self._process is this_process():
            with suppress(OSError):  # it may have been closed or reset already
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)  # under TLS too: no farewell is awaited
        self.socket.close()


class _Reply:
    """One reply, read from its connection."""

    __slots__ = ("_connection", "_deadlines", "_ended", "_transport", "headers", "status")

    def __init__(self, transport: HttpTransport, connection: _Connection, deadlines: Deadlines) -> None:
        self._transport = transport
        self._connection: _Connection | None = connection
        self._deadlines = deadlines
        self._ended = False
        self.status: int = connection.reader.status
        self.headers: Headers = connection.reader.headers

    def read(self) -> bytes:
        return self._read(self._deadlines)

    def read_within(self, seconds: float) -> bytes:
        return self._read(self._deadlines.within(seconds, time.monotonic()))

    def _read(self, deadlines: Deadlines) -> bytes:
        connection = self._connection
        if connection is None:
            if self._ended:
                return b""
            raise APIConnectionError("this reply was closed before its end", retryable=False)
        reader = connection.reader
        try:
            data = reader.take()
            while not data and not reader.finished:
                connection.receive("idle", deadlines)
                data = reader.take()
        except BaseException:
            self._leave(keep=False)
            raise
        if reader.finished:
            self._ended = True
            self._leave(keep=True)
        return data

    def close(self) -> None:
        self._leave(keep=True)

    def rest(self) -> bytes:
        return b"".join(iter(self.read, b""))

    def _leave(self, *, keep: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.leave(connection, keep=keep and connection.reader.reusable and not connection.torn)

    def __del__(self) -> None:
        if self._connection is not None:
            self._transport.abandon(self._connection)


class _Waiter:
    """A thread that waits for a slot."""

    __slots__ = ("event", "slot")

    def __init__(self) -> None:
        self.event = threading.Event()
        self.slot: Slot[_Connection] | None = None


class HttpTransport:
    """Opens HTTP/1.1 exchanges over blocking sockets, with a pool of connections."""

    def __init__(
        self,
        options: HttpOptions | None = None,
        *,
        environment: Environment | None = None,
        network: Network | None = None,
    ) -> None:
        """A transport with `options`; proxies are read from `environment`, none when it is None.

        Opens nothing yet. What the environment says about an origin is remembered at its first use.
        """
        self._options = options or HttpOptions()
        self._routes = Routes({} if environment is None else environment)
        self._network = network or Network()
        self._context: ssl.SSLContext | None = None
        self._generation = 0
        self._abandoned: deque[Origin] = deque()
        self._begin()

    def _begin(self) -> None:
        self._process = this_process()
        self._lock = threading.Lock()
        self._pool: Pool[_Connection, _Waiter] = Pool(self._options)

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply to `request`, its headers read and its body not yet.

        A 307 or 308 within the origin is followed, `max_redirects` times at most; any other one is given back as it is.

        Raises: ConfigError, APIConnectionError, APITimeoutError, LimitExceededError.
        """
        route = self._routes[request.url]
        deadlines = Deadlines(timeouts, route.peer, time.monotonic())
        reply = _Reply(self, self._ask(request, route, deadlines), deadlines)
        return reply if reply.status < 300 else self._followed(request, reply, deadlines)

    def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        """The whole reply to `request`, as `open`, reading to the end and closing would give it."""
        route = self._routes[request.url]
        deadlines = Deadlines(timeouts, route.peer, time.monotonic())
        connection = self._ask(request, route, deadlines)
        reader = connection.reader
        status = reader.status
        if reader.complete and status < 300 and not reader.inflates:
            reply = HttpReply(status=status, headers=reader.headers, body=reader.take())
            self.leave(connection, keep=reader.reusable and not connection.torn)
            return reply
        opened = self._followed(request, _Reply(self, connection, deadlines), deadlines)
        try:
            body = opened.rest()
        finally:
            opened.close()
        return HttpReply(status=opened.status, headers=opened.headers, body=body)

    def _followed(self, request: HttpRequest, reply: _Reply, deadlines: Deadlines) -> _Reply:
        """The reply that a redirect leads to within the origin, else the one that is there."""
        url = request.url
        for _ in range(self._options.max_redirects):
            there = redirected(url, reply.status, header(reply.headers, "location")) if reply.status >= 300 else None
            if there is None:
                break
            reply.close()
            url = there
            reply = _Reply(self, self._ask(request, self._routes[url], deadlines), deadlines)
        return reply

    def close(self) -> None:
        """Close every idle connection now, and the others when their reply ends. The transport may be used again."""
        if self._process is not this_process():
            self._start_anew()
        with self._lock:
            self._generation += 1
            self._pool.drain()
            discarded = self._take_discarded()
        _close_all(discarded)

    def _ask(self, request: HttpRequest, route: Route, deadlines: Deadlines) -> _Connection:
        """A connection that has read the head of the reply."""
        written = route.written(request)
        connection = self._lease(route.origin, deadlines)
        try:
            if connection is not None and not connection.stale():
                try:
                    connection.ask(request.method, written, deadlines)
                except APIConnectionError:
                    if not connection.crossed():
                        raise
                else:
                    return connection
            if connection is not None:
                connection.close()
                connection = None
            connection = self._connect(route, deadlines)
            connection.ask(request.method, written, deadlines)
            return connection
        except BaseException:
            if connection is not None:
                connection.close()
            self._release(route.origin, None)
            raise

    # The pool.

    def _start_anew(self) -> None:
        """Leave the connections of the parent alone, in a forked child."""
        self._pool.drain()
        _close_all(self._pool.discarded)
        self._begin()

    def _lease(self, origin: Origin, deadlines: Deadlines) -> _Connection | None:
        """A slot, with the idle connection that is in it; waits where there is none."""
        if self._process is not this_process():
            self._start_anew()
        now = time.monotonic()
        with self._lock:
            while self._abandoned:
                self._pool.release(self._abandoned.popleft(), None, now)
            idle = self._pool.take(origin, now)
            if idle is not None and not self._pool.discarded:
                return idle
            granted = self._pool.lease(origin, now) if idle is None else Slot(idle)
            if granted is None:
                granted = _Waiter()
                self._pool.wait(origin, granted)
            if idle is None:
                self._pool.expire(now)
            discarded = self._take_discarded()
        _close_all(discarded)
        slot = self._await_slot(granted, origin, deadlines, now) if isinstance(granted, _Waiter) else granted
        return slot.connection

    def _await_slot(self, waiter: _Waiter, origin: Origin, deadlines: Deadlines, now: float) -> Slot[_Connection]:
        at, phase = deadlines.by("pool", now)
        try:
            waiter.event.wait(None if at == _NEVER else max(0.0, at - now))
        except BaseException:
            self._stop_waiting(waiter, origin)
            if waiter.slot is not None:
                self._release(origin, waiter.slot.connection)
            raise
        self._stop_waiting(waiter, origin)
        if waiter.slot is None:
            raise deadlines.passed(phase)
        return waiter.slot

    def _stop_waiting(self, waiter: _Waiter, origin: Origin) -> None:
        with self._lock:
            self._pool.give_up(origin, waiter)

    def leave(self, connection: _Connection, *, keep: bool) -> None:
        """Take a connection back from a reply, to keep it or to close it."""
        if self._process is not this_process():
            connection.close()
        elif keep and connection.generation == self._generation:
            self._give_back(connection.origin, connection)
        else:
            connection.close()
            self._give_back(connection.origin, None)

    def abandon(self, connection: _Connection) -> None:
        """Close the connection of a reply that nobody closed; garbage collection calls this anywhere, so no lock."""
        connection.close()
        self._abandoned.append(connection.origin)

    def _release(self, origin: Origin, connection: _Connection | None) -> None:
        if self._process is this_process():
            self._give_back(origin, connection)

    def _give_back(self, origin: Origin, connection: _Connection | None) -> None:
        with self._lock:
            handed = self._pool.release(origin, connection, time.monotonic())
            if handed is not None:
                waiter, waiter.slot = handed[0], handed[1]
                waiter.event.set()
            if not self._pool.discarded:
                return
            discarded = self._take_discarded()
        _close_all(discarded)

    def _take_discarded(self) -> list[_Connection]:
        if not self._pool.discarded:
            return []
        discarded, self._pool.discarded = self._pool.discarded, []
        return discarded

    # Connecting.

    def _connect(self, route: Route, deadlines: Deadlines) -> _Connection:
        now = time.monotonic()
        at, phase = deadlines.by("connect", now)
        via = None if route.proxy is None else route.proxy.origin.peer
        try:
            link = self._link(route.origin, route.proxy, at)
        except TimeoutError as error:
            if time.monotonic() >= at:
                raise deadlines.passed(phase) from None
            raise connecting_failed(error, route.peer, via=via) from error
        except OSError as error:
            raise connecting_failed(error, route.peer, via=via) from error
        reader = ResponseReader(route.origin.peer, max_body_bytes=self._options.max_body_bytes)
        connection = _Connection(link, route.origin, reader)
        connection.generation = self._generation
        return connection

    def _link(self, origin: Origin, proxy: Proxy | None, at: float) -> socket.socket:
        link = _dial(proxy.origin if proxy is not None else origin, at, self._network)
        try:
            if origin.secure:
                if proxy is not None:
                    # The proxy is asked for a tunnel.
                    reader = ResponseReader(proxy.origin.peer)
                    reader.start("CONNECT")
                    link.settimeout(_left(at))
                    link.sendall(encode_connect(origin.peer, proxy.authorization))
                    while not reader.head_done:
                        link.settimeout(_left(at))
                        data = link.recv(_RECEIVE_BYTES)
                        if data:
                            reader.feed(data)
                        else:
                            reader.eof()
                    check_tunnel(reader, origin, proxy)
                link = self._tls().wrap_socket(
                    link,
                    server_hostname=origin.host,
                    do_handshake_on_connect=False,
                    suppress_ragged_eofs=False,  # an end that anybody can make is none of the body
                )
                link.settimeout(_left(at))
                link.do_handshake()
        except BaseException:
            link.close()
            raise
        return link

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            from interlingua.transport.tls import tls_context  # here, because plain http needs no ssl

            self._context = tls_context(self._options)
        return self._context


def _resolve(host: str, port: int) -> Sequence[Found]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _dial(origin: Origin, at: float, network: Network) -> socket.socket:
    """A connected socket to the first address of `origin` that answers."""
    addresses = known_addresses(origin.host, origin.port)
    if addresses is None:
        resolve = network.resolve or _resolve
        addresses = ordered(resolve(origin.host, origin.port))
    addresses = network.admitted(origin, addresses)
    failure: OSError = TimeoutError()
    for place, address in enumerate(addresses):
        link = new_socket(address[0])
        try:
            link.settimeout(attempt_s(_left(at), len(addresses) - place))
            link.connect(address[1])
        except OSError as error:
            link.close()
            failure = error
        except BaseException:
            link.close()
            raise
        else:
            return link
    raise failure


def _left(at: float) -> float:
    """Seconds until `at`, a day at most; TimeoutError when it is over."""
    left = at - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, _DAY_S)


def _close_all(connections: list[_Connection]) -> None:
    for connection in connections:
        connection.close()
