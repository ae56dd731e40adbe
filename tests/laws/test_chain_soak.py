"""Ten thousand requests through chains of targets that fail at random: none lost, none answered twice, nothing leaked.

Time is a number here: the steps of each call are driven by hand, a pause moves the clock, an hour passes in no time.
What health must be is said by a reference model of a few lines, written from the requirement and not from the code.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator
from typing import Any, NamedTuple

import msgspec
import pytest

import interlingua as il
from interlingua.client.call.core import Outcome, call_steps, stream_steps
from interlingua.client.call.effect import Fetch, Open, Read, Rest, Sleep
from interlingua.client.call.values import Call
from interlingua.client.face import call_of
from interlingua.client.faults import error_body
from interlingua.dialects._contract import DecodedRequest
from interlingua.errors import Error
from interlingua.routing.health import MemoryHealth
from interlingua.transport.base import Timeouts, fetch_of
from interlingua.transport.fault import Fault, FaultPlan, FaultTransport, parse_fault
from interlingua.transport.inprocess import InProcessTransport
from interlingua.wire.http import HttpRequest
from tests.support.fault_world import SCHEMES, spec_of, variable

REQUESTS = 10_000
TARGETS = [spec_of(dialect, second=second) for dialect in SCHEMES for second in (False, True)]
MOODS: dict[str, tuple[str, ...]] = {
    "well": ("ok",) * 40 + ("reset", "drip:9", "500"),
    "shaky": ("ok", "ok", "500", "reset", "cut:0", "cut:300", "cut:900", "stall:400", "truncate:500", "garbage:300"),
    "busy": ("429", "429:1", "429:20", "429:4000", "503", "529", "ok"),
    "down": ("refuse", "stall", "502", "reset"),
    "locked": ("401",),
    "broke": ("402",),
    "strange": ("404", "413", "ok"),
    "picky": ("400", "ok"),
}
"""What a target does in a phase of its life."""
STATUS_FAULTS = {401: "bench", 402: "bench", 400: "", 404: "", 413: ""}
"""What a status says against its target: everything else is transient."""


class Clock:
    """A time that moves when somebody says so."""

    def __init__(self) -> None:
        """Some time."""
        self.now_s = 1_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s


class Visit(NamedTuple):
    """One opening of an exchange."""

    target: str
    at_s: float
    fault: Fault

    @property
    def says(self) -> str:
        """What its failure says against the target."""
        return STATUS_FAULTS.get(self.fault.amount, "transient") if self.fault.kind == "status" else "transient"


class Moods(FaultPlan):
    """Faults by the mood that a target is in; a mood lasts for a while."""

    def __init__(self, chance: random.Random, clock: Clock) -> None:
        """Everybody is well."""
        super().__init__({}, error_body=error_body)
        self._chance = chance
        self._clock = clock
        self._moods: dict[str, tuple[str, int]] = dict.fromkeys(TARGETS, ("well", 50))
        self.visits: list[Visit] = []

    def next(self, request: HttpRequest) -> Fault:
        """The fault of this call."""
        target = request.target or ""
        mood, left = self._moods[target]
        if not left:
            mood, left = self._chance.choice(("well", "well", "shaky", *MOODS)), self._chance.randrange(1, 60)
        self._moods[target] = mood, left - 1
        fault = parse_fault(self._chance.choice(MOODS[mood]))
        self.visits.append(Visit(target, self._clock(), fault))
        return fault


class Known:
    """What the requirement says is known of one target."""

    def __init__(self) -> None:
        """Nothing."""
        self.failures = 0
        self.until_s: float | None = None
        self.seen_s = 0.0

    def forget(self, now_s: float) -> None:
        """What nobody asked about for an hour is forgotten."""
        if now_s >= max(self.seen_s, self.until_s or 0.0) + 3600:
            self.clear()

    def clear(self) -> None:
        """It answered."""
        self.failures, self.until_s = 0, None

    def is_benched(self, now_s: float) -> bool:
        """Whether it is not asked."""
        return self.until_s is not None and now_s < self.until_s

    def failed(self, says: str, retry_after_s: float | None, now_s: float) -> None:
        """It failed: two in a row bench it, a refused key at once, a Retry-After for as long as it asks."""
        if not says:
            return
        self.seen_s = now_s
        wait_s = 300.0 if says == "bench" else 0.0
        if says == "transient":
            self.failures = max(self.failures + 1, 0 if self.until_s is None else 2)
            wait_s = 0.0 if self.failures < 2 else min(5.0 * 2.0 ** min(self.failures - 2, 30), 300.0)
            if retry_after_s is not None and retry_after_s > wait_s:
                wait_s = min(retry_after_s, 3600.0)
        if wait_s:
            self.until_s = max(self.until_s or 0.0, now_s + wait_s)


class World:
    """Targets, their moods, and everything that is open."""

    def __init__(self, seed: int) -> None:
        """Nothing was asked."""
        self.chance = random.Random(seed)
        self.clock = Clock()
        self.health = MemoryHealth(self.clock)
        self.moods = Moods(self.chance, self.clock)
        self.answered = Counter[str]()
        self.open: set[object] = set()
        self.known = {target: Known() for target in TARGETS}
        self._transport = FaultTransport(InProcessTransport(self._echo), self.moods)

    def _echo(self, decoded: DecodedRequest, request: HttpRequest) -> il.Response[Any]:
        """The question itself, so that an answer belongs to one question alone."""
        asked = decoded.request.messages[-1].text
        self.answered[asked] += 1
        return il.Response(parts=(il.TextPart(f"{asked} it is, and nothing else."),), finish_reason="stop")

    def drive(self, steps: Generator[Any, Any, Any], events: list[Any], leave_after: int | None) -> Any:
        """What steps return, with time that costs nothing; events go to a list, and after so many they are left."""
        reply: Any = None
        result: Any
        try:
            effect = next(steps)
            while True:
                try:
                    match effect:
                        case Open() | Fetch():
                            self._shut(reply)
                            result, reply = self._exchanged(effect)
                        case Read() if leave_after is not None and len(events) > leave_after:
                            steps.close()
                            return None
                        case Read(needed=False):
                            result = b""
                        case Read() | Rest():
                            result = reply.read() if type(effect) is Read else b"".join(iter(reply.read, b""))
                        case Sleep(seconds=seconds):
                            self._shut(reply)
                            self.clock.now_s += seconds
                            result = None
                        case _:
                            assert isinstance(effect, list), effect
                            events += effect
                            result = None
                except Error as problem:
                    effect = steps.throw(problem)
                else:
                    effect = steps.send(result)
        except StopIteration as done:
            return done.value
        finally:
            self._shut(reply)

    def _exchanged(self, effect: Open | Fetch) -> tuple[Any, Any]:
        """What an exchange gives, and what is open after it."""
        if isinstance(effect, Fetch):
            return fetch_of(self._transport)(effect.request, effect.timeouts), None
        reply = self._transport.open(effect.request, Timeouts())
        self.open.add(reply)
        return reply, reply

    def _shut(self, reply: Any) -> None:
        if reply is not None:
            reply.close()
            self.open.discard(reply)

    def live(self) -> None:
        """Some time passes; now and then a lot."""
        self.clock.now_s += self.chance.choice((0.01, 0.1, 0.4, 2.0, 2.0, 30.0, 0.05, 0.2))
        if self.chance.random() < 0.002:
            self.clock.now_s += 4_000


def call_to(world: World, chain: str, prompt: str) -> Call:
    """A call in this world."""
    made = call_of(il.model(chain), prompt, None, {})
    return msgspec.structs.replace(made, clock=world.clock, health=world.health, chance=world.chance.random)


def account(world: World, begun_s: float, chain: list[str], ending: str) -> None:
    """Tell the reference model what became of one call; who is benched is asked only where nobody else is left."""
    visits = world.moods.visits
    nobody_else = all(world.known[target].is_benched(begun_s) for target in chain)
    for place, visit in enumerate(visits):
        known = world.known[visit.target]
        known.forget(visit.at_s)
        is_again = place > 0 and visits[place - 1].target == visit.target
        assert not known.is_benched(visit.at_s) or is_again or nobody_else, visit
        if place < len(visits) - 1 or ending == "failed":
            known.failed(visit.says, visit.fault.retry_after_s, visit.at_s)
            continue
        if ending == "whole" or known.until_s is not None:  # one word proves that it is back
            known.clear()
        if ending == "broken":
            known.failed("transient", None, visit.at_s)


def one(world: World, number: int) -> str:
    """One request, and how it ended: `whole`, `failed` without a word, `broken` in the middle, or `left`."""
    world.live()
    prompt = f"Request-{number}-of-many"
    chain = world.chance.sample(TARGETS, world.chance.choice((1, 2, 2, 3, 4)))
    is_streamed = world.chance.random() < 0.5
    leave_after = world.chance.randrange(4) if is_streamed and world.chance.random() < 0.1 else None
    made, begun_s, outcome = call_to(world, ",".join(chain), prompt), world.clock(), Outcome()
    world.moods.visits.clear()
    events: list[Any] = []
    error: Error | None = None
    reply: Any = None
    try:
        reply = world.drive(stream_steps(made, outcome) if is_streamed else call_steps(made), events, leave_after)
    except Error as problem:
        error = problem
    reply = outcome.response if is_streamed else reply
    attempts = error.attempts if error is not None else () if reply is None else reply.attempts
    ending = "whole" if reply is not None else "left" if error is None else "broken" if events else "failed"

    text = "".join(event.text for event in events if isinstance(event, il.TextDelta))
    wanted = f"{prompt} it is, and nothing else."
    assert wanted.startswith(text)
    assert reply is None or (reply.text == wanted and text in (wanted, "" if not is_streamed else wanted))
    assert not world.open
    asked = [visit.target for visit in world.moods.visits]
    assert ending == "left" or asked == [attempt.model for attempt in attempts if attempt.outcome != "skipped"]
    assert [attempt.outcome for attempt in attempts].count("served") == (ending in ("whole", "broken"))
    assert set(asked) <= set(chain)
    account(world, begun_s, chain, ending)
    compare(world, chain)
    return ending


def compare(world: World, targets: list[str]) -> None:
    """What health holds against targets is what the reference model says."""
    snapshot, now_s = world.health.snapshot(), world.clock()
    for target in targets:
        known = world.known[target]
        known.forget(now_s)
        found = snapshot.get(target)
        left_s = None if known.until_s is None or known.until_s <= now_s else known.until_s - now_s
        assert (0 if found is None else found.failures) == known.failures, (target, found, vars(known), now_s)
        assert (None if found is None else found.wait_s) == pytest.approx(left_s), (target, found, vars(known), now_s)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Twelve targets of six dialects."""
    for dialect in SCHEMES:
        monkeypatch.setenv(*variable(dialect))
        monkeypatch.setenv(*variable(dialect, second=True))
    return World(seed=20261122)


def test_ten_thousand_requests_through_chains_that_fail(world: World) -> None:
    """Each is answered once or ends in an error; nothing stays open; health is where the reference model says."""
    ends = Counter(one(world, number) for number in range(REQUESTS))
    assert sum(ends.values()) == REQUESTS
    assert all(ends[ending] >= 100 for ending in ("whole", "failed", "broken", "left")), ends
    compare(world, TARGETS)
