"""Every dialect under every fault, whole and streamed, alone and in a chain, blocking and awaited: the exact outcome.

The model of what must happen is small, and knows nothing of the client: what an error is called comes from the fault;
whether a stream had begun, and what had come, from the dialect's decoder fed with the bytes that arrived.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Generator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, cast

import pytest

import interlingua as il
from interlingua.client.state import health_store
from interlingua.errors import Error
from interlingua.testing import faults
from interlingua.transport.fault import FaultPlan
from interlingua.transport.override import overriding
from tests.support.client import AWAITED, BLOCKING, Face
from tests.support.fault_world import (
    TEXT,
    Counted,
    Expected,
    World,
    alone,
    counting,
    spec_of,
    stream_expected,
    variable,
    whole_expected,
)
from tests.support.imitated import IMITATED

AT_ONCE: dict[str, tuple[str, str]] = {
    "refuse": ("APIConnectionError", "again"),
    "reset": ("APIConnectionError", "again"),
    "stall": ("APITimeoutError", "again"),
    "400": ("BadRequestError", "stop"),
    "401": ("AuthenticationError", "next"),
    "402": ("BillingError", "next"),
    "403": ("PermissionDeniedError", "next"),
    "404": ("NotFoundError", "next"),
    "405": ("BadRequestError", "stop"),
    "408": ("APITimeoutError", "again"),
    "409": ("UpstreamError", "again"),
    "413": ("RequestTooLargeError", "next"),
    "418": ("BadRequestError", "stop"),
    "422": ("BadRequestError", "stop"),
    "429": ("RateLimitError", "again"),
    "429:0": ("RateLimitError", "again"),
    "429:3000": ("RateLimitError", "next"),
    "500": ("InternalServerError", "again"),
    "502": ("InternalServerError", "again"),
    "503": ("OverloadedError", "again"),
    "529": ("OverloadedError", "again"),
}
"""Fault before the body -> the class of its error, and what follows: the same target again, the next one, or none."""
NAMES = list(IMITATED)
BENCHED = {"AuthenticationError": "auth", "BillingError": "billing", "PermissionDeniedError": "auth"}
IN_THE_BODY = ("cut", "stall", "truncate", "garbage")


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whether to stream."""
    return request.param


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Two targets of each dialect."""
    for dialect in IMITATED:
        monkeypatch.setenv(*variable(dialect))
        monkeypatch.setenv(*variable(dialect, second=True))
    return World()


@contextmanager
def meeting(world: World, fault: str) -> Generator[tuple[Counted, FaultPlan]]:
    """The first targets meet a fault each time; what is opened underneath is counted."""
    with ExitStack() as stack:
        stack.enter_context(overriding(world.transports()))
        count = stack.enter_context(counting())
        plan = stack.enter_context(faults({"my-*": fault}))
        world.requests.clear()
        yield count, plan


class Outcome(NamedTuple):
    """What came of one call."""

    text: str | None
    error: Error | None
    attempts: list[tuple[str, str]]


def ask(face: Face, chain: str, *, streamed: bool) -> Outcome:
    """One call, and what it came to."""
    model = face.model(chain, retries=1)
    seen: list[str] = []

    def text() -> Any:
        if not streamed:
            return _settled(face, lambda: model.generate("Count."))
        return _settled(face, lambda: _read(model.stream("Count."), seen, awaited=face.awaited))

    try:
        reply = text()
    except Error as error:
        partial = error.partial.text if isinstance(error, il.IncompleteStreamError) and error.partial else None
        came = "".join(seen)
        assert partial is None or partial == came
        return Outcome(came, error, _tries(error.attempts))
    assert not streamed or "".join(seen) == reply.text
    return Outcome(reply.text, None, _tries(reply.attempts))


def _settled(face: Face, make: Any) -> Any:
    return asyncio.run(alone(cast("Coroutine[Any, Any, Any]", make()))) if face.awaited else make()


def _read(stream: Any, seen: list[str], *, awaited: bool) -> Any:
    """Reads every event, as a caller does who shows what comes."""

    async def reading() -> Any:
        async for event in stream:
            _note(event, seen)
        return await stream.finish()

    if awaited:
        return reading()
    for event in stream:
        _note(event, seen)
    return stream.finish()


def _note(event: Any, seen: list[str]) -> None:
    if isinstance(event, il.TextDelta):
        seen.append(event.text)


def _tries(attempts: tuple[Any, ...]) -> list[tuple[str, str]]:
    return [(attempt.model.partition("-")[0], attempt.outcome) for attempt in attempts]


def bytes_of(world: World, dialect: str, *, streamed: bool) -> bytes:
    """What the upstream of a dialect answers, all of it."""
    with overriding(world.transports()):
        assert ask(BLOCKING, spec_of(dialect), streamed=streamed).text == TEXT
    return b"".join(world.line(dialect, streamed=streamed).pieces)


def check(world: World, face: Face, dialect: str, fault: str, expected: Expected, *, streamed: bool) -> None:
    """The call alone, and in a chain in front of another dialect."""
    elsewhere = NAMES[(NAMES.index(dialect) + 1) % len(NAMES)]
    mine, other = spec_of(dialect), spec_of(elsewhere, second=True)
    where = f"{dialect} {fault} {expected}"
    tries = 2 if expected.follows == "again" else 1
    outcome = "served" if expected.begun or expected.error is None else "failed"
    failures = [("my", outcome)] * tries

    with meeting(world, fault) as (count, plan):
        alone_ = ask(face, mine, streamed=streamed)
        assert (type(alone_.error).__name__ if alone_.error else None) == expected.error, where
        assert alone_.attempts == failures, where
        assert alone_.text == (TEXT if expected.error is None else expected.text), where
        assert len(plan.injected) == tries, where
        assert count.open == 0, where
        _check_health(mine, expected)

    with meeting(world, fault) as (count, plan):
        chained = ask(face, f"{mine},{other}", streamed=streamed)
        ends = expected.error is None or expected.begun or expected.follows == "stop"
        assert chained.attempts == (failures if ends else [*failures, ("other", "served")]), where
        assert chained.text == (expected.text if ends and expected.error else TEXT), where
        assert (type(chained.error).__name__ if chained.error else None) == (expected.error if ends else None), where
        assert world.asked().count(other) == (0 if ends else 1), where
        assert count.open == 0, where


def _check_health(target: str, expected: Expected) -> None:
    """One failure is remembered, a second one benches; a fault of the request is nobody's."""
    known = health_store().snapshot().get(target)
    if expected.error is None or (expected.follows == "stop" and not expected.begun):
        assert known is None
    elif expected.error in BENCHED:
        assert known is not None
        assert (known.state, known.reason) == ("benched", BENCHED[expected.error])
    elif expected.error in ("NotFoundError", "RequestTooLargeError"):
        assert known is None
    else:
        assert known is not None
        tries = 2 if expected.follows == "again" else 1
        assert known.failures == tries
        assert (known.state == "benched") is (tries == 2 or known.reason == "retry_after")


