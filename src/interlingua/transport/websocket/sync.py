"""Turns over WebSockets, blocking; what no turn can be goes through the transport behind.

Rules
- A deadline, a failure and a reply that is closed before its end close their connection.
- A response that is not there any more is left out, once: the turn sends everything on the same connection.
- A connection that has reached the vendor's limit is replaced, once.
- Whatever keeps a connection from being made is left to HTTP, which tells what is wrong.
"""

from __future__ import annotations

import select
import socket
import time
from typing import TYPE_CHECKING

from interlingua.errors import APIConnectionError
from interlingua.transport.base import fetch_of
from interlingua.transport.default import default_options
from interlingua.transport.problems import Deadlines, exchange_failed
from interlingua.transport.tls import tls_context
from interlingua.transport.url import parse_url
from interlingua.transport.websocket.link import Link, handshake_headers
from interlingua.transport.websocket.pool import Pool
from interlingua.transport.websocket.turn import LOST, TOO_OLD, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.errors import Phase
    from interlingua.transport.base import Reply, Timeouts, Transport
    from interlingua.transport.websocket.turn import Latest, Turn
    from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = ["Connection", "SocketTransport"]

_RECEIVE_BYTES = 262_144
_NEVER = float("inf")


class Connection:
    """One connection."""

    def __init__(self, link: Link, peer: socket.socket, name: str) -> None:
        """A connection whose handshake is to be sent; `name` is whom errors name."""
        self._link = link
        self._socket = peer
        self._name = name
        self.latest: Latest | None = None
        """The response that it can go on from."""
        self.made_s: float = time.monotonic()
        """When it was made."""

    def greet(self, deadlines: Deadlines) -> bool:
        """Whether the server takes the handshake."""
        self._write(self._link.to_send(), "connect", deadlines)
        while not self._link.is_greeted:
            if not self._more("connect", deadlines):
                return False
        return self._link.is_open

    def is_ready(self) -> bool:
        """Whether a turn can begin: what came meanwhile, pings and a close, is taken first."""
        try:
            while select.select([self._socket], [], [], 0)[0]:
                self._socket.settimeout(0.0)
                data = self._socket.recv(_RECEIVE_BYTES)
                answer = self._link.feed(data)
                if not data:
                    return False
                if answer:
                    self._socket.settimeout(1.0)
                    self._socket.sendall(answer)
        except (OSError, ValueError):
            return False
        return self._link.is_open and not self._link.texts

    def send(self, text: bytes, deadlines: Deadlines) -> None:
        """Send a text."""
        self._write(self._link.send(text), "idle", deadlines)

    def receive(self, phase: Phase, deadlines: Deadlines) -> bytes:
        """The next text.

        Raises: APIConnectionError, APITimeoutError.
        """
        while not self._link.texts:
            if not self._link.is_open or not self._more(phase, deadlines):
                raise APIConnectionError(f"{self._name} closed the WebSocket before the response was whole")
        return self._link.texts.popleft()

    def _more(self, phase: Phase, deadlines: Deadlines) -> bool:
        """Whether something came."""
        ends = self._be_patient(phase, deadlines)
        try:
            data = self._socket.recv(_RECEIVE_BYTES)
        except TimeoutError:
            raise deadlines.passed(ends) from None
        except OSError as error:
            raise exchange_failed(error, self._name) from error
        answer = self._link.feed(data)
        if answer and data:
            self._write(answer, phase, deadlines)
        return bool(data)

    def _write(self, data: bytes, phase: Phase, deadlines: Deadlines) -> None:
        ends = self._be_patient(phase, deadlines)
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise deadlines.passed(ends) from None
        except OSError as error:
            raise exchange_failed(error, self._name) from error

    def _be_patient(self, phase: Phase, deadlines: Deadlines) -> Phase:
        now = time.monotonic()
        at, ends = deadlines.by(phase, now)
        if at <= now:
            raise deadlines.passed(ends)
        self._socket.settimeout(None if at == _NEVER else at - now)
        return ends

    def abort(self) -> None:
        """Close it at once."""
        self._socket.close()


class _Reply:
    """The stream of one turn."""

    status = 200

    def __init__(
        self, pool: Pool[Connection], key: object, connection: Connection, begun: tuple[Turn, bytes], ends: Deadlines
    ) -> None:
        self._pool, self._key, self._deadlines = pool, key, ends
        self._turn, self._begun = begun
        self._connection: Connection | None = connection
        self.headers: Headers = self._turn.headers

    def read(self) -> bytes:
        """The next piece; `b""` at the end."""
        piece, self._begun = self._begun, b""
        connection, turn = self._connection, self._turn
        if not piece and connection is not None:
            try:
                piece = turn.take(connection.receive("idle", self._deadlines))
            except BaseException:
                self.close()
                raise
        if turn.is_over and connection is not None:
            connection.latest, self._connection = turn.latest, None
            self._pool.give(self._key, connection)
        return piece

    def close(self) -> None:
        """Close the connection of a turn that is not over."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.drop(connection)

    def __del__(self) -> None:
        """Close what nobody closed."""
        self.close()


class _Whole:
    """A reply that is there."""

    def __init__(self, reply: HttpReply) -> None:
        self.status: int = reply.status
        self.headers: Headers = reply.headers
        self._body = reply.body

    def read(self) -> bytes:
        """The body, then its end."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Nothing: there is nothing open."""


