"""Certificates that are made up for a test, and a relay that spoils what a server says on its way to the client."""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import struct
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["NOW", "Authority", "Relay", "relay"]

trustme: Any = pytest.importorskip("trustme", reason="makes certificates for tests")

NOW = dt.datetime.now(dt.UTC)
_DAY = dt.timedelta(days=1)


class Authority:
    """A certificate authority that nobody trusts but who is given its file."""

    def __init__(self, folder: Path) -> None:
        """An authority whose own certificate lies in `folder`."""
        self._made = trustme.CA()
        self.file: str = str(folder / "authority.pem")
        """The PEM file of the authority."""
        self._made.cert_pem.write_to_path(self.file)

    def context(self, *names: str, days: tuple[int, int] = (-1, 30)) -> ssl.SSLContext:
        """A server's context with a certificate for `names`, good from the first to the last of `days` around today."""
        first, last = (NOW + count * _DAY for count in days)
        made = self._made.issue_cert(*(names or ("localhost",)), not_before=first, not_after=last)
        context = _server_context()
        made.configure_cert(context)
        return context

    def self_signed(self) -> ssl.SSLContext:
        """A server's context whose certificate is its own authority."""
        alone: Any = trustme.CA()
        context = _server_context()
        with alone.private_key_pem.tempfile() as key, alone.cert_pem.tempfile() as certificate:
            context.load_cert_chain(certificate, key)
        return context


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    return context


class Relay:
    """Passes bytes on between a client and a server, and spoils those that go to the client."""

    def __init__(self, port: int, target_port: int, context: ssl.SSLContext | None = None) -> None:
        """A relay that spoils nothing; with a `context` its clients speak TLS, and the server does not."""
        self._context = context
        self.port: int = port
        """Where it listens."""
        self.cut_at: int | None = None
        """After how many bytes to the client a connection ends."""
        self.resets: bool = False
        """Whether it ends with a reset."""
        self.flip_at: int | None = None
        """Which byte to the client has a bit of it turned over."""
        self.is_silent: bool = False
        """Whether nothing goes to the client any more where it would have been cut, and nothing ends."""
        self.count: int = 0
        """How many bytes the latest connection has sent to its client."""
        self._target_port = target_port
        self._ended = threading.Event()

    def accept(self, listener: socket.socket) -> None:
        """Serve connections until the listener is closed."""
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            self.count = 0
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def stop(self) -> None:
        """Let go of the connections that are silent."""
        self._ended.set()

    def _serve(self, link: socket.socket) -> None:
        if self._context is not None:
            try:
                link = self._context.wrap_socket(link, server_side=True)
            except OSError:
                return
        with socket.create_connection(("127.0.0.1", self._target_port)) as server, link:
            threading.Thread(target=_pass, args=(link, server), daemon=True).start()
            with contextlib.suppress(OSError):
                while data := server.recv(65_536):
                    if self._spoil(link, data):
                        break
            with contextlib.suppress(OSError):
                if not self.resets:
                    link.shutdown(socket.SHUT_RDWR)
                server.shutdown(socket.SHUT_RDWR)

    def _spoil(self, link: socket.socket, data: bytes) -> bool:
        """Send data as they are to arrive; whether the connection is over with them."""
        if self.flip_at is not None and self.count <= self.flip_at < self.count + len(data):
            place = self.flip_at - self.count
            data = data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :]
        left = len(data) if self.cut_at is None else max(0, self.cut_at - self.count)
        link.sendall(data[:left])
        self.count += len(data[:left])
        if left >= len(data):
            return False
        if self.is_silent:
            self._ended.wait(60)
        if self.resets:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.shutdown(socket.SHUT_RD)  # who waits in another thread would keep the socket open
        return True


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def relay(port: int, context: ssl.SSLContext | None = None) -> Generator[Relay]:
    """A relay in front of `port` of the loopback; with a `context` its clients speak TLS."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Relay(listener.getsockname()[1], port, context)
        thread = threading.Thread(target=made.accept, args=(listener,), daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.stop()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)
