"""The terms of a key or a team: requests, tokens, calls at a time, budgets; and how people write it.

Shape of a budget: `50 USD/month`, `2M tokens/day`, `100 USD` (in all).

Units: tokens, and billionths of a US dollar, so that sums are exact.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Literal, TypeAlias, cast, get_args

import msgspec

from interlingua.errors import ConfigError
from interlingua.registry.spec import shown

__all__ = [
    "NANO",
    "NO_TERMS",
    "Budget",
    "Period",
    "Terms",
    "Unit",
    "budget_text",
    "money",
    "nano_usd",
    "read_budget",
    "read_count",
    "read_end",
    "terms_texts",
]

Unit: TypeAlias = Literal["usd", "tokens"]
"""Units of a budget."""
Period: TypeAlias = Literal["day", "month", "total"]
"""How long a budget lasts: a day or a month of UTC, or for ever."""
NANO = 1_000_000_000
"""So many billionths make a dollar."""
MOST = 1_000_000_000
"""The largest number of dollars, or of thousands of tokens, that is taken for a budget."""
_COUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([kKmM]?)")
_BUDGET = re.compile(r"(?P<amount>[\d.]+[kKmM]?)\s*(?P<unit>[A-Za-z]+)(?:\s*/\s*(?P<period>\w+))?", re.ASCII)
_SPAN = re.compile(r"([1-9][0-9]{0,4})([mhdw])")
_SPANS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SIZES = {"": 1, "k": 1_000, "m": 1_000_000}
_UNITS: dict[str, Unit] = {"usd": "usd", "token": "tokens", "tokens": "tokens"}


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """An amount that may be used up."""

    amount: int
    """How much: tokens, or billionths of a dollar."""
    unit: Unit
    """The unit that is counted."""
    period: Period
    """How long it lasts."""


class Terms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a key; None and no budget are no limit."""

    rpm: int | None = None
    """Requests in any 60 seconds."""
    tpm: int | None = None
    """Tokens in any 60 seconds, input and output."""
    concurrency: int | None = None
    """Calls at a time."""
    budgets: tuple[Budget, ...] = ()
    """The budgets; each of them holds."""
    default_max_tokens: int | None = None
    """How long an answer gets whose client names no limit, where tokens or money are limited; None for 8,192."""

    context_tokens: int | None = None
    """Tokens reserved for the input that a target reads beside the body, where tokens or money are limited; None for
    the context window of its model."""

    max_body_bytes: int | None = None
    """The largest body of a request, also once it is inflated; a bound of each key, not of teams."""

    @property
    def is_limit(self) -> bool:
        """Whether calls or their use are limited, so that they are counted before they are made."""
        return bool(self.budgets) or (self.rpm, self.tpm, self.concurrency) != (None, None, None)

    @property
    def needs_tokens(self) -> bool:
        """Whether it matters how many tokens a call will use."""
        return self.tpm is not None or bool(self.budgets)

    @property
    def needs_money(self) -> bool:
        """Whether it matters what a call costs."""
        return any(budget.unit == "usd" for budget in self.budgets)


NO_TERMS = Terms()
"""No limit at all."""


def read_count(text: str | int, name: str = "a number") -> int:
    """A whole number from 1 on, as `60`, `200k` or `1.5M`.

    Raises: ConfigError.
    """
    match = _COUNT.fullmatch(str(text).strip().replace("_", "")) if not isinstance(text, bool) else None
    value = Decimal(match[1]) * _SIZES[match[2].lower()] if match else Decimal(0)
    if value < 1 or value != value.to_integral_value() or value > MOST * 1_000:
        raise ConfigError(f"{name} is a whole number from 1 on, as 60, 200k or 1.5M, not {shown(str(text))}")
    return int(value)


def read_budget(text: str) -> Budget:
    """A budget, as `50 USD/month`, `2M tokens/day` or `100 USD`.

    Raises: ConfigError.
    """
    match = _BUDGET.fullmatch(text.strip().replace("_", ""))
    unit = _UNITS.get(match["unit"].lower()) if match else None
    period = (match["period"] or "total").lower() if match else ""
    amount = _COUNT.fullmatch(match["amount"]) if match else None
    if unit is None or amount is None or period not in get_args(Period):
        raise ConfigError(f"a budget is `50 USD/month`, `2M tokens/day` or `100 USD` (in all), not {shown(text)}")
    value = Decimal(amount[1]) * _SIZES[amount[2].lower()]
    whole = int((value * NANO if unit == "usd" else value).to_integral_value(ROUND_CEILING))
    if not 0 < whole <= MOST * (NANO if unit == "usd" else 1_000):
        raise ConfigError(f"the budget {shown(text)} is nothing, or more than anybody has")
    return Budget(amount=whole, unit=unit, period=cast("Period", period))


def read_end(text: str | date, now_s: float | None = None) -> float:
    """When something ends, in Unix seconds: a day (then at its end, in UTC), a time, or a span as `90d` from `now_s`.

    A span means something where it is said once, and nothing in a file.

    Raises: ConfigError.
    """
    span = _SPAN.fullmatch(text.strip()) if isinstance(text, str) else None
    if span is not None and now_s is not None:
        return now_s + int(span[1]) * _SPANS[span[2]]
    try:
        end = datetime.fromisoformat(text.strip()) if isinstance(text, str) else text
        if not isinstance(end, datetime) or (isinstance(text, str) and len(text.strip()) == len("2027-01-31")):
            end = datetime(end.year, end.month, end.day, tzinfo=UTC) + timedelta(days=1)
        elif end.tzinfo is None:
            end = end.replace(tzinfo=UTC)
        return end.timestamp()
    except (ValueError, OverflowError):
        forms = "2027-01-31" if now_s is None else "90d, 12h or 2027-01-31"
        raise ConfigError(f"an end is {forms}, not {shown(str(text))}") from None


def nano_usd(dollars: float) -> int:
    """Dollars as billionths, rounded up: a sum of what is known never says less than was spent."""
    return int((Decimal(repr(dollars)) * NANO).to_integral_value(ROUND_CEILING))


def money(nano: int) -> str:
    """An amount for people: dollars with two digits, with more where that would say 0."""
    dollars = Decimal(nano) / NANO
    digits = 2 if nano % (NANO // 100) == 0 or abs(dollars) >= 1 else 6
    return f"{dollars:.{digits}f} USD"


def budget_text(budget: Budget) -> str:
    """A budget as people write it."""
    amount = money(budget.amount) if budget.unit == "usd" else f"{budget.amount:,} tokens"
    return amount if budget.period == "total" else f"{amount}/{budget.period}"


def terms_texts(terms: Terms) -> list[str]:
    """Every limit as people write it."""
    counts = {
        "requests/min": terms.rpm,
        "tokens/min": terms.tpm,
        "at a time": terms.concurrency,
        "bytes a body": terms.max_body_bytes,
        "tokens an answer by default": terms.default_max_tokens,
        "tokens read beside a body": terms.context_tokens,
    }
    phrases = [f"{count:,} {what}" for what, count in counts.items() if count is not None]
    return [*phrases, *[budget_text(budget) for budget in terms.budgets]]
