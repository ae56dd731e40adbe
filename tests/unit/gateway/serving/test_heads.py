"""Heads that are known again: which ones, that they say what was read of them, and how many are kept."""

from __future__ import annotations

import pytest

from interlingua.gateway.serving import heads as heads_module
from interlingua.gateway.serving.heads import Heads
from interlingua.gateway.serving.reader import RequestReader

LINES = b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: a\r\nX-Api-Key: secret\r\n"
LIMIT = 1_000


def _asked(lines: bytes, body: bytes) -> bytes:
    return lines + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _knowing(data: bytes) -> Heads:
    heads = Heads()
    reader = RequestReader(heads)
    reader.feed(data)
    assert reader.fault is None
    return heads


@pytest.mark.parametrize("last", [b"", b"connection: keep-alive\r\n", b"x-a: b\r\n"])
def test_a_plain_head_is_known_with_every_length(last: bytes) -> None:
    """On any connection, and as the same object; body and length are those that came."""
    wire = LINES + b"content-length: 1\r\n" + last + b"\r\nx"
    heads = _knowing(wire)
    found = [
        RequestReader(heads).feed(wire.replace(b": 1\r\n", b": %d\r\n" % n)[:-1] + b"y" * n, LIMIT) for n in (0, 7)
    ]
    (first, empty), (second, body) = [one for one in found if one is not None]
    assert (empty, body, first is second) == (b"", b"y" * 7, True)
    assert (first.method, first.path, first.query, first.headers[:2]) == (
        "POST",
        "/v1/messages",
        "beta=true",
        (("host", "a"), ("x-api-key", "secret")),
    )
    assert "secret" not in repr(first)


def test_a_head_without_a_body_is_known() -> None:
    """By all of its bytes; what is another head is another one."""
    wire = b"GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n"
    reader = RequestReader(_knowing(wire))
    taken = reader.feed(wire, LIMIT)
    assert taken is not None
    assert (taken[0].method, taken[0].path, taken[1], reader.begun) == ("GET", "/v1/models", b"", 1)
    assert reader.feed(wire.replace(b"models", b"Models"), LIMIT) is None
    assert [arrival.head.path for arrival in reader.arrivals] == ["/v1/Models"]


def test_heads_that_differ_anywhere_are_two() -> None:
    """Before the length, behind it, or in where it stands: each is read as it is."""
    start, length, end = b"POST / HTTP/1.1\r\nhost: a\r\n", b"content-length: 1\r\n", b"x-a: b\r\n"
    wires = [
        start + length + end,
        start + length + end.replace(b"b", b"c"),
        start + length,
        start + end + length,
        start.replace(b"/ ", b"/d ") + length + end,
    ]
    reader, said = RequestReader(Heads()), list[object]()
    for wire in 3 * [wire + b"\r\ny" for wire in wires]:
        found = reader.feed(wire, LIMIT)
        head = reader.arrivals.pop().head if found is None else found[0]
        said.append((head.path, head.headers))
    assert len(set(said)) == 4  # where its length stands makes no other request
    assert said[:5] == said[5:10] == said[10:]


@pytest.mark.parametrize(
    "rest",
    [b"", b"12", b"123" + b"G", b"123" + b"\r\n"],
    ids=["no body", "a part", "another one", "a line end"],
)
def test_only_a_whole_request_is_taken_at_once(rest: bytes) -> None:
    """Whatever else comes is read step by step, and so is what comes behind it until it is whole."""
    head = LINES + b"content-length: 3\r\n\r\n"
    reader = RequestReader(_knowing(head + b"123"))
    assert reader.feed(head + rest, LIMIT) is None
    assert (len(reader.arrivals), reader.feed(head + b"123", LIMIT)) == (1, None)


def test_a_body_beyond_the_bound_is_not_taken() -> None:
    """It is to be refused, by its head."""
    wire = _asked(LINES, b"x" * 10)
    heads = _knowing(wire)
    assert RequestReader(heads).feed(wire, 9) is None
    assert RequestReader(heads).feed(wire, 10) is not None


@pytest.mark.parametrize(
    "lines",
    [
        b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\n",
        b"POST / HTTP/1.0\r\nhost: a\r\n",
        b"\r\nPOST / HTTP/1.1\r\nhost: a\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\nx: " + b"b" * heads_module.MAX_KEPT_BYTES + b"\r\n",
    ],
    ids=["the last one", "one that waits", "a coding", "an old one", "an empty line before it", "a long one"],
)
def test_no_other_head_is_known(lines: bytes) -> None:
    """It is read by the parser each time."""
    wire = _asked(lines, b"x")
    assert RequestReader(_knowing(wire)).feed(wire, LIMIT) is None


@pytest.mark.parametrize(
    "end",
    [
        b"transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        b"content-length:  1\r\n\r\nx",
        b"content-length: 1 \r\n\r\nx",
    ],
    ids=["chunks", "more space before a length", "space behind it"],
)
def test_a_length_is_known_in_its_usual_form_alone(end: bytes) -> None:
    """Digits after one space or none, up to the end of the line."""
    wire = LINES + end
    assert RequestReader(_knowing(wire)).feed(wire, LIMIT) is None


def test_heads_that_differ_each_time_are_not_looked_up_for_ever() -> None:
    """After a few of them they are only parsed; once they are the same again, that is seen before long."""
    heads = Heads()
    reader = RequestReader(heads)
    wires = [_asked(LINES + b"traceparent: %d\r\n" % number, b"") for number in range(50)]
    for wire in wires:
        assert reader.feed(wire, LIMIT) is None
        reader.arrivals.clear()
    assert [heads.find(wire) is None for wire in wires] == [False] * 4 + [True] * 46
    same = _asked(LINES, b"")
    found: list[bool] = []
    for _ in range(100):
        found.append(reader.feed(same, LIMIT) is not None)
        reader.arrivals.clear()
    assert found[-36:] == [True] * 36


def test_so_many_heads_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were asked for lately stay."""
    monkeypatch.setattr(heads_module, "_KEPT", 4)
    heads = Heads()
    wires = [_asked(LINES + b"x-a: %d\r\n" % number, b"") for number in range(30)]
    for wire in wires:
        RequestReader(heads).feed(wire)
        assert heads.find(wires[0]) is not None
    known = [wire for wire in wires if heads.find(wire) is not None]
    assert wires[0] in known
    assert wires[-1] in known
    assert len(known) <= 2 * 4
