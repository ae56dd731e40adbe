"""Bodies that are larger, deeper or emptier than they seem: refused at the bound, in bounded memory and time."""

from __future__ import annotations

import gzip
import importlib
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from interlingua.errors import BadRequestError, LimitExceededError
from interlingua.gateway.serving.bodies import Intake
from interlingua.wire.json import MAX_BODY_BYTES, MAX_DEPTH, encode
from tests.e2e.gateway.security.raw import BODY, CHAT, answer_of, chat, connected, rest_of, send
from tests.support.gateway import serving
from tests.support.trying import at_best

SMALL = 1_000_000
MIB = 1024 * 1024
BOMB_BYTES = 200 * MIB


def _zstd(data: bytes) -> bytes:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name).compress(data)
        except ImportError:
            continue
    pytest.skip("no module for zstd is installed")


def _twice(data: bytes) -> bytes:
    return gzip.compress(gzip.compress(data, 9, mtime=0), 9, mtime=0)


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "zstd": ("zstd", _zstd),
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A gateway that takes a megabyte."""
    with serving(max_body_bytes=SMALL) as at:
        yield at


@pytest.mark.parametrize("name", CODINGS)
def test_sec_07_a_bomb_costs_no_more_than_its_bound(name: str) -> None:
    """200 MiB of nothing, compressed: refused at a megabyte, with a few megabytes of memory and no time to speak of."""
    coding, compress = CODINGS[name]
    bomb = compress(bytes(BOMB_BYTES))

    def taken_s() -> float:
        intake = Intake(coding, SMALL)
        tracemalloc.start()
        began_s = time.monotonic()
        with pytest.raises(LimitExceededError):  # noqa: PT012 - at whichever piece it is noticed
            for place in range(0, len(bomb), 65_536):
                intake.feed(bomb[place : place + 65_536])
            intake.whole()
        took_s = time.monotonic() - began_s
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * SMALL
        return took_s

    assert at_best(lambda: taken_s() < 2)


@pytest.mark.parametrize("name", CODINGS)
def test_sec_07_the_bound_holds_over_the_wire(url: str, name: str) -> None:
    """413, with a length and in chunks without one; a body of the same coding that is small is read."""
    coding, compress = CODINGS[name]
    header = f"content-encoding: {coding}"
    bomb, small = compress(bytes(30 * MIB)), compress(encode(BODY))
    assert send(url, chat(bomb, header)).status == 413
    assert send(url, chat(_chunked(bomb), header, "transfer-encoding: chunked")).status == 413
    assert send(url, chat(small, header)).status == 200
    assert send(url, chat(_chunked(small), header, "transfer-encoding: chunked")).status == 200


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", b"\x1b\x00\x00"),
        ("gzip, gzip", _twice(b"{}")),
        ("gzip, br", b""),
        ("compress", b"\x1f\x9d"),
        ("gzip\x00", b""),
        ("gzip", b"\x1f\x8b\x08" + b"\xff" * 100),
        ("gzip", gzip.compress(b"{}", mtime=0)[:-4]),
        ("deflate", b"\x00" * 50),
    ],
)
def test_codings_that_are_not_undone_are_a_400(url: str, coding: str, body: bytes) -> None:
    """An unknown coding, two of them, and what is not what its header says."""
    assert send(url, chat(body, f"content-encoding: {coding}")).status == 400


def test_a_body_inside_a_body_is_inflated_once(url: str) -> None:
    """What is still compressed after that is no JSON."""
    assert send(url, chat(_twice(encode(BODY)), "content-encoding: gzip")).status == 400


def _chunked(data: bytes, size: int = 50_000) -> bytes:
    pieces = [data[place : place + size] for place in range(0, len(data), size)]
    return b"".join([b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]) + b"0\r\n\r\n"


def test_the_bound_is_exact(url: str) -> None:
    """As many bytes as it says are read, one more is not: by its length, and chunk by chunk."""
    empty = len(encode({**BODY, "user": ""}))
    for more, status in ((0, 200), (1, 413)):
        body = encode({**BODY, "user": "x" * (SMALL - empty + more)})
        assert len(body) == SMALL + more
        assert send(url, chat(body)).status == status
        assert send(url, chat(_chunked(body), "transfer-encoding: chunked")).status == status


@pytest.mark.parametrize("length", [SMALL + 1, MAX_BODY_BYTES + 1, 10**15, 2**63])
def test_an_announced_length_beyond_the_bound_is_refused_before_it_comes(url: str, length: int) -> None:
    """Nothing of it is waited for."""
    with connected(url) as connection:
        connection.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n".encode())
        connection.settimeout(2)
        assert answer_of(connection.recv(65_536)).status == 413


def test_a_body_of_64_mib_is_the_most_by_default() -> None:
    """At the edge itself, in the process: whole and in pieces of two bytes, which cost no more than they are."""
    intake = Intake("", MAX_BODY_BYTES)
    intake.feed(bytes(MAX_BODY_BYTES))
    assert len(intake.whole()) == MAX_BODY_BYTES == 64 * MIB
    with pytest.raises(LimitExceededError):
        intake.feed(b"x")
    tracemalloc.start()
    small = Intake("", MAX_BODY_BYTES)
    for _ in range(150_000):
        small.feed(b"".join((b"a", b"b")))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(small.whole()) == 300_000
    assert peak < 2_000_000


def test_sec_07_a_body_is_inflated_in_turns() -> None:
    """64 MiB of nothing in one piece: 4 MiB and a read of 256 KiB at most each turn, so that others have theirs."""
    bomb = gzip.compress(bytes(MAX_BODY_BYTES), mtime=0)
    intake = Intake("gzip", MAX_BODY_BYTES)
    intake.feed(bomb)
    turns = 1
    while intake.is_behind:
        intake.go_on()
        turns += 1
    assert turns == 64 // 4 + 1
    assert intake.whole() == bytes(MAX_BODY_BYTES)


def test_dos_03_empty_gzip_members_are_refused_early(url: str) -> None:
    """200,000 of them, 4 MB: the 101st is one too many, in the process and over the wire."""
    empty = gzip.compress(b"", mtime=0)
    assert len(empty) == 20
    intake = Intake("gzip", MAX_BODY_BYTES)
    with pytest.raises(BadRequestError, match="sent 101 gzip members with 0 bytes in them: send one"):
        intake.feed(empty * 13_000)
    assert send(url, chat(empty * 49_000, "content-encoding: gzip")).status == 400


def test_gzip_members_with_something_in_them_are_read() -> None:
    """A hundred small ones behind the first, and one for each 16 KiB beyond, as programs make that pack in blocks."""
    small = Intake("gzip", MAX_BODY_BYTES)
    small.feed(b"".join([gzip.compress(b"a", mtime=0)] * 101))
    assert small.whole() == b"a" * 101
    blocks = Intake("gzip", MAX_BODY_BYTES)
    for _ in range(1_000):
        blocks.feed(gzip.compress(bytes(16_384), mtime=0))
        while blocks.is_behind:
            blocks.go_on()
    assert blocks.whole() == bytes(16_384_000)


NESTED: dict[str, bytes] = {
    "lists": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "closed": b"[" * 50_000 + b"]" * 50_000,
}


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses", "/api/chat", "/unified/v1/generate",
    "/v1beta/models/fake/model:generateContent", "/v1/embeddings", "/explain", "/v1/messages/count_tokens",
    "/api/show", "/console/sides", "/v1/responses/compact"])  # fmt: skip
def test_a_body_that_is_deep_is_a_400(url: str, path: str) -> None:
    """Wherever a body is read, also where it stands inside of a body that is fine."""
    for nested in NESTED.values():
        inner = encode({**BODY, "input": "x", "contents": [1]})[:-1] + b',"metadata":' + nested + b"}"
        for body in (nested, inner):
            answer = send(url, chat(body, path=path))
            assert answer.status in (400, 413), (path, body[:20], answer.status)


def test_a_body_as_deep_as_the_bound_is_read(url: str) -> None:
    """The bound is for attacks, and far from what clients send."""
    schema: Any = {}
    for _ in range(MAX_DEPTH - 8):
        schema = [schema]
    assert send(url, chat({**BODY, "metadata": schema})).status in (200, 400)
    assert MAX_DEPTH >= 64


@pytest.mark.parametrize("count", [200_000])
def test_a_body_of_many_small_things_takes_its_turn_quickly(url: str, count: int) -> None:
    """Many members, many messages, one name again and again: bounded by the size of the body."""
    many = b",".join([b'"%d":0' % number for number in range(count // 4)])
    again = b",".join([b'"model":"fake/model"'] * (count // 8))
    digits = b'{"model":"fake/model","messages":[],"n":' + b"9" * count + b"}"

    def taken_s() -> float:
        began_s = time.monotonic()
        assert send(url, chat(encode(BODY)[:-1] + b"," + many + b"}")).status in (200, 400)
        assert send(url, chat(encode(BODY)[:-1] + b"," + again + b"}")).status in (200, 400)
        assert send(url, chat(digits)).status == 400
        return time.monotonic() - began_s

    assert at_best(lambda: taken_s() < 5, 5)


def test_a_form_with_a_head_that_never_ends_is_read_in_one_pass(url: str) -> None:
    """900 kB of one repeated header took two minutes of a search that went back and forth."""
    line = b"content-disposition:form-data;"
    body = b"--b\r\n" + line * 30_000 + b"\r\n\r\nx\r\n--b--"
    told = chat(body, "content-type: multipart/form-data; boundary=b", path="/v1/images/edits")

    def taken_s() -> float:
        began_s = time.monotonic()
        assert send(url, told).status == 404
        return time.monotonic() - began_s

    assert at_best(lambda: taken_s() < 2, 5)


def test_others_are_answered_while_a_large_body_comes(url: str) -> None:
    """A client that sends much holds nobody up."""
    with connected(url) as connection:
        head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {SMALL}\r\n\r\n"
        connection.sendall(head.encode() + b" " * (SMALL - 10))
        assert send(url, chat()).status == 200
        connection.sendall(b" " * 10)
        assert answer_of(rest_of(connection)).status == 400
