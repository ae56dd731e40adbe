"""The arithmetic of keys: exact at every edge, by an injected clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.gateway.keys.budget import (
    DAY_S,
    EMPTY,
    LEASE_S,
    SINGLE,
    Account,
    MeteredCall,
    Refusal,
    Tally,
    Used,
    left_of,
    reset_s,
    used_of,
)
from interlingua.gateway.keys.operations import Enter, Leave, names_of, step
from interlingua.gateway.keys.terms import NO_TERMS, Budget, Terms, read_budget
from interlingua.wire.json import decode, encode

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
DAY = read_budget("1000 tokens/day")
MONTH = read_budget("1000 tokens/month")
TOTAL = read_budget("1000 tokens")


def call(name: str = "a", at_s: float = NOON, tokens: int = 0, nano_usd: int = 0, holder: str = "h") -> MeteredCall:
    """A call."""
    return MeteredCall(name, holder, at_s, tokens, nano_usd)


def enter(account: Account, terms: Terms, one: MeteredCall) -> Account | Refusal:
    """The account with a reservation, or why it has none."""
    tally = Tally(account)
    refusal = tally.refusal(terms, one)
    if refusal is None:
        tally.add(terms, one)
    return refusal or tally.value()


def leave(account: Account, one: MeteredCall, used: Used, now_s: float) -> Account:
    """The account with the use of a call in the place of its reservation."""
    tally = Tally(account)
    tally.leave(one, used, now_s)
    return tally.value()


def entered(account: Account, terms: Terms, one: MeteredCall) -> Account:
    """The account with a reservation."""
    outcome = enter(account, terms, one)
    assert isinstance(outcome, Account), outcome
    return outcome


def refused(account: Account, terms: Terms, one: MeteredCall) -> Refusal:
    """Why a call does not enter."""
    outcome = enter(account, terms, one)
    assert isinstance(outcome, Refusal), outcome
    return outcome


def test_requests_of_a_minute_are_exact() -> None:
    """The third request enters 60 seconds after the first one, and not a moment before."""
    terms = Terms(rpm=2)
    account = entered(entered(EMPTY, terms, call("a", NOON)), terms, call("b", NOON + 1))
    assert refused(account, terms, call("c", NOON + 59.999)).wait_s == pytest.approx(0.001, abs=1e-5)
    assert refused(account, terms, call("c", NOON + 2)) == Refusal(
        limit="requests", allowed=2, left=0, requested=1, wait_s=58.0
    )
    account = entered(account, terms, call("c", NOON + 60))
    assert refused(account, terms, call("d", NOON + 60)).wait_s == 1.0


def test_tokens_of_a_minute_are_reserved_and_corrected() -> None:
    """What a call used less is free at once; what it used more counts against the next."""
    terms = Terms(tpm=100)
    account = entered(EMPTY, terms, call("a", tokens=60))
    assert refused(account, terms, call("b", NOON + 1, tokens=41)) == Refusal(
        limit="tokens", allowed=100, left=40, requested=41, wait_s=59.0
    )
    account = leave(account, call("a", tokens=60), Used(10), NOON + 2)
    account = entered(account, terms, call("b", NOON + 3, tokens=90))
    account = leave(account, call("b", NOON + 3, tokens=90), Used(150), NOON + 4)
    assert refused(account, terms, call("c", NOON + 5, tokens=1)) == Refusal(
        limit="tokens", allowed=100, left=0, requested=1, wait_s=58.0
    )


def test_more_than_a_minute_allows_goes_alone() -> None:
    """A call that is larger than the limit enters an empty minute, and no other does beside it."""
    terms = Terms(tpm=100)
    account = entered(EMPTY, terms, call("a", tokens=5_000))
    assert refused(account, terms, call("b", NOON + 59, tokens=1)).wait_s == 1.0
    assert refused(account, terms, call("b", NOON, tokens=5_000)).requested == 100


def test_calls_at_a_time_end_with_the_calls() -> None:
    """The place of a call is free when it ends, whatever it used."""
    terms = Terms(concurrency=1)
    account = entered(EMPTY, terms, call("a"))
    assert refused(account, terms, call("b")) == Refusal(
        limit="concurrency", allowed=1, left=0, requested=1, wait_s=None
    )
    entered(leave(account, call("a"), Used(), NOON + 1), terms, call("b", NOON + 1))


def test_a_budget_holds_what_is_used_and_what_is_reserved() -> None:
    """A call enters if it fits to the last token; one token more does not."""
    terms = Terms(budgets=(DAY,))
    account = entered(EMPTY, terms, call("a", tokens=600))
    entered(account, terms, call("b", tokens=400))
    blocked = refused(account, terms, call("b", tokens=401))
    assert (blocked.left, blocked.requested, blocked.wait_s, blocked.is_reserved) == (400, 401, None, True)
    account = leave(account, call("a", tokens=600), Used(700), NOON + 1)
    assert used_of(account, DAY, NOON) == (700, 0)
    over = refused(account, terms, call("b", tokens=301))
    assert (over.left, over.wait_s, over.is_reserved, over.budget) == (300, 12 * 3_600.0, False, DAY)
    assert left_of(account, DAY, NOON) == 300
    assert refused(account, terms, call("b", tokens=1_001)).wait_s is None, "a new day does not help"


def test_an_overdrawn_budget_lets_nothing_in() -> None:
    """What was really used counts also beyond the budget, and then not even a call without tokens enters."""
    terms = Terms(budgets=(TOTAL,))
    account = entered(EMPTY, terms, call("a", tokens=1_000))
    account = leave(account, call("a", tokens=1_000), Used(1_200), NOON + 1)
    assert refused(account, terms, call("b", NOON + 10**9)).left == 0
    full = leave(entered(EMPTY, terms, call("a", tokens=1_000)), call("a", tokens=1_000), Used(1_000), NOON)
    assert refused(full, terms, call("b", NOON)).requested == 0


@pytest.mark.parametrize(
    ("budget", "begins"),
    [
        (DAY, datetime(2026, 11, 23, tzinfo=UTC)),
        (MONTH, datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_budgets_begin_anew_with_the_day_and_month(budget: Budget, begins: datetime) -> None:
    """A call that waits until then enters, and one a second earlier does not."""
    terms = Terms(budgets=(budget,))
    account = leave(entered(EMPTY, terms, call("a", tokens=1_000)), call("a", tokens=1_000), Used(1_000), NOON + 1)
    assert refused(account, terms, call("b", begins.timestamp() - 1, tokens=1)).wait_s == 1.0
    entered(account, terms, call("b", begins.timestamp(), tokens=1_000))
    assert reset_s(budget, NOON) == begins.timestamp() - NOON


def test_december_ends_with_the_year() -> None:
    """The month after the twelfth is the first of the next year, and a budget in all has no end."""
    december = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    assert reset_s(MONTH, december) == reset_s(DAY, december) == 1.0
    assert reset_s(TOTAL, december) is None


def test_a_call_belongs_to_the_day_in_which_it_began() -> None:
    """What ends after midnight was reserved yesterday, and takes nothing from today; the month and the sum have it."""
    midnight = datetime(2026, 11, 23, tzinfo=UTC).timestamp()
    terms = Terms(budgets=(DAY, MONTH, TOTAL))
    late = call("a", midnight - 1, tokens=900)
    account = entered(EMPTY, terms, late)
    assert [used_of(account, each, midnight) for each in (DAY, MONTH, TOTAL)] == [(0, 0), (0, 900), (0, 900)]
    account = leave(account, late, Used(500), midnight + 1)
    assert [used_of(account, each, midnight + 1) for each in (DAY, MONTH, TOTAL)] == [(0, 0), (500, 0), (500, 0)]


def test_a_clock_that_is_put_back_ends_no_day_and_locks_nobody_out() -> None:
    """Each day keeps its own sum, and what was written of a minute in the future is forgotten."""
    terms = Terms(rpm=1, budgets=(DAY,))
    account = entered(EMPTY, terms, call("a", NOON, tokens=10))
    account = leave(account, call("a", NOON, tokens=10), Used(10), NOON)
    account = entered(account, terms, call("b", NOON - 86_400, tokens=5))
    assert used_of(account, DAY, NOON - 86_400) == (0, 5)
    account = leave(account, call("b", NOON - 86_400, tokens=5), Used(4), NOON - 86_400)
    assert [used_of(account, DAY, at_s) for at_s in (NOON - 86_400, NOON)] == [(4, 0), (10, 0)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 9)), max_size=12))
def test_the_sum_of_a_day_is_what_began_in_it(calls: list[tuple[int, int, int]]) -> None:
    """However the clock goes between four days on both sides of the end of a month, from when to when calls last."""
    begin_s = datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp()
    account, terms = EMPTY, Terms(budgets=(DAY, MONTH, TOTAL))
    days: dict[int, int] = {}
    for number, (began, ended, tokens) in enumerate(calls):
        one = call(str(number), begin_s + began * DAY_S)
        account = leave(entered(account, terms, one), one, Used(tokens), begin_s + ended * DAY_S)
        days[began] = days.get(began, 0) + tokens
    november = days.get(0, 0) + days.get(1, 0)
    for day in range(4):
        at_s = begin_s + day * DAY_S
        of_month = november if day < 2 else sum(days.values()) - november
        told = [used_of(account, each, at_s) for each in (DAY, MONTH, TOTAL)]
        assert told == [(days.get(day, 0), 0), (of_month, 0), (sum(days.values()), 0)]


def test_many_requests_are_remembered_by_the_second() -> None:
    """However many come, little is kept, and the limit is never exceeded in any 60 seconds."""
    terms = Terms(rpm=100_000)
    account = EMPTY
    for number in range(2_000):
        one = call(str(number), NOON + number / 100)
        account = leave(entered(account, terms, one), one, Used(), one.at_s)
    assert len(account.granted) <= SINGLE + 21
    assert sum(grant.requests for grant in account.granted) == 2_000
    full = refused(account, Terms(rpm=2_000), call("x", NOON + 20))
    assert full.wait_s == pytest.approx(40.0), "the first ones are remembered one by one"


def test_a_reservation_whose_lease_is_over_is_charged() -> None:
    """Its place is free, and its process, if it lives after all, corrects what it was charged."""
    terms = Terms(concurrency=1, budgets=(TOTAL,))
    lost = call("a", tokens=300)
    account = entered(EMPTY, terms, lost)
    refused(account, terms, call("b", NOON + LEASE_S - 0.001))
    account = entered(account, terms, call("b", NOON + LEASE_S))
    assert used_of(account, TOTAL, NOON + LEASE_S) == (300, 0)
    account = leave(account, lost, Used(100), NOON + LEASE_S + 1)
    assert used_of(account, TOTAL, NOON + LEASE_S + 1) == (100, 0)


def test_reservations_of_a_holder_that_is_gone_are_charged_at_once() -> None:
    """A process that was killed holds nothing any longer."""
    account = entered(EMPTY, Terms(budgets=(TOTAL,)), call("a", tokens=7, holder="dead"))
    account = entered(account, Terms(budgets=(TOTAL,)), call("b", tokens=9, holder="alive"))
    tally = Tally(account)
    assert tally.holders() == {"dead", "alive"}
    tally.lapse(NOON, is_gone=lambda holder: holder == "dead")
    assert used_of(tally.value(), TOTAL, NOON) == (7, 9)
    assert tally.holders() == {"alive"}


def test_a_call_that_reserved_nothing_is_counted_by_what_it_used() -> None:
    """A limit that a key gets later counts what it used before."""
    account = leave(EMPTY, call("a"), Used(42, 7), NOON)
    assert used_of(account, MONTH, NOON) == (42, 0)
    assert used_of(account, read_budget("1 USD/day"), NOON) == (7, 0)


def test_a_key_and_its_team_are_entered_together_or_not_at_all() -> None:
    """A team that is used up leaves the account of its key as it was, and is named."""
    one = call("a", tokens=10)
    terms = (("key:a", Terms(rpm=5)), ("team:t", Terms(budgets=(read_budget("9 tokens"),))))
    changed, refusal = step({}, Enter(one, terms))
    assert changed == {}
    assert refusal is not None
    assert refusal.account == "team:t"
    changed, refusal = step({}, Enter(call("a", tokens=9), terms))
    assert (sorted(changed), refusal) == (["key:a", "team:t"], None)
    changed, refusal = step(changed, Leave(call("a", tokens=9), ("key:a", "team:t"), Used(3), NOON))
    assert refusal is None
    assert {name: used_of(account, TOTAL, NOON) for name, account in changed.items()} == {
        "key:a": (3, 0),
        "team:t": (3, 0),
    }


def test_operations_name_their_accounts_once() -> None:
    """A store reads each account once for many operations."""
    one = call()
    operations = (Enter(one, (("key:a", NO_TERMS), ("team:t", NO_TERMS))), Leave(one, ("key:a",), Used(), NOON))
    assert names_of(operations) == ("key:a", "team:t")


def test_an_account_is_written_and_read_as_it_is() -> None:
    """Another process goes on from exactly the same value."""
    account = entered(EMPTY, Terms(rpm=5, tpm=5_000, budgets=(DAY,)), call(tokens=10, nano_usd=3))
    account = entered(leave(account, call(), Used(5, 5), NOON), Terms(tpm=99), call("b", NOON + 1, tokens=90))
    assert decode(encode(account), Account) == account
