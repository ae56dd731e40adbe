"""A service on a port of the loopback: HTTP/1.1 over the standard library, a thread for each request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest

__all__ = ["serving"]


@contextmanager
def serving(answer: Callable[[HttpRequest], Line]) -> Generator[str]:
    """The address of a server that answers with what `answer` gives; a line with an ending is cut off there."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            request = HttpRequest(
                method=self.command,
                url=f"http://{self.headers.get('host', 'localhost')}{self.path}",
                headers=tuple((name.lower(), value) for name, value in self.headers.items()),
                body=self.rfile.read(length),
            )
            self._send(answer(request))

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the names that the standard library calls

        def _send(self, line: Line) -> None:
            self.send_response(line.status)
            for name, value in line.headers:
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in line.pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            if line.ending is None:
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the verdicts are the log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
