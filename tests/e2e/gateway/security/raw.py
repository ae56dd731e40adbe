"""Bytes on a connection to a gateway, as no well-behaved client would send them."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from interlingua.wire.json import encode

CHAT = "/v1/chat/completions"


class Answer(NamedTuple):
    """What came back on a connection."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    text: bytes
    """Everything that came, as it came."""

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def replies(self) -> int:
        """How many replies came."""
        return self.text.count(b"HTTP/1.1 ")


@contextmanager
def connected(url: str, *, timeout_s: float = 10.0, receive_bytes: int = 0) -> Generator[socket.socket]:
    """A connection to the gateway at a URL."""
    at = urlsplit(url)
    with socket.socket() as connection:
        connection.settimeout(timeout_s)
        if receive_bytes:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        connection.connect((at.hostname, at.port))
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """Everything that comes until the other side closes."""
    pieces: list[bytes] = []
    try:
        while piece := connection.recv(65_536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def answer_of(text: bytes) -> Answer:
    """The first reply of what came; status 0 for nothing."""
    head, _, body = text.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    status = int(words[1]) if len(words) > 1 else 0
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
    return Answer(status, headers, body, text)


def send(url: str, data: bytes, *, timeout_s: float = 10.0) -> Answer:
    """The reply to bytes after which the client says nothing more but waits for the end."""
    with connected(url, timeout_s=timeout_s) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before the end, and closed
            connection.sendall(data)
        return answer_of(rest_of(connection))


def chat(body: Any = None, *headers: str, path: str = CHAT, method: str = "POST") -> bytes:
    """A request, its connection to be closed after the reply; a body that is no bytes is sent as JSON."""
    told = body if isinstance(body, bytes) else encode(body if body is not None else BODY)
    lines = [f"{method} {path} HTTP/1.1", "host: localhost", "connection: close", *headers]
    if not any(line.lower().startswith(("content-length", "transfer-encoding")) for line in headers):
        lines.append(f"content-length: {len(told)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + told


BODY = {"model": "fake/model", "messages": [{"role": "user", "content": "Hi"}]}
