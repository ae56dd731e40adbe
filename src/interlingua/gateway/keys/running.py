"""An account that is changed in place: what `budget` says of values, with sums that go along instead of being counted.

Strategy: every request of a key enters and leaves. A store in which nobody else can change an account under its hand
keeps sums of the minute and of what is reserved beside their parts, so that a call that fits is let in, and settled, by
a few comparisons. Whatever is not plain (a call that does not fit, a day that ends, a minute or a lease that is over)
goes through the transitions of `budget`.

Rules
- What this does is what `budget` does (tests/laws/test_running_laws.py); the rules stand there alone.
- What was let in is added without being asked again, so that every process that reads the same operations in the same
  order has the same account.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from interlingua.gateway.keys.budget import (
    DAY_S,
    EMPTY,
    LEASE_S,
    MINUTE_S,
    Account,
    Held,
    Refusal,
    Spent,
    Used,
    add_grant,
    correct_grant,
    counts_from_s,
    enter,
    lapse,
    leave,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.keys.budget import Call
    from interlingua.gateway.keys.terms import Terms

__all__ = ["Running"]


class Running:
    """One account, changed by every call."""

    __slots__ = (
        "_counts_from_s",
        "_day",
        "_day_ends_s",
        "_day_nano",
        "_day_tokens",
        "_early",
        "_granted",
        "_held",
        "_month",
        "_month_nano",
        "_month_tokens",
        "_plain_from_s",
        "_plain_until_s",
        "_requests",
        "_reserved_nano",
        "_reserved_tokens",
        "_tokens",
        "_total_nano",
        "_total_tokens",
    )  # fmt: skip

    def __init__(self, account: Account = EMPTY) -> None:
        """Goes on from an account."""
        self._take(account)

    def _take(self, account: Account) -> None:
        spent = account.spent
        self._granted = list(account.granted)
        self._requests = sum([grant.requests for grant in account.granted])
        self._tokens = sum([grant.tokens for grant in account.granted])
        self._day, self._month = spent.day, spent.month
        self._day_ends_s = (spent.day + 1) * DAY_S
        self._counts_from_s = counts_from_s(spent)
        self._day_tokens, self._day_nano = spent.in_day.tokens, spent.in_day.nano_usd
        self._month_tokens, self._month_nano = spent.in_month.tokens, spent.in_month.nano_usd
        self._total_tokens, self._total_nano = spent.in_total.tokens, spent.in_total.nano_usd
        self._held: dict[str, Held] = {held.call.id: held for held in account.held}
        calls = [held.call for held in account.held]
        self._reserved_tokens = sum([call.tokens for call in calls])
        self._reserved_nano = sum([call.nano_usd for call in calls])
        self._early = sum([call.at_s < self._counts_from_s for call in calls])
        self._plain_from_s = self._plain_until_s = 0.0

    def value(self) -> Account:
        """What it is now."""
        spent = Spent(
            self._day,
            self._month,
            Used(self._day_tokens, self._day_nano),
            Used(self._month_tokens, self._month_nano),
            Used(self._total_tokens, self._total_nano),
        )
        return Account(tuple(self._granted), tuple(self._held.values()), spent)

    def refusal(self, terms: Terms, call: Call) -> Refusal | None:
        """Why a call does not enter; None for one that may be added."""
        at_s = call.at_s
        is_plain = self._plain_from_s <= at_s < self._plain_until_s or self._is_plain(at_s)
        if is_plain and self._fits(terms, call):
            return None
        found = enter(self.value(), terms, call)
        return found if isinstance(found, Refusal) else None

    def add(self, call: Call, charged: int, in_minute: bool) -> None:  # noqa: FBT001 - twice a request, from one place
        """Reserve what a call may use, which was let in; `in_minute` says that its minute is limited."""
        at_s = call.at_s
        if not (self._plain_from_s <= at_s < self._plain_until_s or self._is_plain(at_s)):
            self._take(lapse(self.value(), at_s))
        plain_s = LEASE_S
        if in_minute:
            add_grant(self._granted, at_s, charged)
            self._requests += 1
            self._tokens += charged
            plain_s = MINUTE_S
            self._plain_from_s = max(self._plain_from_s, at_s - MINUTE_S)
        self._plain_until_s = min(self._plain_until_s, at_s + plain_s)
        self._held[call.id] = Held(call, charged)
        self._reserved_tokens += call.tokens
        self._reserved_nano += call.nano_usd
        if at_s < self._counts_from_s:
            self._early += 1

    def leave(self, call: Call, used: Used, now_s: float) -> None:
        """Put what a call has used in the place of its reservation."""
        held = self._held.get(call.id)
        if (
            held is None
            or call.at_s < self._counts_from_s
            or not (self._plain_from_s <= now_s < self._plain_until_s or self._is_plain(now_s))
        ):
            self._take(leave(self.value(), call, used, now_s))
            return
        del self._held[call.id]
        self._reserved_tokens -= held.call.tokens
        self._reserved_nano -= held.call.nano_usd
        tokens, nano = used.tokens, used.nano_usd
        if tokens != held.charged and correct_grant(self._granted, call.at_s, tokens - held.charged):
            self._tokens += tokens - held.charged
        self._day_tokens += tokens
        self._month_tokens += tokens
        self._total_tokens += tokens
        if nano:
            self._day_nano += nano
            self._month_nano += nano
            self._total_nano += nano

    def holders(self) -> set[str]:
        """Who has calls under way."""
        return {held.call.holder for held in self._held.values()}

    def charge(self, is_gone: Callable[[str], bool], now_s: float) -> None:
        """Charge the reservations of holders that are gone."""
        self._take(lapse(self.value(), now_s, is_gone=is_gone))

    def _is_plain(self, now_s: float) -> bool:
        """Whether nothing has passed since it was changed last: no day, no minute, no lease.

        It is so for sure between two times, which are looked at first, and found anew here; what is taken out meanwhile
        only brings them nearer than they need to be.
        """
        granted = self._granted
        ends = [grant.at_s for grant in (granted[0], granted[-1])] if granted else []
        from_s, until_s = max(ends, default=0.0) - MINUTE_S, min(ends, default=inf) + MINUTE_S
        oldest = next(iter(self._held.values()), None)
        lapses_s = inf if oldest is None else oldest.call.at_s + LEASE_S
        self._plain_from_s, self._plain_until_s = from_s, min(until_s, lapses_s, self._day_ends_s)
        return from_s <= now_s < self._plain_until_s

    def _fits(self, terms: Terms, call: Call) -> bool:
        """Whether a call surely fits; one that does not here is looked at again."""
        tokens, nano = call.tokens, call.nano_usd
        rpm, tpm, concurrency = terms.rpm, terms.tpm, terms.concurrency
        if (
            (rpm is not None and self._requests >= rpm)
            or (tpm is not None and self._tokens + min(tokens, tpm) > tpm)
            or (concurrency is not None and len(self._held) >= concurrency)
        ):
            return False
        for budget in terms.budgets:
            match budget.period:
                case "day":
                    used_tokens, used_nano = self._day_tokens, self._day_nano
                case "month":
                    used_tokens, used_nano = self._month_tokens, self._month_nano
                case "total":
                    used_tokens, used_nano = self._total_tokens, self._total_nano
            if budget.unit == "usd":
                wanted, left = nano, budget.amount - self._reserved_nano - used_nano
            else:
                wanted, left = tokens, budget.amount - self._reserved_tokens - used_tokens
            if self._early or wanted > left or left <= 0:
                return False
        return True
