"""Limits let through what a simple model says: never more in any window, in order, nothing lost, nobody starved."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from interlingua.errors import RateLimitError
from interlingua.registry.allowance import Allowance
from interlingua.routing.limits import Gate, Ticket, Waiter

LIMITS = st.builds(
    Allowance,
    concurrency=st.none() | st.integers(1, 3),
    rpm=st.none() | st.integers(1, 5),
    tpm=st.none() | st.integers(10, 100),
)
TOKENS = st.sampled_from([0, 1, 5, 10, 30, 90, 150])
SECONDS = st.sampled_from([0.0, 1.0, 5.0, 10.0, 29.0, 30.0, 59.0, 60.0, 61.0])


@dataclass
class Granted:
    """A call that was let through, as long as it counts."""

    at: float
    requests: int
    tokens: int


@dataclass
class Inside:
    """A call under way."""

    ticket: Ticket
    granted: Granted


@dataclass
class Model:
    """What counts, as plainly as can be: every call by itself, and nothing forgotten."""

    allowed: Allowance
    log: list[Granted] = field(default_factory=list[Granted])
    inside: list[Inside] = field(default_factory=list[Inside])

    def cost(self, tokens: int) -> int:
        """What a call is charged."""
        return tokens if self.allowed.tpm is None else min(tokens, self.allowed.tpm)

    def fits(self, tokens: int, now: float) -> bool:
        """Whether the last minute has room, and a place is free."""
        counted = [grant for grant in self.log if grant.at > now - 60.0]
        requests = sum(grant.requests for grant in counted) + 1
        charged = sum(grant.tokens for grant in counted) + self.cost(tokens)
        return (
            (self.allowed.concurrency is None or len(self.inside) < self.allowed.concurrency)
            and (self.allowed.rpm is None or requests <= self.allowed.rpm)
            and (self.allowed.tpm is None or charged <= self.allowed.tpm)
        )

    def ready(self, tokens: int, now: float) -> float | None:
        """When a call would fit if nobody left: tried at every moment at which something is a minute old."""
        moments = sorted({now, *[grant.at + 60.0 for grant in self.log if grant.at + 60.0 > now]})
        return next((moment for moment in moments if self.fits(tokens, moment)), None)


class LimitsMachine(RuleBasedStateMachine):
    """Calls come, wait, give up, leave and are lost, and time passes."""

    @initialize(allowed=LIMITS)
    def begin(self, allowed: Allowance) -> None:
        """A gate that nobody has gone through."""
        self.now = 1_000.0
        self.gate = Gate("*", allowed, lambda: self.now)
        self.model = Model(allowed)
        self.line: list[Waiter] = []
        self.woken: set[int] = set()

    def admit(self, ticket: Ticket, tokens: int) -> None:
        """Write down who was let through."""
        assert self.model.fits(tokens, self.now)
        counts = self.model.allowed.rpm is not None or self.model.allowed.tpm is not None
        granted = Granted(self.now, int(counts), self.model.cost(tokens) if counts else 0)
        self.model.log.append(granted)
        self.model.inside.append(Inside(ticket, granted))
        assert ticket.tokens == self.model.cost(tokens)

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds

    @rule(tokens=TOKENS, within=st.sampled_from([0.5, 10.0, 60.0, 600.0]))
    def come(self, tokens: int, within: float) -> None:
        """Let through at once if nobody waits and there is room; else in the line, or told that it takes too long."""
        fits = not self.line and self.model.fits(tokens, self.now)
        assert self.gate.would_wait(tokens) is not fits
        ticket = self.gate.try_now(tokens)
        assert (ticket is not None) is fits
        if ticket is not None:
            self.admit(ticket, tokens)
            return
        waiter = Waiter("a/b", tokens, self.now + within, lambda: self.woken.add(id(waiter)))
        refusal = self.joined(waiter)
        if refusal is None:
            self.line.append(waiter)
        else:
            assert (refusal.retry_after_s or 0) > within
            assert self.line or not self.model.fits(tokens, self.now + within)

    def joined(self, waiter: Waiter) -> RateLimitError | None:
        """Nothing, or why there was no sense in waiting."""
        try:
            self.gate.join(waiter)
        except RateLimitError as refusal:
            return refusal
        return None

    @precondition(lambda self: self.line)
    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        """Whoever in the line looks whether it is their turn: only the first one can be let through."""
        self.look(self.line[data.draw(st.integers(0, len(self.line) - 1))])

    def look(self, waiter: Waiter) -> None:
        """One look of one waiter."""
        first = self.line[0] is waiter
        fits = first and self.model.fits(waiter.tokens, self.now)
        try:
            turn = self.gate.turn(waiter)
        except RateLimitError:
            assert self.now >= waiter.deadline_s
            assert not fits
            self.line.remove(waiter)
            self.check_woken(first)
            return
        if isinstance(turn, Ticket):
            assert fits
            self.line.remove(waiter)
            self.admit(turn, waiter.tokens)
            self.check_woken(True)
            return
        assert not fits
        left = waiter.deadline_s - self.now
        ready = self.model.ready(waiter.tokens, self.now)
        if not first:
            assert turn == left
        elif self.model.allowed.concurrency is not None and len(self.model.inside) >= self.model.allowed.concurrency:
            assert turn == min(left, 5.0)
        else:
            assert ready is not None
            assert turn == min(left, ready - self.now)

    def check_woken(self, expected: bool) -> None:
        """Whoever is first now has been woken."""
        assert not expected or not self.line or id(self.line[0]) in self.woken

    @precondition(lambda self: self.line)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        """A waiter goes away: cancelled, interrupted."""
        place = data.draw(st.integers(0, len(self.line) - 1))
        self.gate.go(self.line.pop(place))
        self.check_woken(place == 0)

    @precondition(lambda self: self.model.inside)
    @rule(data=st.data(), used=st.none() | TOKENS)
    def leave(self, data: st.DataObject, used: int | None) -> None:
        """A call ends, with what it used."""
        gone = self.model.inside.pop(data.draw(st.integers(0, len(self.model.inside) - 1)))
        gone.ticket.leave(used)
        gone.ticket.leave(7)
        if used is not None and self.model.allowed.tpm is not None:
            if gone.granted.at > self.now - 60.0:
                gone.granted.tokens = used
            elif used > gone.granted.tokens:
                self.model.log.append(Granted(self.now, 0, used - gone.granted.tokens))
        self.check_woken(True)

    @precondition(lambda self: self.model.inside)
    @rule()
    def lose(self) -> None:
        """A call is dropped without an end."""
        self.model.inside.pop(0)
        gc.collect(0)
        self.check_woken(True)

    @rule(allowed=LIMITS)
    def change(self, allowed: Allowance) -> None:
        """What is allowed changes: what was not counted before is not counted now."""
        if (allowed.rpm is None and allowed.tpm is None) == (
            self.model.allowed.rpm is None and self.model.allowed.tpm is None
        ):
            self.gate.change(allowed)
            self.model.allowed = allowed
            self.check_woken(True)

    @invariant()
    def the_load_is_the_model(self) -> None:
        """What people see is what counts."""
        if not hasattr(self, "gate"):
            return
        load = self.gate.load()
        counted = [grant for grant in self.model.log if grant.at > self.now - 60.0]
        assert load.running == len(self.model.inside)
        assert load.waiting == len(self.line)
        assert load.requests == sum(grant.requests for grant in counted)
        assert load.tokens == sum(grant.tokens for grant in counted)
        assert list(self.gate.line) == self.line

    def teardown(self) -> None:
        """When everybody leaves and time passes, whoever still waits gets in, in order."""
        if not hasattr(self, "gate"):
            return
        while self.model.inside:
            self.model.inside.pop().ticket.leave(0)
        self.model.log.clear()
        for waiter in list(self.line):
            self.now += 61.0
            waiter.deadline_s = self.now + 1.0
            turn = self.gate.turn(waiter)
            assert isinstance(turn, Ticket)
            turn.leave(0)
        assert (self.gate.load().running, len(self.gate.line)) == (0, 0)


def test_a_gate_follows_the_model() -> None:
    """Two hundred histories of fifty steps."""
    run_state_machine_as_test(
        LimitsMachine,
        settings=settings(
            max_examples=200, stateful_step_count=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )
