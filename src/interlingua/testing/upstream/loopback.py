"""A service on a port of the loopback: HTTP/1.1 over the standard library, a thread for each request.

Faults of a plan are played on the wire, as a broken service would: a reset is a reset of the connection, a stall is
silence until the client leaves (or for `PATIENCE_S`), a cut is a body that ends before its framing does.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from interlingua.transport.fault import GARBAGE, STALL_AT_ONCE, Fault, FaultPlan
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest

__all__ = ["PATIENCE_S", "serving"]

PATIENCE_S = 30.0
"""How long a stalled service waits for its client to leave."""


@contextmanager
def serving(answer: Callable[[HttpRequest], Line], plan: FaultPlan | None = None) -> Generator[str]:
    """The address of a server that answers with what `answer` gives; a line with an ending is cut off there.

    `plan` says which faults the requests meet, by the host of their URL.
    """
    server = _Server(answer, plan or FaultPlan({}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer: Callable[[HttpRequest], Line], plan: FaultPlan) -> None:
        self.answer = answer
        self.plan = plan
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that leaves in the middle is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        server = cast("_Server", self.server)
        length = int(self.headers.get("content-length") or 0)
        request = HttpRequest(
            method=self.command,
            url=f"http://{self.headers.get('host', 'localhost')}{self.path}",
            headers=tuple((name.lower(), value) for name, value in self.headers.items()),
            body=self.rfile.read(length),
        )
        fault = server.plan.next(request)
        match fault:
            case Fault(kind="refuse" | "reset"):
                self._reset()
            case Fault(kind="stall", amount=amount) if amount == STALL_AT_ONCE:
                self._wait()
            case Fault(kind="status", amount=status):
                body = server.plan.error_body(request, status)
                self._send(Line(status=status, headers=server.plan.headers(fault), pieces=(body,)), fault)
            case _:
                self._send(server.answer(request), fault)

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the names that the standard library calls

    def _send(self, line: Line, fault: Fault) -> None:
        self.send_response(line.status)
        for name, value in line.headers:
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in _spoilt(line.pieces, fault):
            time.sleep(cast("_Server", self.server).plan.pace_of(fault))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if fault.kind == "stall":
            self._wait()
        elif line.ending is None and fault.kind != "cut":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _wait(self) -> None:
        """Say nothing until the client has left."""
        self.close_connection = True
        self.connection.settimeout(PATIENCE_S)
        with suppress(OSError):
            while self.connection.recv(65_536):
                pass

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the verdicts are the log."""


def _spoilt(pieces: Iterable[bytes], fault: Fault) -> Iterator[bytes]:
    """The pieces that are sent."""
    whole = b"".join(pieces)
    match fault.kind:
        case "cut" | "stall" | "truncate":
            sent = (whole[: fault.amount],)
        case "garbage":
            sent = (whole[: fault.amount], GARBAGE, whole[fault.amount :])
        case "drip":
            size = max(1, fault.amount)
            sent = tuple(whole[start : start + size] for start in range(0, len(whole), size))
        case _:
            sent = tuple(pieces)
    return (piece for piece in sent if piece)
