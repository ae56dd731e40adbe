"""Clients that take their time, stop, leave or never read: exact outcomes at every byte, in bounded time and memory."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.record import Record
from interlingua.gateway.serving import connection
from interlingua.gateway.serving.response_writer import FlushBatch, ResponseWriter
from interlingua.gateway.settings import GatewayKey
from tests.support.leaping import LEAPING
from tests.support.wire import GET, HEAD, Pieces, Wire, answering, post, settled, wired

RECEIVE_S = 0.05
KEYS = (GatewayKey(name="k", hash=hash_key("secret")),)
REQUEST = post(b'{"a":1}', b"x-a: b")
LATE = b"HTTP/1.1 408 Request Timeout\r\n"


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


async def _all_wired(stack: AsyncExitStack, count: int, **settings: Any) -> list[Wire]:
    return [await stack.enter_async_context(wired(answering(**settings))) for _ in range(count)]


async def test_a_client_that_stops_anywhere_gets_a_408() -> None:
    """Before the first byte, in the head, in the body: in time, in one reply, and the connection ends."""
    async with AsyncExitStack() as stack:
        wires = await _all_wired(stack, len(REQUEST), receive_s=RECEIVE_S)
        began_s = asyncio.get_running_loop().time()
        for place, wire in enumerate(wires):
            if place:
                wire.send(REQUEST[:place])
        replies = [await wire.end() for wire in wires]
        took_s = asyncio.get_running_loop().time() - began_s
    assert {reply[: len(LATE)] for reply in replies} == {LATE}
    assert {reply.count(b"HTTP/1.1 ") for reply in replies} == {1}
    assert took_s == pytest.approx(RECEIVE_S, abs=0.01)


@pytest.mark.parametrize("drops", [b"x-a: b\r\n", b"x"], ids=["headers", "a body"])
async def test_dripping_keeps_no_connection_open(drops: bytes) -> None:
    """The time counts from the first byte: what comes slower than a kilobyte a second is late."""
    async with wired(answering(receive_s=RECEIVE_S)) as wire:
        wire.send(HEAD + (b"content-length: 9999\r\n\r\n" if drops == b"x" else b""))
        began_s = asyncio.get_running_loop().time()
        while not wire.is_ended:
            wire.send(drops)
            await asyncio.sleep(RECEIVE_S / 4)
        assert asyncio.get_running_loop().time() - began_s < 20 * RECEIVE_S
    assert wire.received.startswith(LATE)


async def test_what_comes_steadily_has_its_time() -> None:
    """A kilobyte a second and more may take as long as it takes."""
    body = b"x" * 1_000
    async with wired(answering(receive_s=2 * RECEIVE_S)) as wire:
        wire.send(post(body)[:-1_000])
        for _ in range(8):
            await asyncio.sleep(RECEIVE_S)
            wire.send(body[:125])
        await settled()
    assert wire.received.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_a_kept_connection_is_idle_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it ends without a word; a request meanwhile begins the time anew."""
    monkeypatch.setattr(connection, "IDLE_S", 0.1)
    async with wired(answering(receive_s=0.02)) as wire:
        for _ in range(2):
            wire.send(GET)
            await asyncio.sleep(0.06)
        assert not wire.is_closing()
        await asyncio.wait_for(wire.over.wait(), 5)
    assert len(wire.writes) == 2


# Clients that leave


async def test_rtr_08_a_client_may_leave_at_any_byte() -> None:
    """Nothing is left of it; a request that had begun is sent as left."""
    records: list[Record] = []
    for place in range(len(REQUEST)):
        async with wired(answering(records=records)) as wire:
            wire.send(REQUEST[: place + 1])
            wire.leave()
    head = REQUEST.index(b"\r\n\r\n") + 4
    assert [record.status for record in records] == [499] * (len(REQUEST) - head + 1)
    assert all(record.aborted for record in records)


