"""One connection of the gateway's server: what is answered, in which order, in how many writes, and what ends it."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from interlingua.gateway.http import Closing, GatewayReply, GatewayRequest, Sink
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.records.log import json_line, text_line
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.record import Record
from interlingua.gateway.serving.reader import MAX_HEADERS, MAX_WAITING
from interlingua.gateway.settings import GatewayKey
from tests.support.leaping import LEAPING
from tests.support.wire import GET, HEAD, Pieces, answering, post, settled, wired

OK = b"HTTP/1.1 200 OK\r\nx-a: b\r\ndate: now\r\ncontent-length: 2\r\n\r\n{}"
LAST = b"HTTP/1.1 200 OK\r\nx-a: b\r\ndate: now\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


# Whole answers


async def test_a_whole_answer_is_one_write() -> None:
    """Head and body together; the next request goes over the same connection."""
    async with wired(answering()) as wire:
        for count in range(1, 4):
            wire.send(GET)
            await settled()
            assert wire.writes == [OK] * count


@pytest.mark.parametrize(
    "request_",
    [
        post(b'{"a":1}'),
        HEAD + b'transfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
    ],
    ids=["a length", "chunks"],
)
async def test_a_request_may_be_cut_anywhere(request_: bytes) -> None:
    """In two at every byte, and byte by byte: the answer is the same."""
    expected = b'HTTP/1.1 200 OK\r\nx-a: b\r\ndate: now\r\ncontent-length: 7\r\n\r\n{"a":1}'
    async with wired(answering()) as wire:
        for place in range(1, len(request_)):
            wire.send(request_[:place])
            wire.send(request_[place:])
            await settled()
            assert wire.writes.pop() == expected
        for place in range(len(request_)):
            wire.send(request_[place : place + 1])
        await settled()
        assert wire.writes == [expected]


async def test_requests_that_come_together_are_answered_in_order() -> None:
    """One at a time: while the first is answered the others wait, and nothing more is read."""
    first = asyncio.Event()
    asked: list[bytes] = []

    async def answer(request: GatewayRequest) -> GatewayReply:
        asked.append(request.body)
        if request.body == b"1":
            await first.wait()
        return GatewayReply(headers=(("x-a", "b"),), body=b"{}")

    async with wired(answering(answer)) as wire:
        wire.send(post(b"1") + post(b"2") + post(b"3") + HEAD)
        await settled()
        assert (asked, wire.writes, wire.is_paused) == ([b"1"], [], True)
        first.set()
        await settled()
        assert (asked, wire.writes, wire.is_paused) == ([b"1", b"2", b"3"], [OK] * 3, False)
        wire.send(b"content-length: 1\r\n\r\n4")
        await settled()
        assert (asked[-1], len(wire.writes)) == (b"4", 4)


async def test_of_too_many_requests_at_once_the_first_ones_are_answered() -> None:
    """The last of them says that the connection ends, so that a client knows what to ask again."""
    async with wired(answering()) as wire:
        wire.send(GET * (MAX_WAITING + 10))
        await wire.over.wait()
    assert wire.writes == [OK] * (MAX_WAITING - 1) + [LAST]


@pytest.mark.parametrize("header", [b"connection: close", b"connection: upgrade\r\nupgrade: websocket"])
async def test_a_last_request_ends_its_connection(header: bytes) -> None:
    """Its answer says so, and what comes behind it is no request."""
    async with wired(answering()) as wire:
        wire.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n" + header + b"\r\n\r\n" + GET)
        await wire.over.wait()
    assert wire.writes == [LAST]


async def test_what_was_asked_before_garbage_is_answered() -> None:
    """And nothing is said of the garbage: it may be another client's."""
    async with wired(answering()) as wire:
        wire.send(GET + GET + b"\0garbage\r\n\r\n")
        await wire.over.wait()
    assert wire.writes == [OK, LAST]


