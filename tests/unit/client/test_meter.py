"""Meters: what calls inside a stretch of code used and cost, whoever made them."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.testing import FakeModel, use
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunks, scripted, sse

ONE = il.Usage(input_tokens=3, output_tokens=2)
TWO = il.Usage(input_tokens=6, output_tokens=4)
COST = (3 * 2 + 2 * 8) / 1_000_000


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(autouse=True)
def _work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_WORK", "openai://tok-12345678@gateway.example/v1?price_in=2&price_out=8")


def test_answers_whole_and_streamed_are_summed(face: Face) -> None:
    """Two calls, twice the tokens, twice the price; what comes before and after is not in it."""
    with scripted(chat("a"), chat("b"), sse(*chunks("c", "d")), chat("e")):
        model = face.model("work/x")
        face.generate(model)
        with il.meter(team="search") as meter:
            assert (meter.calls, meter.usage, meter.cost_usd) == (0, None, None)
            face.generate(model)
            face.finish(model.stream("Hi"))
        face.generate(model)
    assert (meter.calls, meter.usage, meter.cost_usd, meter.tags) == (2, TWO, 2 * COST, {"team": "search"})


def test_meters_lie_in_one_another() -> None:
    """The inner one counts for itself and for the outer one; tags add up, the inner ones win."""
    with scripted(chat("a"), chat("b"), chat("c")):
        model = il.model("work/x")
        with il.meter(team="search", user="7") as outer:
            model.generate("Hi")
            with il.meter(user="8") as inner:
                model.generate("Hi")
            model.generate("Hi")
    assert (outer.calls, inner.calls) == (3, 1)
    assert inner.tags == {"team": "search", "user": "8"}
    assert outer.tags == {"team": "search", "user": "7"}


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    """A sum that leaves something out would be wrong, so there is none."""
    with use(FakeModel("Hi")), il.meter() as meter:
        il.model("work/x").generate("Hi")
        assert meter.cost_usd is not None
        il.model("openai/gpt-4.1").generate("Hi")
    assert (meter.calls, meter.cost_usd) == (2, None)


def test_tasks_and_their_threads_are_counted() -> None:
    """Tasks, `to_thread` and what they start are inside."""

    async def main() -> il.Meter:
        with il.meter() as meter:
            model = aio.model("work/x")
            await asyncio.gather(*[model.generate("Hi") for _ in range(5)])
            await asyncio.to_thread(il.model("work/x").generate, "Hi")
        return meter

    with use(FakeModel("Hi")):
        assert asyncio.run(main()).calls == 6


def test_tasks_of_others_are_not_counted() -> None:
    """Two tasks, each with a meter of its own, do not see one another."""

    async def some(count: int) -> int:
        with il.meter() as meter:
            for _ in range(count):
                await aio.model("work/x").generate("Hi")
                await asyncio.sleep(0)
        return meter.calls

    async def main() -> list[int]:
        return list(await asyncio.gather(some(2), some(3)))

    with use(FakeModel("Hi")):
        assert asyncio.run(main()) == [2, 3]


def test_threads_of_ones_own_are_counted_where_there_is_no_doubt() -> None:
    """A thread started inside the only meter counts; with two apart, one without a context counts nowhere."""

    def call() -> None:
        il.model("work/x").generate("Hi")

    with use(FakeModel("Hi")):
        with il.meter() as meter, ThreadPoolExecutor(2) as pool:
            for started in [pool.submit(call) for _ in range(3)]:
                started.result()
        assert meter.calls == 3
        other = threading.Event(), threading.Event()

        def elsewhere() -> None:
            with il.meter():
                other[0].set()
                other[1].wait(60)

        beside = threading.Thread(target=elsewhere)
        beside.start()
        other[0].wait(60)
        with il.meter() as alone:
            _in_thread(call)
            _in_thread(copy_context().run, call)
        other[1].set()
        beside.join()
    assert alone.calls == 1


def test_threads_from_before_are_not_counted() -> None:
    """A thread that was there before the meter works for somebody else."""
    with use(FakeModel("Hi")), ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with il.meter() as meter:
            pool.submit(il.model("work/x").generate, "Hi").result()
    assert meter.calls == 0


def test_a_broken_stream_counts_what_it_told(face: Face) -> None:
    """The provider counted what had come; the sum holds it, once."""
    line = sse(*chunks("a", done=False), ending=il.APIConnectionError("gone"))
    with scripted(line), il.meter() as meter, pytest.raises(il.IncompleteStreamError):
        face.finish(face.model("work/x").stream("Hi"))
    assert (meter.calls, meter.usage, meter.cost_usd) == (1, None, None)


def test_a_failed_try_is_not_counted(face: Face) -> None:
    """A chain counts the answer, not the target that gave none."""
    with use(FakeModel([il.RateLimitError("slow", status=429), "Hi"])), il.meter() as meter:
        face.generate(face.model("work/x,work/y"))
    assert meter.calls == 1


def test_a_meter_is_used_once() -> None:
    """Entering one again is a UsageError: its sums would be of two stretches."""
    meter = il.meter(team="x")
    with meter:
        pass
    with pytest.raises(il.UsageError, match="was used already"):
        meter.__enter__()
    assert repr(meter) == "<Meter {'team': 'x'}: 0 calls, cost_usd=None>"


def _in_thread(call: Any, *arguments: Any) -> None:
    thread = threading.Thread(target=call, args=arguments)
    thread.start()
    thread.join()
