"""The bounds and decisions of the HTTP/1.1 framing, byte by byte where it matters."""

from __future__ import annotations

import pytest

from interlingua.errors import APIConnectionError, ConfigError, LimitExceededError
from interlingua.transport.http1 import ResponseReader, encode_connect, encode_request
from interlingua.transport.options import MAX_HEAD_BYTES, MAX_HEADERS
from interlingua.transport.url import parse_url
from interlingua.wire.http import Headers, HttpRequest


def reader(wire: bytes = b"", method: str = "POST", **options: int) -> ResponseReader:
    """A reader that was fed `wire`."""
    made = ResponseReader("peer:80", **options)
    made.start(method)
    if wire:
        made.feed(wire)
    return made


def head(method: str = "POST", headers: Headers = (), body: bytes = b"", url: str = "http://h.test/p") -> bytes:
    """The encoded head of a request."""
    request = HttpRequest(method=method, url=url, headers=headers, body=body)
    return encode_request(request, parse_url(url))


def test_heads_are_exact() -> None:
    """Request line, host, the headers in order, the length; nothing else."""
    assert head(headers=(("X-A", "1"), ("x-b", "é")), body=b"{}") == (
        b"POST /p HTTP/1.1\r\nhost: h.test\r\nx-a: 1\r\nx-b: \xe9\r\ncontent-length: 2\r\n\r\n"
    )
    assert head("GET") == b"GET /p HTTP/1.1\r\nhost: h.test\r\n\r\n"
    assert head("GET", (("host", "other.test"),)) == b"GET /p HTTP/1.1\r\nhost: other.test\r\n\r\n"
    assert encode_connect("h.test:443", "Basic eA==") == (
        b"CONNECT h.test:443 HTTP/1.1\r\nhost: h.test:443\r\nproxy-authorization: Basic eA==\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("method", "headers", "words"),
    [
        ("PO ST", (), "not an HTTP method"),
        ("POST", (("a b", "1"),), "header name 'a b'"),
        ("POST", (("", "1"),), "header name ''"),
        ("POST", (("Content-Length", "1"),), "set by the transport"),
        ("POST", (("transfer-encoding", "chunked"),), "set by the transport"),
        ("POST", (("authorization", "Bearer sk-topsecret-key-000\n"),), "header authorization holds a line break"),
        ("POST", (("authorization", "sk-topsecret-key-000\u2026"),), "header authorization holds a character"),
    ],
)
def test_bad_heads_name_the_header_and_not_its_value(method: str, headers: Headers, words: str) -> None:
    """What breaks a head is refused by name; a credential in the value is not shown."""
    with pytest.raises(ConfigError, match=words) as caught:
        head(method, headers)
    assert "topsecret" not in str(caught.value)