async def test_garbage_in_a_body_is_told_once() -> None:
    """The request is over, and so is its connection, once its client has read why."""
    records: list[Record] = []
    async with wired(answering(records=records)) as wire:
        wire.send(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        wire.send(b"xyz\r\n")
        assert wire.received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert (wire.is_ended, wire.is_closing(), len(wire.writes)) == (True, False, 1)
        wire.send(GET)  # nobody listens any more
        await settled()
        assert len(wire.writes) == 1
    assert [(record.status, record.error, record.aborted) for record in records] == [(400, "BadRequestError", False)]


HEADLESS = "the request did not come in time"
TWICE = "a header that counts came twice: which one is meant would depend on who reads them"
NO_CHUNK = "this is no HTTP/1.1: Invalid character in chunk size"
NO_PATH = "the target of the request is neither a path nor an address of HTTP"
CHUNKED = b"transfer-encoding: chunked\r\n"
TOLD = {
    "Messages, late": (
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-request-id: r1\r\nx-a",
        b"408 Request Timeout",
        b'{"type":"error","error":{"type":"invalid_request_error","message":"%b"}}' % HEADLESS.encode(),
    ),
    "Gemini, late": (
        b"POST /v1beta/models/x:countTokens HTTP/1.1\r\nx-request-id: r1\r\nhost: localhost\r\nx-a",
        b"408 Request Timeout",
        b'{"error":{"code":408,"message":"%b","status":"INVALID_ARGUMENT"}}' % HEADLESS.encode(),
    ),
    "by a header": (
        b"GET /v1/models HTTP/1.1\r\nx-request-id: r1\r\nx-goog-api-key: k\r\nhost: a\r\nhost: a\r\n\r\n",
        b"400 Bad Request",
        b'{"error":{"code":400,"message":"%b","status":"INVALID_ARGUMENT"}}' % TWICE.encode(),
    ),
    "too many headers": (
        b"POST /v1/messages HTTP/1.1\r\nx-request-id: r1\r\n" + b"x-a: b\r\n" * MAX_HEADERS + b"\r\n",
        b"431 Request Header Fields Too Large",
        b'{"type":"error","error":{"type":"invalid_request_error","message":"more than 128 headers"}}',
    ),
    "a body that is none": (
        b"POST /unified/v1/generate HTTP/1.1\r\nx-request-id: r1\r\nhost: localhost\r\n" + CHUNKED + b"\r\nxyz\r\n",
        b"400 Bad Request",
        b'{"error":{"type":"bad_request_error","message":"%b","status":400,"retryable":false}}' % NO_CHUNK.encode(),
    ),
    "no address": (
        b"GET ftp://a/v1/messages HTTP/1.1\r\nx-request-id: r1\r\nhost: localhost\r\n\r\n",
        b"400 Bad Request",
        b'{"error":{"message":"%b","type":"invalid_request_error","param":null,"code":null}}' % NO_PATH.encode(),
    ),
}


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "after another"])
@pytest.mark.parametrize(("sent", "status", "body"), TOLD.values(), ids=TOLD.keys())
async def test_what_is_no_request_is_told_in_the_dialect_of_its_path(
    sent: bytes, status: bytes, body: bytes, is_first: bool
) -> None:
    """As far as path and headers have come; the one before on the connection says nothing of it."""
    async with wired(answering(receive_s=0.05)) as wire:
        if not is_first:
            wire.send(GET.replace(b"/health/live", b"/api/tags"))
            await settled()
        wire.send(sent)
        await wire.end()
        told = wire.writes[-1]
    head, _, rest = told.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert (first, rest) == (b"HTTP/1.1 " + status, body)
    assert lines[-1] == b"connection: close"
    assert b"content-length: %d" % len(body) in lines
    assert {b"x-request-id: r1", b"request-id: r1"} <= set(lines)
    assert len(wire.writes) == (1 if is_first else 2)


