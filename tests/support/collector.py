"""A receiver of OpenTelemetry spans on loopback (OTLP over HTTP): it keeps what is sent to it and answers 200."""

from __future__ import annotations

import gzip
import http.server
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

__all__ = ["Export", "collector"]


class Export(NamedTuple):
    """One request of an exporter."""

    path: str
    """Where it was sent."""
    headers: dict[str, str]
    """Its headers, names in lower case."""
    body: bytes
    """Its body, inflated."""


@contextmanager
def collector() -> Generator[tuple[int, list[Export]]]:
    """The port of the receiver, and the list of what it received."""
    exports: list[Export] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            exports.append(
                Export(self.path, headers, gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
            )
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server.server_address[1], exports
        server.shutdown()