@pytest.mark.parametrize("stage", ["begun", "answering", "streaming", "not reading"])
async def test_rtr_08_a_client_that_leaves_closes_what_is_under_way(stage: str) -> None:
    """At once, also before the answer was begun, and while it takes nothing."""
    pieces, opened = Pieces(), asyncio.Event()
    records: list[Record] = []
    cancelled: list[bool] = []

    async def answer(request: GatewayRequest) -> GatewayReply:
        opened.set()
        try:
            if stage == "answering":
                await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return await pieces.answer(request)

    async with wired(answering(answer, records)) as wire:
        wire.send(GET)
        if stage != "begun":
            await opened.wait()
            pieces.say(b"one")
            await settled()
        if stage == "not reading":
            wire.stop_reading()
            pieces.say(b"two", b"three")
            await settled()
        left_s = asyncio.get_running_loop().time()
        wire.leave()
        await settled()
        assert asyncio.get_running_loop().time() == left_s
    assert pieces.is_closed == (stage in ("streaming", "not reading"))
    assert len(cancelled) == (stage == "answering")
    assert [record.aborted for record in records] == [True]


async def test_a_client_that_says_no_more_has_left() -> None:
    """An end of its side cannot be told from its going: the connection is closed."""
    async with wired(answering()) as wire:
        assert not wire.protocol.eof_received()


# Clients that do not read


async def test_a_reader_that_stops_holds_the_pieces_back() -> None:
    """One at most is taken meanwhile; it gets the rest when it reads on."""
    pieces = Pieces()
    async with wired(answering(pieces.answer)) as wire:
        wire.send(GET)
        pieces.say(b"one")
        await settled()
        wire.stop_reading()
        pieces.say(b"two", b"three", b"")
        await settled()
        assert (pieces.taken, wire.received.endswith(b"one\r\n")) == (2, True)
        wire.read_on()
        await settled()
    assert wire.received.endswith(b"3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n")


async def test_a_reader_that_never_reads_is_let_go() -> None:
    """After `send_s` the connection is gone, and what it got its pieces from is closed."""
    pieces = Pieces()
    async with wired(answering(pieces.answer, send_s=0.05)) as wire:
        wire.send(GET)
        wire.stop_reading()
        pieces.say(b"one")
        await asyncio.wait_for(wire.over.wait(), 5)
        await settled()
        assert (wire.is_aborted, pieces.is_closed) == (True, True)


