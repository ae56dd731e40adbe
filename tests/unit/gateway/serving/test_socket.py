"""One WebSocket of the gateway's server: frames however they come, and every bound of time, size and memory."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Opcode

from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.records.record import Record
from interlingua.gateway.serving import socket
from interlingua.gateway.sockets import session
from tests.support.leaping import LEAPING
from tests.support.sockets import HANDSHAKE, closing, framed, frames_of
from tests.support.wire import GET, Pieces, Wire, answering, settled, wired

STREAM = (("content-type", "text/event-stream"),)
EVENT = b'event: response.completed\ndata: {"type":"response.completed","n":%d}\n\n'
ASK = framed(b'{"type":"response.create"}')


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


def _telling(asked: list[bytes]) -> Any:
    async def answer(request: GatewayRequest) -> GatewayReply:
        asked.append(request.body)
        return GatewayReply(headers=STREAM, body=EVENT % len(asked))

    return answer


def _told(wire: Wire) -> list[Any]:
    """The events that were sent."""
    return [json.loads(data) for kind, data in frames_of(bytes(wire.received)) if kind == "TEXT"]


# Frames


async def test_the_handshake_is_that_of_the_standard() -> None:
    """The key of RFC 6455 gives its answer; what comes right behind the handshake is the first frame."""
    asked: list[bytes] = []
    async with wired(answering(_telling(asked))) as wire:
        wire.send(HANDSHAKE + ASK)
        await settled()
        head = wire.writes[0]
        assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head
        assert b"Sec-WebSocket-Extensions" not in head
        assert _told(wire) == [{"type": "response.completed", "n": 1}]


async def test_a_connection_may_be_cut_anywhere() -> None:
    """Two texts, the second one in three frames with a ping between them: cut in two at every byte, the same two."""
    second = framed(b'{"a"', fin=False) + framed(b"p", Opcode.PING) + framed(b":", Opcode.CONT, fin=False)
    sent = HANDSHAKE + ASK + second + framed(b"1}", Opcode.CONT)
    for place in range(len(sent)):
        asked: list[bytes] = []
        async with wired(answering(_telling(asked))) as wire:
            wire.send(sent[:place])
            await settled()
            wire.send(sent[place:])
            await settled()
            assert asked == [b'{"type":"response.create"}', b'{"a":1}']
            kinds = [kind for kind, _ in frames_of(bytes(wire.received))]
            assert sorted(kinds) == ["PONG", "TEXT", "TEXT"]


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (HANDSHAKE.replace(b"13", b"8"), 400),
        (HANDSHAKE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"short"), 400),
        (HANDSHAKE.replace(b"sec-websocket-key", b"x-key"), 400),
        (HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0"), 426),
        (HANDSHAKE.replace(b"upgrade: websocket", b"upgrade: h2c"), 426),
        (HANDSHAKE.replace(b"upgrade: websocket", b"upgrade: websocket, h2c"), 426),
        (HANDSHAKE.replace(b"\r\n\r\n", b"\r\ncontent-length: 5\r\n\r\nHello"), 400),
    ],
    ids=["version", "key", "no key", "http/1.0", "h2c", "two", "body"],
)
async def test_what_is_no_handshake_is_refused_as_http(lines: bytes, status: int) -> None:
    """With an error in the dialect of the path; the connection ends, and what follows is no request."""
    from tests.support.gateway import gateway

    async with wired(gateway()) as wire:
        wire.send(lines + GET)
        reply = await wire.end()
    assert reply.startswith(b"HTTP/1.1 %d " % status)
    assert reply.count(b"HTTP/1.1 ") == 1
    assert b'"error"' in reply


async def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A 501 with the line that installs it; everything else is served."""
    import sys

    monkeypatch.setitem(sys.modules, "interlingua.gateway.serving.socket", None)
    monkeypatch.setitem(sys.modules, "websockets.server", None)
    monkeypatch.delitem(sys.modules, "interlingua.gateway.serving.socket")
    async with wired(answering()) as wire:
        wire.send(HANDSHAKE)
        reply = await wire.end()
    assert reply.startswith(b"HTTP/1.1 501 ")
    assert b"pip install 'interlingua[gateway]'" in reply


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (framed(b"x", Opcode.BINARY), 1003),
        (framed(b"\xff"), 1007),
        (framed(b"x", Opcode.CONT), 1002),
        (framed(b"x", fin=False) + framed(b"y"), 1002),
        (b"\x81\x01x", 1002),
        (b"\xc1\x80aaaa", 1002),
        (b"\x89\xfe\x00\x7emask" + b"x" * 126, 1002),
        (b"\x81\xff" + (1 << 40).to_bytes(8, "big") + b"mask", 1009),
        (framed(b"x" * 600) + framed(b""), 1009),
        (framed(b"\x03\xe8bye", Opcode.CLOSE), 1000),
        (framed(b"", Opcode.CLOSE), 0),
    ],
    ids=[
        "bytes",
        "utf-8",
        "stray",
        "interrupts",
        "no mask",
        "reserved",
        "ping",
        "huge",
        "large",
        "close",
        "bare close",
    ],
)
async def test_a_frame_that_ends_a_connection(frame: bytes, code: int) -> None:
    """With the code of the standard; nothing is said after it, and nothing is left."""
    async with wired(answering(max_body_bytes=500)) as wire:
        wire.send(HANDSHAKE)
        wire.send(frame)
        await wire.end()
        assert closing(bytes(wire.received)) == code
        wire.send(ASK)
        await settled()
        assert closing(bytes(wire.received)) == code


