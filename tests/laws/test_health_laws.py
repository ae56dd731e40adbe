"""Health ends where a simple model says, whatever happens in whatever order: in memory, in a file and in Redis."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from interlingua.routing.file import FileHealth
from interlingua.routing.health import (
    Admit,
    CircuitState,
    Failed,
    Fault,
    HealthStore,
    Look,
    MemoryHealth,
    Operation,
    Resume,
    Spared,
    Succeeded,
    Suspend,
)
from tests.support.shared_servers import make_postgres, make_redis

NOON = 4_000_000_000.0
TARGETS = ("openai/a", "openai/a", "openai/a", "groq/b")
FAULTS: list[Fault] = ["transient", "transient", "transient", "auth", "billing"]
ASKED = st.none() | st.sampled_from([1.0, 5.0, 7.0, 30.0, 400.0, 3_600.0, 100_000.0])
"""What a Retry-After says."""
SECONDS = st.sampled_from([1.0, 2.0, 4.0, 5.0, 9.0, 10.0, 20.0, 59.0, 60.0, 61.0, 150.0, 300.0, 3_599.0, 3_600.0])


@dataclass
class Modelled:
    """What the rules say of one target, sent as plainly as can be."""

    failures: int = 0
    began: float = -1.0
    """When the bench began that holds, or whose probe is awaited."""
    deadline: float = 0.0
    """0 for no bench."""
    why: str | None = None
    probe_ends: float = 0.0
    out_until: float = 0.0
    """The end of a suspension; 0 for none."""
    touched: float = 0.0
    known: bool = False

    def pass_time(self, now: float) -> None:
        """What is over is over."""
        if not self.known:
            return
        if self.out_until and now >= self.out_until:
            self.out_until = 0.0
            if not self.failures and not self.deadline:
                self.forget()
        if now >= max(self.touched, self.deadline, self.out_until) + 3_600:
            self.forget()

    def forget(self) -> None:
        """As if nothing had ever happened."""
        self.__init__()

    def state(self, now: float) -> str:
        """How it stands."""
        if self.out_until:
            return "suspended"
        if not self.deadline:
            return "open"
        return "benched" if now < self.deadline or now < self.probe_ends else "half_open"

    def fail(self, now: float, fault: Fault, asked: float | None, seen_bench: bool) -> None:
        """A failure; one of a try that began before the bench only makes it longer."""
        self.known, self.touched = True, now
        wait, why = 0.0, "failures"
        if seen_bench:
            self.probe_ends = 0.0
            if fault == "transient":
                self.failures = 2 if self.deadline and self.failures < 2 else self.failures + 1
                if self.failures >= 2:
                    wait = 5.0
                    for _ in range(self.failures - 2):
                        wait = min(300.0, wait * 2)
        if fault != "transient":
            wait, why = 300.0, fault
        if asked is not None and asked > wait:
            wait, why = min(asked, 3_600.0), "retry_after"
        if not wait:
            return
        if seen_bench or self.began < 0:
            self.began = now
        if now + wait > self.deadline:
            self.deadline, self.why = now + wait, why

    def succeed(self, now: float) -> None:
        """Everything is forgotten but what a person said."""
        out_until = self.out_until
        self.forget()
        if out_until:
            self.known, self.out_until, self.touched = True, out_until, now


@dataclass
class Try:
    """A try under way."""

    target: str
    at_s: float


@dataclass
class World:
    """A store, its clock, the model of each target, and the tries under way."""

    store: HealthStore
    now: float = NOON
    models: dict[str, Modelled] = field(default_factory=lambda: {target: Modelled() for target in TARGETS})
    tries: list[Try] = field(default_factory=list[Try])


class HealthMachine(RuleBasedStateMachine):
    """Calls, failures, people and time, in any order."""

    make_world: Any = None

    @initialize()
    def begin(self) -> None:
        """A store in which nothing is known."""
        self.world: World = type(self).make_world()

    def do(self, target: str, operation: Operation) -> tuple[CircuitState, Modelled]:
        """What the store answers, and the model as it was before."""
        model = self.world.models[target]
        model.pass_time(self.world.now)
        return self.world.store.apply([(target, operation)])[0], model

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.world.now += seconds

    @rule(name=st.sampled_from(TARGETS), early=st.sampled_from([0.0, 0.0, 1.0]))
    def wait_for_the_end(self, name: str, early: float) -> None:
        """Time passes until a bench or a lease ends, or until a second before that."""
        model = self.world.models[name]
        end = max(model.deadline, model.probe_ends) - early
        self.world.now = max(self.world.now, end)

    @rule(name=st.sampled_from(TARGETS), early=st.sampled_from([0.0, 1.0]))
    def wait_until_it_is_forgotten(self, name: str, early: float) -> None:
        """Time passes until nothing has to be known of a target, or until a second before that."""
        model = self.world.models[name]
        if model.known and model.out_until != float("inf"):
            end = max(model.touched, model.deadline, model.out_until) + 3_600.0 - early
            self.world.now = max(self.world.now, end)

    @rule(name=st.sampled_from(TARGETS), often=st.integers(2, 9))
    def an_outage(self, name: str, often: int) -> None:
        """Try after try fails, each as soon as it is let through."""
        for _ in range(often):
            model = self.world.models[name]
            model.pass_time(self.world.now)
            if model.out_until:
                return
            self.wait_for_the_end(name, 0.0)
            self.ask(name, 60.0)
            begun = self.world.tries.pop()
            self.world.now += 1.0
            _, model = self.do(name, Failed("transient", None, begun.at_s))
            model.fail(self.world.now, "transient", None, begun.at_s > model.began)

    @rule(name=st.sampled_from(TARGETS), lease=st.sampled_from([30.0, 60.0]))
    def ask(self, name: str, lease: float) -> None:
        """Somebody wants to try: let through, the probe, or passed over with the time that is left."""
        circuit, model = self.do(name, Admit(lease))
        now, state = self.world.now, model.state(self.world.now)
        if state == "half_open":
            assert circuit.state == "probe"
            model.probe_ends, model.touched = now + lease, now
        else:
            assert circuit.state == state
        if state == "benched":
            assert circuit.wait_s == max(model.deadline, model.probe_ends) - now
            assert (circuit.wait_s or 0) > 0
        if circuit.admitted:
            self.world.tries.append(Try(name, circuit.at_s))

    @rule(name=st.sampled_from(TARGETS), fault=st.sampled_from(FAULTS), asked=ASKED, probing=st.booleans())
    def a_bench_between(self, name: str, fault: Fault, asked: float | None, probing: bool) -> None:
        """A try begins, others bench the target, perhaps its probe is under way; how the try ends is left to others."""
        self.ask(name, 60.0)
        self.world.now += 1.0
        self.fails_unasked(name, fault, asked)
        self.fails_unasked(name, "transient", None)
        if probing:
            self.wait_for_the_end(name, 0.0)
            self.ask(name, 60.0)
            self.world.now += 1.0

    @rule(data=st.data(), fault=st.sampled_from(FAULTS), asked=ASKED)
    def a_try_fails(self, data: st.DataObject, fault: Fault, asked: float | None) -> None:
        """A try under way fails, perhaps long after it began."""
        if not self.world.tries:
            return
        ended = self.world.tries.pop(data.draw(st.integers(0, len(self.world.tries) - 1)))
        circuit, model = self.do(ended.target, Failed(fault, asked, ended.at_s))
        model.fail(self.world.now, fault, asked, ended.at_s > model.began)
        assert circuit.state == model.state(self.world.now)

    @rule(data=st.data(), well=st.booleans())
    def a_try_ends(self, data: st.DataObject, well: bool) -> None:
        """A try under way is answered, or ends in a way that says nothing of the target."""
        if not self.world.tries:
            return
        ended = self.world.tries.pop(data.draw(st.integers(0, len(self.world.tries) - 1)))
        circuit, model = self.do(ended.target, Succeeded(ended.at_s) if well else Spared(ended.at_s))
        if ended.at_s > model.began:
            if well:
                model.succeed(self.world.now)
            elif model.probe_ends:
                model.probe_ends, model.touched = 0.0, self.world.now
        assert circuit.state == model.state(self.world.now)

    @rule(name=st.sampled_from(TARGETS), fault=st.sampled_from(FAULTS), asked=ASKED)
    def fails_unasked(self, name: str, fault: Fault, asked: float | None) -> None:
        """A failure of whoever did not ask counts as one that has seen everything."""
        circuit, model = self.do(name, Failed(fault, asked))
        model.fail(self.world.now, fault, asked, True)
        assert (circuit.state, circuit.failures) == (model.state(self.world.now), model.failures)

    @rule(name=st.sampled_from(TARGETS), seconds=st.none() | SECONDS)
    def suspend(self, name: str, seconds: float | None) -> None:
        """A person takes it out; the last word counts."""
        _, model = self.do(name, Suspend(seconds))
        model.known, model.touched = True, self.world.now
        model.out_until = float("inf") if seconds is None else self.world.now + seconds

    @rule(name=st.sampled_from(TARGETS))
    def resume(self, name: str) -> None:
        """A person puts it back."""
        circuit, model = self.do(name, Resume())
        model.forget()
        assert circuit.state == "open"

    @rule(name=st.sampled_from(TARGETS))
    def look(self, name: str) -> None:
        """Looking changes nothing."""
        before = self.world.store.snapshot()
        circuit, model = self.do(name, Look())
        assert circuit.state == model.state(self.world.now)
        assert self.world.store.snapshot() == before

    @invariant()
    def the_snapshot_is_the_model(self) -> None:
        """What people see is what the rules say."""
        if not hasattr(self, "world"):
            return
        now = self.world.now
        expected: dict[str, tuple[str, int, str | None]] = {}
        for target, model in self.world.models.items():
            model.pass_time(now)
            if model.known:
                why = "suspended" if model.out_until else model.why
                expected[target] = (model.state(now), model.failures, why)
        found = self.world.store.snapshot()
        assert {target: (health.state, health.failures, health.reason) for target, health in found.items()} == expected
        assert all(health.wait_s is None or health.wait_s > 0 for health in found.values())


def check(make: Any, examples: int, steps: int = 50) -> None:
    """Run the machine on stores of one kind."""

    class Machine(HealthMachine):
        make_world = staticmethod(make)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


def in_memory() -> World:
    """A world whose store is memory."""
    world = World(MemoryHealth(lambda: world.now))
    return world


def test_memory_follows_the_model() -> None:
    """A hundred and fifty histories of fifty steps."""
    check(in_memory, 150)


def test_a_file_follows_the_model(tmp_path: Path) -> None:
    """The same rules wherever marks are kept."""
    count = 0

    def make() -> World:
        nonlocal count
        count += 1
        store = FileHealth(tmp_path / f"{count % 8}" / f"{count}", clock=lambda: world.now, rest_clock=time.monotonic)
        world = World(store)
        stores.append(store)
        return world

    stores: list[FileHealth] = []
    check(make, 30, 30)
    assert {store.problem for store in stores} == {""}
    for store in stores:
        store.close()


def test_redis_follows_the_model(tmp_path: Path) -> None:
    """A real Redis has the rules of every place for marks."""
    server = make_redis(tmp_path)
    try:
        check_shared(server.url)
    finally:
        server.stop()


def test_postgres_follows_the_model() -> None:
    """A real Postgres has the rules of every place for marks."""
    server = make_postgres()
    try:
        check_shared(server.url)
    finally:
        server.remove()


def check_shared(url: str) -> None:
    """Forty histories of thirty steps in the store at an address."""
    from interlingua.routing.link import Link, open_link
    from interlingua.routing.shared_health import SharedHealth

    links: list[Link] = []

    def make() -> World:
        link = open_link(f"{url}&prefix={len(links)}:", clock=time.monotonic)
        links.append(link)
        world = World(SharedHealth(link, clock=lambda: world.now))
        return world

    try:
        check(make, 40, 30)
        assert {link.problem for link in links} == {""}
    finally:
        for link in links:
            link.close()
