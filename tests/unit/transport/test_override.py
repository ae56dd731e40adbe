"""Overrides: which transport a call gets, here, in threads, in tasks, and after the end."""

from __future__ import annotations

import asyncio
import threading
from typing import cast

from interlingua.transport.base import AsyncTransport, Transport
from interlingua.transport.override import Override, answers_alone, overridden, overridden_async, overriding


class Named:
    """Stands for a transport; wrapping writes a name in front."""

    def __init__(self, name: str) -> None:
        self.name = name


def _named(name: str, *, answers: bool = False) -> Override:
    def wrap(inner: object) -> Transport:
        return cast("Transport", Named(f"{name}({cast('Named', inner).name})"))

    return Override(wrap, lambda inner: cast("AsyncTransport", wrap(inner)), answers=answers)


def _sync() -> str:
    return cast("Named", overridden(cast("Transport", Named("http")))).name


def _awaited() -> str:
    return cast("Named", overridden_async(cast("AsyncTransport", Named("http")))).name


def test_without_an_override_nothing_changes() -> None:
    """The transport itself comes back, and a key is needed."""
    assert (_sync(), _awaited(), answers_alone()) == ("http", "http", False)


def test_the_last_override_is_nearest_to_the_caller() -> None:
    """Later overrides wrap what earlier ones made, for both faces; afterwards all is as before."""
    with overriding(_named("tape")), overriding(_named("faults")):
        assert (_sync(), _awaited()) == ("faults(tape(http))",) * 2
    assert _sync() == "http"


def test_one_that_answers_is_enough() -> None:
    """No credential is needed as soon as one override answers by itself."""
    with overriding(_named("fake", answers=True)), overriding(_named("faults")):
        assert answers_alone()


def test_threads_started_inside_have_it() -> None:
    """A plain thread, which has no context of its own, goes through the override as well."""
    found: list[str] = []
    with overriding(_named("fake")):
        thread = threading.Thread(target=lambda: found.append(_sync()))
        thread.start()
        thread.join()
    assert found == ["fake(http)"]


async def test_tasks_that_outlive_it_lose_it() -> None:
    """A task started inside sees the override while it holds, and not after its end."""
    ended = asyncio.Event()
    found: list[str] = []

    async def watch() -> None:
        found.append(_sync())
        await ended.wait()
        found.append(_sync())

    with overriding(_named("fake")):
        task = asyncio.create_task(watch())
        await asyncio.sleep(0)
    ended.set()
    await task
    assert found == ["fake(http)", "http"]


async def test_tasks_side_by_side_do_not_meet() -> None:
    """Two tasks with overrides of their own each go through theirs alone."""

    async def ask(name: str) -> str:
        with overriding(_named(name)):
            await asyncio.sleep(0)
            return _sync()

    assert await asyncio.gather(ask("a"), ask("b")) == ["a(http)", "b(http)"]
