"""An account that is changed in place is, after every step, the value that the transitions of `budget` make."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.gateway.keys.books import Books, Left
from interlingua.gateway.keys.budget import (
    EMPTY,
    Account,
    Call,
    Enter,
    Leave,
    Refusal,
    Used,
    charge_of,
    enter,
    lapse,
    step,
)
from interlingua.gateway.keys.running import Running
from interlingua.gateway.keys.terms import Terms
from tests.laws.test_budget_laws import AMOUNTS, TERMS

BEFORE_MIDNIGHT = datetime(2026, 11, 30, 23, 58, 30, tzinfo=UTC).timestamp()
SECONDS = st.sampled_from([0.0, 0.001, 0.4, 1.0, 29.0, 59.5, 61.0, -0.5, -70.0, 450.0, 900.0, 86_400.0, 40 * 86_400.0])
STEPS = st.lists(st.tuples(SECONDS, st.booleans(), st.integers(0, 100), AMOUNTS, AMOUNTS), max_size=60)


@given(key=TERMS, team=TERMS, steps=STEPS, looks=st.sets(st.integers(0, 60)))
@settings(deadline=None, max_examples=300)
def test_what_is_changed_in_place_is_what_the_transitions_make(
    key: Terms, team: Terms, steps: list[tuple[float, bool, int, int, int]], looks: set[int]
) -> None:
    """Over midnight, the end of a month, leases that are over, late settlements and a clock that is put back.

    What is surely left says yes only where the transitions do, whenever it was looked at last, and the lines make the
    same accounts in the process that wrote them and in one that reads them.
    """
    terms, now_s = (("key:a", key), ("team:t", team)), BEFORE_MIDNIGHT
    values: dict[str, Account] = {}
    books, others, names = Books({}), Books({}), ("key:a", "team:t")
    under_way: list[Call] = []
    for number, (seconds, comes, place, tokens, nano) in enumerate(steps):
        now_s += seconds
        if comes or not under_way:
            call = Call(str(number), "h", now_s, tokens, nano)
            changed, refusal = step(values, Enter(call, terms))
            line = books.entered(call, terms)
            assert refusal == (line if isinstance(line, Refusal) else None)
            if not isinstance(line, Refusal):
                under_way.append(call)
                books.enter(line)
                others.write(line)
        else:
            call = under_way.pop(place % len(under_way))
            changed, _ = step(values, Leave(call, names, Used(tokens, nano), now_s))
            left = Left(call, names, Used(tokens, nano), now_s)
            books.leave(left)
            others.write(left)
        values |= changed
        if number in looks:
            assert books.values(names) == values
    assert books.values(names) == others.values(names) == values


@given(terms=TERMS, steps=st.lists(st.tuples(st.booleans(), st.integers(0, 9), AMOUNTS, AMOUNTS), max_size=200))
@settings(deadline=None, max_examples=100)
def test_what_waits_to_be_done_lets_nothing_in_that_does_not_fit(
    terms: Terms, steps: list[tuple[bool, int, int, int]]
) -> None:
    """Hundreds of calls in one minute, many of which use more than they reserved: each decision is the transitions'."""
    values: dict[str, Account] = {}
    books, under_way = Books({}), list[Call]()
    for number, (comes, place, tokens, nano) in enumerate(steps):
        now_s = BEFORE_MIDNIGHT + number * 0.05
        if comes or not under_way:
            call = Call(str(number), "h", now_s, tokens, nano)
            changed, refusal = step(values, Enter(call, (("key:a", terms),)))
            line = books.entered(call, (("key:a", terms),))
            assert isinstance(line, Refusal) == (refusal is not None)
            if not isinstance(line, Refusal):
                under_way.append(call)
                books.enter(line)
        else:
            call = under_way.pop(place % len(under_way))
            changed, _ = step(values, Leave(call, ("key:a",), Used(tokens, nano), now_s))
            books.leave(Left(call, ("key:a",), Used(tokens, nano), now_s))
        values |= changed
    assert books.values(("key:a",)) == values


def test_hundreds_of_requests_a_minute_are_the_same() -> None:
    """Requests that are remembered together, and the sums of a minute that goes on."""
    terms, account, running = Terms(rpm=400, tpm=90_000), EMPTY, Running()
    for number in range(2_000):
        call = Call(str(number), "h", BEFORE_MIDNIGHT + number * 0.13, number % 300)
        entered = enter(account, terms, call)
        refusal = running.refusal(terms, call)
        assert (refusal is None) == isinstance(entered, Account)
        if isinstance(entered, Account):
            account = entered
            running.add(call, charge_of(terms, call), in_minute=True)
            if number % 3:
                used, now_s = Used(number % 250), call.at_s + 0.05
                account = step({"a": account}, Leave(call, ("a",), used, now_s))[0]["a"]
                running.leave(call, used, now_s)
        assert running.value() == account
    assert 60 < len(account.granted) < 130


def test_who_is_gone_is_charged_in_both() -> None:
    """The reservations of a holder that is gone are used up; those of the others stay."""
    running = Running()
    for number, holder in enumerate("aab"):
        running.add(Call(str(number), holder, BEFORE_MIDNIGHT, 10, 3), 10, in_minute=False)
    account = running.value()
    assert running.holders() == {"a", "b"}
    running.charge("a".__eq__, BEFORE_MIDNIGHT)
    assert running.value() == lapse(account, BEFORE_MIDNIGHT, is_gone="a".__eq__)
    assert running.value().spent.in_total == Used(20, 6)
