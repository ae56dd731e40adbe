"""Whole replies in one step: what `open`, reading to the end and closing would give."""

from __future__ import annotations

import asyncio
import collections
import gzip
import itertools
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import pytest

import interlingua
from interlingua.errors import APIConnectionError, APITimeoutError, LimitExceededError
from interlingua.transport import aio, sockets, sync
from interlingua.transport.options import HttpOptions
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.faces import quick, whole
from tests.support.server import Answer, Await, Hold, Pause, Reset, Server, Step, chunked, reply, serving
from tests.support.trying import at_best
from tests.support.waiting import until

PACKAGE = interlingua.__file__.removesuffix("__init__.py")
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
BIG = bytes(range(256)) * 4_000

ANSWERS: dict[str, tuple[Step, ...]] = {
    "plain": (reply(b"hello"),),
    "empty": (reply(b""),),
    "an error": (reply(b"no", status="429 Too Many Requests", headers="retry-after: 1\r\n"),),
    "head and body apart": (reply(b"hello")[:-5], Pause(0.02), b"hello"),
    "cut in the head": (reply(b"hello")[:20], Pause(0.02), reply(b"hello")[20:]),
    "chunked": (CHUNKED + chunked(b"he", b"llo"),),
    "chunks apart": (CHUNKED, Pause(0.02), chunked(b"he", end=False), Pause(0.02), chunked(b"llo")),
    "after an interim reply": (b"HTTP/1.1 100 Continue\r\n\r\n", Pause(0.02), reply(b"hello")),
    "large": (reply(BIG),),
    "gzip": (reply(gzip.compress(BIG), headers="content-encoding: gzip\r\n"),),
    "deflate": (reply(zlib.compress(b"hello"), headers="content-encoding: deflate\r\n"),),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n",),
    "a redirect elsewhere": (reply(b"", status="307 Away", headers="location: http://elsewhere.test/\r\n"),),
}

PATIENCE = {"did not begin to answer": {"first_byte_s": 0.1}, "fell silent": {"idle_s": 0.1}}
"""How long silence is waited for, by what it comes to; everything else has its time on a busy machine."""


async def awaited(transport: aio.HttpTransport, request: HttpRequest, **seconds: float) -> HttpReply:
    """The reply, fetched."""
    return await transport.fetch(request, quick(**seconds))


async def opened(transport: aio.HttpTransport, request: HttpRequest) -> HttpReply:
    """The reply, opened, read and closed."""
    got = await transport.open(request, quick())
    pieces: list[bytes] = []
    while piece := await got.read():
        pieces.append(piece)
    await got.close()
    return HttpReply(status=got.status, headers=got.headers, body=b"".join(pieces))


@pytest.mark.parametrize("steps", ANSWERS.values(), ids=ANSWERS)
async def test_fetching_gives_what_opening_and_reading_does(steps: tuple[Step, ...]) -> None:
    """The same status, headers and body, on the same connection."""
    with serving(Answer(steps)) as server:
        transport = aio.HttpTransport()
        request = HttpRequest(url=server.url("/"), body=b"{}")
        expected = await opened(transport, request)
        assert [await awaited(transport, request), await awaited(transport, request)] == [expected, expected]
        assert (len(server.seen), server.connections) == (3, 1)
        await transport.close()


async def test_a_body_until_the_end_of_the_connection_is_fetched() -> None:
    """Its connection is not used again."""
    with serving(Answer((b"HTTP/1.1 200 OK\r\n\r\nhel", Pause(0.02), b"lo"), close=True)) as server:
        transport = aio.HttpTransport()
        request = HttpRequest(url=server.url("/"))
        assert [(await awaited(transport, request)).body for _ in range(2)] == [b"hello", b"hello"]
        assert server.connections == 2
        await transport.close()


async def test_redirects_within_the_origin_are_followed() -> None:
    """With the same body, as often as is allowed."""
    away = reply(b"", status="308 Moved", headers="location: /there\r\n")
    with serving(lambda seen: Answer((reply(seen.body) if "/there" in seen.line else away,))) as server:
        transport = aio.HttpTransport()
        got = await awaited(transport, HttpRequest(url=server.url("/here"), body=b"{}"))
        assert (got.status, got.body, server.connections) == (200, b"{}", 1)
        await transport.close()


