"""What calls of a process remember of each other, and what stands in for targets does not."""

from __future__ import annotations

import asyncio
import threading

from interlingua.client.state import forget_state, health_store
from interlingua.routing.health import Failed, HealthStore
from interlingua.testing import FakeModel, faults, use


def test_a_process_has_one_store() -> None:
    """Every call finds the same one, in every thread and task."""
    found: list[HealthStore] = [health_store()]
    thread = threading.Thread(target=lambda: found.append(health_store()))
    thread.start()
    thread.join()

    async def task() -> HealthStore:
        return health_store()

    found.append(asyncio.run(task()))
    assert len({id(store) for store in found}) == 1


def test_a_fake_benches_nothing_of_the_process() -> None:
    """A stand-in has a store of its own, one for each time it stands in."""
    with use(FakeModel("hello")):
        inner = health_store()
        assert health_store() is inner
        inner.apply([("openai/a", Failed("auth"))])
        with faults({"openai/*": "429"}):
            assert health_store().snapshot() == {}
        assert list(health_store().snapshot()) == ["openai/a"]
    assert health_store().snapshot() == {}
    with use(FakeModel("hello")):
        assert health_store().snapshot() == {}


def test_tests_begin_with_nothing() -> None:
    """What an earlier test found out is forgotten."""
    before = health_store()
    before.apply([("openai/a", Failed("auth"))])
    forget_state()
    assert health_store() is not before
    assert health_store().snapshot() == {}
