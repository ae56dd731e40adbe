"""An account that is changed in place: what `budget` says of values, with sums that go along instead of being counted.

Strategy: every request of a key enters and leaves. A store in which nobody else can change an account under its hand
keeps what is left of its limits beside its parts, so that a call that fits is let in, and settled, by a few
comparisons. Whatever is not plain (a call that does not fit, a day that ends, a minute or a lease that is over)
goes through the transitions of `budget`.

Rules
- What this does is what `budget` does (tests/laws/test_running_laws.py); the rules stand there alone.
- What was let in is added without being asked again, so that every process that reads the same operations in the same
  order has the same account.
- Until a day ends, what is used counts alike in the day, the month and all: so one sum is kept of it, and of all
  budgets only the least that is left.
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
from interlingua.gateway.keys.terms import NO_TERMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.keys.budget import Call
    from interlingua.gateway.keys.terms import Terms

__all__ = ["Running"]


class Running:
    """One account, changed by every call."""

    __slots__ = (
        "_concurrency",
        "_counts_from_s",
        "_day_ends_s",
        "_granted",
        "_held",
        "_left_nano",
        "_left_tokens",
        "_minute_tokens",
        "_nano",
        "_plain_from_s",
        "_plain_until_s",
        "_requests",
        "_rpm",
        "_spent",
        "_terms",
        "_tokens",
        "_tpm",
    )

    def __init__(self, account: Account = EMPTY) -> None:
        """Goes on from an account."""
        self._terms = NO_TERMS
        self._take(account)

    def _take(self, account: Account) -> None:
        self._granted = list(account.granted)
        self._requests = sum([grant.requests for grant in account.granted])
        self._minute_tokens = sum([grant.tokens for grant in account.granted])
        self._held: dict[str, Held] = {held.call.id: held for held in account.held}
        self._spent = account.spent
        self._tokens = self._nano = 0  # used since
        self._day_ends_s = (account.spent.day + 1) * DAY_S
        self._counts_from_s = counts_from_s(account.spent)
        self._plain_from_s = self._plain_until_s = 0.0
        self._know(self._terms)

    def _know(self, terms: Terms) -> None:
        """Find what is left of limits; from then on it goes along."""
        self._terms = terms
        self._rpm, self._tpm, self._concurrency = [
            inf if limit is None else limit for limit in (terms.rpm, terms.tpm, terms.concurrency)
        ]
        spent, calls = self.value().spent, [held.call for held in self._held.values()]
        used = {"day": spent.in_day, "month": spent.in_month, "total": spent.in_total}
        tokens = [each.amount - used[each.period].tokens for each in terms.budgets if each.unit == "tokens"]
        nano = [each.amount - used[each.period].nano_usd for each in terms.budgets if each.unit == "usd"]
        self._left_tokens = min(tokens, default=inf) - sum([call.tokens for call in calls])
        self._left_nano = min(nano, default=inf) - sum([call.nano_usd for call in calls])

    def value(self) -> Account:
        """What it is now."""
        spent, used = self._spent, Used(self._tokens, self._nano)
        if used != _NOTHING:
            whole = spent.in_day.plus(used), spent.in_month.plus(used), spent.in_total.plus(used)
            spent = Spent(spent.day, spent.month, *whole)
        return Account(tuple(self._granted), tuple(self._held.values()), spent)

    def fits(self, terms: Terms, call: Call) -> bool:
        """Whether a call surely fits; of one that does not, `refusal` knows.

        Of what is reserved, all counts here, also where its day is over: so less is left than there may be.
        """
        if terms is not self._terms:
            self._know(terms)
        tokens, at_s = call.tokens, call.at_s
        return (
            (self._plain_from_s <= at_s < self._plain_until_s or self._is_plain(at_s))
            and tokens < self._left_tokens
            and call.nano_usd < self._left_nano
            and self._requests < self._rpm
            and self._minute_tokens + tokens <= self._tpm
            and len(self._held) < self._concurrency
        )

    def refusal(self, terms: Terms, call: Call) -> Refusal | None:
        """Why a call does not enter; None for one that may be added."""
        found = None if self.fits(terms, call) else enter(self.value(), terms, call)
        return found if isinstance(found, Refusal) else None

    def add(self, call: Call, charged: int, in_minute: bool) -> None:  # noqa: FBT001 - for each request, from one place
        """Reserve what a call may use, which was let in; `in_minute` says that its minute is limited."""
        at_s = call.at_s
        if not (self._plain_from_s <= at_s < self._plain_until_s or self._is_plain(at_s)):
            self._take(lapse(self.value(), at_s))
        over_s = at_s + LEASE_S
        if in_minute:
            add_grant(self._granted, at_s, charged)
            self._requests += 1
            self._minute_tokens += charged
            over_s = at_s + MINUTE_S
            if self._plain_from_s < at_s - MINUTE_S:  # noqa: PLR1730 - a comparison costs less than a call
                self._plain_from_s = at_s - MINUTE_S
        if over_s < self._plain_until_s:  # noqa: PLR1730 - as above
            self._plain_until_s = over_s
        self._held[call.id] = Held(call, charged)
        self._left_tokens -= call.tokens
        self._left_nano -= call.nano_usd

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
        tokens, nano, more = used.tokens, used.nano_usd, used.tokens - held.charged
        if more and correct_grant(self._granted, call.at_s, more):
            self._minute_tokens += more
        self._tokens += tokens
        self._left_tokens += held.call.tokens - tokens
        if nano or held.call.nano_usd:
            self._nano += nano
            self._left_nano += held.call.nano_usd - nano

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


_NOTHING = Used()
