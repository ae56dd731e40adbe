"""Laws of the HTTP/1.1 framing: cuts change nothing, arbitrary bytes raise only our errors."""

from __future__ import annotations

import gzip
import zlib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import APIConnectionError, ConfigError, LimitExceededError
from interlingua.transport.http1 import ResponseReader, encode_request
from interlingua.transport.url import parse_url
from interlingua.wire.http import HttpRequest
from tests.support.http1_fuzz import fuzz_http1, read_all
from tests.support.server import chunked, reply

BODY = b'data: {"text":"h\xc3\xa9llo"}\n\n' * 5
HEAD = b"HTTP/1.1 200 OK\r\nX-One: 1\r\ncontent-type: text/event-stream\r\n"
REPLIES = [
    reply(BODY),
    HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunked(BODY[:7], BODY[7:]),
    HEAD + b"transfer-encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n",
    HEAD + b"connection: close\r\n\r\n" + BODY,
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" + reply(BODY),
    b"HTTP/1.1 204 No Content\r\nx: 1\r\n\r\n",
    reply(gzip.compress(BODY), headers="content-encoding: gzip\r\n"),
    HEAD + b"content-encoding: deflate\r\nconnection: close\r\n\r\n" + zlib.compress(BODY, wbits=-15),
]


def pieces_of(wire: bytes, cuts: list[int]) -> list[bytes]:
    """The bytes cut at the given places."""
    places = sorted({cut % (len(wire) + 1) for cut in cuts} | {0, len(wire)})
    return [wire[start:end] for start, end in pairwise(places)]


def read(pieces: list[bytes]) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """The reply in `pieces`."""
    return read_all(ResponseReader("peer:80"), pieces)


@given(wire=st.sampled_from(REPLIES), cuts=st.lists(st.integers(0, 2_000), max_size=8))
def test_any_cut_of_the_bytes_gives_the_same_reply(wire: bytes, cuts: list[int]) -> None:
    """Status, headers and body do not depend on how the bytes arrive."""
    assert read(pieces_of(wire, cuts)) == read([wire])


def test_byte_by_byte_gives_the_same_reply() -> None:
    """One byte at a time is a cut like any other."""
    for wire in REPLIES:
        assert read([wire[place : place + 1] for place in range(len(wire))]) == read([wire])


@given(wire=st.sampled_from([one for one in REPLIES if b"close" not in one]), end=st.integers(0, 2_000))
def test_a_reply_that_ends_early_is_an_error(wire: bytes, end: int) -> None:
    """No proper beginning of a framed reply reads as a whole one."""
    beginning = wire[: end % len(wire)]
    try:
        read([beginning] if beginning else [])
    except APIConnectionError:
        return
    raise AssertionError(beginning)


@given(st.binary(max_size=500))
def test_arbitrary_bytes_raise_only_our_errors(data: bytes) -> None:
    """Noise is an APIConnectionError or a LimitExceededError, never anything else."""
    fuzz_http1(data)


@given(wire=st.sampled_from(REPLIES), place=st.integers(0, 2_000), noise=st.binary(min_size=1, max_size=8))
def test_replies_with_noise_raise_only_our_errors(wire: bytes, place: int, noise: bytes) -> None:
    """A good reply with bytes overwritten is read, or is one of our errors."""
    at = place % len(wire)
    fuzz_http1(b"\x00" + wire[:at] + noise + wire[at + len(noise) :])


@given(
    method=st.sampled_from(["POST", "GET"]),
    headers=st.lists(st.tuples(st.text(max_size=10), st.text(max_size=20)), max_size=4).map(tuple),
    path=st.text(max_size=20),
)
def test_a_head_holds_what_it_was_given_or_is_refused(
    method: str, headers: tuple[tuple[str, str], ...], path: str
) -> None:
    """No header or path adds a line to the head, whatever text it is."""
    request = HttpRequest(method=method, url="http://h.test/" + path, headers=headers)
    try:
        head = encode_request(request, parse_url(request.url))
    except ConfigError:
        return
    lines = head.decode("latin-1").split("\r\n")
    own = (["content-length: 0"] if method == "POST" else []) + ["", ""]
    assert lines[0].count(" ") == 2
    named_host = any(name.lower() == "host" for name, _ in headers)
    assert lines[1:] == [
        *([] if named_host else ["host: h.test"]),
        *[f"{name.lower()}: {value}" for name, value in headers],
        *own,
    ]


@given(st.integers(1, 64), st.booleans())
def test_a_head_without_end_is_bounded(step_kib: int, one_line: bool) -> None:
    """A head that never ends is refused after 64 KiB, whether it is one line or many."""
    reader = ResponseReader("peer:80")
    reader.start("POST")
    fed = 0
    line = b"x" * 1024 if one_line else (b"x: " + b"y" * 1019 + b"\r\n")
    try:
        reader.feed(b"HTTP/1.1 200 OK\r\n" + (b"x: " if one_line else b""))
        while True:
            fed += 1024 * step_kib
            reader.feed(line * step_kib)
    except LimitExceededError:
        assert fed <= (64 + step_kib) * 1024


