"""Steps that go on where a piece arrives, and everything that they ask for beside pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

import pytest

from interlingua.client.aio.pump import AsyncPump
from interlingua.client.call.effect import Open, Read, Steps, Work
from interlingua.errors import APITimeoutError
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.types.event import TextDelta
from interlingua.wire.http import HttpRequest

HERE: ContextVar[str] = ContextVar("HERE", default="nowhere")
OPEN = Open(HttpRequest(url="https://x.example/", body=b""), Timeouts())


class Reply:
    """A reply that pours some pieces and has others read."""

    status = 200
    headers = ()

    def __init__(self, poured: list[bytes | Exception], read: list[bytes]) -> None:
        self.poured, self.waiting = poured, read
        self.is_closed = False

    async def pour(self, take: Callable[[bytes], bool]) -> None:
        """Give the pieces, each in a turn of the loop."""
        loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def give() -> None:
            if not self.poured:
                done.set_result(None)
            elif isinstance(piece := self.poured.pop(0), Exception):
                done.set_exception(piece)
            elif take(piece):
                loop.call_soon(give)
            else:
                done.set_result(None)

        loop.call_soon(give)
        await done

    async def read(self) -> bytes:
        """The next piece."""
        return self.waiting.pop(0)

    async def close(self) -> None:
        """Note it."""
        self.is_closed = True


class Endless(Reply):
    """A reply that falls silent."""

    async def pour(self, take: Callable[[bytes], bool]) -> None:
        """Give one piece, and wait."""
        take(b"1")
        await asyncio.get_running_loop().create_future()


class Transport:
    """Answers with one reply."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply."""
        return self.reply

    async def close(self) -> None:
        """Nothing is kept."""


def steps(*, until: bytes = b"", between: Any = None) -> Steps[str]:
    """Steps that give each piece, and what went wrong; `between` is asked for before the last one."""
    yield OPEN
    yield cast("Any", ["begun"])
    while True:
        try:
            piece: bytes = yield Read()
        except APITimeoutError:
            yield cast("Any", ["late"])
            return "late"
        if piece == until:
            return "whole"
        if piece == b"last" and between is not None:
            yield between
        yield cast("Any", [piece, HERE.get()])


async def run(reply: Reply, course: Steps[str], take: Callable[[Any], Any]) -> tuple[list[Any], AsyncPump[str]]:
    """Whatever is given back until the end."""
    pump = AsyncPump(course)
    given: list[Any] = []
    with overriding(Override(lambda _: cast("Any", None), lambda _: Transport(reply), answers=True)):
        given.append(await pump.pull())
        while given[-1] is not None:
            given.append(await pump.pour(take))
    return given, pump


async def test_what_is_taken_is_not_given_back_and_the_rest_is() -> None:
    """Poured pieces are taken in the context of who waits; the end comes by reading."""
    HERE.set("at home")
    taken: list[Any] = []
    reply = Reply([b"1", b"2"], [b"3", b""])
    given, pump = await run(reply, steps(), taken.append)
    assert taken == [[b"1", "at home"], [b"2", "at home"]]
    assert given == [["begun"], [b"3", "at home"], None]
    assert (pump.ended, reply.is_closed) == (True, True)


async def test_an_empty_list_stops_and_is_given_back() -> None:
    """What takes no more for now is asked again later; nothing is lost meanwhile."""
    taken: list[Any] = []

    def take(batch: list[Any]) -> list[Any] | None:
        taken.append(batch[0])
        return [] if batch[0] == b"1" else None

    given, _ = await run(Reply([b"1", b"2"], [b""]), steps(), take)
    assert (taken, given) == ([b"1", b"2"], [["begun"], [], None])


async def test_a_batch_that_is_not_taken_is_given_back() -> None:
    """It is given to who waits, as it is."""
    given, _ = await run(Reply([b"1", b"2"], [b""]), steps(), lambda batch: batch if batch[0] == b"2" else None)
    assert given == [["begun"], [b"2", "nowhere"], None]


async def test_other_effects_are_awaited() -> None:
    """Steps that want to wait do so between two pieces, which come in order."""
    taken: list[Any] = []
    course = steps(between=Work(lambda: None), until=b"end")
    given, _ = await run(Reply([b"1", b"last"], [b"end"]), course, taken.append)
    assert (taken, given) == ([[b"1", "nowhere"]], [["begun"], [b"last", "nowhere"], None])