async def test_what_has_no_path_is_told_in_openais_form() -> None:
    """Also where the request before it on the connection had one."""
    async with wired(answering(receive_s=0.05)) as wire:
        wire.send(b"GET /api/tags HTTP/1.1\r\nhost: localhost\r\nx-b: c\r\n\r\n")
        await settled()
        wire.send(b"\r\n")
        assert (await wire.end()).endswith(
            b'{"error":{"message":"the request did not come in time","type":"invalid_request_error","param":null,'
            b'"code":null}}'
        )


SECRET = b"sk-planted-0123456789"
UNREADABLE = {
    "no HTTP": (b"\x16\x03\x01\x02\x00" + SECRET, 400, "", "", "this is no HTTP/1.1: Invalid method encountered"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "PRI", "*", "this server speaks HTTP/1.1, not HTTP/2"),
    "two hosts": (
        b"GET /v1/models?key=" + SECRET + b" HTTP/1.1\r\nhost: a\r\nhost: a\r\nx-api-key: " + SECRET + b"\r\n\r\n",
        400, "GET", "/v1/models", TWICE,
    ),
    "a header that is none": (
        b"POST /v1/messages HTTP/1.1\r\nx-api-key: " + SECRET + b"\r\nx y\r\n\r\n",
        400, "POST", "/v1/messages", "this is no HTTP/1.1: Invalid header token",
    ),
    "no address": (b"GET ftp://a/" + SECRET + b" HTTP/1.1\r\nhost: a\r\n\r\n", 400, "GET", "", NO_PATH),
    "too many headers": (
        b"GET /health/live HTTP/1.1\r\n" + b"x-a: b\r\n" * (MAX_HEADERS + 1) + b"\r\n",
        431, "GET", "/health/live", "more than 128 headers",
    ),
    "late": (b"POST /v1/" + SECRET + b" HTTP/1.1\r\nx-api-key: " + SECRET + b"\r\nx", 408, "POST", "/v1/***", HEADLESS),
}  # fmt: skip


