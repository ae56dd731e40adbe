"""The client's side of one WebSocket without I/O: a handshake, then texts, by the library `websockets`.

Rules
- A text is bounded like the body of a reply; nothing is compressed.
- Pings are answered by what is to be sent next; frames of bytes are no events.

Source: RFC 6455.
"""

from __future__ import annotations

import logging
from collections import deque

from interlingua.errors import ConfigError
from interlingua.transport.url import parse_url
from interlingua.wire.http import Headers
from interlingua.wire.json import MAX_BODY_BYTES

try:
    from websockets.client import ClientProtocol
    from websockets.frames import Frame, Opcode
    from websockets.http11 import Response
    from websockets.protocol import State
    from websockets.uri import parse_uri
except ImportError as _error:
    raise ConfigError("WebSockets need the [websocket] extra: pip install 'interlingua[websocket]'") from _error

__all__ = ["Link", "handshake_headers"]

_LOG = logging.getLogger("interlingua.transport.websocket")
_NOT_SENT = frozenset({"accept", "accept-encoding", "connection", "content-length", "content-type", "host"})
_CHANGING = frozenset({"idempotency-key", "traceparent", "tracestate", "x-client-request-id", "x-request-id"})
"""Headers that differ from request to request, so that they are none of a connection."""


def handshake_headers(headers: Headers) -> Headers:
    """The headers of a request that go out with the handshake of its connection."""
    return tuple([pair for pair in headers if pair[0] not in _NOT_SENT and pair[0] not in _CHANGING])


class Link:
    """Frames of one connection."""

    def __init__(self, url: str, headers: Headers) -> None:
        """A connection to an address of http or https, whose handshake is to be sent."""
        parts = parse_url(url)
        scheme = "wss" if parts.origin.secure else "ws"
        self._frames = ClientProtocol(
            parse_uri(f"{scheme}://{parts.authority}{parts.path}"), max_size=MAX_BODY_BYTES, logger=_LOG
        )
        handshake = self._frames.connect()
        for name, value in headers:
            handshake.headers[name] = value
        self._frames.send_request(handshake)
        self._pieces: list[bytes] = []
        self._is_greeted = False
        self.texts: deque[bytes] = deque()
        """The texts that have come and were not taken yet."""

    @property
    def is_greeted(self) -> bool:
        """Whether the server has answered the handshake, or never will."""
        return self._is_greeted or self._frames.handshake_exc is not None

    @property
    def is_open(self) -> bool:
        """Whether texts can be sent and received."""
        return self._frames.state is State.OPEN

    def feed(self, data: bytes) -> bytes:
        """Take what came, `b""` for its end; gives what is to be sent for it."""
        frames = self._frames
        if data:
            frames.receive_data(data)
        else:
            frames.receive_eof()
        for event in frames.events_received():
            if isinstance(event, Response):
                self._is_greeted = True
            elif isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.CONT):
                self._pieces.append(bytes(event.data))
                if event.fin:
                    self.texts.append(b"".join(self._pieces))
                    self._pieces = []
        return self.to_send()

    def send(self, text: bytes) -> bytes:
        """The bytes of a text."""
        self._frames.send_text(text)
        return self.to_send()

    def to_send(self) -> bytes:
        """The bytes to send now."""
        return b"".join(self._frames.data_to_send())