class Decoder:
    """Makes one piece of text of each piece; what begins with a capital letter is more than that."""

    def __init__(self, last: bytes = b"") -> None:
        self.last, self.terminal = last, False

    def feed(self, data: bytes) -> list[Any]:
        """The events."""
        self.terminal = data == self.last
        text = TextDelta(0, data.decode())
        return [text, text] if data[:1].isupper() else [text] if data.islower() else []


def decoding(decoder: Decoder, sent: list[Any]) -> Steps[str]:
    """Steps that have a decoder read where the pieces come, and note what they are sent themselves."""
    yield OPEN
    yield cast("Any", ["begun"])
    while True:
        told: bytes | list[Any] = yield Read(decoder=cast("Any", decoder))
        sent.append(told)
        if told == b"":
            return "whole"
        if isinstance(told, list) and told:
            yield told


async def test_a_piece_of_text_passes_the_steps() -> None:
    """Any other piece is read where it comes, too, and its events are sent to the steps; read pieces are as ever."""
    taken: list[Any] = []
    sent: list[Any] = []
    await run(Reply([b"a", b"0", b"Bb", b"c"], [b"d", b""]), decoding(Decoder(), sent), taken.append)
    one, two, three = TextDelta(0, "a"), TextDelta(0, "Bb"), TextDelta(0, "c")
    assert (taken, sent) == ([[one], [two, two], [three]], [[], [two, two], b"d", b""])


async def test_the_terminal_signal_does_not_pass_the_steps() -> None:
    """They decide how long is waited behind it."""
    taken: list[Any] = []
    sent: list[Any] = []
    await run(Reply([b"a", b"b"], [b""]), decoding(Decoder(last=b"b"), sent), taken.append)
    assert (taken, sent) == ([[TextDelta(0, "a")], [TextDelta(0, "b")]], [[TextDelta(0, "b")], b""])


async def test_a_sink_that_is_full_is_asked_again_past_the_steps() -> None:
    """An empty list is given back, and the next piece comes as ever; so does a batch that is not taken."""
    taken: list[Any] = []
    sent: list[Any] = []

    def take(batch: list[Any]) -> list[Any] | None:
        taken.append(batch[0].text)
        return [] if batch[0].text == "a" else batch if batch[0].text == "b" else None

    given, _ = await run(Reply([b"a", b"b", b"c"], [b""]), decoding(Decoder(), sent), take)
    assert (taken, sent) == (["a", "b", "c"], [b""])
    assert given == [["begun"], [], [TextDelta(0, "b")], None]


async def test_a_fault_of_a_decoder_is_thrown_into_the_steps() -> None:
    """As if they had fed it; where they have no answer, it is raised where they are awaited."""
    reply = Reply([b"\xff"], [])
    with pytest.raises(UnicodeDecodeError):
        await run(reply, decoding(Decoder(), []), lambda _: None)
    assert reply.is_closed


async def test_what_the_taker_raises_past_the_steps_is_raised() -> None:
    """Where it is awaited, after the exchange was closed."""

    def take(batch: list[Any]) -> None:
        raise ValueError("ours")

    reply = Reply([b"a"], [])
    with pytest.raises(ValueError, match="ours"):
        await run(reply, decoding(Decoder(), []), take)
    assert reply.is_closed


async def test_steps_that_end_where_a_piece_arrives_end() -> None:
    """What they come to is kept, and the exchange is closed."""
    reply = Reply([b"end"], [])
    given, pump = await run(reply, steps(until=b"end"), lambda _: None)
    assert (given, reply.is_closed) == ([["begun"], None], True)
    assert await pump.run() == "whole"


async def test_a_deadline_is_for_the_steps_to_decide() -> None:
    """It is thrown into them, and what they make of it is taken."""
    taken: list[Any] = []
    given, pump = await run(Reply([b"1", APITimeoutError("slow", phase="idle")], []), steps(), taken.append)
    assert (taken, given) == ([[b"1", "nowhere"], ["late"]], [["begun"], None])
    assert await pump.run() == "late"


@pytest.mark.parametrize("problem", [ValueError("ours"), asyncio.CancelledError()], ids=["fault", "cancelled"])
async def test_what_the_taker_raises_is_raised(problem: BaseException) -> None:
    """Where it is awaited, after the exchange was closed."""

    def take(batch: list[Any]) -> None:
        raise problem

    reply = Reply([b"1"], [])
    with pytest.raises(type(problem)):
        await run(reply, steps(), take)
    assert reply.is_closed


async def test_cancellation_closes_the_exchange() -> None:
    """As everywhere."""
    reply = Endless([b"1"], [])
    seen = asyncio.Event()
    task = asyncio.ensure_future(run(reply, steps(), lambda _: seen.set()))
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reply.is_closed
