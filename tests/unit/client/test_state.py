"""What calls of a process remember of each other, and what stands in for targets does not."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest

import interlingua as il
from interlingua.client.state import forget_state, health_store, limit, limiter
from interlingua.registry.allowance import Allowance
from interlingua.routing.file import FileHealth
from interlingua.routing.health import Failed, HealthStore, MemoryHealth
from interlingua.routing.limits import Limiter
from interlingua.testing import FakeModel, faults, use
from tests.support.client import chat, scripted


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


def test_a_limit_of_code_holds_for_a_provider_by_its_other_spelling() -> None:
    """Calls to `gemini/…` go to `google/…`."""
    limit("gemini/*", rpm=1)
    assert limiter().loads().keys() == {"google/*"}
    assert limiter().covers("google/gemini-3-pro")


def test_a_limit_that_cannot_hold_is_refused() -> None:
    """The sentence says what a limit is for."""
    with pytest.raises(il.ConfigError, match="'3' names no target; a limit is for provider/model"):
        il.limit(cast("Any", 3), rpm=1)
    with pytest.raises(il.ConfigError, match="'openai' names no target"):
        limit("openai", rpm=1)
    with pytest.raises(il.ConfigError, match="rpm is a whole number from 1 on, not '0'"):
        limit("openai/*", rpm=0)


# Places


def test_memory_is_where_state_lives_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The variable is read at first use, and code has the last word."""
    assert isinstance(health_store(), MemoryHealth)
    forget_state()
    monkeypatch.setenv("INTERLINGUA_STATE", f"file:{tmp_path / 'deep' / 'health.sqlite'}")
    store = health_store()
    assert isinstance(store, FileHealth)
    assert store.path == tmp_path / "deep" / "health.sqlite"
    il.use_state("memory")
    assert isinstance(health_store(), MemoryHealth)


def test_the_file_of_a_user_lies_with_the_other_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`file` alone is one place for everything that a user starts."""
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))
    il.use_state("file")
    store = health_store()
    assert isinstance(store, FileHealth)
    assert store.path == tmp_path / "state" / "state.sqlite"
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    il.use_state("file://~/x.sqlite")
    store = health_store()
    assert isinstance(store, FileHealth)
    assert store.path == tmp_path / "me" / "x.sqlite"


def test_redis_is_not_asked_before_it_is_needed() -> None:
    """A process starts before its Redis; the address is checked all the same."""
    pytest.importorskip("redis")
    il.use_state("redis://:hidden@127.0.0.1:9/0")
    store = health_store()
    assert repr(getattr(store, "link", None)) == "<RedisLink redis://127.0.0.1:9/0>"
    assert not store.immediate
    with pytest.raises(il.ConfigError, match="not an address of Redis"):
        il.use_state("redis://127.0.0.1:no-port/0")
    assert health_store() is store


@pytest.mark.parametrize("place", ["", "memory:x", "disk", "http://127.0.0.1", "https://me:hidden-secret@example.com"])
def test_what_is_no_place_is_refused(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence lists the places, and shows no secret; from the environment it names the variable."""
    with pytest.raises(
        il.ConfigError, match="state is kept in memory, file, file:PATH, redis://host:port/db or postgresql://host/db"
    ) as caught:
        il.use_state(place)
    assert "hidden" not in caught.value.message
    if place:
        monkeypatch.setenv("INTERLINGUA_STATE", place)
        with pytest.raises(il.ConfigError, match="INTERLINGUA_STATE: state is kept in"):
            health_store()


def test_limits_move_to_redis_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was limited before is limited after, by code and by variable; a fake stays out of it."""
    pytest.importorskip("redis")
    limit("openai/*", rpm=60)
    monkeypatch.setenv("INTERLINGUA_STATE", "redis://127.0.0.1:9/0")
    health_store()
    assert type(limiter()).__name__ == "SharedLimiter"
    assert limiter().covers("openai/a")
    with use(FakeModel("hello")):
        assert not limiter().covers("openai/a")
    limit("groq/*", concurrency=1)
    il.use_state("memory")
    assert type(limiter()) is Limiter
    assert {pattern: load.allowance for pattern, load in limiter().loads().items()} == {
        "groq/*": Allowance(concurrency=1),
        "openai/*": Allowance(rpm=60),
    }


def test_a_count_below_nothing_gives_no_tokens_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server tells of 500 tokens fewer than none leaves a limit of tokens as it was."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    limit("openai-chat/*", tpm=1_000)
    told = {"prompt_tokens": -500, "completion_tokens": 7, "total_tokens": -493}
    with scripted(chat(), chat(usage=told), alone=False):
        for _ in range(2):
            il.model("openai-chat/gpt-4.1").generate("Hi")
    assert limiter().loads()["openai-chat/*"].tokens == 5 + 7


def test_a_place_that_is_gone_is_told_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Calls go on; whoever reads the log knows why processes disagree."""
    pytest.importorskip("redis")
    il.use_state("redis://:hidden@127.0.0.1:9/0")
    for _ in range(3):
        health_store().apply([("openai/a", Failed("auth"))])
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("interlingua.state", "WARNING")
    assert record.getMessage().startswith(
        "this process alone knows what it finds out about targets, for a while: redis://127.0.0.1:9/0: "
    )


def test_a_fake_keeps_to_memory_wherever_the_process_keeps_its_state(tmp_path: Path) -> None:
    """Unless the test says otherwise, for as long as the fake answers."""
    il.use_state(f"file:{tmp_path / 'a'}")
    with use(FakeModel("hello")):
        assert isinstance(health_store(), MemoryHealth)
        il.use_state(f"file:{tmp_path / 'b'}")
        assert isinstance(health_store(), FileHealth)
        health_store().close()
    store = health_store()
    assert isinstance(store, FileHealth)
    assert store.path == tmp_path / "a"
