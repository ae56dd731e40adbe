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
    Granted,
    Held,
    Refusal,
    Spent,
    Used,
    add_grant,
    correct_grant,
    counts_from_s,
    enter,
    joins_last,
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
        "_begun_s",
        "_counts_from_s",
        "_day_ends_s",
        "_granted",
        "_held",
        "_joined",
        "_joined_tokens",
        "_joins_until_s",
        "_last_s",
        "_left_calls",
        "_left_nano",
        "_left_of_minute",
        "_left_requests",
        "_left_tokens",
        "_nano",
        "_plain_from_s",
        "_plain_until_s",
        "_spent",
        "_terms",
        "_tokens",
    )

    def __init__(self, account: Account = EMPTY) -> None:
        """Goes on from an account."""
        self._terms = NO_TERMS
        self._take(account)

    def _take(self, account: Account) -> None:
        self._granted = list(account.granted)
        self._begin_joining()
        self._held: dict[str, Held] = {held.call.id: held for held in account.held}
        self._spent = account.spent
        self._tokens = self._nano = 0  # used since
        self._day_ends_s = (account.spent.day + 1) * DAY_S
        self._counts_from_s = counts_from_s(account.spent)
        self._plain_from_s = self._plain_until_s = 0.0
        self._know(self._terms)

    def _know(self, terms: Terms) -> None:
        """Find what is left of limits; from then on it goes along.

        All that is reserved counts for every budget, also where its day is over: less is left here than there may be.
        """
        account, self._terms = self.value(), terms
        granted, spent = account.granted, account.spent
        used = {"day": spent.in_day, "month": spent.in_month, "total": spent.in_total}
        tokens = [each.amount - used[each.period].tokens for each in terms.budgets if each.unit == "tokens"]
        nano = [each.amount - used[each.period].nano_usd for each in terms.budgets if each.unit == "usd"]
        calls = [held.call for held in self._held.values()]
        self._left_tokens = min(tokens, default=inf) - sum([call.tokens for call in calls])
        self._left_nano = min(nano, default=inf) - sum([call.nano_usd for call in calls])
        self._left_calls = (inf if terms.concurrency is None else terms.concurrency) - len(calls)
        self._left_requests = (inf if terms.rpm is None else terms.rpm) - sum([grant.requests for grant in granted])
        self._left_of_minute = (inf if terms.tpm is None else terms.tpm) - sum([grant.tokens for grant in granted])

    def value(self) -> Account:
        """What it is now."""
        self._end_joining()
        spent, used = self._spent, Used(self._tokens, self._nano)
        if used != _NOTHING:
            whole = spent.in_day.plus(used), spent.in_month.plus(used), spent.in_total.plus(used)
            spent = Spent(spent.day, spent.month, *whole)
        return Account(tuple(self._granted), tuple(self._held.values()), spent)

    def fits(self, terms: Terms, call: Call) -> bool:
        """Whether a call surely fits; of one that does not, `refusal` knows."""
        if terms is not self._terms:
            self._know(terms)
        tokens = call.tokens
        return (
            (self._plain_from_s <= call.at_s < self._plain_until_s or self._is_plain(call.at_s))
            and tokens < self._left_tokens
            and call.nano_usd < self._left_nano
            and tokens <= self._left_of_minute
            and self._left_requests > 0
            and self._left_calls > 0
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
        if in_minute:
            if self._begun_s <= at_s <= self._joins_until_s:
                self._joined += 1
                self._joined_tokens += charged
                if at_s > self._last_s:  # noqa: PLR1730 - a comparison costs less than a call
                    self._last_s = at_s
            else:
                self._end_joining()
                add_grant(self._granted, at_s, charged)
                self._begin_joining()
            self._left_requests -= 1
            self._left_of_minute -= charged
        self._held[call.id] = Held(call, charged)
        self._left_calls -= 1
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
        tokens, more = used.tokens, used.tokens - held.charged
        if more and self._corrects(call.at_s, more):
            self._left_of_minute -= more
        self._left_calls += 1
        self._tokens += tokens
        self._left_tokens += held.call.tokens - tokens
        if used.nano_usd or held.call.nano_usd:
            self._nano += used.nano_usd
            self._left_nano += held.call.nano_usd - used.nano_usd

    def _corrects(self, at_s: float, more: int) -> bool:
        """As `correct_grant`."""
        if self._begun_s <= at_s <= self._last_s:
            self._joined_tokens += more
            return True
        self._end_joining()
        return correct_grant(self._granted, at_s, more)

    def _begin_joining(self) -> None:
        """What joins the last grant is counted beside it from now on."""
        self._begun_s, self._joins_until_s = joins_last(self._granted)
        self._last_s = self._granted[-1].at_s if self._begun_s < inf else -inf
        self._joined = self._joined_tokens = 0

    def _end_joining(self) -> None:
        """Count it in that grant."""
        if self._joined or self._joined_tokens:
            last = self._granted[-1]
            self._granted[-1] = Granted(
                last.begun_s, self._last_s, last.requests + self._joined, last.tokens + self._joined_tokens
            )
            self._joined = self._joined_tokens = 0

    def holders(self) -> set[str]:
        """Who has calls under way."""
        return {held.call.holder for held in self._held.values()}

    def charge(self, is_gone: Callable[[str], bool], now_s: float) -> None:
        """Charge the reservations of holders that are gone."""
        self._take(lapse(self.value(), now_s, is_gone=is_gone))

    def _is_plain(self, now_s: float) -> bool:
        """Whether nothing has passed since it was changed last: no day, no minute, no lease.

        From then on it is so for sure up to a time that is found here, whatever is added until then.
        """
        self._end_joining()
        granted = self._granted
        ends = [grant.at_s for grant in (granted[0], granted[-1])] if granted else [now_s]
        oldest = next(iter(self._held.values()), None)
        lapses_s = inf if oldest is None else oldest.call.at_s + LEASE_S
        until_s = min(min(ends) + MINUTE_S, now_s + MINUTE_S, lapses_s, self._day_ends_s)
        is_plain = max(ends) - MINUTE_S <= now_s < until_s
        self._plain_from_s, self._plain_until_s = (now_s, until_s) if is_plain else (0.0, 0.0)
        return is_plain


_NOTHING = Used()
