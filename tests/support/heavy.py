"""`il serve` under heavy bodies: the process, an upstream that reads no JSON, liveness beside them, memory."""

from __future__ import annotations

import http.client
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["ANSWER", "Alive", "Served", "alive", "plain_upstream", "served"]

ANSWER = (
    b'{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":'
    b'"Yes."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}'
)
"""What the upstream says, whatever it was asked."""
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


class Served(NamedTuple):
    """A gateway in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    told: list[str]
    """What it has written on stderr since it serves."""

    def post(self, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
        """The status and the body of a reply; 0 for a connection that ended without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # refused while it is sent
                connection.request("POST", path, body, {"content-type": "application/json", **told})
            reply = connection.getresponse()
            return reply.status, reply.read()
        except (http.client.HTTPException, OSError):
            return 0, b""
        finally:
            connection.close()

    def resident_bytes(self) -> int:
        """How much memory the process has now."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def served(*arguments: str, **environ: str) -> Generator[Served]:
    """`il serve` on a port of its own."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environ})
    assert process.stderr is not None
    told = ""
    try:
        while "OLLAMA_HOST" not in told and (line := process.stderr.readline()):
            told += line
        found = re.search(r"serving on http://127\.0\.0\.1:(\d+)", told)
        assert found, told
        lines: list[str] = []
        reader = threading.Thread(target=lines.extend, args=(process.stderr,), daemon=True)
        reader.start()
        yield Served(process, int(found[1]), lines)
        process.kill()
        reader.join()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def plain_upstream() -> Generator[str]:
    """The address of a Messages server that takes any body and reads none."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:

        def answer(link: socket.socket) -> None:
            with link, suppress(OSError):
                while True:
                    data = b""
                    while b"\r\n\r\n" not in data:
                        piece = link.recv(65_536)
                        if not piece:
                            return
                        data += piece
                    head, _, body = data.partition(b"\r\n\r\n")
                    length = _LENGTH.search(head + b"\r\n")
                    left = int(length[1]) - len(body) if length else 0
                    while left > 0:
                        left -= len(link.recv(min(left, 1 << 20)))
                    link.sendall(
                        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                        % (len(ANSWER), ANSWER)
                    )

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


class Alive:
    """What liveness said while something else happened."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.times_s: list[float] = []
        """How long each answer took."""

    @property
    def longest_s(self) -> float:
        """The longest that an answer took."""
        return max(self.times_s, default=0.0)


@contextmanager
def alive(port: int) -> Generator[Alive]:
    """Asks `/health/live` again and again over a connection of its own."""
    told, ends = Alive(), threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while not ends.wait(0.01):
            began_s = time.monotonic()
            connection.request("GET", "/health/live")
            assert connection.getresponse().read()
            told.times_s.append(time.monotonic() - began_s)
        connection.close()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        ends.set()
        thread.join(120)