async def test_what_breaks_raises_as_opening_does() -> None:
    """Cut bodies, broken framing, resets, silence in every phase, and bodies beyond their bound."""
    cases: list[tuple[tuple[Step, ...], type[Exception], str]] = [
        ((reply(b"hello")[:-1],), APIConnectionError, "in the middle of the body"),
        ((reply(b"hello")[:30],), APIConnectionError, "in the middle of the headers"),
        ((b"nonsense\r\n\r\n",), APIConnectionError, "not HTTP/1.1"),
        ((reply(b"hello")[:-1], Reset()), APIConnectionError, "before the reply was whole"),
        ((Hold(),), APITimeoutError, "did not begin to answer"),
        ((reply(b"hello")[:-1], Hold()), APITimeoutError, "fell silent"),
        ((reply(b"hello")[:30], Hold()), APITimeoutError, "fell silent"),
        ((reply(bytes(2_000)),), LimitExceededError, "announced a body beyond 1000 bytes"),
        ((CHUNKED + chunked(bytes(2_000)),), LimitExceededError, "sent a body beyond 1000 bytes"),
    ]
    for steps, error, words in cases:
        with serving(Answer(steps, close=True)) as server:
            transport = aio.HttpTransport(HttpOptions(max_body_bytes=1_000))
            with pytest.raises(error, match=words):
                await awaited(transport, HttpRequest(url=server.url("/")), **PATIENCE.get(words, {}))
            (home,) = transport._homes.values()
            assert home.pool.slots_in_use == 0
            await transport.close()


async def test_a_drip_is_as_slow_as_it_may_be_and_the_whole_is_bounded() -> None:
    """Each piece has the idle time to itself; the whole has its own."""
    drip: tuple[Step, ...] = tuple(step for byte in b"hello" for step in (bytes([byte]), Pause(0.05)))
    steps = (reply(b"hello")[:-5], *drip)
    with serving(Answer(steps)) as server:
        transport = aio.HttpTransport()
        request = HttpRequest(url=server.url("/"))

        async def comes() -> bool:
            """Whether it does; a busy machine may be silent for longer now and then."""
            with suppress(APITimeoutError):
                return (await awaited(transport, request, idle_s=0.15)).body == b"hello"
            return False

        for _ in range(10):
            if await comes():
                break
        else:
            pytest.fail("the idle time is that of the whole")
        with pytest.raises(APITimeoutError, match="not done within"):
            await awaited(transport, request, total_s=0.1)
        await transport.close()


@pytest.mark.parametrize("steps", [(Hold(),), (reply(b"hello")[:-1], Hold())], ids=["head", "body"])
async def test_cancelling_closes_the_socket(steps: tuple[Step, ...]) -> None:
    """At any point, and the place in the pool is free."""
    with serving(Answer(steps)) as server:
        transport = aio.HttpTransport()
        task = asyncio.create_task(awaited(transport, HttpRequest(url=server.url("/"))))
        assert await asyncio.to_thread(until, lambda: server.seen)
        await asyncio.sleep(0.1)
        assert len(server.seen) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.hung_up.wait, 60)
        (home,) = transport._homes.values()
        assert home.pool.slots_in_use == 0
        await transport.close()