async def test_a_last_answer_that_nobody_takes_is_let_go() -> None:
    """Closed is not gone: what is still to be sent has its time as well."""
    async with wired(answering(send_s=0.05)) as wire:
        wire.send(GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        wire._is_stuck = True
        await asyncio.wait_for(wire.over.wait(), 5)
    assert (wire.is_aborted, len(wire.writes)) == (True, 1)


@pytest.mark.parametrize("path", [b"/health/live", b"/nowhere"])
async def test_who_asks_and_never_reads_is_not_answered_for_ever(path: bytes) -> None:
    """Answers, refusals among them, wait until somebody takes them, and so do the requests."""
    async with wired(answering()) as wire:
        wire.send(GET)
        await settled()
        wire.stop_reading()
        wire.send(GET.replace(b"/health/live", path) * 5)
        await settled()
        assert (len(wire.writes), wire.is_paused) == (1, True)
        wire.read_on()
        await settled()
        assert (len(wire.writes), wire.is_paused) == (6, False)


# Clients that were refused


async def test_who_was_refused_may_go_on_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An end while it sends would cost it the answer; too long or too much, and it is over."""
    monkeypatch.setattr(connection, "LINGER_S", 0.05)
    async with wired(answering()) as wire:
        wire.send(b"\0\r\n\r\n")
        assert (wire.is_ended, wire.is_closing()) == (True, False)
        wire.send(b"x" * 1_000)
        await asyncio.wait_for(wire.over.wait(), 5)
    monkeypatch.setattr(connection, "LINGER_S", 10.0)
    async with wired(answering()) as wire:
        wire.send(b"\0\r\n\r\n")
        for _ in range(5):
            wire.send(b"x" * 1_000_000)
        assert wire.is_aborted


@pytest.mark.parametrize("rest", [b"", b"x", b"xyz\r\n"], ids=["silence", "a drop", "garbage"])
async def test_who_was_refused_is_not_refused_twice(rest: bytes) -> None:
    """A body that nobody wants, and that never ends or is none, ends the connection without another word."""
    async with wired(answering(receive_s=RECEIVE_S, keys=KEYS)) as wire:
        wire.send(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n")
        await settled()
        if rest:
            wire.send(rest if rest == b"x" else b"12345\r\n" + rest)
        reply = await wire.end()
    assert reply.startswith(b"HTTP/1.1 401 ")
    assert reply.count(b"HTTP/1.1 ") == 1


async def test_connections_beyond_the_bound_are_a_503() -> None:
    """Those that linger take no place, and there are not more of them than of the others."""
    async with wired(answering(max_connections=1)) as wire:
        wires = [Wire(wire.server) for _ in range(3)]
        assert [one.received[:12] for one in wires] == [b"HTTP/1.1 503"] * 3
        assert [one.is_aborted for one in wires].count(True) == 2
        wire.send(GET)
        await settled()
        assert len(wire.writes) == 1
        wire.leave()
        await settled()
        another = Wire(wire.server)
        another.send(GET)
        await settled()
        assert another.received.startswith(b"HTTP/1.1 200 ")
        for one in (another, *wires):
            one.leave()


async def test_open_files_bound_connections_as_well() -> None:
    """Whatever the settings say: their upstreams need some, too."""
    async with wired(answering(max_connections=5)) as wire:
        wire.server.room = 1
        another = Wire(wire.server)
        assert another.received.startswith(b"HTTP/1.1 503 ")
        another.leave()


# The end of the server


async def test_the_end_finishes_what_has_begun() -> None:
    """Idle connections are closed; a request that is on its way is answered, as the last of its connection."""
    async with wired(answering()) as idle:
        idle.server.closes = True
        begun = Wire(idle.server)
        begun.send(REQUEST[:20])
        for one in (idle, begun):
            one.protocol.end()
        assert (idle.is_closing(), begun.is_closing()) == (True, False)
        begun.send(REQUEST[20:])
        await begun.over.wait()
    assert b"connection: close\r\n" in begun.received


async def test_who_was_not_told_of_the_end_may_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream whose head was sent before leaves its connection open for a moment."""
    monkeypatch.setattr(connection, "ASK_AGAIN_S", 0.05)
    pieces = Pieces()
    async with wired(answering(pieces.answer)) as wire:
        wire.send(GET)
        pieces.say(b"one")
        await settled()
        wire.server.closes = True
        wire.protocol.end()
        pieces.say(b"")
        await settled()
        assert not wire.is_closing()
        await asyncio.wait_for(wire.over.wait(), 5)
    assert wire.received.endswith(b"0\r\n\r\n")


async def test_what_is_cut_off_is_told_so() -> None:
    """A request that has not all come gets a 503; one that is answered is cancelled, and tells it itself."""
    told: list[str] = []

    async def answer(request: GatewayRequest) -> GatewayReply:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            told.append("cut")
        return GatewayReply(status=503, body=b"{}")

    records: list[Record] = []
    async with wired(answering(answer, records)) as wire:
        coming = Wire(wire.server)
        coming.send(REQUEST[:-1])
        wire.send(GET)
        await settled()
        unbegun = Wire(wire.server)
        unbegun.send(GET)
        wire.server.closes = True
        for one in (wire, coming, unbegun):
            one.protocol.cut()
        await wire.over.wait()
        for one in (coming, unbegun):
            assert (await one.end()).startswith(b"HTTP/1.1 503 ")
            one.leave()
    assert told == ["cut"]
    assert wire.received.startswith(b"HTTP/1.1 503 ")
    assert len(records) == 3


async def test_a_turn_that_brings_much_holds_little_of_it_back() -> None:
    """Beyond 64 KiB it is written at once, so that the transport can say that the client does not read."""
    loop, written = asyncio.get_running_loop(), list[bytes]()
    transport: Any = SimpleNamespace(is_closing=lambda: False, write=written.append)
    writer = ResponseWriter(transport, loop, FlushBatch())
    for piece in (b"a", b"b", b"c", b"d"):
        writer.write_soon(40_000 * piece)
    assert [len(data) for data in written] == [120_000]
    await settled()
    assert b"".join(written) == b"".join([40_000 * piece for piece in (b"a", b"b", b"c", b"d")])
