"""What people write for a limit is what it is, and what is nothing like it is refused."""

from __future__ import annotations

import pytest

from interlingua.errors import ConfigError
from interlingua.gateway.keys.terms import (
    NANO,
    Budget,
    Terms,
    budget_text,
    money,
    nano_usd,
    read_budget,
    read_count,
    terms_texts,
)


@pytest.mark.parametrize(
    ("text", "count"), [("60", 60), ("200k", 200_000), ("1.5M", 1_500_000), (7, 7), ("1_000", 1_000), (" 2K ", 2_000)]
)
def test_a_count_is_a_number_with_a_size(text: str | int, count: int) -> None:
    """Thousands and millions may be said in a letter."""
    assert read_count(text) == count


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "", "1G", "1e9", "9999999999999", True, "٣"])
def test_what_is_no_count_is_refused(text: str | int) -> None:
    """Nothing, halves and words are no limit."""
    with pytest.raises(ConfigError, match=r"--rpm is a whole number from 1 on, as 60, 200k or 1\.5M"):
        read_count(text, "--rpm")


@pytest.mark.parametrize(
    ("text", "budget", "told"),
    [
        ("50 USD/month", Budget(amount=50 * NANO, unit="usd", period="month"), "50.00 USD/month"),
        ("0.5usd / day", Budget(amount=NANO // 2, unit="usd", period="day"), "0.50 USD/day"),
        ("0.000001 USD/day", Budget(amount=1_000, unit="usd", period="day"), "0.000001 USD/day"),
        ("2M tokens/day", Budget(amount=2_000_000, unit="tokens", period="day"), "2,000,000 tokens/day"),
        ("100 USD", Budget(amount=100 * NANO, unit="usd", period="total"), "100.00 USD"),
        ("1 token/total", Budget(amount=1, unit="tokens", period="total"), "1 tokens"),
    ],
)
def test_a_budget_is_an_amount_for_a_time(text: str, budget: Budget, told: str) -> None:
    """What is written is exactly what is kept, and can be told again."""
    assert read_budget(text) == budget
    assert budget_text(budget) == told


@pytest.mark.parametrize(
    "text", ["50", "50 EUR/month", "50 USD/week", "0 USD/day", "-1 USD", "1.2.3 USD", "USD/day", "9999999999 USD", ""]
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    """Other currencies and times are not known, and nothing is no budget."""
    with pytest.raises(ConfigError, match="budget"):
        read_budget(text)


def test_money_is_rounded_up_in_billionths() -> None:
    """A sum of what is known never says less than was spent, and binary fractions add nothing."""
    assert nano_usd(0.1) + nano_usd(0.2) == nano_usd(0.3) == 300_000_000
    assert nano_usd(1e-10) == 1
    assert nano_usd(0.0) == 0
    assert (money(1_500_000_000), money(1_234), money(0)) == ("1.50 USD", "0.000001 USD", "0.00 USD")


def test_terms_are_told_and_say_what_they_need() -> None:
    """Whoever looks at a key sees each of its limits, and nothing is estimated for a key that counts requests."""
    terms = Terms(rpm=60, tpm=200_000, concurrency=4, budgets=(read_budget("50 USD/month"),))
    assert terms_texts(terms) == ["60 requests/min", "200,000 tokens/min", "4 at a time", "50.00 USD/month"]
    assert (terms.needs_tokens, terms.needs_money) == (True, True)
    assert (Terms(rpm=1).needs_tokens, Terms(rpm=1).needs_money) == (False, False)
    assert (Terms(tpm=1).needs_tokens, Terms(budgets=(read_budget("1 token"),)).needs_money) == (True, False)
