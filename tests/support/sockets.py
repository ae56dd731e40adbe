"""A Responses client over a WebSocket, for tests: frames by `websockets`, events as plain values."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side
from websockets.sync.client import ClientConnection, connect

__all__ = ["ENDS", "HANDSHAKE", "MODEL", "Talk", "closing", "framed", "frames_of", "talking", "text_of"]

HANDSHAKE = (
    b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
"""What begins a connection, with the key of RFC 6455, section 1.3."""

MODEL = "up/gpt-5.1"
"""A model of a target that speaks Responses."""
ENDS = frozenset({"response.completed", "response.failed", "response.incomplete", "error"})
"""The events that end a turn."""
Event = dict[str, Any]


class Talk:
    """The turns of one connection."""

    def __init__(self, connection: ClientConnection, model: str) -> None:
        """A connection that is open."""
        self.connection: ClientConnection = connection
        """The connection."""
        self._model = model

    def send(self, text: object = "Hi", **members: Any) -> None:
        """Ask for a response to a text or items."""
        items = [{"type": "message", "role": "user", "content": text}] if isinstance(text, str) else text
        asked = {"type": "response.create", "model": self._model, "input": items, **members}
        self.connection.send(json.dumps(asked))

    def event(self) -> Event:
        """The next event."""
        text = self.connection.recv(timeout=30)
        assert isinstance(text, str)
        return json.loads(text)

    def turn(self) -> list[Event]:
        """The events of a turn, up to the one that ends it."""
        events = [self.event()]
        while events[-1]["type"] not in ENDS:
            events.append(self.event())
        return events

    def ask(self, text: object = "Hi", **members: Any) -> Event:
        """The event that ends the turn to a text."""
        self.send(text, **members)
        return self.turn()[-1]


@contextmanager
def talking(
    url: str, *, key: str = "any", model: str = MODEL, headers: Mapping[str, str] | None = None, **options: Any
) -> Generator[Talk]:
    """A connection to a gateway."""
    told = {"authorization": f"Bearer {key}", **(headers or {})}
    open_one: Any = connect
    connection: ClientConnection
    with open_one(f"{url.replace('http', 'ws', 1)}/v1/responses", additional_headers=told, **options) as connection:
        yield Talk(connection, model)


def text_of(event: Event) -> str:
    """The text of the response that an event ends."""
    items = event["response"]["output"]
    return "".join([part["text"] for item in items if item["type"] == "message" for part in item["content"]])


# The bytes of frames


def framed(data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    """A frame as a client sends it."""
    return Frame(opcode, data, fin).serialize(mask=True)


def frames_of(received: bytes) -> list[tuple[str, bytes]]:
    """The frames that a server has sent behind its reply to the handshake: their kinds and what they hold."""
    head, _, data = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 "), head
    protocol = Protocol(Side.CLIENT, max_size=None)
    protocol.receive_data(data)
    assert protocol.parser_exc is None
    events = protocol.events_received()
    return [(event.opcode.name, bytes(event.data)) for event in events if isinstance(event, Frame)]


def closing(received: bytes) -> int:
    """The code with which a server has closed a connection; it has said nothing after that."""
    *_, (kind, data) = frames_of(received)
    assert kind == "CLOSE"
    return int.from_bytes(data[:2], "big")
