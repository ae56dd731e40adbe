"""Heads that are read line by line; that they read as the parser reads them is a law (tests/laws/test_http1.py)."""

from __future__ import annotations

import pytest

from interlingua.transport import heads
from interlingua.transport.heads import CHUNKED, latest_head, plain_head
from tests.support.cells import cells

FIRST = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"content-length: 3"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> dict[bytes, tuple[str, str]]:
    """The lines that are known: none yet."""
    lines: dict[bytes, tuple[str, str]] = {}
    monkeypatch.setattr(heads, "_lines", lines)
    monkeypatch.setattr(heads, "_lengths", {})
    unusual: set[bytes] = set()
    monkeypatch.setattr(heads, "_unusual", unusual)
    return lines


def test_a_plain_head_is_read() -> None:
    """Status, headers with lower-case names, the length; the same again when the lines are known."""
    head = FIRST + b"X-Id:\t7\r\nConnection: Keep-Alive\r\nx-id: a b\r\n" + LENGTH
    expected = (200, (("x-id", "7"), ("connection", "Keep-Alive"), ("x-id", "a b"), ("content-length", "3")), 3)
    assert [plain_head(head), plain_head(head)] == [expected, expected]


def test_a_body_in_chunks_is_plain() -> None:
    """With no length beside it; the first time and when the lines are known."""
    expected = (200, (("transfer-encoding", "chunked"), ("x", "1")), CHUNKED)
    head = FIRST + b"Transfer-Encoding: chunked\r\nx: 1"
    assert [plain_head(head), plain_head(head)] == [expected, expected]


@cells(
    "head",
    [
        b"HTTP/1.0 200 OK\r\n" + LENGTH,
        b"HTTP/1.1 200\r\n" + LENGTH,
        b"HTTP/1.1 204 No Content\r\n" + LENGTH,
        b"HTTP/1.1 304 Not Modified\r\n" + LENGTH,
        b"HTTP/1.1 100 Continue\r\n" + LENGTH,
        FIRST + b"x: 1",
        FIRST + LENGTH + b"\r\n" + LENGTH,
        FIRST + LENGTH + b"\r\ncontent-length: 4",
        FIRST + b"content-length: +3",
        FIRST + b"content-length: 1234567890123456",
        FIRST + LENGTH + b"\r\ntransfer-encoding: chunked",
        FIRST + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked",
        FIRST + b"transfer-encoding: gzip, chunked",
        FIRST + b"transfer-encoding: Chunked",
        FIRST + LENGTH + b"\r\ncontent-encoding: gzip",
        FIRST + LENGTH + b"\r\nconnection: close",
        FIRST + LENGTH + b"\r\nconnection: keep-alive, upgrade",
        FIRST + LENGTH + b"\r\nupgrade: h2c",
        FIRST + LENGTH + b"\r\nx: ",
        FIRST + LENGTH + b"\r\nx: a ",
        FIRST + LENGTH + b"\r\nx : a",
        FIRST + LENGTH + b"\r\n x: a",
        FIRST + LENGTH + b"\r\nx: a\nb: c",
        FIRST + LENGTH + b"\r\nx: \x00",
    ],
)
def test_what_leaves_anything_open_is_for_the_parser(head: bytes) -> None:
    """Other versions, replies without a body, codings, ends of connections, lines that are not plain."""
    assert [plain_head(head), plain_head(head)] == [None, None]


def test_lines_are_remembered_up_to_a_bound_and_cookies_never(
    known: dict[bytes, tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server says again and again is; when there is no room, all of it is learned anew."""
    monkeypatch.setattr(heads, "_MAX_LINES", 3)
    assert plain_head(FIRST + b"set-cookie: secret=1\r\nserver: s\r\n" + LENGTH) is not None
    assert set(known) == {b"server: s", LENGTH}
    for number in range(5):
        assert plain_head(FIRST + LENGTH + b"\r\nx-id: %d" % number) is not None
        assert plain_head(FIRST + LENGTH + b"\r\nx : %d" % number) is None
        assert len(known) + len(heads._unusual) <= 3
        assert set(heads._lengths) <= set(known)


def test_a_head_that_differs_in_its_length_alone_is_known_again() -> None:
    """The place where the body begins, and the headers with the length that was told; anything else is another head."""
    head = FIRST + b"Content-Length:\t3\r\nx-id: 7\r\n\r\n"
    latest = latest_head(head, (200, (("content-length", "3"), ("x-id", "7")), 3))
    assert latest is not None
    assert (latest.body_at(head + b"abc"), latest.length_bytes) == (len(head), 3)
    assert latest.body_at(FIRST + b"Content-Length:\t12\r\nx-id: 7\r\n\r\nabc") == len(head) + 1
    assert (latest.length_bytes, latest.headers) == (12, (("content-length", "12"), ("x-id", "7")))
    strange = [
        b"\t\r\nx-id: 7",
        b"\t3x\r\nx-id: 7",
        b"\t3\r\nx-id: 8",
        b"\t3\r\nx-id: 7\r\nb: c",
        b"\t1234567890123456\r\nx-id: 7",
    ]
    assert [latest.body_at(FIRST + b"Content-Length:" + said + b"\r\n\r\n") for said in strange] == [0] * 5


def test_a_head_with_a_cookie_is_not_kept() -> None:
    """It is a secret, like those that are never remembered of lines."""
    head = FIRST + LENGTH + b"\r\nset-cookie: secret=1\r\n\r\n"
    assert latest_head(head, (200, (("content-length", "3"), ("set-cookie", "secret=1")), 3)) is None
