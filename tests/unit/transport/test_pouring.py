"""A body that is poured: pieces where they arrive, everything else for `read` to tell."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import cast

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError
from interlingua.transport.aio import HttpTransport
from interlingua.transport.base import PouringReply
from interlingua.wire.http import HttpRequest
from tests.support.faces import quick
from tests.support.server import Answer, Await, Hold, Reset, Step, chunked, reply, serving

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@asynccontextmanager
async def opened(*steps: Step, idle_s: float = 30.0) -> AsyncGenerator[PouringReply]:
    """The reply that a server gives step by step."""
    transport = HttpTransport()
    with serving(Answer(steps)) as server:
        got = await transport.open(HttpRequest(url=server.url("/"), body=b"{}"), quick(idle_s=idle_s))
        try:
            yield cast("PouringReply", got)
        finally:
            await got.close()
            await transport.close()


def piece(data: bytes) -> bytes:
    """A chunk that is not the last one."""
    return chunked(data, end=False)


def taking(taken: list[bytes], after: threading.Event, until: Callable[[], bool]) -> Callable[[bytes], bool]:
    """What takes pieces, lets the server go on after each, and says whether it wants more."""

    def take(data: bytes) -> bool:
        taken.append(data)
        after.set()
        return until()

    return take


async def test_pieces_are_given_where_they_arrive_and_the_end_is_read() -> None:
    """The piece that was there first, the next one, and the last one with the end by `read`."""
    after = threading.Event()
    taken: list[bytes] = []
    async with opened(STREAM + piece(b"one"), Await(after), chunked(b"two")) as got:
        while not taken:
            await got.pour(taking(taken, after, lambda: True))
        assert taken == [b"one"]
        assert [await got.read(), await got.read()] == [b"two", b""]


async def test_who_wants_no_more_reads_the_rest() -> None:
    """What comes then waits for `read`, or for the next pouring."""
    first, second = threading.Event(), threading.Event()
    taken: list[bytes] = []
    steps = (STREAM, piece(b"one"), Await(first), piece(b"two"), Await(second), piece(b"three"), chunked(b"four"))
    async with opened(*steps) as got:
        await got.pour(taking(taken, first, lambda: False))
        assert (taken, await got.read()) == ([b"one"], b"two")
        second.set()
        await asyncio.sleep(0.02)
        assert (taken, b"".join([await got.read(), await got.read()])) == ([b"one"], b"threefour")


@pytest.mark.parametrize("ending", [(), (Reset(),)], ids=["end", "reset"])
async def test_a_body_that_breaks_off_is_told_by_reading(ending: tuple[Step, ...]) -> None:
    """Pouring is over, and `read` raises."""
    after = threading.Event()
    taken: list[bytes] = []
    transport = HttpTransport()
    with serving(Answer((STREAM, piece(b"one"), Await(after), *ending), close=True)) as server:
        got = await transport.open(HttpRequest(url=server.url("/"), body=b"{}"), quick())
        await cast("PouringReply", got).pour(taking(taken, after, lambda: True))
        with pytest.raises(APIConnectionError):
            await got.read()
        await transport.close()
    assert taken == [b"one"]


async def test_a_silent_body_is_given_up() -> None:
    """After the idle time, counted from the last piece."""
    async with opened(STREAM + piece(b"one"), Hold(), idle_s=0.05) as got:
        taken: list[bytes] = []
        while not taken:
            await got.pour(taking(taken, threading.Event(), lambda: True))
        with pytest.raises(APITimeoutError, match=r"fell silent for 0\.05 s"):
            await got.read()
        assert taken == [b"one"]


async def test_what_has_to_be_inflated_is_read() -> None:
    """Pouring is over at once."""
    packed = gzip.compress(b"hello")
    async with opened(reply(packed, headers="content-encoding: gzip\r\n")) as got:
        await got.pour(lambda _: pytest.fail("nothing is to be poured"))
        assert await got.read() == b"hello"


async def test_a_whole_or_closed_reply_pours_nothing() -> None:
    """Pouring is over at once."""
    async with opened(reply(b"ok")) as got:
        assert [await got.read(), await got.read()] == [b"ok", b""]
        await got.pour(lambda _: pytest.fail("nothing is to be poured"))
