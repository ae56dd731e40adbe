"""What a connection may take of the server: bytes around a body, time to send a request, time to read a reply.

uvicorn bounds none of these by itself: a head may grow for ever, a client that says nothing or reads nothing stays, and
every one of them holds a socket and its buffers.

Rules
- A request comes within `receive_s` seconds and one more for each KiB of it, and is never silent for `receive_s`.
- A reply that is not taken for `send_s` seconds ends its connection; until then the upstream waits, and memory is flat.
- Request line and headers are bounded in bytes and number; what stands around chunks is bounded by the chunks.
- Beyond `max_connections` a new connection gets a 503. What has no path yet is told in OpenAI's form.
- No other protocol is switched to. The parser takes what follows such a wish for the other protocol, a body included:
  with a body it is refused, and without one it is the last request of its connection.
- Trailers are left out: a header that comes after the body was screened by nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from interlingua.wire.json import encode

if TYPE_CHECKING:
    import asyncio

    from httptools import HttpRequestParser
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from interlingua.gateway.asgi import GatewayApp

__all__ = ["MAX_HEADERS", "MAX_HEAD_BYTES", "Connection"]

MAX_HEAD_BYTES = 65_536
"""The most that a request line and its headers may have together, and what is around a body."""
MAX_HEADERS = 128
"""The most headers of a request."""
LEAST_BYTES_PER_S = 1_024
"""How slowly a request may come once `receive_s` has passed."""
_BODY_HEADERS = (b"content-length", b"transfer-encoding")
_HOST_LENGTH = len("host")
_FRAMING = 8
"""How many bytes of framing are taken for each byte of a chunked body: enough for chunks of one byte."""


class Connection(HttpToolsProtocol):
    """One connection of a client."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """A connection to the gateway that the server's configuration holds."""
        super().__init__(config, server_state, app_state, _loop)
        self._gateway = cast("GatewayApp", config.app).gateway
        self._watch: asyncio.TimerHandle | None = None
        self._is_receiving = self._is_in_head = True
        self._is_over = False
        self._began_s = self._last_s = 0.0
        self._stalled_s: float | None = None
        self._count = self._body_count = self._head_count = 0
        self._fault: tuple[int, str] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Watch a new connection, or refuse it where there are too many."""
        super().connection_made(transport)
        self._began_s = self._last_s = self.loop.time()
        settings = self._gateway.settings
        self._watch = self.loop.call_later(min(settings.receive_s, settings.send_s), self._look)
        if len(self.connections) > settings.max_connections:
            self._refuse(503, "too many connections; try again in a moment")

    def connection_lost(self, exc: Exception | None) -> None:
        """Watch it no more."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    # What comes

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is too much of what is no body."""
        if self._is_over:
            return
        self._last_s = self.loop.time()
        if not self._is_receiving:
            self._begin()
        self._count += len(data)
        super().data_received(data)
        around = self._count - self._body_count
        if around > MAX_HEAD_BYTES + _FRAMING * self._body_count and not self.transport.is_closing():
            self._refuse(431, f"more than {MAX_HEAD_BYTES} bytes of headers")

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        if not self._is_receiving:
            self._begin()
        self._is_in_head = True
        self._head_count = 0

    def _begin(self) -> None:
        self._is_receiving = self._is_in_head = True
        self._began_s = self._last_s
        self._count = self._body_count = 0

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request line."""
        self._add_to_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; a trailer is left out."""
        if not self._is_in_head:
            return
        self._add_to_head(len(name) + len(value) + 4)
        if len(self.headers) >= MAX_HEADERS:
            self._fault = (431, f"more than {MAX_HEADERS} headers")
            raise ValueError
        if len(name) == _HOST_LENGTH and name.lower() == b"host" and any(known == b"host" for known, _ in self.headers):
            self._fault = (400, "two Host headers: which one counts would depend on who reads them")
            raise ValueError
        super().on_header(name, value)

    def _add_to_head(self, count: int) -> None:
        self._head_count += count
        if self._head_count > MAX_HEAD_BYTES:
            self._fault = (431, f"more than {MAX_HEAD_BYTES} bytes of headers")
            raise ValueError  # the parser gives up, and `send_400_response` says why

    def on_headers_complete(self) -> None:
        """Take what follows for a body."""
        self._is_in_head = False
        wants_another = cast("HttpRequestParser", self.parser).should_upgrade()
        if wants_another and any(name in _BODY_HEADERS for name, _ in self.headers):
            self._fault = (400, "Upgrade: no other protocol is spoken here, and a body cannot come with this header")
            raise ValueError
        super().on_headers_complete()
        if wants_another:
            self._is_over = True
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body_count += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for the client no more."""
        self._is_receiving = False
        super().on_message_complete()

    # What goes

    def pause_writing(self) -> None:
        """The client does not read."""
        self._stalled_s = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client has read."""
        self._stalled_s = None
        super().resume_writing()

    # What ends it

    def _look(self) -> None:
        """End the connection if its time is over; else look again when it may be."""
        now_s = self.loop.time()
        settings = self._gateway.settings
        if self._stalled_s is None and self.transport.is_closing():
            self._stalled_s = now_s  # what is still to be sent has to be taken, too
        if self._stalled_s is not None and now_s - self._stalled_s >= settings.send_s:
            self.transport.abort()
            return
        if self._is_receiving and not self.transport.is_closing() and now_s >= self._due_s(settings.receive_s):
            self._refuse(408, "the request did not come in time")
        wait_s = min(settings.receive_s, settings.send_s) / 2
        self._watch = self.loop.call_later(wait_s, self._look)

    def _due_s(self, receive_s: float) -> float:
        """When a request that is being received is late; a body that nobody takes yet is not."""
        if self.flow.read_paused:
            return float("inf")
        return min(self._last_s + receive_s, self._began_s + receive_s + self._count / LEAST_BYTES_PER_S)

    def _unsupported_upgrade_warning(self) -> None:
        """Nothing: whoever likes could fill the log with it."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or a head beyond its bounds."""
        self._refuse(*(self._fault or (400, msg)))

    def _refuse(self, status: int, message: str) -> None:
        """Say why and close; in the middle of a reply only close: what is said would be taken for a part of it."""
        cycle = cast("Any", self.cycle)  # None before the first request, whatever uvicorn declares
        if not self.pipeline and (cycle is None or cycle.response_complete or not cycle.response_started):
            kind = "server_error" if status >= 500 else "invalid_request_error"
            body = encode({"error": {"message": message, "type": kind, "param": None, "code": None}}, nulls=2)
            head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
            self.transport.write(STATUS_LINE[status] + head + body)
        self._is_over = True
        self.transport.close()
