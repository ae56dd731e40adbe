"""What two readers of one connection could read differently is refused, and ends the connection."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from interlingua.wire.json import decode_any, encode
from tests.e2e.gateway.security.raw import BODY, CHAT, connected, rest_of, send
from tests.support.gateway import serving

HEAD = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n".encode()
TEXT = encode(BODY)
LENGTH = b"content-length: %d\r\n" % len(TEXT)
CHUNKED = b"transfer-encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(TEXT), TEXT)
SECOND = b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"

AMBIGUOUS = {
    "a length and chunks": LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "no length and chunks": b"content-length: 0\r\n" + CHUNKED + b"\r\n" + CHUNKS,
    "two lengths": LENGTH + b"content-length: 3\r\n\r\n" + TEXT,
    "one length twice": LENGTH + LENGTH + b"\r\n" + TEXT,
    "a list of lengths": b"content-length: 5, 5\r\n\r\nhello",
    "a length with a sign": b"content-length: +5\r\n\r\nhello",
    "a negative length": b"content-length: -5\r\n\r\nhello",
    "a hexadecimal length": b"content-length: 0x5\r\n\r\nhello",
    "a space before the colon": b"content-length : 5\r\n\r\nhello",
    "a coding that is nearly chunked": b"transfer-encoding: xchunked\r\n\r\n" + CHUNKS,
    "chunks inside of something": b"transfer-encoding: chunked, identity\r\n\r\n" + CHUNKS,
    "a vertical tab before the coding": b"transfer-encoding:\x0bchunked\r\n\r\n" + CHUNKS,
    "two codings": CHUNKED + b"transfer-encoding: identity\r\n\r\n" + CHUNKS,
    "a negative chunk": CHUNKED + b"\r\n-1\r\nx\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": CHUNKED + b"\r\nfffffffffffffffffff\r\nx\r\n0\r\n\r\n",
    "chunks ended by LF": CHUNKED + b"\r\n1\nx\n0\n\n",
    "a folded header": b"x-a: b\r\n c: d\r\n" + LENGTH + b"\r\n" + TEXT,
    "a CR in a value": b"x-a: b\rx-b: c\r\n" + LENGTH + b"\r\n" + TEXT,
    "a NUL in a value": b"x-a: b\0c\r\n" + LENGTH + b"\r\n" + TEXT,
    "a NUL in a name": b"x\0a: c\r\n" + LENGTH + b"\r\n" + TEXT,
    "a space in a name": b"x a: c\r\n" + LENGTH + b"\r\n" + TEXT,
    "no name": b": c\r\n" + LENGTH + b"\r\n" + TEXT,
    "two hosts": b"host: other.example\r\n" + LENGTH + b"\r\n" + TEXT,
}
NO_HTTP = {
    "lines that end in LF": b"GET /health/live HTTP/1.1\nhost: localhost\n\n",
    "a proxy's method": b"CONNECT inside.example:80 HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an unknown method": b"FOO /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an unknown version": b"GET /health/live HTTP/1.2\r\nhost: localhost\r\n\r\n",
    "the beginning of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "the beginning of TLS": bytes.fromhex("16030100a5010000a10303"),
    "bytes": b"\x00\xff\r\n\r\n",
    "a path that is no ASCII": "GET /health/lïve HTTP/1.1\r\nhost: localhost\r\n\r\n".encode(),
    "a control character in the path": b"GET /health/live\x01 HTTP/1.1\r\nhost: localhost\r\n\r\n",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A gateway without keys."""
    with serving() as at:
        yield at


@pytest.mark.parametrize("told", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_what_can_be_read_in_two_ways_is_refused_with_all_that_follows(url: str, told: bytes) -> None:
    """400 and the end: a request hidden behind it is never answered."""
    answer = send(url, HEAD + told + SECOND)
    assert (answer.status, answer.replies, answer.header("connection")) == (400, 1, "close")
    assert decode_any(answer.body)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("told", NO_HTTP.values(), ids=NO_HTTP.keys())
def test_what_is_no_http_is_refused(url: str, told: bytes) -> None:
    """As an error of ours, with the connection closed."""
    answer = send(url, told + SECOND)
    assert (answer.status, answer.replies) == (400, 1)
    assert b"status" not in answer.body


def test_requests_that_follow_each_other_are_answered_in_order(url: str) -> None:
    """Two well-formed ones in one piece are two answers: what is refused above is not refused for coming together."""
    answer = send(url, HEAD + LENGTH + b"\r\n" + TEXT + SECOND)
    assert answer.replies == 2
    assert answer.text.endswith(b'{"status":"ok"}')


@pytest.mark.parametrize("protocol", ["websocket", "h2c"])
def test_a_switch_of_protocols_is_not_made(url: str, protocol: str) -> None:
    """A wish for one is answered as HTTP/1.1, and what comes behind it is no request."""
    asked = f"GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: {protocol}\r\n\r\n"
    answer = send(url, asked.encode() + SECOND)
    assert (answer.status, answer.replies) == (200, 1)
    with connected(url) as connection:
        connection.sendall(asked.encode())
        time.sleep(0.05)
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(SECOND)
        assert rest_of(connection).count(b"HTTP/1.1 ") == 1


def test_a_body_that_comes_with_a_switch_of_protocols_is_no_request(url: str) -> None:
    """The parser would take the body for the other protocol, and its later pieces for requests."""
    wish = b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: %d\r\n\r\n" % len(SECOND)
    with connected(url) as connection:
        connection.sendall(HEAD + wish)
        time.sleep(0.05)
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(SECOND)
        came = rest_of(connection)
    assert came.startswith(b"HTTP/1.1 400 ")
    assert came.count(b"HTTP/1.1 ") == 1


def test_a_path_with_a_host_is_not_proxied(url: str) -> None:
    """The gateway answers by the path alone, whichever host stands before it."""
    told = b"GET http://other.example/health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert send(url, told).body == b'{"status":"ok"}'


def test_a_header_after_the_body_counts_for_nothing(url: str) -> None:
    """A trailer was screened by nobody: neither an id nor a key nor an origin is taken from it."""
    told = CHUNKED + b"connection: close\r\n\r\n" + CHUNKS[:-2]
    told += b"x-request-id: trailer\r\norigin: https://other.example\r\n\r\n"
    answer = send(url, HEAD + told)
    assert answer.status == 200
    assert answer.header("x-request-id") != "trailer"


def test_garbage_behind_a_request_does_not_end_up_in_its_answer() -> None:
    """A stream under way is cut, and no second status line stands in its middle."""
    with serving(keep_alive_s=0.05) as at, connected(at) as connection:
        body = encode({**BODY, "stream": True})
        connection.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body + b"\x00garbage\r\n\r\n")
        came = rest_of(connection)
    assert came.count(b"HTTP/1.1 ") <= 1
