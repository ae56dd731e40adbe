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

import os
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from interlingua.errors import APIConnectionError
from interlingua.transport.http1 import ResponseReader, encode_connect, encode_request
from interlingua.transport.options import HttpOptions
from interlingua.transport.pool import Pool, Slot
from interlingua.transport.problems import CROSSING_S, Deadlines, connecting_failed, exchange_failed
from interlingua.transport.proxies import check_tunnel, proxy_for
from interlingua.transport.sockets import Network, Probe, attempt_s, known_addresses, new_socket, ordered
from interlingua.transport.url import parse_url, redirected
from interlingua.wire.http import header

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

    from interlingua.errors import Phase
    from interlingua.transport.base import Reply, Timeouts
    from interlingua.transport.options import Environment
    from interlingua.transport.proxies import Proxy
    from interlingua.transport.sockets import Address, Found
    from interlingua.transport.url import Origin, Target
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["HttpTransport"]

_RECEIVE_BYTES = 65_536
_SEND_BYTES = 262_144
_NEVER = float("inf")
_DAY_S = 86_400.0


class _Connection:
    """One socket and the reader of what comes from it."""

    __slots__ = ("_pid", "_probe", "_sent_at", "_torn", "generation", "origin", "proxy", "reader", "socket")

    def __init__(self, link: socket.socket, origin: Origin, proxy: Proxy | None, reader: ResponseReader) -> None:
        self.socket: socket.socket = link
        self.origin: Origin = origin
        self.proxy: Proxy | None = proxy
        self.reader: ResponseReader = reader
        self.generation: int = 0
        self._pid = os.getpid()
        self._sent_at = 0.0
        self._torn = False
        self._probe = Probe(link)

    @property
    def reusable(self) -> bool:
        """Whether another request may follow the reply that was read."""
        return self.reader.reusable and not self._torn

    def stale(self) -> bool:
        """Whether an idle connection has ended, or holds what nobody asked for."""
        return self._probe.readable()

    def crossed(self) -> bool:
        """Whether the peer's close crossed our request on the wire, so that the request was not looked at.

        A server that closes an idle connection does not know of the request that is on its way. We then see the end,
        or a reset, within a round trip after sending and before any byte of an answer. A later end means that the
        server was at work on the request; sending it again is then the caller's decision, not ours.
        """
        return not self.reader.started and time.monotonic() - self._sent_at <= CROSSING_S

    def ask(self, method: str, head: bytes, body: bytes, deadlines: Deadlines) -> None:
        """Send a request and read the head of its reply."""
        self.reader.start(method)
        problem = self._send_request(head, body, deadlines)
        self._sent_at = time.monotonic()
        try:
            while not self.reader.head_done:
                self.receive("idle" if self.reader.in_head else "first_byte", deadlines)
        except APIConnectionError as error:
            raise problem or error from None

    def _send_request(self, head: bytes, body: bytes, deadlines: Deadlines) -> APIConnectionError | None:
        # A server may refuse a large body with an answer and a close, so a failure to send is not yet the last word.
        try:
            if len(body) <= _SEND_BYTES:
                self._send(head + body, deadlines)
            else:
                self._send(head, deadlines)
                self._send(body, deadlines)
        except TimeoutError:
            raise deadlines.passed("idle") from None
        except OSError as error:
            self._torn = True
            return exchange_failed(error, self.reader.peer)
        return None

    def _send(self, data: bytes, deadlines: Deadlines) -> None:
        self._limit("idle", deadlines)
        sent = self.socket.send(data)
        if sent == len(data):
            return
        rest = memoryview(data)[sent:]
        while rest:
            self._limit("idle", deadlines)
            rest = rest[self.socket.send(rest[:_SEND_BYTES]) :]

    def receive(self, phase: Phase, deadlines: Deadlines) -> None:
        """Feed the reader with what comes next, or with the end."""
        phase = self._limit(phase, deadlines)
        try:
            data = self.socket.recv(_RECEIVE_BYTES)
        except TimeoutError:
            raise deadlines.passed(phase) from None
        except OSError as error:
            raise exchange_failed(error, self.reader.peer) from error
        if data:
            self.reader.feed(data)
        else:
            self.reader.eof()

    def _limit(self, phase: Phase, deadlines: Deadlines) -> Phase:
        now = time.monotonic()
        at, phase = deadlines.by(phase, now)
        if at <= now:
            raise deadlines.passed(phase)
        self.socket.settimeout(None if at == _NEVER else at - now)
        return phase

    def close(self) -> None:
        """Close the socket, waking whoever waits for it; in a forked child only the child's handle."""
        if self._pid == os.getpid():
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

    def _leave(self, *, keep: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.leave(connection, keep=keep and connection.reusable)

    def __del__(self) -> None:
        if self._connection is not None:
            self._transport.abandon(self._connection)


class _Waiter:
    """A thread that waits for a slot."""

    __slots__ = ("event", "slot")

    def __init__(self) -> None:
        self.event = threading.Event()
        self.slot: Slot[_Connection] | None = None


_OPEN_ONE: Slot[_Connection] = Slot(None)


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
        self._environment: Environment = {} if environment is None else environment
        self._network = network or Network()
        self._proxies: dict[Origin, Proxy | None] = {}
        self._context: ssl.SSLContext | None = None
        self._generation = 0
        self._abandoned: deque[Origin] = deque()
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._pool: Pool[_Connection, _Waiter] = Pool(self._options)

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply to `request`, its headers read and its body not yet.

        A 307 or 308 within the origin is followed, `max_redirects` times at most; any other one is given back as it is.

        Raises: ConfigError, APIConnectionError, APITimeoutError, LimitExceededError.
        """
        target = parse_url(request.url)
        deadlines = Deadlines(timeouts, target.origin.peer, time.monotonic())
        reply = self._ask(request, target, deadlines)
        url = request.url
        for _ in range(self._options.max_redirects):
            there = redirected(url, reply.status, header(reply.headers, "location")) if reply.status >= 300 else None
            if there is None:
                break
            reply.close()
            url = there
            reply = self._ask(request, parse_url(url), deadlines)
        return reply

    def close(self) -> None:
        """Close every idle connection now, and the others when their reply ends. The transport may be used again."""
        self._check_fork()
        with self._lock:
            self._generation += 1
            self._pool.drain()
            discarded = self._take_discarded()
        _close_all(discarded)

    def _ask(self, request: HttpRequest, target: Target, deadlines: Deadlines) -> _Reply:
        origin = target.origin
        proxy = self._proxy(origin)
        in_the_open = proxy is not None and not origin.secure
        authorization = proxy.authorization if proxy is not None and in_the_open else None
        head = encode_request(request, target, absolute=in_the_open, proxy_authorization=authorization)
        connection = self._lease(origin, deadlines).connection
        try:
            if connection is not None and not self._asked(connection, request, head, deadlines):
                connection.close()
                connection = None
            if connection is None:
                connection = self._connect(origin, proxy, deadlines)
                connection.ask(request.method, head, request.body, deadlines)
            return _Reply(self, connection, deadlines)
        except BaseException:
            if connection is not None:
                connection.close()
            self._release(origin, None)
            raise

    def _asked(self, connection: _Connection, request: HttpRequest, head: bytes, deadlines: Deadlines) -> bool:
        """Whether a kept connection took the request; False when the peer had closed it before."""
        if connection.stale():
            return False
        try:
            connection.ask(request.method, head, request.body, deadlines)
        except APIConnectionError:
            if connection.crossed():
                return False
            raise
        return True

    # The pool.

    def _check_fork(self) -> None:
        if self._pid != os.getpid():
            self._pool.drain()
            _close_all(self._pool.discarded)
            self._begin()

    def _lease(self, origin: Origin, deadlines: Deadlines) -> Slot[_Connection]:
        self._check_fork()
        now = time.monotonic()
        with self._lock:
            while self._abandoned:
                self._pool.release(self._abandoned.popleft(), None, now)
            granted = self._pool.lease(origin, now) or self._queue(origin)
            if granted == _OPEN_ONE:
                self._pool.expire(now)
            discarded = self._take_discarded()
        _close_all(discarded)
        return self._await_slot(granted, origin, deadlines, now) if isinstance(granted, _Waiter) else granted

    def _queue(self, origin: Origin) -> _Waiter:
        waiter = _Waiter()
        self._pool.wait(origin, waiter)
        return waiter

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
        if keep and connection.generation == self._generation and self._pid == os.getpid():
            self._release(connection.origin, connection)
        else:
            connection.close()
            self._release(connection.origin, None)

    def abandon(self, connection: _Connection) -> None:
        """Close the connection of a reply that nobody closed; garbage collection calls this anywhere, so no lock."""
        connection.close()
        self._abandoned.append(connection.origin)

    def _release(self, origin: Origin, connection: _Connection | None) -> None:
        if self._pid != os.getpid():
            return
        with self._lock:
            handed = self._pool.release(origin, connection, time.monotonic())
            discarded = self._take_discarded()
            if handed is not None:
                waiter, waiter.slot = handed[0], handed[1]
                waiter.event.set()
        _close_all(discarded)

    def _take_discarded(self) -> list[_Connection]:
        if not self._pool.discarded:
            return []
        discarded, self._pool.discarded = self._pool.discarded, []
        return discarded

    # Connecting.

    def _proxy(self, origin: Origin) -> Proxy | None:
        if origin not in self._proxies:
            self._proxies[origin] = proxy_for(origin, self._environment)
        return self._proxies[origin]

    def _connect(self, origin: Origin, proxy: Proxy | None, deadlines: Deadlines) -> _Connection:
        now = time.monotonic()
        at, phase = deadlines.by("connect", now)
        via = proxy.origin.peer if proxy is not None else None
        try:
            link = self._link(origin, proxy, at)
        except TimeoutError as error:
            if time.monotonic() >= at:
                raise deadlines.passed(phase) from None
            raise connecting_failed(error, origin.peer, via=via) from error
        except OSError as error:
            raise connecting_failed(error, origin.peer, via=via) from error
        connection = _Connection(link, origin, proxy, self._reader(origin))
        connection.generation = self._generation
        return connection

    def _reader(self, origin: Origin) -> ResponseReader:
        return ResponseReader(origin.peer, max_body_bytes=self._options.max_body_bytes)

    def _link(self, origin: Origin, proxy: Proxy | None, at: float) -> socket.socket:
        link = _dial(proxy.origin if proxy is not None else origin, at, self._network)
        try:
            if origin.secure:
                if proxy is not None:
                    _tunnel(link, origin, proxy, at)
                link = self._tls().wrap_socket(link, server_hostname=origin.host, do_handshake_on_connect=False)
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


def _addresses(origin: Origin, network: Network) -> Sequence[Address]:
    """Where `origin` is, in the order in which it is tried."""
    addresses = known_addresses(origin.host, origin.port)
    if addresses is None:
        resolve = network.resolve or _resolve
        addresses = ordered(resolve(origin.host, origin.port))
    return network.admitted(origin, addresses)


def _resolve(host: str, port: int) -> Sequence[Found]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _dial(origin: Origin, at: float, network: Network) -> socket.socket:
    """A connected socket to the first address of `origin` that answers."""
    addresses = _addresses(origin, network)
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


def _tunnel(link: socket.socket, origin: Origin, proxy: Proxy, at: float) -> None:
    """Ask the proxy for a tunnel to `origin`."""
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


def _left(at: float) -> float:
    """Seconds until `at`, a day at most; TimeoutError when it is over."""
    left = at - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, _DAY_S)


def _close_all(connections: list[_Connection]) -> None:
    for connection in connections:
        connection.close()