async def test_a_close_that_crosses_the_request_is_replaced_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for `open`, also where the kept connection was reset meanwhile."""
    monkeypatch.setattr("interlingua.transport.connection.CROSSING_S", 60.0)  # a busy machine is not at once
    for ending in ((), (Reset(),)):
        answers = [Answer((reply(b"one"),)), Answer(ending, close=True), Answer((reply(b"two"),))]
        with serving(answers) as server:
            transport = aio.HttpTransport()
            request = HttpRequest(url=server.url("/"))
            assert [(await awaited(transport, request)).body for _ in range(2)] == [b"one", b"two"]
            assert (len(server.seen), server.connections) == (3, 2)
            await transport.close()


async def test_a_pool_of_one_serves_many() -> None:
    """Places are handed on, one connection carries all."""
    with serving(lambda seen: Answer((reply(seen.body),))) as server:
        transport = aio.HttpTransport(HttpOptions(max_connections=1))
        requests = [HttpRequest(url=server.url("/"), body=b"%d" % number) for number in range(20)]
        got = await asyncio.gather(*[awaited(transport, request) for request in requests])
        assert [one.body for one in got] == [request.body for request in requests]
        assert server.connections == 1
        await transport.close()


# The blocking face.


@pytest.mark.parametrize("steps", ANSWERS.values(), ids=ANSWERS)
def test_blocking_fetching_gives_what_opening_and_reading_does(steps: tuple[Step, ...]) -> None:
    """The same status, headers and body, on the same connection."""
    with serving(Answer(steps)) as server:
        transport = sync.HttpTransport()
        request = HttpRequest(url=server.url("/"), body=b"{}")
        expected = whole(transport.open(request, quick()))
        assert [transport.fetch(request, quick()), transport.fetch(request, quick())] == [expected, expected]
        assert (len(server.seen), server.connections) == (3, 1)
        transport.close()


def test_blocking_redirects_and_crossing_closes_are_as_for_open() -> None:
    """Followed within the origin; asked again once where a kept connection had been closed."""
    away = reply(b"", status="308 Moved", headers="location: /there\r\n")
    with serving(lambda seen: Answer((reply(seen.body) if "/there" in seen.line else away,))) as server:
        transport = sync.HttpTransport()
        got = transport.fetch(HttpRequest(url=server.url("/here"), body=b"{}"), quick())
        assert (got.status, got.body, server.connections) == (200, b"{}", 1)
        transport.close()
    with serving([Answer((reply(b"one"),)), Answer((), close=True), Answer((reply(b"two"),))]) as server:
        transport, request = sync.HttpTransport(), HttpRequest(url=server.url("/"))
        assert [transport.fetch(request, quick()).body for _ in range(2)] == [b"one", b"two"]
        transport.close()


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        ((reply(b"hello")[:-1],), APIConnectionError, "in the middle of the body"),
        ((Hold(),), APITimeoutError, "did not begin to answer"),
        ((reply(b"hello")[:-1], Hold()), APITimeoutError, "fell silent"),
        ((CHUNKED + chunked(bytes(2_000)),), LimitExceededError, "sent a body beyond 1000 bytes"),
    ],
)
def test_blocking_failures_are_as_for_open(steps: tuple[Step, ...], error: type[Exception], words: str) -> None:
    """Cut, silent and large bodies; the place in the pool is free."""
    with serving(Answer(steps, close=True)) as server:
        transport = sync.HttpTransport(HttpOptions(max_body_bytes=1_000))
        with pytest.raises(error, match=words):
            transport.fetch(HttpRequest(url=server.url("/")), quick(**PATIENCE.get(words, {})))
        assert transport._pool.slots_in_use == 0
        transport.close()


def test_a_connection_that_was_impatient_once_is_patient_again() -> None:
    """The deadline of one call is not that of the next on the same connection, in either direction."""
    slow = Answer((Pause(0.5), reply(b"ok")))
    impatient = quick(first_byte_s=0.2, idle_s=0.2)

    def kept(server: Server, transport: sync.HttpTransport) -> bool:
        """Whether an impatient call went well; on a busy machine another one may."""
        with suppress(APITimeoutError):
            return transport.fetch(HttpRequest(url=server.url("/quick")), impatient).status == 200
        return False

    with serving(lambda seen: Answer((reply(b"ok"),)) if "quick" in seen.line else slow) as server:
        transport, request = sync.HttpTransport(), HttpRequest(url=server.url("/"))
        assert at_best(lambda: kept(server, transport))
        connections = server.connections
        assert transport.fetch(request, quick()).body == b"ok"
        with pytest.raises(APITimeoutError, match=r"did not begin to answer within 0\.05 s"):
            transport.fetch(request, quick(first_byte_s=0.05))
        assert server.connections == connections
        transport.close()


def test_a_long_wait_looks_up_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt that comes just before a wait is not seen until it ends: so none is long, and none ends the call."""
    waits: list[float] = []
    waited = threading.Event()

    def patience_of(link: socket.socket, *, secure: bool) -> Callable[[float], None]:
        link.settimeout(None)

        def wait_at_most(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 3:
                waited.set()
            link.settimeout(seconds / 10)

        return wait_at_most

    monkeypatch.setattr(sync, "patience_of", patience_of)
    with serving([Answer((Await(waited), reply(b"ok")))]) as server:
        transport = sync.HttpTransport()
        assert transport.fetch(HttpRequest(url=server.url("/")), quick()).body == b"ok"
        transport.close()
    assert set(waits) == {1.0}
    assert len(waits) >= 3


@pytest.mark.parametrize("has_timeval", [True, False])
def test_a_body_that_is_taken_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch, has_timeval: bool) -> None:
    """What the system does not take at once is no fault, whoever keeps the time: it is sent on until the deadline."""
    monkeypatch.setattr(sockets, "_HAS_TIMEVAL", has_timeval and sockets._HAS_TIMEVAL)
    monkeypatch.setattr(sync, "_LOOKS_UP_S", 0.01)
    got: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            link, _ = listener.accept()
            with link:
                link.recv(1_000)
                link.sendall(reply(b"small"))
                for _ in range(2):
                    time.sleep(0.02)
                    got.append(len(link.recv(1_000_000)))
                while got[-1] and sum(got) < 8_000_000:
                    got.append(len(link.recv(1_000_000)))
                link.sendall(reply(b"large"))

        thread = threading.Thread(target=serve)
        thread.start()
        url, transport = f"http://127.0.0.1:{listener.getsockname()[1]}/", sync.HttpTransport()
        told = [transport.fetch(HttpRequest(url=url, body=bytes(size)), quick()).body for size in (2, 8_000_000)]
        transport.close()
        thread.join(5)
    assert told == [b"small", b"large"]


