"""When sinks are told: at once, or many at a time; nothing is lost whatever ends first."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.records import recorder
from interlingua.gateway.records.record import Record
from interlingua.gateway.records.recorder import GATHERED, LATE_S
from interlingua.testing.upstream import Upstream
from tests.support.gateway import MODELS, asking, gateway
from tests.support.leaping import LEAPING

CHAT = ("openai-chat", MODELS["openai-chat"])


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


def late() -> tuple[Gateway, list[Record]]:
    """A gateway with a sink that can wait, and what that gets."""
    made, records = gateway(), list[Record]()
    made.recorder.late_sinks = (records.append,)
    return made, records


async def ask(made: Gateway, count: int) -> None:
    """So many requests, one after the other."""
    with Upstream("openai-chat").standing():
        for _ in range(count):
            assert (await made(asking(*CHAT))).status == 200


async def test_ends_are_told_together() -> None:
    """The first at once, so that its sink makes ready for the end; then each time that so many are over."""
    made, records = late()
    told: list[int] = []
    for _ in range(GATHERED + 2):
        await ask(made, 1)
        told.append(len(records))
    assert told == [1, *[1] * (GATHERED - 1), 1 + GATHERED, 1 + GATHERED]
    assert made.recorder.under_way == {}
    made.recorder.close()
    assert len({record.id for record in records}) == len(records) == GATHERED + 2


async def test_an_end_alone_is_told_soon() -> None:
    """Nobody waits longer than said for the ends of others."""
    made, records = late()
    await ask(made, 3)
    assert len(records) == 1
    async with asyncio.timeout(5):
        while len(records) < 3:  # noqa: ASYNC110 - what is waited for is a timer
            await asyncio.sleep(LATE_S / 10)
    made.recorder.close()
    assert len(records) == 3


async def test_who_is_told_at_once_does_not_wait() -> None:
    """Whoever shows what is going on hears of each end, also beside one who can wait."""
    made, records = late()
    now: list[Record] = []
    made.recorder.sinks = (now.append,)
    await ask(made, 3)
    assert (len(now), len(records)) == (3, 1)
    made.recorder.close()
    assert records == now


async def test_a_record_is_of_the_moment_of_its_end() -> None:
    """The time that a request took, and whether its last byte was sent, are not those of the telling."""
    made, records = late()
    await ask(made, 1)
    request = asking(*CHAT)
    assert made.begin(request) is None
    entry = request.entry
    assert entry is not None
    entry.done()
    took_s = entry.total_s
    entry.sent()
    await asyncio.sleep(0.01)
    made.recorder.close()
    assert (records[-1].total_s, records[-1].aborted) == (took_s, True)


def test_ends_are_told_after_a_loop_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer that never fires keeps nothing back: the next loop sets its own, and the end tells what is left."""
    monkeypatch.setattr(recorder, "LATE_S", 60.0)  # a busy machine takes longer for two than an end may wait
    made, records = late()
    asyncio.run(ask(made, 2))
    assert len(records) == 1
    asyncio.run(ask(made, 1))
    assert len(records) == 1
    made.recorder.close()
    assert len(records) == 3


async def test_another_thread_may_settle() -> None:
    """Who asks from a thread of its own gets all that is over, each once."""
    made, records = late()
    await ask(made, 5)
    thread = threading.Thread(target=made.recorder.settle)
    thread.start()
    thread.join()
    assert len({record.id for record in records}) == len(records) == 5
    made.recorder.close()
