"""A SOCKS5 proxy on loopback, without authentication, which counts the connections that it has made."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["SocksProxy", "socks_proxy"]


class SocksProxy:
    """The running proxy."""

    def __init__(self, port: int) -> None:
        """A proxy on a port of the loopback."""
        self.url: str = f"socks5://127.0.0.1:{port}"
        """Its address."""
        self.targets: list[tuple[str, int]] = []
        """Whom it has connected to."""


@contextmanager
def socks_proxy() -> Generator[SocksProxy]:
    """A proxy that runs as long as the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = SocksProxy(listener.getsockname()[1])
    threads: list[threading.Thread] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threads.append(threading.Thread(target=_serve, args=(client, proxy), daemon=True))
                threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield proxy
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (acceptor, *threads):
            thread.join(10)


def _serve(client: socket.socket, proxy: SocksProxy) -> None:
    with client, suppress(OSError):
        _, count = client.recv(2)
        client.recv(count)
        client.sendall(b"\x05\x00")
        kind = client.recv(4)[3]
        host = client.recv(client.recv(1)[0]).decode() if kind == 3 else socket.inet_ntoa(client.recv(4))
        (port,) = struct.unpack("!H", client.recv(2))
        proxy.targets.append((host, port))
        with socket.create_connection((host, port)) as server:
            client.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join(10)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65_536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