class SocketTransport:
    """Opens exchanges over WebSockets where the server has them."""

    def __init__(self, inner: Transport, pool: Pool[Connection], serves: Callable[[HttpRequest], bool]) -> None:
        """A transport before `inner`; `serves` says whether the server of a request has WebSockets."""
        self._inner = inner
        self._pool = pool
        self._serves = serves

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply to `request`, its headers read and its body not yet.

        Raises: as the transport behind.
        """
        turn = turn_of(request) if self._serves(request) else None
        reply = None if turn is None else self._begun(request, turn, timeouts)
        if turn is None or reply is None:
            return self._inner.open(request, timeouts)
        if turn.is_stream and turn.refusal is None:
            return reply
        _read_on(reply)
        return _Whole(turn.reply())

    def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        """The whole reply to `request`.

        Raises: as the transport behind.
        """
        turn = turn_of(request) if self._serves(request) else None
        reply = None if turn is None else self._begun(request, turn, timeouts)
        if turn is None or reply is None:
            return fetch_of(self._inner)(request, timeouts)
        _read_on(reply)
        return turn.reply()

    def _begun(self, request: HttpRequest, turn: Turn, timeouts: Timeouts) -> _Reply | None:
        """The stream of a turn whose first event has come; None where HTTP is to carry the request."""
        headers = handshake_headers(request.headers)
        key = request.url, headers
        deadlines = Deadlines(timeouts, parse_url(request.url).origin.peer, time.monotonic())
        connection = self._pool.take(key, turn, time.monotonic()) or self._connected(key, deadlines)
        if connection is None:
            return None
        try:
            piece = self._first(connection, turn, deadlines)
            if turn.error_code == TOO_OLD:
                self._pool.drop(connection)
                connection = self._connected(key, deadlines)
                if connection is None:
                    return None
                piece = self._first(connection, turn, deadlines)
        except BaseException:
            if connection is not None:
                self._pool.drop(connection)
            raise
        self._pool.counts.turns += 1
        self._pool.counts.continued += turn.is_continued
        return _Reply(self._pool, key, connection, (turn, piece), deadlines)

    def _first(self, connection: Connection, turn: Turn, deadlines: Deadlines) -> bytes:
        """The first piece of a turn, sent whole where what it goes on from is not there any more."""
        turn.is_over = False
        connection.send(turn.event(connection.latest), deadlines)
        piece = turn.take(connection.receive("first_byte", deadlines))
        if turn.is_continued and turn.error_code in LOST:
            turn.is_over, connection.latest = False, None
            connection.send(turn.event(None), deadlines)
            piece = turn.take(connection.receive("first_byte", deadlines))
        return piece

    def _connected(self, key: tuple[str, Headers], deadlines: Deadlines) -> Connection | None:
        """A new connection; None where there is none to be had."""
        if not self._pool.may_open(key):
            return None
        made: Connection | None = None
        is_open = False
        try:
            made = _dialled(*key, deadlines)
            is_open = made.greet(deadlines)
        except (OSError, APIConnectionError):
            is_open = False
        finally:
            if not is_open:
                self._pool.refuse(key, is_final=made is not None)
                if made is not None:
                    made.abort()
        if made is not None and is_open:
            self._pool.opened(made)
            return made
        return None

    def close(self) -> None:
        """Close the transport behind; the connections are those of the pool."""
        self._inner.close()


def _read_on(reply: _Reply) -> None:
    try:
        while reply.read():
            pass
    finally:
        reply.close()


def _dialled(url: str, headers: Headers, deadlines: Deadlines) -> Connection:
    origin = parse_url(url).origin
    at, ends = deadlines.by("connect", time.monotonic())
    left_s = None if at == _NEVER else max(0.001, at - time.monotonic())
    try:
        peer = socket.create_connection((origin.host, origin.port), timeout=left_s)
    except TimeoutError:
        raise deadlines.passed(ends) from None
    try:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if origin.secure:
            peer = tls_context(default_options()).wrap_socket(peer, server_hostname=origin.host)
        return Connection(Link(url, headers), peer, origin.peer)
    except BaseException:
        peer.close()
        raise