def feed_for_ever(made: ResponseReader, piece: bytes) -> None:
    """Feed the same bytes again and again; a megabyte is for ever."""
    for _ in range(1_000_000 // len(piece)):
        made.feed(piece)


def sized_head(count: int) -> bytes:
    """A head of exactly `count` bytes."""
    start, end = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: ", b"\r\n\r\n"
    return start + b"y" * (count - len(start) - len(end)) + end


def test_the_head_is_bounded_at_its_edge() -> None:
    """64 KiB of head pass, one byte more is LimitExceededError."""
    assert reader(sized_head(MAX_HEAD_BYTES)).complete
    with pytest.raises(LimitExceededError, match="bytes of headers"):
        reader(sized_head(MAX_HEAD_BYTES + 1))


def test_the_number_of_headers_is_bounded_at_its_edge() -> None:
    """A hundred headers pass, one more is LimitExceededError."""
    wire = b"HTTP/1.1 204 No Content\r\n" + b"x: 1\r\n" * MAX_HEADERS
    assert len(reader(wire + b"\r\n").headers) == MAX_HEADERS
    with pytest.raises(LimitExceededError, match="100 headers"):
        reader(wire + b"x: 1\r\n\r\n")


@pytest.mark.parametrize("spelling", [b"chunked", b"Chunked"], ids=["read line by line", "parsed"])
def test_trailers_count_with_the_headers(spelling: bytes) -> None:
    """A hundred of both pass, one more is LimitExceededError, however the head was read."""
    wire = b"HTTP/1.1 200 OK\r\ntransfer-encoding: " + spelling + b"\r\n" + b"x: 1\r\n" * 59 + b"\r\n0\r\n"
    assert reader(wire + b"t: 1\r\n" * 40 + b"\r\n").complete
    with pytest.raises(LimitExceededError, match="100 headers"):
        reader(wire + b"t: 1\r\n" * 41 + b"\r\n")


def test_interim_replies_share_the_bound() -> None:
    """A server cannot send interim replies for ever."""
    made = reader()
    with pytest.raises(LimitExceededError):
        feed_for_ever(made, b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")


@pytest.mark.parametrize("piece", [b"x" * 1_000, b"x: " + b"y" * 1_000 + b"\r\n"], ids=["extension", "trailers"])
def test_framing_without_a_body_is_bounded(piece: bytes) -> None:
    """Endless chunk extensions or trailers are LimitExceededError."""
    made = reader(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    made.feed(b"5;" if piece[:2] == b"xx" else b"0\r\n")
    with pytest.raises(LimitExceededError):
        feed_for_ever(made, piece)


@pytest.mark.parametrize(
    "wire",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\ncontent-length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\ncontent-length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nx y: 1\r\n\r\n",
        b"<html>",
    ],
)
def test_what_was_not_asked_for_or_is_broken_is_an_error(wire: bytes) -> None:
    """Upgrades, bodies of interim replies, unknown codings, two lengths and broken chunks are refused."""
    with pytest.raises(APIConnectionError, match="peer:80"):
        reader(wire)


@pytest.mark.parametrize(
    ("wire", "method", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "POST", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "POST", True),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", "GET", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "HEAD", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", "POST", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", "POST", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n", "POST", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nx", "POST", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n", "POST", False),
    ],
)
def test_which_connections_are_kept(wire: bytes, method: str, reusable: bool) -> None:
    """Framed, ended, wanted by the server, and nothing behind it."""
    made = reader(wire, method)
    assert made.complete
    assert made.finished
    assert made.reusable is reusable


def test_a_reader_serves_one_reply_after_the_other() -> None:
    """Nothing of the first reply is seen in the second."""
    made = reader(b"HTTP/1.1 500 Oops\r\nx: 1\r\ncontent-length: 1\r\n\r\na")
    assert (made.status, made.take(), made.finished) == (500, b"a", True)
    made.start("POST")
    assert (made.status, made.headers, made.started, made.complete) == (0, (), False, False)
    made.feed(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nb")
    assert (made.status, made.headers, made.take()) == (200, (("content-length", "1"),), b"b")


def test_interim_replies_do_not_count_as_the_begin_of_an_answer() -> None:
    """After `100 Continue` the first byte of the answer is still awaited."""
    made = reader(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert not made.in_head
    made.feed(b"HTTP")
    assert made.in_head


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        (b"", "without an answer"),
        (b"HTTP/1.1 2", "in the middle of the headers"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab", "in the middle of the body"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "in the middle of the body"),
    ],
)
def test_early_ends_say_where(wire: bytes, words: str) -> None:
    """The sentence says how far the reply had come."""
    with pytest.raises(APIConnectionError, match=words):
        reader(wire).eof()


def test_cut_off_gzip_is_an_error_after_what_came() -> None:
    """A compressed body whose framing ends well but whose data does not is cut short."""
    import gzip

    packed = gzip.compress(b"hello")[:-8]
    made = reader(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed) + packed)
    assert made.take() == b"hello"
    assert not made.finished
    with pytest.raises(APIConnectionError, match="compressed body short"):
        made.take()
