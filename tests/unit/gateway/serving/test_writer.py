"""Replies as bytes: exact, framed as the client understands it, and never broken by what stands in a header."""

from __future__ import annotations

import pytest

from interlingua.gateway.http import Head
from interlingua.gateway.serving import writer
from interlingua.gateway.serving.reader import Fault
from interlingua.gateway.serving.writer import chunk, date_line, head, refusal, whole

MORE = b"date: d\r\n"


def _asked(method: str = "GET", *, is_old: bool = False) -> Head:
    return Head(method=method, path="/", is_old=is_old)


def test_a_whole_reply_is_written_in_one() -> None:
    """Status line, headers in order, those of the server, the length, the body."""
    told = whole(_asked(), 200, (("x-a", "b"), ("x-a", "c d")), b"{}", more=MORE, keeps=True)
    assert told == b"HTTP/1.1 200 OK\r\nx-a: b\r\nx-a: c d\r\ndate: d\r\ncontent-length: 2\r\n\r\n{}"
    told = whole(_asked(), 599, (), b"", more=MORE, keeps=False)
    assert told == b"HTTP/1.1 599 \r\ndate: d\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def test_a_reply_to_head_has_the_length_and_not_the_body() -> None:
    """As GET would be answered."""
    assert whole(_asked("HEAD"), 200, (), b"{}", more=b"", keeps=True).endswith(b"content-length: 2\r\n\r\n")


@pytest.mark.parametrize("status", [204, 304])
def test_some_statuses_have_neither_body_nor_framing(status: int) -> None:
    """RFC 9110, 8.6: no length with 204; nothing after the head."""
    assert whole(_asked(), status, (), b"x", more=b"", keeps=True).endswith(b"\r\n\r\n")
    assert b"content-length" not in whole(_asked(), status, (), b"x", more=b"", keeps=True)
    assert b"transfer-encoding" not in head(_asked(), status, (), more=b"", keeps=True)


def test_pieces_come_in_chunks_or_to_the_end() -> None:
    """An old client knows no chunks: for it the end of the connection is the end of the body."""
    assert head(_asked(), 200, (), more=MORE, keeps=True) == (
        b"HTTP/1.1 200 OK\r\ndate: d\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    assert head(_asked(is_old=True), 200, (), more=b"", keeps=False) == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
    assert chunk(b"a" * 26) == b"1a\r\n" + b"a" * 26 + b"\r\n"


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\x85b", "ä", "模", "a\tb", "\x7f"])
def test_a_value_stays_in_its_line(value: str) -> None:
    """Whoever wrote it: what is no visible ASCII is shown as a question mark."""
    told = whole(_asked(), 200, (("x-a", value), ("x-b", "fine")), b"", more=b"", keeps=True)
    lines = told.split(b"\r\n")
    assert [line.split(b":")[0] for line in lines[1:-2]] == [b"x-a", b"x-b", b"content-length"]
    assert all(0x20 <= byte < 0x7F for line in lines for byte in line)
    assert b"?" in lines[1]


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\r\nb", "ä", "a\0"])
def test_what_is_no_name_is_not_written(name: str) -> None:
    """Names are ours or have passed a parser; anything else is a fault of ours."""
    with pytest.raises(ValueError, match="no name of a header"):
        whole(_asked(), 200, ((name, "a"),), b"", more=b"", keeps=True)


def test_percent_signs_are_written_as_they_are() -> None:
    """In names, where they are allowed, and in values."""
    told = whole(_asked(), 200, (("x-%s", "50%d"),), b"", more=b"", keeps=True)
    assert told == b"HTTP/1.1 200 OK\r\nx-%s: 50%d\r\ncontent-length: 0\r\n\r\n"


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("name", ["req_il1", "50%d", "a\tb", "ä"])
@pytest.mark.parametrize("kind", ["a", "b\n"])
def test_a_reply_with_the_name_of_its_request_is_written_as_any_other(status: int, name: str, kind: str) -> None:
    """What stands before the name is known from the reply before; the same lines come of names that differ."""
    headers = (("content-type", kind), ("x-request-id", name), ("request-id", name))
    alike = (("content-type", kind), ("x-Request-id", name), ("request-id", name))
    told = [whole(_asked(), status, one, b"", more=b"", keeps=True) for one in (headers, alike, headers)]
    assert [one.lower() for one in told[1:]] == [told[0].lower()] * 2
    assert told[0].count(b"\r\n") == 6


def test_a_refusal_is_an_error_in_openais_form() -> None:
    """The last words on a connection."""
    body = b'{"error":{"message":"why","type":"invalid_request_error","param":null,"code":null}}'
    assert refusal(Fault(408, "why"), more=MORE) == (
        b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\ndate: d\r\n"
        b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body)
    )
    assert b'"type":"server_error"' in refusal(Fault(503, "why"), more=MORE)


def test_the_date_is_that_of_http() -> None:
    """RFC 9110, 5.6.7."""
    assert date_line(784111777.0) == b"date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    assert writer.CONTINUE == b"HTTP/1.1 100 Continue\r\n\r\n"