@given(wire=st.sampled_from([one for one in REPLIES if b"close" not in one]), after=st.binary(min_size=1, max_size=80))
def test_what_follows_a_reply_never_changes_it(wire: bytes, after: bytes) -> None:
    """Bytes after a reply leave it as it was, and its connection is not used again (empty lines are fine)."""
    for extra in (after, reply(b"evil"), b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nev"):
        reader = ResponseReader("peer:80")
        assert read_all(reader, [wire + extra]) == read([wire])
        assert reader.trailing or not extra.strip(b"\r\n")
        assert not (reader.trailing and reader.reusable)


LINES = [
    b"content-length: 5",
    b"Content-Length:5",
    b"content-length: 05",
    b"content-length: +5",
    b"content-length: 5 ",
    b"content-length: 5, 5",
    b"content-length: 4",
    b"content-length: 6",
    b"content-length: 0",
    b"transfer-encoding: chunked",
    b"connection: keep-alive",
    b"Connection: Keep-Alive",
    b"connection: close",
    b"connection: upgrade",
    b"upgrade: h2c",
    b"content-encoding: gzip",
    b"content-encoding: identity",
    b"content-type: text/event-stream",
    b"set-cookie: a=1",
    b"x:",
    b"x: ",
    b"x:\ta\tb",
    b"x: a ",
    b"x : a",
    b" x: a",
    b"x: \xff",
    b"x: a\x00",
    b"x: a\nb: c",
    b"x: a\rb",
    b"x",
    b"",
]
FIRSTS = [
    b"HTTP/1.1 200 OK",
    b"HTTP/1.1 200",
    b"HTTP/1.1 500 \xff",
    b"HTTP/1.0 200 OK",
    b"HTTP/1.1 204 No",
    b"HTTP/1.1 099 A",
]

CHUNKED = [
    b"5\r\nhello\r\n0\r\n\r\n",
    b"3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nx: 1\r\n\r\n",
    b"6\r\nhelloo\r\n0\r\n\r\n",
    b"5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n",
    b"5\r\nhello\r\n",
    b"x\r\nhello\r\n",
]
"""Bodies in chunks: two that are whole, too much, followed by something, cut off, broken."""


def outcome(pieces: list[bytes], method: str) -> object:
    """All that can be told of the reply in `pieces`, or of how it is broken."""
    return _told(ResponseReader("peer:80", max_body_bytes=5), pieces, method)


@given(
    first=st.sampled_from(FIRSTS) | st.just(FIRSTS[0]),
    lines=st.lists(st.sampled_from(LINES) | st.binary(max_size=20).map(lambda noise: b"x: " + noise), max_size=6),
    is_framed=st.booleans(),
    body=st.sampled_from([b"hello", b"hell", b"helloo", b"", *CHUNKED]),
    method=st.sampled_from(["POST", "HEAD"]),
)
def test_a_head_that_is_read_line_by_line_reads_as_the_parser_does(
    first: bytes, lines: list[bytes], is_framed: bool, body: bytes, method: str
) -> None:
    """What may be read without the parser, whole or cut in the body, gives what the parser does; again when known."""
    wire = b"\r\n".join([first, *lines, *([b"content-length: 5"] if is_framed else []), b"", body])
    parsed = outcome([wire[:1], wire[1:]], method)
    assert outcome([wire], method) == parsed
    for cut in (0, 1, len(body)):
        assert outcome([wire[: len(wire) - cut], *([wire[-cut:]] if cut else [])], method) == parsed


@given(
    before=st.lists(st.sampled_from(LINES) | st.binary(max_size=9).map(lambda noise: b"x: " + noise), max_size=3),
    behind=st.lists(st.sampled_from(LINES) | st.binary(max_size=9).map(lambda noise: b"x: " + noise), max_size=3),
    lengths=st.lists(
        st.sampled_from([b"5", b"05", b"3", b"0", b"12", b"", b"+5", b"5 ", b"5x", b"9" * 16]), max_size=5
    ),
    cut=st.integers(0, 9),
)
def test_replies_of_one_connection_read_as_if_each_came_alone(
    before: list[bytes], behind: list[bytes], lengths: list[bytes], cut: int
) -> None:
    """A head that differs from the one before it in its length alone is known, and gives what the parser gives."""
    reader = ResponseReader("peer:80", max_body_bytes=11)
    for length in lengths:
        body = b"x" * (int(length) if length.isdigit() and len(length) < 3 else 5)
        wire = b"\r\n".join([FIRSTS[0], *before, b"content-length: " + length, *behind, b"", body])
        cuts = [wire[: len(wire) - cut], *([wire[len(wire) - cut :]] if cut else [])]
        parsed = _told(ResponseReader("peer:80", max_body_bytes=11), [wire[:1], wire[1:]])
        assert _told(reader, cuts) == parsed
        if not reader.reusable:
            return


@given(
    lines=st.lists(st.sampled_from(LINES), max_size=3),
    bodies=st.lists(st.sampled_from(CHUNKED), max_size=5),
    cut=st.integers(0, 9),
)
def test_chunked_replies_of_one_connection_read_as_if_each_came_alone(
    lines: list[bytes], bodies: list[bytes], cut: int
) -> None:
    """The head of a body in chunks that is the one before it is known, and gives what the parser gives."""
    reader = ResponseReader("peer:80", max_body_bytes=11)
    for body in bodies:
        wire = b"\r\n".join([FIRSTS[0], *lines, b"transfer-encoding: chunked", b"", body])
        cuts = [wire[: len(wire) - cut], *([wire[len(wire) - cut :]] if cut else [])]
        assert _told(reader, cuts) == _told(ResponseReader("peer:80", max_body_bytes=11), [wire[:1], wire[1:]])
        if not reader.reusable:
            return


def _told(reader: ResponseReader, pieces: list[bytes], method: str = "POST") -> object:
    """All that can be told of the next reply of a connection, or of how it is broken."""
    reader.start(method)
    try:
        for piece in pieces:
            reader.feed(piece)
        body = reader.take()
    except (APIConnectionError, LimitExceededError) as error:
        return type(error), str(error)
    return reader.status, reader.headers, body, reader.complete, reader.finished, reader.reusable, reader.trailing
