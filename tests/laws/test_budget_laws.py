"""Keys let in what a simple model says: never beyond a limit, in any minute, day or month."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

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

from interlingua.gateway.keys.budget import LEASE_S, Account, MeteredCall, Refusal, Used, reset_s, used_of
from interlingua.gateway.keys.operations import Enter, Leave, step
from interlingua.gateway.keys.terms import Budget, Period, Terms, Unit
from interlingua.wire.json import decode, encode

BEFORE_MIDNIGHT = datetime(2026, 11, 30, 23, 58, 30, tzinfo=UTC).timestamp()
PERIODS: tuple[Period, ...] = ("day", "month", "total")
UNITS: tuple[Unit, ...] = ("tokens", "usd")
TERMS = st.builds(
    Terms,
    rpm=st.none() | st.integers(1, 5),
    tpm=st.none() | st.sampled_from([10, 50, 100, 200]),
    concurrency=st.none() | st.integers(1, 3),
    budgets=st.lists(
        st.builds(Budget, amount=st.integers(20, 2_000), unit=st.sampled_from(UNITS), period=st.sampled_from(PERIODS)),
        max_size=2,
    ).map(tuple),
)
AMOUNTS = st.sampled_from([0, 1, 5, 10, 30, 90, 150, 400])
SECONDS = st.sampled_from([0.0, 0.5, 1.0, 29.0, 30.0, 59.5, 60.0, 61.0, 600.0, 86_400.0, 40 * 86_400.0])


@dataclass
class Made:
    """A call that was let in, as a simple model keeps it."""

    call: MeteredCall
    charged: dict[str, int]
    used: Used | None = None
    is_held: bool = True


@dataclass
class Owner:
    """A key or a team: what it may use, and all calls that it ever made."""

    terms: Terms
    calls: list[Made] = field(default_factory=list[Made])


def day_of(at_s: float) -> str:
    """The day of a time."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d")


class Keys(RuleBasedStateMachine):
    """A key and its team, beside a list of everything that ever happened."""

    def __init__(self) -> None:
        """Nothing was used."""
        super().__init__()
        self.now_s = BEFORE_MIDNIGHT
        self.accounts: dict[str, Account] = {}
        self.owners: dict[str, Owner] = {}
        self.open: list[Made] = []
        self.count = 0

    @initialize(key=TERMS, team=TERMS)
    def begin(self, key: Terms, team: Terms) -> None:
        """A key with its team."""
        self.owners = {"key:a": Owner(key), "team:t": Owner(team)}

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Time passes; reservations whose lease is over are charged as they were made."""
        self.now_s += seconds

    @rule(tokens=AMOUNTS, nano_usd=AMOUNTS)
    def come(self, tokens: int, nano_usd: int) -> None:
        """A call comes; it enters exactly if the model has room for it everywhere."""
        self.count += 1
        call = MeteredCall(str(self.count), "h", self.now_s, tokens, nano_usd)
        terms = tuple((name, owner.terms) for name, owner in self.owners.items())
        before = dict(self.accounts)
        changed, refusal = step(self.accounts, Enter(call, terms))
        self.accounts |= {name: decode(encode(account), Account) for name, account in changed.items()}
        blocked = [name for name, owner in self.owners.items() if self._blocks(owner, call)]
        if not blocked:
            assert refusal is None
            charged = {name: self._charge(owner.terms, tokens) for name, owner in self.owners.items()}
            made = Made(call, charged)
            for owner in self.owners.values():
                owner.calls.append(made)
            self.open.append(made)
            return
        assert refusal is not None
        assert refusal.account == blocked[0]
        assert self.accounts == before
        self._check_wait(refusal, call)

    @precondition(lambda self: self.open)
    @rule(place=st.integers(0, 100), tokens=AMOUNTS, nano_usd=AMOUNTS)
    def end(self, place: int, tokens: int, nano_usd: int) -> None:
        """A call ends, also long after its lease."""
        made = self.open.pop(place % len(self.open))
        made.used = Used(tokens, nano_usd)
        changed, _ = step(self.accounts, Leave(made.call, tuple(self.owners), made.used, self.now_s))
        self.accounts |= changed

    @invariant()
    def budgets_are_what_was_used(self) -> None:
        """The sums of an account are those of the list, to the last token."""
        for name, owner in self.owners.items():
            account = self.accounts.get(name, Account())
            for budget in owner.terms.budgets:
                used, reserved = self._sums(owner, budget)
                assert sum(used_of(account, budget, self.now_s)) == used + reserved, (name, budget)

    @invariant()
    def little_is_kept(self) -> None:
        """What has passed is forgotten with the next call."""
        assert all(len(account.granted) <= 130 for account in self.accounts.values())

    def _blocks(self, owner: Owner, call: MeteredCall) -> bool:
        terms, recent = owner.terms, [made for made in owner.calls if made.call.at_s > self.now_s - 60]
        name = next(name for name, each in self.owners.items() if each is owner)
        if terms.rpm is not None and len(recent) + 1 > terms.rpm:
            return True
        if terms.tpm is not None:
            before = sum(self._counted(made, name) for made in recent)
            if before + min(call.tokens, terms.tpm) > terms.tpm:
                return True
        if (
            terms.concurrency is not None
            and len([made for made in owner.calls if self._holds(made)]) >= terms.concurrency
        ):
            return True
        for budget in terms.budgets:
            used, reserved = self._sums(owner, budget)
            wanted = call.nano_usd if budget.unit == "usd" else call.tokens
            if used + reserved + wanted > budget.amount or used + reserved >= budget.amount:
                return True
        return False

    def _counted(self, made: Made, name: str) -> int:
        """What a call of this minute counts: its charge until it ends, then what it used."""
        return made.charged[name] if made.used is None else made.used.tokens

    def _holds(self, made: Made) -> bool:
        return made.used is None and made.call.at_s + LEASE_S > self.now_s

    def _charge(self, terms: Terms, tokens: int) -> int:
        return tokens if terms.tpm is None else min(tokens, terms.tpm)

    def _sums(self, owner: Owner, budget: Budget) -> tuple[int, int]:
        used = reserved = 0
        for made in owner.calls:
            if not self._is_now(made.call.at_s, budget.period):
                continue
            if made.used is None:
                reserved += made.call.nano_usd if budget.unit == "usd" else made.call.tokens
            else:
                used += made.used.nano_usd if budget.unit == "usd" else made.used.tokens
        return used, reserved

    def _is_now(self, at_s: float, period: Period) -> bool:
        length = {"day": 10, "month": 7, "total": 0}[period]
        return day_of(at_s)[:length] == day_of(self.now_s)[:length]

    def _check_wait(self, refusal: Refusal, call: MeteredCall) -> None:
        """A wait that is told is never longer than a minute, or than until the budget begins anew."""
        if refusal.budget is not None:
            anew_s = reset_s(refusal.budget, self.now_s)
            assert refusal.wait_s in (None, anew_s)
        elif refusal.wait_s is not None:
            assert 0 < refusal.wait_s <= 60
        assert refusal.left >= 0


def test_keys_let_in_what_the_model_says() -> None:
    """Thousands of histories over midnight and the end of a month, with lost processes and late settlements."""
    run_state_machine_as_test(
        Keys,
        settings=settings(
            max_examples=250, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )
