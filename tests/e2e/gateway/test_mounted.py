"""The gateway inside an application, and in front of upstreams that fail after they have begun: over real sockets."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from interlingua import gateway
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.settings import GatewaySettings
from interlingua.testing.upstream import Upstream
from interlingua.transport.base import Timeouts
from interlingua.types.event import StreamError
from tests.support.cells import cells
from tests.support.gateway import MODELS, asking, provider, serving

uvicorn = pytest.importorskip("uvicorn", reason="the gateway extra is not installed")

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":"One "}}]}\n\n'
)


def _post(url: str, dialect: str, model: str) -> tuple[int, bytes]:
    asked = asking(dialect, model, stream=True)
    connection = http.client.HTTPConnection(url.removeprefix("http://").partition("/")[0], timeout=20)
    path = f"/{url.removeprefix('http://').partition('/')[2]}".rstrip("/") + asked.path
    headers = {"content-type": "application/json", "connection": "close"}
    try:
        connection.request("POST", f"{path}?{asked.query}" if asked.query else path, asked.body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def test_a_web_application_may_hold_it() -> None:
    """Mounted in FastAPI, below a path of its own: its streams arrive as they are."""
    fastapi = pytest.importorskip("fastapi", reason="a web application to mount it in")
    app = fastapi.FastAPI()
    app.mount("/llm", gateway.app(settings=GatewaySettings(is_open=True)))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener, Upstream("anthropic").standing():
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/llm"
        try:
            status, body = _post(url, "openai-chat", MODELS["anthropic"])
        finally:
            server.should_exit = True
            thread.join(10)
    assert status == 200
    assert body.endswith(b"data: [DONE]\n\n")


def test_a_mounted_gateway_never_calls_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vendor's variable that names the server is left out from the first request on."""
    app = gateway.app(settings=GatewaySettings(is_open=True))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://localhost:{listener.getsockname()[1]}"
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            status, body = _post(url.replace("localhost", "127.0.0.1"), "openai-chat", "openai/m")
        finally:
            server.should_exit = True
            thread.join(10)
    assert status == 500
    assert b"openai: no key; set OPENAI_API_KEY" in body


class _Failing(threading.Thread):
    """An upstream that sends its head and one frame, and then fails in a way of its own."""

    def __init__(self, how: str) -> None:
        super().__init__(daemon=True)
        self.how = how
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.closed_by_peer = threading.Event()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self) -> None:
        """Serve until the socket is closed."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        frame = b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK)
        connection.sendall(HEAD + frame)
        time.sleep(0.05)
        garbage = b"data: {]\n\n"
        match self.how:
            case "garbage":
                connection.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(garbage), garbage))
            case "clean end":
                connection.sendall(b"0\r\n\r\n")
            case "stall":
                connection.settimeout(5)
                if connection.recv(1) == b"":
                    self.closed_by_peer.set()
            case _:  # cut: the connection is closed in the middle
                connection.sendall(frame[: len(frame) // 2])


@contextmanager
def _failing(how: str) -> Generator[_Failing]:
    upstream = _Failing(how)
    upstream.start()
    try:
        yield upstream
    finally:
        upstream.listener.close()


@cells("dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"])
@cells("how", ["cut", "clean end", "garbage", "stall"])
def test_sse_15_whatever_befalls_an_upstream_ends_in_the_dialects_own_error(dialect: str, how: str) -> None:
    """Relayed to a Chat client and translated for the others: an error after what came, and the upstream is closed."""
    settings: Any = {"timeouts": Timeouts(idle_s=0.2 if how == "stall" else 60.0)}
    with (
        _failing(how) as upstream,
        serving(providers={"up": provider("openai-chat", f"{upstream.url}/v1")}, **settings) as url,
    ):
        status, data = _post(url, dialect, "up/m")
        if how == "stall":
            assert upstream.closed_by_peer.wait(60)
    assert status == 200
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    events = [*decoder.feed(data), *decoder.close()]
    end = events[-1]
    assert isinstance(end, StreamError)
    assert end.partial is not None
    assert end.partial.text.startswith("One")