@given(st.lists(st.one_of(
    st.binary(max_size=40),
    st.builds(framed, st.binary(max_size=200), st.sampled_from(list(Opcode)[:3]), fin=st.booleans()),
    st.builds(framed, st.binary(max_size=125), st.sampled_from([Opcode.PING, Opcode.PONG, Opcode.CLOSE])),
), max_size=12))  # fmt: skip
def test_any_frames_end_in_answers_or_a_close(sent: list[bytes]) -> None:
    """Whatever comes: texts are answered one by one, or the connection is closed; no task is left, nothing raises."""

    async def sending() -> None:
        asked: list[bytes] = []
        async with wired(answering(_telling(asked), max_body_bytes=500)) as wire:
            wire.send(HANDSHAKE)
            for data in sent:
                if not wire.is_paused:
                    wire.send(data)
                await settled()
            frames = frames_of(bytes(wire.received))
            assert len([kind for kind, _ in frames if kind == "TEXT"]) >= len(asked)
            assert [kind for kind, _ in frames[:-1]].count("CLOSE") == 0

    asyncio.run(sending())


# Bounds


async def test_a_text_in_too_many_frames_is_refused() -> None:
    """Empty frames have no size: their number is bounded."""
    async with wired(answering()) as wire:
        wire.send(HANDSHAKE)
        wire.send(framed(b"", fin=False) + framed(b"", Opcode.CONT, fin=False) * socket.MAX_FRAGMENTS)
        await wire.end()
        assert closing(bytes(wire.received)) == 1009
        assert [event["status"] for event in _told(wire)] == [413]


async def test_texts_count_with_all_bodies_that_are_coming() -> None:
    """Beyond `max_receiving_bytes` a text gets a 503 and 1013, and what came of it is let go."""
    gateway = answering(max_body_bytes=200_000, max_receiving_bytes=200_000)
    async with wired(gateway) as first, wired(gateway) as second:
        for wire in (first, second):
            wire.send(HANDSHAKE)
            wire.send(framed(b"x" * 200_000)[:-1])
        assert gateway.receiving.count == 199_999 - 65_536
        assert (closing(bytes(second.received)), _told(second)[0]["status"]) == (1013, 503)
        assert _told(second)[0]["headers"]["retry-after"] == "1"
        first.send(framed(b"x" * 200_000)[-1:])
        await settled()
        assert (gateway.receiving.count, _told(first)) == (0, [])
        await first.end()


async def test_a_text_that_does_not_come_in_time_is_told_so() -> None:
    """A 408 as an error event, then 1008."""
    records: list[Record] = []
    async with wired(answering(records=records, receive_s=0.1)) as wire:
        began_s = asyncio.get_running_loop().time()
        wire.send(HANDSHAKE)
        wire.send(ASK[:-1])
        await wire.until(b'"status":408')
        assert asyncio.get_running_loop().time() - began_s == pytest.approx(0.1, abs=0.06)
        assert (closing(bytes(wire.received)), _told(wire)[0]["status"]) == (1008, 408)
    assert [record.status for record in records] == [101, 408]