@pytest.mark.parametrize(("sent", "status", "method", "path", "reason"), UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_what_cannot_be_read_has_its_record(
    sent: bytes, status: int, method: str, path: str, reason: str
) -> None:
    """Once: method and path as far as they came, the status, the reason in our own words, from where; no secret."""
    records: list[Record] = []
    made = answering(records=records, receive_s=0.05, observing=Observing(metrics="open"))
    async with wired(made) as wire:
        wire.send(sent)
        received = await wire.end()
    (record,) = records
    assert (record.status, record.method, record.path, record.aborted) == (status, method, path, False)
    assert record.reason.startswith(reason)
    assert (record.error, record.peer, record.key, record.route) == ("BadRequestError", "127.0.0.1", "", "")
    assert f"x-request-id: {record.id}".encode() in received
    assert SECRET.decode() not in f"{record}{json_line(record)}{json_line(record, content=True)}{text_line(record)}"
    assert made.metrics is not None
    client = "anthropic" if path == "/v1/messages" else "openai-chat"
    labels = f'client="{client}",model="",target="",key="",status="{status}"'
    assert f"interlingua_requests_total{{{labels}}} 1\n" in made.metrics.text()


async def test_what_nobody_is_told_has_its_record_too() -> None:
    """Garbage behind requests that are answered; a connection on which nothing came has none."""
    records: list[Record] = []
    async with wired(answering(records=records, receive_s=0.05)) as wire:
        wire.send(GET + b"\0garbage\r\n\r\n")
        await wire.over.wait()
    assert wire.writes == [LAST]
    assert [(record.path, record.error) for record in records] == [("/health/live", ""), ("", "BadRequestError")]
    assert (records[1].status, records[1].aborted) == (400, False)
    assert records[1].reason == "this is no HTTP/1.1: Invalid method encountered"
    async with wired(answering(records=records, receive_s=0.05)) as wire:
        assert b"408 Request Timeout" in await wire.end()
    assert len(records) == 2


async def test_http_2_is_told_that_it_is_not_spoken() -> None:
    """Where a client begins with it unasked, cut anywhere."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    told = (
        b'{"error":{"message":"this server speaks HTTP/1.1, not HTTP/2: have the client, or the proxy in front, '
        b'ask with HTTP/1.1","type":"invalid_request_error","param":null,"code":null}}'
    )
    for place in range(len(preface)):
        async with wired(answering()) as wire:
            wire.send(preface[:place])
            wire.send(preface[place:])
            assert wire.received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert wire.received.endswith(told)


async def test_a_head_is_answered_like_get_without_a_body() -> None:
    """Also where the body would be a stream, which is closed."""
    pieces = Pieces()
    async with wired(answering()) as wire:
        wire.send(GET.replace(b"GET", b"HEAD"))
        await settled()
        assert wire.writes == [OK[:-2]]
        wire.server.gateway.answer = pieces.answer
        wire.send(GET.replace(b"GET", b"HEAD"))
        await settled()
        assert wire.writes[1:] == [b"HTTP/1.1 200 OK\r\nx-a: b\r\ndate: now\r\ntransfer-encoding: chunked\r\n\r\n"]
        assert pieces.is_closed


# Bodies that are waited for, and bodies that nobody wants


async def test_a_client_that_waits_is_told_to_go_on() -> None:
    """Once, after its head was screened, and not where the body came along."""
    async with wired(answering()) as wire:
        head, body = post(b"ab", b"expect: 100-continue")[:-2], b"ab"
        wire.send(head)
        assert wire.writes == [b"HTTP/1.1 100 Continue\r\n\r\n"]
        wire.send(body[:1])
        wire.send(body[1:])
        await settled()
        assert wire.writes[1:] == [OK.replace(b"{}", b"ab")]
        wire.send(head + body)
        await settled()
        assert wire.writes[2:] == [OK.replace(b"{}", b"ab")]


@pytest.mark.parametrize(("length", "status"), [(b"2", b"401"), (b"999999999", b"401")])
async def test_a_client_that_waits_and_is_refused_sends_no_body(length: bytes, status: bytes) -> None:
    """The connection ends: what came next could be the body or another request."""
    keys = (GatewayKey(name="k", hash=hash_key("secret")),)
    async with wired(answering(keys=keys)) as wire:
        wire.send(HEAD + b"expect: 100-continue\r\ncontent-length: " + length + b"\r\n\r\n")
        reply = await wire.end()
    assert reply.startswith(b"HTTP/1.1 " + status)
    assert reply.count(b"HTTP/1.1") == 1
    assert b"connection: close\r\n" in reply


async def test_a_body_that_nobody_wants_is_thrown_away() -> None:
    """Who was refused by the head goes on with the connection after the body; larger than any, it ends it."""
    keys = (GatewayKey(name="k", hash=hash_key("secret")),)
    async with wired(answering(keys=keys, max_body_bytes=1_000)) as wire:
        body = b"x" * 900
        wire.send(post(body)[:-900])
        await settled()
        assert wire.received.startswith(b"HTTP/1.1 401 ")
        wire.send(body[:500])
        wire.send(body[500:] + post(b"", b"x-api-key: secret"))
        await settled()
        assert wire.writes[1:] == [OK]
        wire.send(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        await settled()
        for _ in range(3):
            wire.send(b"190\r\n" + b"x" * 400 + b"\r\n")
        assert wire.is_ended
    assert len(wire.writes) == 3


async def test_a_body_beyond_its_bound_is_refused_as_soon_as_that_shows() -> None:
    """Announced, or while it comes, or all at once; a body at the bound is taken."""
    async with wired(answering(max_body_bytes=1_000)) as wire:
        wire.send(post(b"x" * 1_000))
        await settled()
        wire.send(post(b"x" * 1_001))
        await settled()
        wire.send(HEAD + b"transfer-encoding: chunked\r\n\r\n3e8\r\n" + b"x" * 1_000 + b"\r\n")
        wire.send(b"1\r\n")
        await settled()
        assert len(wire.writes) == 2
        wire.send(b"x")
        await settled()
    assert [write[9:12] for write in wire.writes] == [b"200", b"413", b"413"]


KEYS = (
    GatewayKey(name="small", hash=hash_key("secret"), terms=Terms(max_body_bytes=1_000)),
    GatewayKey(name="other", hash=hash_key("another"), terms=Terms(max_body_bytes=9_000)),
)
OF_KEY = b"the body is larger than 1000 bytes, max_body_bytes of the key small"


async def test_dos_03_a_key_has_a_bound_of_its_own() -> None:
    """Whole, in chunks, announced, and inflated; with a head that is known and one that is not; the error names it."""
    async with wired(answering(keys=KEYS, max_body_bytes=2_000)) as wire:
        for _ in range(3):
            wire.send(post(b"x" * 1_000, b"x-api-key: secret"))
            await settled()
            wire.send(post(b"x" * 1_001, b"x-api-key: secret"))
            await settled()
        assert [write[9:12] for write in wire.writes] == [b"200", b"413"] * 3
        assert wire.received.count(OF_KEY) == 3
        wire.send(post(gzip.compress(b"x" * 1_001, mtime=0), b"x-api-key: secret", b"content-encoding: gzip"))
        await settled()
        wire.send(HEAD + b"x-api-key: secret\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n" + b"x" * 1_001)
        await settled()
        assert wire.received.count(OF_KEY) == 5
    async with wired(answering(keys=KEYS, max_body_bytes=2_000)) as wire:
        wire.send(HEAD + b"x-api-key: secret\r\ncontent-length: 1001\r\n\r\n")
        await settled()
        assert OF_KEY in wire.received


async def test_dos_03_the_bound_of_the_gateway_holds_for_every_key() -> None:
    """Where a key may send more it is the gateway's that counts."""
    async with wired(answering(keys=KEYS, max_body_bytes=2_000)) as wire:
        for size in (2_000, 2_001):
            wire.send(post(b"x" * size, b"x-api-key: another"))
            await settled()
    assert [write[9:12] for write in wire.writes] == [b"200", b"413"]
    assert b'the body is larger than 2000 bytes"' in wire.received


async def test_sec_07_others_have_a_turn_while_a_body_is_inflated() -> None:
    """20 MiB in one piece: nothing more is read until it is inflated, turn by turn, and then it is answered."""
    size = 20 * 1024 * 1024
    async with wired(answering()) as wire:
        wire.send(post(gzip.compress(bytes(size), mtime=0), b"content-encoding: gzip"))
        turns = 0
        while wire.is_paused and not wire.writes:
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 4
        await settled()
        assert len(wire.received) > size
    async with wired(answering()) as wire:
        wire.send(post(gzip.compress(bytes(size), mtime=0), b"content-encoding: gzip"))
        wire.leave()


# Streams


async def test_pieces_of_a_stream_that_come_in_one_turn_are_one_write() -> None:
    """As chunks, without empty ones; its head goes at once with a first piece that is there, and waits for none."""
    pieces = Pieces()
    head = b"HTTP/1.1 200 OK\r\nx-a: b\r\ndate: now\r\ntransfer-encoding: chunked\r\n\r\n"
    async with wired(answering(pieces.answer)) as wire:
        wire.send(GET)
        pieces.say(b"one", b"nothing", b"two", b"")
        await settled()
        assert wire.writes == [head + b"3\r\none\r\n", b"3\r\ntwo\r\n0\r\n\r\n"]
        assert pieces.is_closed
        wire.send(GET)
        await settled()
        assert wire.writes[2:] == [head]


async def test_a_stream_that_is_poured_has_its_head_sent_with_its_first_piece() -> None:
    """By itself where that is empty; what is poured meanwhile follows it."""
    head = b"HTTP/1.1 200 OK\r\ndate: now\r\ntransfer-encoding: chunked\r\n\r\n"
    sinks: list[Sink] = []
    ends = asyncio.Event()

    async def said(first: bytes) -> AsyncGenerator[bytes]:
        yield first
        sinks[-1](b"poured")
        await ends.wait()

    async def closed() -> None:
        ends.clear()

    firsts = iter([b"", b"one"])

    async def answer(request: GatewayRequest) -> GatewayReply:
        return GatewayReply(body=Closing(said(next(firsts)), closed, sinks.append))

    async with wired(answering(answer)) as wire:
        for begun in ([head, b"6\r\npoured\r\n"], [head + b"3\r\none\r\n", b"6\r\npoured\r\n"]):
            wire.send(GET)
            await settled()
            assert wire.writes == begun
            ends.set()
            await settled()
            assert wire.writes.pop() == b"0\r\n\r\n"
            wire.writes.clear()


async def test_what_is_poured_in_a_turn_goes_out_at_its_end() -> None:
    """In one write; and before it where something else is to be sent."""
    sinks: list[Sink] = []
    ends = asyncio.Event()

    async def said() -> AsyncGenerator[bytes]:
        yield b"first"
        await ends.wait()

    async def closed() -> None:
        ends.clear()

    async def answer(request: GatewayRequest) -> GatewayReply:
        return GatewayReply(body=Closing(said(), closed, sinks.append))

    async with wired(answering(answer)) as wire:
        wire.send(GET)
        await settled()
        wire.writes.clear()
        assert (sinks[-1](b"a"), sinks[-1](b"b"), wire.writes) == (True, True, [])
        await settled()
        assert wire.writes == [b"1\r\na\r\n1\r\nb\r\n"]
        sinks[-1](b"c")
        ends.set()
        await settled()
        assert b"".join(wire.writes[1:]) == b"1\r\nc\r\n0\r\n\r\n"


async def test_an_old_client_gets_a_stream_to_the_end_of_its_connection() -> None:
    """HTTP/1.0 knows no chunks."""
    pieces = Pieces()
    async with wired(answering(pieces.answer)) as wire:
        wire.send(b"GET / HTTP/1.0\r\nhost: localhost\r\n\r\n")
        pieces.say(b"one", b"two", b"")
        await wire.over.wait()
    assert wire.received == b"HTTP/1.1 200 OK\r\nx-a: b\r\ndate: now\r\nconnection: close\r\n\r\nonetwo"


async def test_a_stream_that_breaks_off_has_no_end(caplog: pytest.LogCaptureFixture) -> None:
    """A fault of ours ends the connection without the last chunk, so that a client can tell, and is logged."""

    async def broken() -> AsyncGenerator[bytes]:
        yield b"one"
        yield b"two"
        raise RuntimeError("our fault")

    async def answer(request: GatewayRequest) -> GatewayReply:
        return GatewayReply(body=broken())

    records: list[Record] = []
    with caplog.at_level(logging.ERROR):
        async with wired(answering(answer, records)) as wire:
            wire.send(GET)
            await wire.over.wait()
    assert wire.received.endswith(b"3\r\none\r\n3\r\ntwo\r\n")
    assert [record.aborted for record in records] == [True]
    assert "our fault" in caplog.text


async def test_sse_07_a_silent_stream_shows_that_it_is_alive() -> None:
    """Between two pieces, as a chunk of its own; not while the client does not read, and not after the end."""
    pieces = Pieces()
    async with wired(answering(pieces.answer, keep_alive_s=0.02)) as wire:
        wire.send(GET)
        pieces.say(b"one")
        await wire.until(b"2\r\n:\n\r\n", 2)
        wire.stop_reading()
        count = len(wire.writes)
        await asyncio.sleep(0.06)
        assert len(wire.writes) == count
        wire.read_on()
        pieces.say(b"two", b"")
        await wire.until(b"0\r\n\r\n")
        count = len(wire.writes)
        await asyncio.sleep(0.04)
        assert len(wire.writes) == count