@pytest.mark.parametrize("has_timeval", [True, False])
def test_time_is_kept_by_the_system_where_it_can(monkeypatch: pytest.MonkeyPatch, has_timeval: bool) -> None:
    """Reading and writing end in time either way, and TLS tells its own."""
    monkeypatch.setattr(sockets, "_HAS_TIMEVAL", has_timeval and sockets._HAS_TIMEVAL)
    for secure in (False, True):
        here, there = socket.socketpair()
        with here, there:
            wait_at_most = sockets.patience_of(here, secure=secure)
            for seconds in (0.02, 100_000.0, 0.02):
                wait_at_most(seconds)
            with pytest.raises((TimeoutError, BlockingIOError)):
                here.recv(1)
            with pytest.raises((TimeoutError, BlockingIOError)):
                collections.deque(map(here.send, itertools.repeat(bytes(100_000))), maxlen=0)
            there.send(b"x")
            assert here.recv(1) == b"x"


# What it costs.


def own_calls(frames: list[str]) -> Callable[[FrameType, str, object], None]:
    """A profile function that notes the functions of this package that are called."""

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            frames.append(frame.f_code.co_qualname)

    return note


def test_a_blocking_exchange_calls_no_more_functions_than_it_may() -> None:
    """On a kept connection, with a plain answer in one piece."""
    frames: list[str] = []
    with serving(Answer((reply(b"hello"),))) as server:
        transport, request = sync.HttpTransport(), HttpRequest(url=server.url("/"), body=b"{}")
        for _ in range(3):
            transport.fetch(request, quick())
        sys.setprofile(own_calls(frames))
        try:
            transport.fetch(request, quick())
        finally:
            sys.setprofile(None)
        transport.close()
    assert 0 < len(frames) <= 24, frames


async def test_an_awaited_exchange_calls_no_more_functions_than_it_may() -> None:
    """The same, with what the loop calls of ours."""
    frames: list[str] = []
    with serving(Answer((reply(b"hello"),))) as server:
        transport, request = aio.HttpTransport(), HttpRequest(url=server.url("/"), body=b"{}")
        for _ in range(3):
            await transport.fetch(request, quick())
        sys.setprofile(own_calls(frames))
        try:
            await transport.fetch(request, quick())
        finally:
            sys.setprofile(None)
        await transport.close()
    assert 0 < len(frames) <= 30, frames