async def test_a_silent_connection_is_shown_to_be_alive_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ping after `keep_alive_s`, whether answered or not; without a question it ends after a while, with 1000."""
    monkeypatch.setattr(session, "IDLE_S", 10.0)
    async with wired(answering(keep_alive_s=2.0)) as wire:
        wire.send(HANDSHAKE)
        await wire.over.wait()
        kinds = [kind for kind, _ in frames_of(bytes(wire.received))]
        assert kinds == ["PING"] * 4 + ["CLOSE"]
        assert closing(bytes(wire.received)) == 1000


async def test_a_connection_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two responses it is told so with the code that SDKs know; a response under way is finished."""
    monkeypatch.setattr(session, "LIFE_S", 10.0)
    pieces = Pieces()

    async def answer(request: GatewayRequest) -> GatewayReply:
        reply = await pieces.answer(request)
        return GatewayReply(headers=STREAM, body=reply.body)

    async with wired(answering(answer)) as wire:
        wire.send(HANDSHAKE + ASK)
        await asyncio.sleep(20)
        pieces.say(EVENT % 1, b"")
        await wire.end()
        first, last = _told(wire)
        assert (first["n"], last["status"], last["error"]["code"]) == (1, 400, "websocket_connection_limit_reached")
        assert closing(bytes(wire.received)) == 1000


async def test_who_does_not_read_holds_the_upstream_back_and_is_let_go() -> None:
    """Nothing more is taken of the answer, nothing more is read, not even pings; after `send_s` the connection ends."""
    pieces = Pieces()

    async def answer(request: GatewayRequest) -> GatewayReply:
        reply = await pieces.answer(request)
        return GatewayReply(headers=STREAM, body=reply.body)

    async with wired(answering(answer, send_s=5.0)) as wire:
        wire.send(HANDSHAKE + ASK)
        pieces.say(EVENT % 1)
        await settled()
        wire.stop_reading()
        pieces.say(*[EVENT % number for number in range(2, 50)])
        await settled()
        assert (pieces.taken, len(_told(wire)), wire.is_paused) == (2, 1, True)
        wire.read_on()
        await settled()
        assert (pieces.taken, len(_told(wire)), wire.is_paused) == (49, 49, False)
        wire.stop_reading()
        pieces.say(EVENT % 50)
        await wire.over.wait()
        assert (wire.is_aborted, len(_told(wire))) == (True, 49)
    assert pieces.is_closed


async def test_while_a_text_waits_nothing_more_is_read() -> None:
    """One response at a time; what waits is answered next."""
    pieces, asked = Pieces(), [b""]

    async def answer(request: GatewayRequest) -> GatewayReply:
        asked.append(request.body)
        reply = await pieces.answer(request)
        return GatewayReply(headers=STREAM, body=reply.body)

    async with wired(answering(answer)) as wire:
        wire.send(HANDSHAKE + framed(b"1"))
        await settled()
        assert not wire.is_paused
        wire.send(framed(b"2"))
        assert wire.is_paused
        pieces.say(EVENT % 1, b"")
        await settled()
        assert (asked[1:], wire.is_paused) == ([b"1", b"2"], False)
        pieces.say(EVENT % 2, b"")
        await settled()
        assert [event["n"] for event in _told(wire)] == [1, 2]


async def test_a_fault_of_ours_ends_its_connection_alone(caplog: pytest.LogCaptureFixture) -> None:
    """With 1011; it is logged."""

    async def answer(request: GatewayRequest) -> GatewayReply:
        raise ValueError("a fault")

    with caplog.at_level(logging.ERROR):
        async with wired(answering(answer)) as wire:
            wire.send(HANDSHAKE + ASK)
            await wire.end()
            assert closing(bytes(wire.received)) == 1011
    assert "a WebSocket broke off" in caplog.text


async def test_a_client_that_leaves_cancels_what_is_under_way() -> None:
    """By a close, by the end of its side, or without a word: the upstream is closed, and the record says so."""
    for leave in ("close", "eof", "lost"):
        pieces, records = Pieces(), list[Record]()

        async def answer(request: GatewayRequest, pieces: Pieces = pieces) -> GatewayReply:
            reply = await pieces.answer(request)
            return GatewayReply(headers=STREAM, body=reply.body)

        async with wired(answering(answer, records=records)) as wire:
            wire.send(HANDSHAKE + ASK)
            await settled()
            match leave:
                case "close":
                    wire.send(framed(b"\x03\xe8", Opcode.CLOSE))
                case "eof":
                    wire.protocol.eof_received()
                    wire.leave()
                case _:
                    wire.leave()
            await settled()
            assert pieces.is_closed
        assert records[1].aborted
