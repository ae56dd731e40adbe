"""What calls of a process remember of each other, and what stands in for targets does not."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import interlingua as il
from interlingua.client.state import forget_state, health_store, limit, limiter
from interlingua.registry.allowance import Allowance
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


def test_a_file_limits_and_code_has_the_last_word(tmp_path: Path) -> None:
    """`load_config` brings limits; a file without them lifts those of the one before."""
    path = tmp_path / "il.toml"
    path.write_text('[limits."openai/*"]\nrpm = 60\n[limits."groq/*"]\nconcurrency = 2\n')
    il.load_config(path)
    limit("groq/*", concurrency=3)
    assert {pattern: load.allowance for pattern, load in limiter().loads().items()} == {
        "groq/*": Allowance(concurrency=3),
        "openai/*": Allowance(rpm=60),
    }
    path.write_text("[aliases]\n")
    il.load_config(path)
    assert list(limiter().loads()) == ["groq/*"]
    limit("groq/*")
    assert limiter().loads() == {}


def test_a_fake_is_not_limited_and_faults_are() -> None:
    """Tests do not wait for a minute of the process; a drill meets what production meets."""
    limit("*", rpm=1)
    with faults({"openai/*": "429"}):
        assert limiter().covers("openai/a")
    with use(FakeModel("hello")):
        assert not limiter().covers("openai/a")
        limit("*", rpm=2)
        assert limiter().loads()["*"].allowance == Allowance(rpm=2)
    assert limiter().loads()["*"].allowance == Allowance(rpm=1)


def test_a_limit_that_cannot_hold_is_refused() -> None:
    """The sentence says what a limit is for."""
    with pytest.raises(il.ConfigError, match="'openai' names no target"):
        limit("openai", rpm=1)
    with pytest.raises(il.ConfigError, match="rpm is a whole number from 1 on, not '0'"):
        limit("openai/*", rpm=0)
