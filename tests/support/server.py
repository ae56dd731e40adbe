"""A loopback HTTP server that is scripted byte by byte: what a test says is what goes onto the wire."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Answer", "Seen", "Server", "chunked", "reply", "serving"]


@dataclass(frozen=True)
class Pause:
    """Say nothing for a while."""

    seconds: float


@dataclass(frozen=True)
class Await:
    """Say nothing until somebody says so."""

    event: threading.Event


@dataclass(frozen=True)
class Tell:
    """Tell somebody that everything before was said."""

    event: threading.Event


@dataclass(frozen=True)
class Reset:
    """Close with a reset instead of an end."""


@dataclass(frozen=True)
class Hold:
    """Say nothing until the client closes, and note that it did."""


@dataclass(frozen=True)
class Tunnel:
    """Join this connection with the one to `port` on loopback, as a proxy does after CONNECT."""

    port: int


@dataclass(frozen=True)
class Farewell:
    """End TLS as it is to be ended; a server that closes without it may have been cut off by anybody."""


Step: TypeAlias = "bytes | Pause | Await | Tell | Reset | Hold | Tunnel | Farewell"


@dataclass(frozen=True)
class Answer:
    """What one request is answered with."""

    steps: tuple[Step, ...]
    close: bool = False


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    head: bytes
    body: bytes
    connection: int

    @property
    def line(self) -> str:
        """The request line."""
        return self.head.split(b"\r\n", 1)[0].decode("latin-1")

    def header(self, name: str) -> str | None:
        """The value of a header."""
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.decode("latin-1").lower() == name:
                return value.strip().decode("latin-1")
        return None


def reply(body: bytes = b"{}", *, status: str = "200 OK", headers: str = "", length: bool = True) -> bytes:
    """The bytes of a reply with a content-length."""
    extra = f"content-length: {len(body)}\r\n" if length else ""
    return f"HTTP/1.1 {status}\r\n{extra}{headers}\r\n".encode("latin-1") + body


def chunked(*pieces: bytes, end: bool = True) -> bytes:
    """The pieces in chunked framing."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + (b"0\r\n\r\n" if end else b"")


Script: TypeAlias = "Callable[[Seen], Answer] | list[Answer] | Answer"


@dataclass
class Server:
    """The running server: its port, and what it saw."""

    port: int
    scheme: str
    seen: list[Seen] = field(default_factory=list[Seen])
    connections: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/v1/chat", host: str = "127.0.0.1") -> str:
        """A URL of this server."""
        return f"{self.scheme}://{host}:{self.port}{path}"


_CLIENT_HELLO = b"\x16\x03"


class _Worker:
    def __init__(self, server: Server, script: Callable[[Seen], Answer], context: ssl.SSLContext | None) -> None:
        self.server = server
        self.script = script
        self.context = context
        self.links: set[socket.socket] = set()
        self.lock = threading.Lock()

    def accept(self, listener: socket.socket) -> None:
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link: socket.socket) -> None:
        with self.lock:
            self.server.connections += 1
            number = self.server.connections
        try:
            if self.context is not None:
                link = self.context.wrap_socket(link, server_side=True)
            self.links.add(link)
            with link:
                buffer = b""
                while True:
                    request, buffer = self.receive(link, buffer, number)
                    if request is None or not self.answer(link, request):
                        return
        except OSError:
            self.server.hung_up.set()
        finally:
            self.links.discard(link)

    def receive(self, link: socket.socket, buffer: bytes, number: int) -> tuple[Seen | None, bytes]:
        while b"\r\n\r\n" not in buffer:
            data = link.recv(65_536)
            if not data:
                return None, b""
            buffer += data
            if buffer.startswith(_CLIENT_HELLO):
                link.sendall(reply(status="400 Bad Request"))
                return None, b""
        head, _, rest = buffer.partition(b"\r\n\r\n")
        seen = Seen(head, b"", number)
        length = int(seen.header("content-length") or 0)
        while len(rest) < length:
            data = link.recv(65_536)
            if not data:
                return None, b""
            rest += data
        return Seen(head, rest[:length], number), rest[length:]

    def answer(self, link: socket.socket, request: Seen) -> bool:
        with self.lock:
            self.server.seen.append(request)
            answer = self.script(request)
        for step in answer.steps:
            if not self.step(link, step):
                return False
        return not answer.close

    def step(self, link: socket.socket, step: Step) -> bool:
        match step:
            case bytes():
                link.sendall(step)
            case Pause(seconds=seconds):
                time.sleep(seconds)
            case Await(event=event):
                event.wait(60)
            case Tell(event=event):
                event.set()
            case Reset():
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            case Hold():
                with contextlib.suppress(OSError):
                    while link.recv(65_536):
                        pass
                self.server.hung_up.set()
                return False
            case Tunnel(port=port):
                self.tunnel(link, port)
                return False
            case Farewell():
                assert isinstance(link, ssl.SSLSocket)
                with contextlib.suppress(OSError):  # the client need not say farewell as well
                    link.unwrap()
        return True

    def tunnel(self, link: socket.socket, port: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as other:
            forward = threading.Thread(target=_pump, args=(link, other), daemon=True)
            forward.start()
            _pump(other, link)
            forward.join(5)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)


def _function(script: Script) -> Callable[[Seen], Answer]:
    if isinstance(script, Answer):
        return lambda _: script
    if callable(script):
        return script
    lines = script

    def following(_: Seen) -> Answer:
        return lines.pop(0) if len(lines) > 1 else lines[0]

    return following


@contextlib.contextmanager
def serving(script: Script, *, context: ssl.SSLContext | None = None) -> Generator[Server]:
    """A server on loopback that answers as `script` says: the same each time, one after the other, or by function."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1], "https" if context else "http")
    worker = _Worker(server, _function(script), context)
    thread = threading.Thread(target=worker.accept, args=(listener,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)
        for link in list(worker.links):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(link, socket.SHUT_RDWR)