@pytest.mark.parametrize("dialect", IMITATED)
def test_faults_before_the_body(world: World, face: Face, dialect: str, streamed: bool) -> None:
    """No connection, no answer, every status: its class, how often it is asked, and who serves in the end."""
    for fault, (error, follows) in AT_ONCE.items():
        check(world, face, dialect, fault, Expected(error, follows), streamed=streamed)


@pytest.mark.parametrize("dialect", IMITATED)
@pytest.mark.parametrize("kind", IN_THE_BODY)
def test_faults_in_the_body(world: World, face: Face, dialect: str, streamed: bool, kind: str) -> None:
    """At its first and last bytes and at seeded places: never a clean end of half an answer, never a second asking."""
    body = bytes_of(world, dialect, streamed=streamed)
    chance = random.Random(f"{dialect} {kind}")
    places = {0, 1, 2, len(body) - 2, len(body) - 1, len(body), *chance.sample(range(len(body)), 10)}
    for place in sorted(places):
        expected = stream_expected(dialect, kind, place, body) if streamed else whole_expected(kind, place, len(body))
        check(world, face, dialect, f"{kind}:{place}", expected, streamed=streamed)


@pytest.mark.parametrize("dialect", IMITATED)
def test_a_slow_drip_changes_nothing(world: World, face: Face, dialect: str, streamed: bool) -> None:
    """One byte at a time, or seven: the same answer, at the first try."""
    for size in (1, 7):
        check(world, face, dialect, f"drip:{size}", Expected(None), streamed=streamed)


@pytest.mark.parametrize("dialect", IMITATED)
def test_a_storm_passes(world: World, face: Face, dialect: str, streamed: bool) -> None:
    """Two 429 with their wait: the first is waited for, the second sends the chain on; alone, the third try serves."""
    mine, other = spec_of(dialect), spec_of(dialect, second=True)
    with meeting(world, "429:0*2"):
        outcome = ask(face, f"{mine},{other}", streamed=streamed)
        assert outcome.attempts == [("my", "failed"), ("my", "failed"), ("other", "served")]
    with meeting(world, "429:0*2"):
        model = face.model(mine, retries=2)
        reply = face.finish(model.stream("Count.")) if streamed else face.generate(model, "Count.")
        assert _tries(reply.attempts) == [("my", "failed"), ("my", "failed"), ("my", "served")]
        assert reply.text == TEXT
