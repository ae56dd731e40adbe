"""Requests out of bytes: exact, the same for every cut, the same as h11's, and within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.gateway.serving.heads import Heads
from interlingua.gateway.serving.reader import MAX_HEAD_BYTES, MAX_HEADERS, MAX_WAITING, RequestReader
from tests.support.cells import cells
from tests.support.http1_requests import Read, Request, check, reads

HOST = b"host: a\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"

READ = {
    "a path and a query": (
        b"GET /a%20b/c?d=%20e&f HTTP/1.1\r\nHOST: a\r\nX-A:  b c \t\r\nx-a:\r\n\r\n",
        Request("GET", "/a b/c", "d=%20e&f", (("host", "a"), ("x-a", "b c"), ("x-a", "")), b""),
    ),
    "a body of a length": (
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\n\r\n\r\n{}",
        Request("POST", "/", "", (("host", "a"),), b"\r\n{}"),
    ),
    "space around a length": (
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length:  4 \r\n\r\n\r\n{}",
        Request("POST", "/", "", (("host", "a"),), b"\r\n{}"),
    ),
    "chunks, extensions, trailers": (
        b"POST / HTTP/1.1\r\n" + HOST + CHUNKED + b"\r\n3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nhost: b\r\n\r\n",
        Request("POST", "/", "", (("host", "a"), ("transfer-encoding", "chunked")), b"abc0123456789"),
    ),
    "an address": (
        b"GET HTTP://b:80?c HTTP/1.1\r\n" + HOST + b"\r\n",
        Request("GET", "/", "c", (("host", "a"),), b""),
    ),
    "the whole server": (
        b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
        Request("OPTIONS", "*", "", (("host", "a"),), b""),
    ),
    "bytes beyond ASCII": (
        b"GET / HTTP/1.1\r\n" + HOST + b"x: \xe4\xff\r\n\r\n",
        Request("GET", "/", "", (("host", "a"), ("x", "\xe4\xff")), b""),
    ),
    "empty lines before it": (b"\r\n\r\n" + GET, Request("GET", "/", "", (("host", "a"),), b"")),
}

REFUSED = {
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/2.0": b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
    "a proxy's method": b"CONNECT a:80 HTTP/1.1\r\n" + HOST + b"\r\n",
    "another scheme": b"GET ftp://a/b HTTP/1.1\r\n" + HOST + b"\r\n",
    "a fragment": b"GET /a#b HTTP/1.1\r\n" + HOST + b"\r\n",
    "chunks of HTTP/1.0": b"POST / HTTP/1.0\r\n" + CHUNKED + b"\r\n1\r\na\r\n0\r\n\r\n",
    "chunks inside of something": b"POST / HTTP/1.1\r\n" + HOST + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": b"POST / HTTP/1.1\r\n" + HOST + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n",
    "a length and chunks": b"POST / HTTP/1.1\r\n" + HOST + CHUNKED + b"content-length: 5\r\n\r\n0\r\n\r\n",
    "chunks and a length": b"POST / HTTP/1.1\r\n" + HOST + b"content-length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\n" + HOST + b"content-length: 1\r\ncontent-length: 1\r\n\r\na",
    "two codings of a body": b"POST / HTTP/1.1\r\n" + HOST + b"content-encoding: gzip\r\n" * 2 + b"\r\n",
    "a folded header": b"GET / HTTP/1.1\r\n" + HOST + b"x: a\r\n b\r\n\r\n",
    "lines that end in LF": b"GET / HTTP/1.1\nhost: a\n\n",
    "a CR in a value": b"GET / HTTP/1.1\r\n" + HOST + b"x: a\rb\r\n\r\n",
    "a NUL in a value": b"GET / HTTP/1.1\r\n" + HOST + b"x: a\0b\r\n\r\n",
    "a space in a name": b"GET / HTTP/1.1\r\n" + HOST + b"x : a\r\n\r\n",
    "no name": b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n",
    "a body for another protocol": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"upgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 1\r\n\r\na",
}


@pytest.mark.parametrize(("wire", "request_"), READ.values(), ids=READ.keys())
def test_requests_are_read_exactly(wire: bytes, request_: Request) -> None:
    """Whole and byte by byte, alone and before another one, and as h11 reads them."""
    assert check(wire).requests == (request_,)
    followed = check(wire + GET)
    assert followed.requests[0] == request_
    assert len(followed.requests) == 2
    assert followed.status == 0


@cells("wire", REFUSED.values(), ids=REFUSED.keys())
def test_what_can_be_read_in_two_ways_is_refused_with_all_that_follows(wire: bytes) -> None:
    """As 400; what came before is read, and nothing that comes after."""
    assert check(wire + GET) == Read((), 400, is_over=True)
    alone = check(GET)
    assert check(GET + wire + GET) == Read(alone.requests, 400, is_over=True)


@pytest.mark.parametrize("end", [b"connection: close\r\n", b"connection: upgrade\r\nupgrade: websocket\r\n"])
def test_what_follows_a_last_request_is_not_read(end: bytes) -> None:
    """A client that said so, or that wishes for another protocol, has no next request."""
    read = check(b"GET / HTTP/1.1\r\n" + HOST + end + b"\r\n" + GET)
    assert (len(read.requests), read.is_over) == (1, True)


def test_http_1_0_needs_no_host_and_ends_its_connection() -> None:
    """What an old client says is its only request, whatever it wishes."""
    wire = b"HEAD /a HTTP/1.0\r\nconnection: keep-alive\r\n\r\n"
    read = check(wire)
    assert read.requests == (Request("HEAD", "/a", "", (("connection", "keep-alive"),), b""),)


@pytest.mark.parametrize("case", ["a body of a length", "chunks, extensions, trailers"])
def test_a_request_is_not_there_before_its_last_byte(case: str) -> None:
    """Cut off anywhere, it is neither whole nor refused."""
    wire, _ = READ[case]
    assert {reads(wire[:place]) for place in range(len(wire))} == {Read((), 0, is_over=False)}


TOKENS = st.text("abcXYZ-_.1", min_size=1, max_size=8)
VALUES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=12)
TARGETS = st.text("ab/%2e.=&-~:@!$'()*+,;", max_size=12)
BODIES = st.none() | st.binary(max_size=40) | st.lists(st.binary(min_size=1, max_size=20), max_size=4)


def _wire(method: str, target: str, headers: list[tuple[str, str]], body: bytes | list[bytes] | None) -> bytes:
    lines = [f"{method} /{target} HTTP/1.1", "host: a", *[f"x{name}: {value}" for name, value in headers]]
    data = b""
    if isinstance(body, list):
        lines.append("Transfer-Encoding: chunked")
        data = b"".join([b"%x\r\n%b\r\n" % (len(piece), piece) for piece in body]) + b"0\r\n\r\n"
    elif body is not None:
        lines.append(f"Content-Length: {len(body)}")
        data = body
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


ASKED = st.tuples(
    st.sampled_from(["GET", "POST", "PUT", "HEAD"]), TARGETS, st.lists(st.tuples(TOKENS, VALUES), max_size=3), BODIES
)


@given(st.lists(ASKED, max_size=3))
def test_well_formed_requests_are_all_read(
    asked: list[tuple[str, str, list[tuple[str, str]], bytes | list[bytes] | None]],
) -> None:
    """Any number, any bodies, one behind the other: each with its body, and h11 agrees."""
    read = check(b"".join([_wire(*one) for one in asked]))
    bodies = [b"".join(body) if isinstance(body, list) else body or b"" for *_, body in asked]
    assert [one.body for one in read.requests] == bodies
    assert read.status == 0


@given(st.data())
def test_wounded_requests_are_read_as_h11_reads_them_or_refused(data: st.DataObject) -> None:
    """A byte, a line end or a header anywhere: two readers never see two requests where one was."""
    wire = b"".join(data.draw(st.lists(st.sampled_from([one for one, _ in READ.values()]), min_size=1, max_size=2)))
    place = data.draw(st.integers(0, len(wire)))
    wound = data.draw(st.sampled_from([b"\r", b"\n", b"\r\n", b" ", b"\0", b"\xff", b"0", b":", HOST, CHUNKED, GET]))
    gone = data.draw(st.integers(0, 3))
    check(wire[:place] + wound + wire[place + gone :], wire)


# Bounds


def _head(size: int) -> bytes:
    """A request whose target and headers have that many bytes, as they are counted."""
    return b"GET / HTTP/1.1\r\n" + HOST + b"x: " + b"b" * (size - len("/") - len("host") - 5 - 5) + b"\r\n\r\n"


def test_a_head_has_so_many_bytes() -> None:
    """At the bound it is read, one beyond it is a 431."""
    assert len(reads(_head(MAX_HEAD_BYTES)).requests) == 1
    assert reads(_head(MAX_HEAD_BYTES + 1)) == Read((), 431, is_over=True)
    assert reads(b"GET /" + b"a" * MAX_HEAD_BYTES).status == 431


def test_a_head_has_so_many_headers() -> None:
    """At the bound it is read, one beyond it is a 431."""
    lines = b"x: a\r\n" * (MAX_HEADERS - 1)
    assert len(reads(b"GET / HTTP/1.1\r\n" + HOST + lines + b"\r\n").requests) == 1
    assert reads(b"GET / HTTP/1.1\r\n" + HOST + lines + b"x: a\r\n\r\n") == Read((), 431, is_over=True)


def test_a_header_that_never_ends_is_refused_while_it_comes() -> None:
    """The parser gathers it unseen: what is around a body counts from outside."""
    reader = RequestReader(Heads())
    reader.feed(b"GET / HTTP/1.1\r\nx: ")
    for _ in range(MAX_HEAD_BYTES // 1_024):
        reader.feed(b"b" * 1_024)
    assert reader.fault is not None
    assert reader.fault.status == 431


def test_what_is_around_chunks_is_bounded_by_them() -> None:
    """Chunks of one byte pass however many they are; extensions and trailers without a body do not."""
    head = b"POST / HTTP/1.1\r\n" + HOST + CHUNKED + b"\r\n"
    assert reads(head, *[b"1\r\na\r\n"] * 50_000, b"0\r\n\r\n").requests[0].body == b"a" * 50_000
    assert reads(head, b"1;" + b"b" * MAX_HEAD_BYTES).status == 431
    assert reads(head, b"1\r\na\r\n0\r\n", *[b"x: b\r\n"] * (MAX_HEAD_BYTES // 5)).status == 431


@pytest.mark.parametrize("behind", [b"\r\na\r\n0\r\n\r\n", b""], ids=["whole", "cut"])
def test_dos_03_extensions_of_chunks_are_bounded_from_the_first_read(behind: bytes) -> None:
    """One read with a whole request and 200 kB of an extension is a 431; with 60 kB it is a request."""
    head = b"POST / HTTP/1.1\r\n" + HOST + CHUNKED + b"\r\n"
    assert reads(head + b"1;" + b"b" * 200_000 + behind).status == 431
    assert reads(head + b"1;" + b"b" * 60_000 + b"\r\na\r\n0\r\n\r\n").requests[0].body == b"a"


def test_so_many_requests_may_wait() -> None:
    """Those that came beyond are left: the connection ends, and its client has to ask again."""
    assert reads(GET * MAX_WAITING) == Read(reads(GET * MAX_WAITING).requests, 0, is_over=False)
    for before in (b"", GET):
        read = reads(GET * (MAX_WAITING + 5), before=before)
        assert (len(read.requests), read.status, read.is_over) == (MAX_WAITING, 0, True)


def test_what_says_more_of_a_request_is_told() -> None:
    """Whether its connection goes on, whether its client waits, whether its body has a coding."""
    reader = RequestReader(Heads())
    reader.feed(
        b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-Continue\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n"
    )
    (arrival,) = reader.arrivals
    assert (arrival.head.expects, arrival.head.is_coded, arrival.head.keeps, arrival.is_whole) == (
        True,
        True,
        True,
        False,
    )
    assert (reader.is_receiving, reader.begun) == (True, 1)
    reader.feed(b"ab")
    assert (arrival.pieces, arrival.is_whole, reader.is_receiving) == ([b"ab"], True, False)
    reader.feed(b"GET / HTTP/1.0\r\nconnection: keep-alive\r\nexpect: 100-continue\r\n\r\n")
    arrival = reader.arrivals[-1]
    assert (arrival.head.is_old, arrival.head.keeps, arrival.head.expects) == (True, False, False)
