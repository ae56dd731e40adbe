"""An account that is changed in place: what `budget` says of values, and what is surely left of its limits.

Strategy: every request of a key enters and leaves. What is left of each limit is found now and then, and goes down with
each call that enters, so that the next one is let in by a few comparisons: it surely fits. Who does not fit there is
asked about by the transitions of `budget`, on an account to which everything was done. To do that can wait, since it
only ever makes more room; many steps in a row cost less than each by itself, between everything else of a request.

Rules
- What this does is what `budget` does (tests/laws/test_running_laws.py); the rules stand there alone.
- What was let in is added without being asked again, so that every process that reads the same operations in the same
  order has the same account.
- What is left is never more than there is: what is reserved goes down from it, what is given back is not added.
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
        "_counts_from_s",
        "_day_ends_s",
        "_from_s",
        "_granted",
        "_held",
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
        "_until_s",
    )

    def __init__(self, account: Account = EMPTY) -> None:
        """Goes on from an account."""
        self._terms = NO_TERMS
        self._left_tokens = self._left_nano = self._left_of_minute = self._left_requests = self._left_calls = 0.0
        self._take(account)

    def _take(self, account: Account) -> None:
        self._granted = list(account.granted)
        self._held: dict[str, Held] = {held.call.id: held for held in account.held}
        self._spent = account.spent
        self._tokens = self._nano = 0  # used since
        self._day_ends_s = (account.spent.day + 1) * DAY_S
        self._counts_from_s = counts_from_s(account.spent)
        self._plain_from_s = self._plain_until_s = self._from_s = self._until_s = 0.0

    def value(self) -> Account:
        """What it is now."""
        spent, used = self._spent, Used(self._tokens, self._nano)
        if used != _NOTHING:
            whole = spent.in_day.plus(used), spent.in_month.plus(used), spent.in_total.plus(used)
            spent = Spent(spent.day, spent.month, *whole, spent.other_days, spent.other_months)
        return Account(tuple(self._granted), tuple(self._held.values()), spent)

    # What is surely left

    def takes(self, terms: Terms, call: Call) -> bool:
        """Whether a call surely fits, for which less is left then; of one that does not, `refusal` knows."""
        tokens = call.tokens
        if not (
            self._from_s <= call.at_s < self._until_s
            and terms is self._terms
            and tokens < self._left_tokens
            and call.nano_usd < self._left_nano
            and tokens <= self._left_of_minute
            and self._left_requests > 0
            and self._left_calls > 0
        ):
            return False
        self._left_tokens -= tokens
        self._left_nano -= call.nano_usd
        self._left_of_minute -= tokens
        self._left_requests -= 1
        self._left_calls -= 1
        return True

    def exceed(self, tokens: int, nano_usd: int) -> None:
        """Have less left, for a call that has used more than it reserved."""
        self._left_tokens -= max(0, tokens)
        self._left_of_minute -= max(0, tokens)
        self._left_nano -= max(0, nano_usd)

    def refusal(self, terms: Terms, call: Call) -> Refusal | None:
        """Why a call does not enter; None for one that is to be added. Everything was done that is to be done."""
        self._look(terms, call.at_s)
        if self.takes(terms, call):
            return None
        found = enter(self.value(), terms, call)
        self._until_s = 0.0  # it is looked at anew once that call was added
        return found if isinstance(found, Refusal) else None

    def _look(self, terms: Terms, now_s: float) -> None:
        """Find what is left of limits; all of it may be used until the time when something passes."""
        is_plain = self._is_plain(now_s)
        self._from_s, self._until_s = (self._plain_from_s, self._plain_until_s) if is_plain else (0.0, 0.0)
        self._terms, granted, spent = terms, self._granted, self.value().spent
        used = {"day": spent.in_day, "month": spent.in_month, "total": spent.in_total}
        tokens = [each.amount - used[each.period].tokens for each in terms.budgets if each.unit == "tokens"]
        nano = [each.amount - used[each.period].nano_usd for each in terms.budgets if each.unit == "usd"]
        held = self._held.values()
        self._left_tokens = min(tokens, default=inf) - sum([one.call.tokens for one in held])
        self._left_nano = min(nano, default=inf) - sum([one.call.nano_usd for one in held])
        self._left_calls = (inf if terms.concurrency is None else terms.concurrency) - len(held)
        self._left_requests = (inf if terms.rpm is None else terms.rpm) - sum([grant.requests for grant in granted])
        minute = sum([grant.tokens for grant in granted]) + sum([one.call.tokens - one.charged for one in held])
        self._left_of_minute = (inf if terms.tpm is None else terms.tpm) - minute

    # What was done

    def add(self, call: Call, charged: int, in_minute: bool) -> None:  # noqa: FBT001 - as above
        """Reserve what a call may use, which was let in; `in_minute` says that its minute is limited."""
        at_s, self._until_s = call.at_s, 0.0
        if not (self._plain_from_s <= at_s < self._plain_until_s or self._is_plain(at_s)):
            self._take(lapse(self.value(), at_s))
        if in_minute:
            add_grant(self._granted, at_s, charged)
        self._held[call.id] = Held(call, charged)

    def leave(self, call: Call, used: Used, now_s: float) -> None:
        """Put what a call has used in the place of its reservation."""
        held, self._until_s = self._held.get(call.id), 0.0
        if (
            held is None
            or not self._counts_from_s <= call.at_s < self._day_ends_s
            or not (self._plain_from_s <= now_s < self._plain_until_s or self._is_plain(now_s))
        ):
            self._take(leave(self.value(), call, used, now_s))
            return
        del self._held[call.id]
        correct_grant(self._granted, call.at_s, used.tokens - held.charged)
        self._tokens += used.tokens
        self._nano += used.nano_usd

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
        granted = self._granted
        ends = [grant.at_s for grant in (granted[0], granted[-1])] if granted else [now_s]
        oldest = next(iter(self._held.values()), None)
        lapses_s = inf if oldest is None else oldest.call.at_s + LEASE_S
        until_s = min(min(ends) + MINUTE_S, now_s + MINUTE_S, lapses_s, self._day_ends_s)
        is_plain = max(max(ends) - MINUTE_S, self._counts_from_s) <= now_s < until_s
        self._plain_from_s, self._plain_until_s = (now_s, until_s) if is_plain else (0.0, 0.0)
        return is_plain


_NOTHING = Used()
