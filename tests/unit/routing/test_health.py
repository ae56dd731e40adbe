"""The health of a target in every store, by exact values; `tests/laws/test_health_laws.py` holds it to a model."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from interlingua.routing.file import FileHealth
from interlingua.routing.health import (
    AHEAD_S,
    BENCH_S,
    FORGET_S,
    LACK_S,
    MAX_COOLDOWN_S,
    MAX_RETRY_AFTER_S,
    MAX_TARGETS,
    PROBE_LEASE_S,
    Admit,
    CircuitState,
    Failed,
    HealthStore,
    Learned,
    Look,
    MemoryHealth,
    Operation,
    Resume,
    Spared,
    Succeeded,
    Suspend,
    TargetHealth,
)

A = "openai/a"
NOON = 4_000_000_000.0
"""A time to come, so that Redis does not take what is written for outdated."""


class Clock:
    """A clock that moves when it is told to."""

    now_s: float = NOON

    def __call__(self) -> float:
        """The time."""
        return self.now_s


class Bench:
    """One store, one target, one clock."""

    def __init__(self, clock: Clock, store: HealthStore) -> None:
        self.clock = clock
        self.store = store

    def do(self, operation: Operation) -> CircuitState:
        """How the target stands after an operation."""
        return self.store.apply([(A, operation)])[0]

    def after(self, seconds: float, operation: Operation) -> CircuitState:
        """The same, some seconds later."""
        self.clock.now_s += seconds
        return self.do(operation)


@pytest.fixture(params=["memory", "file", "redis", "postgres"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Bench]:
    """Nothing is known yet."""
    clock = Clock()
    if request.param == "memory":
        yield Bench(clock, MemoryHealth(clock))
        return
    if request.param == "file":
        store = FileHealth(tmp_path / "state.sqlite", clock=clock, rest_clock=time.monotonic)
        yield Bench(clock, store)
        assert store.problem == ""
        store.close()
        return
    url: str = request.getfixturevalue(f"{request.param}_url")
    from interlingua.routing.link import open_link
    from interlingua.routing.shared_health import SharedHealth

    link = open_link(url, clock=time.monotonic)
    yield Bench(clock, SharedHealth(link, clock=clock))
    assert link.problem == ""
    link.close()


def test_a_target_about_which_nothing_is_known_is_open(bench: Bench) -> None:
    """A healthy target costs no memory."""
    assert bench.do(Admit()) == CircuitState("open", NOON)
    assert bench.do(Succeeded(NOON)) == CircuitState("open", NOON)
    assert bench.store.snapshot() == {}


def test_two_failures_in_a_row_bench_for_five_seconds(bench: Bench) -> None:
    """The first failure only counts; the second one benches."""
    assert bench.do(Failed(error="OverloadedError 529")) == CircuitState(
        "open", NOON, None, None, 1, "OverloadedError 529"
    )
    assert bench.do(Failed()) == CircuitState("benched", NOON, 5.0, "failures", 2, "OverloadedError 529")
    assert bench.after(4.0, Admit()) == CircuitState("benched", NOON + 4, 1.0, "failures", 2, "OverloadedError 529")
    assert bench.after(1.0, Admit()).state == "probe"


def test_a_clock_that_is_put_back_ends_a_bench(bench: Bench) -> None:
    """Five seconds stay five seconds and not the whole day that the clock went back; clocks may differ by a minute."""
    bench.do(Failed())
    bench.do(Failed())
    assert bench.after(-AHEAD_S, Admit()) == CircuitState("benched", NOON - 60, 65.0, "failures", 2)
    assert bench.after(-1.0, Look()) == CircuitState("open", NOON - 61)
    assert bench.store.snapshot() == {}
    assert bench.do(Failed()) == CircuitState("open", NOON - 61, failures=1)


def test_a_clock_that_is_put_back_takes_no_word_of_a_person_back(bench: Bench) -> None:
    """What was suspended stays so; what else was held against it is forgotten."""
    bench.do(Failed())
    bench.do(Suspend())
    assert bench.after(-86_400.0, Admit()) == CircuitState("suspended", NOON - 86_400, None, "suspended")
    bench.do(Resume())
    assert bench.do(Admit()).state == "open"


def test_a_success_between_two_failures_forgets_the_first(bench: Bench) -> None:
    """Only failures in a row count."""
    bench.do(Failed())
    bench.do(Succeeded())
    assert bench.do(Failed()) == CircuitState("open", NOON, failures=1)


def test_each_failed_probe_doubles_up_to_five_minutes(bench: Bench) -> None:
    """5, 10, 20 … 160, 300, 300 seconds."""
    bench.do(Failed())
    waits = [bench.do(Failed()).wait_s]
    for _ in range(40):
        probe = bench.after(waits[-1] or 0.0, Admit())
        assert probe.state == "probe"
        waits.append(bench.do(Failed(admitted_s=probe.at_s)).wait_s)
    assert waits[:8] == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]
    assert set(waits[6:]) == {MAX_COOLDOWN_S}


def test_one_probe_at_a_time(bench: Bench) -> None:
    """While a probe is under way the others wait for it, at most for its lease."""
    bench.do(Failed())
    bench.do(Failed())
    assert bench.after(5.0, Look()) == CircuitState("half_open", NOON + 5, None, "failures", 2)
    assert bench.do(Admit()) == CircuitState("probe", NOON + 5, None, "failures", 2)
    assert bench.do(Admit()) == CircuitState("benched", NOON + 5, PROBE_LEASE_S, "failures", 2)
    assert bench.after(1.0, Succeeded(NOON + 5)) == CircuitState("open", NOON + 6)
    assert bench.do(Admit()).state == "open"


def test_a_probe_that_dies_gives_way_after_its_lease(bench: Bench) -> None:
    """Nobody has to tell that a process was killed."""
    bench.do(Failed())
    bench.do(Failed())
    assert bench.after(5.0, Admit(lease_s=20.0)).state == "probe"
    assert bench.after(19.9, Admit()).state == "benched"
    assert bench.after(0.2, Admit()).state == "probe"


def test_a_probe_that_says_nothing_hands_its_place_on(bench: Bench) -> None:
    """A fault of the request, or a caller who left, leaves the question open for the next try."""
    bench.do(Failed())
    bench.do(Failed())
    probe = bench.after(5.0, Admit())
    assert bench.do(Spared(probe.at_s)) == CircuitState("half_open", NOON + 5, None, "failures", 2)
    assert bench.do(Admit()).state == "probe"


def test_rtr_07_a_fault_of_the_request_leaves_no_penalty(bench: Bench) -> None:
    """What says nothing of the target is not remembered, and does not forget either."""
    assert bench.do(Spared()) == CircuitState("open", NOON)
    assert bench.store.snapshot() == {}
    bench.do(Failed())
    assert bench.do(Spared()).failures == 1
    assert bench.do(Failed()).state == "benched"


def test_retry_after_benches_at_the_first_failure(bench: Bench) -> None:
    """A peer that asks to be left alone for 7 s is left alone for 7 s."""
    assert bench.do(Failed(retry_after_s=7.0)) == CircuitState("benched", NOON, 7.0, "retry_after", 1)
    assert bench.after(7.0, Admit()).state == "probe"
    assert bench.do(Failed(admitted_s=NOON + 7)) == CircuitState("benched", NOON + 7, 5.0, "failures", 2)


@pytest.mark.parametrize(
    ("asked_s", "wait_s"),
    [
        (math.inf, MAX_RETRY_AFTER_S),
        (1e9, MAX_RETRY_AFTER_S),
        (3600.0, 3600.0),
        (0.0, None),
        (-5.0, None),
        (math.nan, None),
    ],
)
def test_retry_after_is_bounded(bench: Bench, asked_s: float, wait_s: float | None) -> None:
    """A wait that is no wait is none, and one without an end is an hour."""
    assert bench.do(Failed(retry_after_s=asked_s)).wait_s == wait_s


def test_rtr_05_a_longer_deadline_wins_over_a_shorter_one(bench: Bench) -> None:
    """60 s asked for during a bench of 5 s bench for 60 s."""
    bench.do(Failed())
    bench.do(Failed(admitted_s=NOON))
    assert bench.after(1.0, Failed(retry_after_s=60.0, admitted_s=NOON - 1)).wait_s == 60.0
    assert bench.after(10.0, Look()) == CircuitState("benched", NOON + 11, 50.0, "retry_after", 2)


def test_rtr_05_a_shorter_deadline_does_not_shorten_a_longer_one(bench: Bench) -> None:
    """Two failures after a Retry-After of 60 s leave it as it is."""
    bench.do(Failed(retry_after_s=60.0))
    assert bench.after(1.0, Failed()) == CircuitState("benched", NOON + 1, 59.0, "retry_after", 2)
    assert bench.after(1.0, Failed(retry_after_s=10.0)).wait_s == 58.0
    assert bench.do(Failed("auth")) == CircuitState("benched", NOON + 2, BENCH_S, "auth", 3)


@pytest.mark.parametrize("fault", ["auth", "billing"])
def test_auth_and_billing_bench_for_five_minutes_at_once(bench: Bench, fault: str) -> None:
    """One refused key is enough; the probe that is refused again takes five minutes again."""
    operation = Failed("auth") if fault == "auth" else Failed("billing")
    assert bench.do(operation) == CircuitState("benched", NOON, 300.0, "auth" if fault == "auth" else "billing")
    assert bench.after(299.0, Admit()).state == "benched"
    assert bench.after(1.0, Admit()).state == "probe"
    assert bench.do(operation).wait_s == 300.0
    bench.after(300.0, Admit())
    assert bench.do(Failed()) == CircuitState("benched", NOON + 600, 5.0, "failures", 2)


def test_a_crowd_that_fails_together_benches_once(bench: Bench) -> None:
    """Sixty tries that were let through before the bench are the same outage: the time is not doubled sixty times."""
    begun = [bench.do(Admit()) for _ in range(60)]
    last = begun[0]
    for circuit in begun:
        last = bench.after(0.01, Failed(admitted_s=circuit.at_s))
    assert (last.state, last.failures) == ("benched", 2)
    assert bench.after(5.0, Admit()).state == "probe"
    assert bench.do(Failed(admitted_s=NOON)).state == "benched"  # the probe is still under way
    assert bench.do(Succeeded(bench.clock.now_s)).state == "open"


def test_a_late_success_does_not_end_a_bench_that_it_has_not_seen(bench: Bench) -> None:
    """An answer to what was asked before the Retry-After says nothing about the time after it."""
    before = bench.do(Admit())
    bench.after(1.0, Failed(retry_after_s=30.0, admitted_s=before.at_s))
    assert bench.after(1.0, Succeeded(before.at_s)) == CircuitState("benched", NOON + 2, 29.0, "retry_after", 1)
    assert bench.do(Succeeded()).state == "open"


def test_a_failure_during_a_longer_bench_begins_it_anew(bench: Bench) -> None:
    """A try that was made all the same and failed: what began before that failure says nothing about the time after."""
    bench.do(Failed("auth"))
    bench.after(10.0, Failed(admitted_s=NOON + 9))
    assert bench.after(1.0, Succeeded(NOON + 10)) == CircuitState("benched", NOON + 11, 289.0, "auth", 2)
    assert bench.do(Succeeded(NOON + 10.5)).state == "open"


def test_suspended_until_it_is_resumed(bench: Bench) -> None:
    """No success and no time puts it back; a person does, and everything is forgotten."""
    bench.do(Failed())
    assert bench.do(Suspend()) == CircuitState("suspended", NOON, None, "suspended", 1)
    assert bench.do(Succeeded()) == CircuitState("suspended", NOON, None, "suspended")
    assert bench.after(10 * FORGET_S, Admit()).state == "suspended"
    assert bench.do(Resume()) == CircuitState("open", NOON + 36000)


def test_suspended_for_a_time(bench: Bench) -> None:
    """The last word counts, and the bench below it goes on."""
    bench.do(Failed("auth"))
    assert bench.do(Suspend(600.0)).wait_s == 600.0
    assert bench.do(Suspend(60.0)).wait_s == 60.0
    assert bench.after(59.0, Admit()).state == "suspended"
    assert bench.after(1.0, Admit()) == CircuitState("benched", NOON + 60, 240.0, "auth")
    assert bench.do(Resume()).state == "open"
    bench.do(Suspend(5.0))
    assert bench.after(5.0, Admit()) == CircuitState("open", NOON + 65)
    assert bench.do(Suspend(0.0)).state == "open"


def test_what_is_an_hour_old_is_forgotten(bench: Bench) -> None:
    """A failure of this morning is not in a row with one of this evening."""
    bench.do(Failed())
    assert bench.after(FORGET_S, Failed()) == CircuitState("open", NOON + 3600, failures=1)
    bench.do(Failed())
    assert bench.after(5.0 + FORGET_S - 1.0, Look()).state == "half_open"
    assert bench.after(1.0, Look()) == CircuitState("open", NOON + 7205)


def test_a_look_changes_nothing(bench: Bench) -> None:
    """Looking takes no probe."""
    bench.do(Failed("billing"))
    before = bench.store.snapshot()
    assert [bench.do(Look()).state for _ in range(3)] == ["benched"] * 3
    assert bench.store.snapshot() == before


def test_the_snapshot_is_for_people(bench: Bench) -> None:
    """Names in order, the last error in a few words, what is well left out."""
    bench.store.apply(
        [
            ("b/b", Failed("auth", error="AuthenticationError 401")),
            ("a/a", Failed()),
            ("c/c", Suspend()),
            ("d/d", Succeeded()),
        ]
    )
    bench.clock.now_s += 1.0
    assert bench.store.snapshot() == {
        "a/a": TargetHealth("open", failures=1),
        "b/b": TargetHealth("benched", 299.0, "auth", error="AuthenticationError 401"),
        "c/c": TargetHealth("suspended", reason="suspended"),
    }


def test_marks_are_bounded() -> None:
    """The ten-thousand-and-first target makes room in memory; what a person said stays."""
    clock = Clock()
    bench = Bench(clock, MemoryHealth(clock))
    bench.do(Suspend())
    bench.store.apply([(f"x/{number}", Failed()) for number in range(MAX_TARGETS + 50)])
    snapshot = bench.store.snapshot()
    assert len(snapshot) == MAX_TARGETS
    assert snapshot[A].state == "suspended"
    assert f"x/{MAX_TARGETS + 49}" in snapshot
    assert "x/0" not in snapshot


async def test_the_awaited_face_is_the_same(bench: Bench) -> None:
    """What tasks find out, threads know, and the other way around."""
    assert await bench.store.apply_async([(A, Failed()), (A, Failed()), (A, Look())]) == [
        CircuitState("open", NOON, failures=1),
        CircuitState("benched", NOON, 5.0, "failures", 2),
        CircuitState("benched", NOON, 5.0, "failures", 2),
    ]
    assert await bench.store.snapshot_async() == bench.store.snapshot()
    assert list(bench.store.snapshot()) == [A]
    assert bench.store.immediate == isinstance(bench.store, MemoryHealth)


def test_sixty_four_threads_get_one_probe(bench: Bench) -> None:
    """However many ask at once, one of them is the probe."""
    bench.do(Failed("auth"))
    bench.clock.now_s += 300.0
    states: list[str] = []
    start = threading.Barrier(64)

    def ask() -> None:
        start.wait()
        states.append(bench.do(Admit()).state)

    threads = [threading.Thread(target=ask) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(states) == ["benched"] * 63 + ["probe"]


def test_cap_01_what_a_target_lacks_is_known_for_a_while(bench: Bench) -> None:
    """It benches nothing and outlives a success; what was learned again is known for longer; then it is forgotten."""
    assert bench.do(Learned(frozenset({"tools"}))) == CircuitState("open", NOON, lacks=frozenset({"tools"}))
    assert bench.do(Admit()).state == "open"
    assert bench.do(Succeeded(NOON)).lacks == {"tools"}
    assert bench.after(100.0, Learned(frozenset({"images"}))).lacks == {"images", "tools"}
    assert bench.store.snapshot() == {A: TargetHealth("open", lacks=("images", "tools"))}
    assert bench.after(LACK_S - 101.0, Look()).lacks == {"images", "tools"}
    assert bench.after(1.0, Look()).lacks == {"images"}
    assert bench.after(100.0, Look()) == CircuitState("open", NOON + LACK_S + 100)
    assert bench.store.snapshot() == {}


def test_cap_01_what_a_target_takes_after_all_is_forgotten_as_a_lack(bench: Bench) -> None:
    """Its own card says so, or a person; failures are another matter."""
    bench.do(Learned(frozenset({"tools", "images"})))
    bench.do(Failed())
    assert bench.do(Learned(takes=frozenset({"tools"}))) == CircuitState(
        "open", NOON, None, None, 1, "", frozenset({"images"})
    )
    assert bench.do(Resume()) == CircuitState("open", NOON)
    assert bench.do(Learned(takes=frozenset({"tools"}))) == CircuitState("open", NOON)
    assert bench.store.snapshot() == {}


def test_cap_01_a_success_ends_a_bench_and_no_lack(bench: Bench) -> None:
    """Two failures, a probe that answers: what the target does not take is still known."""
    bench.do(Learned(frozenset({"tools"}), for_s=1_000.0))
    bench.do(Failed())
    bench.do(Failed())
    probe = bench.after(5.0, Admit())
    assert (probe.state, probe.lacks) == ("probe", {"tools"})
    assert bench.do(Succeeded(probe.at_s)) == CircuitState("open", NOON + 5, lacks=frozenset({"tools"}))


def test_cap_01_nothing_is_known_of_a_lack_for_more_than_a_day(bench: Bench) -> None:
    """Whoever learns it may say how long, within a day."""
    bench.do(Learned(frozenset({"tools"}), for_s=math.inf))
    assert bench.after(86_399.0, Look()).lacks == {"tools"}
    assert bench.after(1.0, Look()).lacks == frozenset()
