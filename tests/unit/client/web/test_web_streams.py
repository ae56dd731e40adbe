"""Streams that go on when their page is gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.testing import FakeModel, use


class Body:
    """A body that says what it is told to say."""

    headers: dict[str, str] = {"content-type": "text/event-stream"}

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.is_closed = False

    def __aiter__(self) -> Body:
        return self

    async def __anext__(self) -> bytes:
        piece = await self.pieces.get()
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def aclose(self) -> None:
        """Note that nobody reads any more."""
        self.is_closed = True


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_page_that_comes_back_reads_all_of_it() -> None:
    """What came before, then what comes; the first reader's leaving ended nothing."""

    async def run() -> None:
        body: Any = Body()
        streams = aio.WebStreams()
        first = streams.start("c", body)
        body.pieces.put_nowait(b"one ")
        assert await first.__anext__() == b"one "
        await first.aclose()
        body.pieces.put_nowait(b"two ")
        await _settled()
        again = streams.resume("c")
        assert again is not None
        assert again.headers == Body.headers
        assert [await again.__anext__(), await again.__anext__()] == [b"one ", b"two "]
        body.pieces.put_nowait(b"three")
        body.pieces.put_nowait(None)
        assert [piece async for piece in again] == [b"three"]
        assert body.is_closed
        assert streams.resume("c") is None
        assert streams.resume("d") is None

    asyncio.run(run())


def test_a_stream_of_a_model_goes_on_without_its_page() -> None:
    """The answer comes to its end; a later stream of the same conversation takes its place."""

    async def run() -> list[bytes]:
        streams = aio.WebStreams()
        told: list[bytes] = []
        with use(FakeModel(["Hello.", "Again."])):
            for _ in range(2):
                body = streams.start("c", aio.model("fake/x").stream("Hi").sse("ai-sdk"))
                told.append(b"".join([piece async for piece in body]))
        return told

    first, second = asyncio.run(run())
    assert b'"delta":"Hello."' in first
    assert second.endswith(b"data: [DONE]\n\n")


def test_streams_are_bounded() -> None:
    """In their number, in their bytes, and one of a conversation at a time; `stop` and `close` end them."""

    async def run() -> None:
        streams = aio.WebStreams(max_streams=2, max_bytes=10)
        bodies: list[Any] = [Body(), Body(), Body()]
        reader = streams.start("a", bodies[0])
        streams.start("b", bodies[1])
        with pytest.raises(il.UsageError, match="2 streams go on at once"):
            streams.start("c", bodies[2])
        with pytest.raises(il.UsageError, match="conversation a is still running"):
            streams.start("a", bodies[2])
        with pytest.raises(il.UsageError, match="needs the id of its conversation"):
            streams.start("", bodies[2])
        for _ in range(3):
            bodies[0].pieces.put_nowait(b"12345")
        assert [piece async for piece in reader] == [b"12345", b"12345"]
        await _settled()
        assert bodies[0].is_closed
        streams.start("c", bodies[2])
        await _settled()
        await streams.stop("b")
        assert bodies[1].is_closed
        await streams.close()
        assert bodies[2].is_closed

    asyncio.run(run())


def test_ended_streams_are_forgotten() -> None:
    """After a while."""

    async def run() -> None:
        streams = aio.WebStreams(keep_s=0)
        body: Any = Body()
        reader = streams.start("a", body)
        body.pieces.put_nowait(None)
        assert [piece async for piece in reader] == []
        await _settled()
        assert streams.resume("a") is None
        streams.start("a", Body())  # pyright: ignore[reportArgumentType]  # a body all the same
        await streams.close()

    asyncio.run(run())


def test_a_stream_that_is_stopped_before_it_begins_ends() -> None:
    """Its reader does not wait for ever, and its body is closed."""

    async def run() -> None:
        body: Any = Body()
        streams = aio.WebStreams()
        reader = streams.start("c", body)
        await streams.stop("c")
        assert [piece async for piece in reader] == []
        assert body.is_closed

    asyncio.run(asyncio.wait_for(run(), 60))


def test_what_a_body_raises_its_readers_raise() -> None:
    """Half a stream does not look like one that ended."""

    class Broken(Body):
        async def __anext__(self) -> bytes:
            if self.pieces.empty():
                raise ValueError("broken")
            return await self.pieces.get() or b""

    async def run() -> None:
        body: Any = Broken()
        body.pieces.put_nowait(b"one")
        reader = aio.WebStreams().start("c", body)
        assert await anext(reader) == b"one"
        with pytest.raises(ValueError, match="broken"):
            await anext(reader)
        assert body.is_closed

    asyncio.run(run())
