"""What is surely left says yes only where an account to which everything was done would; lines that wait are done."""

from __future__ import annotations

import pytest

from interlingua.gateway.keys.books import MOST_BEHIND, Books, Left
from interlingua.gateway.keys.budget import Call, Refusal, Used
from interlingua.gateway.keys.terms import Terms, read_budget

NOW = 1_795_348_800.0


def let_in(books: Books, call: Call, terms: Terms) -> bool:
    """Whether a call enters."""
    line = books.entered(call, (("key:a", terms),))
    if isinstance(line, Refusal):
        return False
    books.enter(line)
    return True


def call(name: str, tokens: int = 0, nano_usd: int = 0) -> Call:
    """A call."""
    return Call(name, "h", NOW, tokens, nano_usd)


@pytest.mark.parametrize(
    ("terms", "reserves", "used"),
    [
        (Terms(budgets=(read_budget("100 tokens"),)), (10, 0), Used(95, 0)),
        (Terms(tpm=100), (10, 0), Used(95, 0)),
        (Terms(budgets=(read_budget("0.0000001 USD"),)), (10, 10), Used(10, 95)),
    ],
)
def test_who_used_more_than_was_reserved_leaves_less(terms: Terms, reserves: tuple[int, int], used: Used) -> None:
    """The next call is held against what was really used, in tokens, in the minute and in money."""
    books = Books({})
    first = call("1", *reserves)
    assert let_in(books, first, terms)
    books.leave(Left(first, ("key:a",), used, NOW))
    assert not let_in(books, call("2", *reserves), terms)
    assert let_in(books, call("3", 4, 4), terms)


def test_more_than_a_whole_minute_counts_once_it_was_used() -> None:
    """Such a call is charged a whole minute while it is under way, and what it used when it has ended."""
    books, terms = Books({}), Terms(tpm=100)
    first = call("1", 500)
    assert let_in(books, first, terms)
    assert let_in(books, call("2"), terms)
    books.leave(Left(first, ("key:a",), Used(450), NOW))
    assert not let_in(books, call("3"), terms)


def test_other_limits_are_looked_at_anew() -> None:
    """What was left of the limits before says nothing of those that hold now."""
    books = Books({})
    assert let_in(books, call("1"), Terms(rpm=5))
    assert let_in(books, call("2"), Terms(rpm=5))
    assert not let_in(books, call("3"), Terms(concurrency=2))


def test_of_a_budget_that_is_used_up_not_even_nothing_is_let_in() -> None:
    """A call that costs nothing waits, too."""
    books, terms = Books({}), Terms(budgets=(read_budget("10 tokens"),))
    assert let_in(books, call("1", 4), terms)
    assert let_in(books, call("2", 6), terms)
    assert not let_in(books, call("3"), terms)


def test_what_waits_is_done_before_it_is_much() -> None:
    """After so many lines, or when somebody wants to know; who was only asked about has no account."""
    books, terms = Books({}), Terms(rpm=1_000)
    waiting: list[int] = []
    for number in range(MOST_BEHIND):
        one = call(str(number), 3)
        assert let_in(books, one, terms)
        books.leave(Left(one, ("key:a",), Used(2), NOW))
        waiting.append(len(books._behind))
    assert max(waiting) == MOST_BEHIND - 2
    assert waiting.count(0) == 1
    assert not let_in(books, call("no"), Terms(budgets=(read_budget("1 tokens"),)))
    (account,) = books.values(("key:a", "key:b")).values()
    assert (account.held, account.spent.in_total) == ((), Used(2 * MOST_BEHIND))
    assert isinstance(books.entered(call("x", 5), (("key:b", Terms(budgets=(read_budget("1 tokens"),))),)), Refusal)
    assert books.values(("key:b",)) == {}
