"""Large bodies that do not end: `il serve` holds a bounded amount of all of them together, and serves the others."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from interlingua.gateway.keys.auth import hash_key
from tests.support.gateway import provider
from tests.support.heavy import Served, plain_upstream, served
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

MOST_BYTES = 16_000_000
CONFIG = f"""
[server]
max_body_bytes = {MOST_BYTES}
max_receiving_bytes = {MOST_BYTES}

[keys.a]
hash = "{hash_key("a")}"

[keys.b]
hash = "{hash_key("b")}"
"""
SMALL = b'{"model":"up/m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}'


@pytest.fixture
def gateway(tmp_path: Path) -> Generator[Served]:
    """A gateway that lets little come at once."""
    config = tmp_path / "gateway.toml"
    config.write_text(CONFIG)
    with (
        plain_upstream() as at,
        served("--config", str(config), LLM_UP=provider("anthropic", f"{at}/v1"), INTERLINGUA_LOG="off") as made,
    ):
        yield made


def _begin(port: int, key: str, size: int, *, announced: int = 0) -> socket.socket:
    """A body that does not end: so many bytes of it, in chunks, or of as many as are announced."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    framing = b"content-length: %d" % announced if announced else b"transfer-encoding: chunked"
    connection.sendall(
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: %b\r\n%b\r\n\r\n" % (key.encode(), framing)
    )
    piece = b"a" * 500_000
    with suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(size // len(piece)):
            connection.sendall(piece if announced else b"%x\r\n%b\r\n" % (len(piece), piece))
    return connection


def _answer(connection: socket.socket) -> bytes:
    """All that comes on a connection; it is closed then."""
    told = b""
    with connection, suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            told += piece
            if b"\r\n\r\n" in told and told.endswith(b"}"):
                break
    return told


def _body(size: int) -> bytes:
    return json.dumps(
        {"model": "up/m", "max_tokens": 9, "messages": [{"role": "user", "content": "a" * size}]}
    ).encode()


def test_unfinished_bodies_have_a_bound_in_all(gateway: Served) -> None:
    """Twelve uploads of 10 MB that stay open hold 16 MB, the next is told to come again, and small requests go on."""
    before = gateway.resident_bytes()
    open_ones = [_begin(gateway.port, "ab"[number % 2], 10_000_000) for number in range(12)]
    assert gateway.resident_bytes() - before < 4 * MOST_BYTES
    assert gateway.post("/v1/messages", SMALL, x_api_key="a")[0] == 200
    assert gateway.post("/v1/messages", _body(60_000), x_api_key="a")[0] == 200
    for connection in open_ones[::2]:
        connection.close()
    assert until(lambda: gateway.post("/v1/messages", _body(7_000_000), x_api_key="a")[0] == 200)
    for connection in open_ones:
        connection.close()
    assert until(lambda: gateway.post("/v1/messages", _body(12_000_000), x_api_key="b")[0] == 200)


def test_one_key_cannot_keep_the_others_out(gateway: Served) -> None:
    """What it leaves open is at most half; its next one is told when to come again, another's is taken."""
    first = _begin(gateway.port, "a", 6_000_000)
    told = _answer(_begin(gateway.port, "a", 6_000_000))
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 529 ", b"HTTP/1.1 503 "))
    assert b"\r\nretry-after: 1\r\n" in head + b"\r\n"
    assert json.loads(body)["error"]["message"] == (
        "too much of other large bodies is coming here; ask again in a moment"
    )
    assert gateway.post("/v1/messages", _body(7_000_000), x_api_key="b")[0] == 200
    first.close()


def test_an_announced_body_is_refused_before_it_comes(gateway: Served) -> None:
    """The length that has no room beside what comes already."""
    first = _begin(gateway.port, "a", 5_000_000)
    assert b"too much of other large bodies" in _answer(_begin(gateway.port, "b", 0, announced=15_000_000))
    assert gateway.post("/v1/messages", SMALL, x_api_key="b")[0] == 200
    first.close()
