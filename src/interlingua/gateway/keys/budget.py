"""The accounts of keys and teams, used and under way: the arithmetic of keys, as pure transitions of one value.

Strategy: an account is a value that a store reads, has changed here and writes: in memory, in SQLite, or on another
machine, where it is written only if nobody else was faster. Before a call, what it may use at most is reserved; after
it, the reservation gives way to what was used.

Rules
- A call enters if what was used, what is reserved and what it reserves itself fit into every limit; else nothing of it
  is written, in no account. So calls that come at the same time cannot overspend a budget together.
- What a call really used is written even where it is more than was reserved: it was paid for. The next one waits.
- A call belongs to the minute, day and month of UTC in which it began, whenever it ends. Each day has a sum of its own,
  also where the clock goes ahead by days and is put back, and where the clocks of two machines disagree at midnight.
- A minute is any 60 seconds. Up to 64 of its requests are remembered one by one; beyond that those of one second
  together, at the time of the last one: never too generous, and late by a second at most.
- More tokens than a whole minute allows count as a whole minute: such a call goes alone, and its answer tells.
- A reservation whose process died is charged as it was made, once its lease is over or its holder is known to be gone.
  Whoever settles it after that corrects the charge.

Units: seconds of the wall clock, tokens, billionths of a dollar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import Literal, TypeAlias, final

import msgspec

from interlingua.gateway.keys.terms import Budget, Terms

__all__ = [
    "DAY_S",
    "EMPTY",
    "LEASE_S",
    "MINUTE_S",
    "Account",
    "Granted",
    "Held",
    "Limit",
    "MeteredCall",
    "Refusal",
    "Spent",
    "Sum",
    "Tally",
    "Used",
    "charge_of",
    "left_of",
    "reset_s",
    "used_of",
]

MINUTE_S = 60.0
"""The length of a minute."""
LEASE_S = 900.0
"""After so many seconds a reservation that nobody settled is charged."""
DAY_S = 86_400.0
"""The length of a day."""
KEPT_SUMS = 3
"""The sums of so many days, and of so many months, are kept beside the one that it is: those next to it."""
SINGLE = 64
"""How many requests of a minute are remembered one by one."""
GRAIN_S = 1.0
"""Beyond them, those of so many seconds are remembered together."""
Limit: TypeAlias = Literal["budget", "requests", "tokens", "concurrency"]
"""Limits that may be reached."""


class MeteredCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call before it is made."""

    id: str
    """Tells it from all others."""
    holder: str
    """The process that makes it."""
    at_s: float
    """When it begins."""
    tokens: int = 0
    """How many tokens it uses at most, as far as can be said."""
    nano_usd: int = 0
    """The highest cost."""


class Used(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The use of a call."""

    tokens: int = 0
    """Input and output."""
    nano_usd: int = 0
    """The cost, as far as that is known."""

    def plus(self, other: Used) -> Used:
        """Both together."""
        return Used(self.tokens + other.tokens, self.nano_usd + other.nano_usd)


class Granted(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Requests of the last minute that are remembered together."""

    begun_s: float
    """When the first one came."""
    at_s: float
    """When the last one came."""
    requests: int
    """How many they are."""
    tokens: int
    """The tokens that they are charged."""


class Held(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A reservation."""

    call: MeteredCall
    """The call that it is for."""
    charged: int
    """The tokens that it is charged in its minute."""


class Sum(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The use of another day or month."""

    number: int
    """Which, as `Spent` counts them."""
    used: Used
    """Used in it."""


class Spent(msgspec.Struct, frozen=True, array_like=True):
    """The use of a day, of a month, and in all."""

    day: int = 0
    """The day, counted from 1970."""
    month: int = 0
    """The month, as twelve times the year and its place in it."""
    in_day: Used = Used()
    """Used in that day."""
    in_month: Used = Used()
    """Used in that month."""
    in_total: Used = Used()
    """Used since the account began."""
    other_days: tuple[Sum, ...] = ()
    """Used in days near that one."""
    other_months: tuple[Sum, ...] = ()
    """Used in months near that one."""


class Account(msgspec.Struct, frozen=True, array_like=True):
    """The account of a key or a team, used and under way."""

    granted: tuple[Granted, ...] = ()
    """The last minute, oldest first."""
    reservations: tuple[Held, ...] = ()
    """Reservations, oldest first."""
    spent: Spent = Spent()
    """The settled use."""


EMPTY = Account()
"""An account that nobody has used."""


@final
class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a call does not enter."""

    account: str = ""
    """The account whose limit it is."""
    limit: Limit
    """Which limit."""
    allowed: int
    """How much it allows."""
    left: int
    """How much of that is left."""
    unspent: int = 0
    """How much of a budget is left but for the reservations of calls under way."""
    requested: int
    """How much the call asks for."""
    wait_s: float | None
    """Seconds until it may enter; None while another call has to end first, and where waiting does not help."""
    budget: Budget | None = None
    """The budget, where it is one."""
    is_reserved: bool = False
    """Whether it is calls under way that stand in the way of a budget, so that it may be free once they end."""


# One account


class Tally:
    """An account that calls enter and leave, changed in place; `value` is the account at any time.

    Sums stand beside the parts, so that a call costs as much however many others are under way.
    """

    __slots__ = (
        "_granted",
        "_granted_requests",
        "_granted_tokens",
        "_held_from_s",
        "_held_nano",
        "_held_tokens",
        "_quiet_from_s",
        "_quiet_until_s",
        "_reservations",
        "_spent",
    )

    def __init__(self, account: Account = EMPTY) -> None:
        """Goes on from an account."""
        self._spent = account.spent
        self._quiet_from_s = self._quiet_until_s = 0.0  # nothing is due between them
        self._remember(account.granted)
        self._reserve(account.reservations)

    def value(self) -> Account:
        """The account as it is now."""
        return Account(tuple(self._granted), tuple(self._reservations.values()), self._spent)

    def holders(self) -> set[str]:
        """The processes that have calls under way."""
        return {reservation.call.holder for reservation in self._reservations.values()}

    def holds(self, call_id: str) -> bool:
        """Whether a call has a reservation."""
        return call_id in self._reservations

    def refusal(self, terms: Terms, call: MeteredCall) -> Refusal | None:
        """Why a call does not enter; None for one that may be added."""
        self.lapse(call.at_s)
        return self._over_budget(terms, call) or self._over_minute(terms, call) or self._too_many(terms)

    def add(self, terms: Terms, call: MeteredCall) -> None:
        """Reserve the most that a call may use, which was not refused."""
        at_s, charged = call.at_s, charge_of(terms, call)
        if terms.rpm is not None or terms.tpm is not None:
            granted = self._granted
            last = granted[-1] if len(granted) >= SINGLE else None
            if last is not None and 0 <= at_s - last.begun_s <= GRAIN_S:
                granted[-1] = Granted(last.begun_s, max(last.at_s, at_s), last.requests + 1, last.tokens + charged)
            else:
                granted.append(Granted(at_s, at_s, 1, charged))
            self._granted_requests += 1
            self._granted_tokens += charged
        self._quiet_until_s = min(self._quiet_until_s, at_s + MINUTE_S)
        self._reservations[call.id] = Held(call, charged)
        self._held_tokens += call.tokens
        self._held_nano += call.nano_usd
        self._held_from_s = min(self._held_from_s, call.at_s)

    def leave(self, call: MeteredCall, used: Used, now_s: float) -> None:
        """Put the use of a call in the place of its reservation.

        A reservation that lapsed was charged, and one that never was is not; the difference is charged.
        """
        self.lapse(now_s, spare=call.id)
        reservation = self._reservations.pop(call.id, None)
        if reservation is None:
            used = Used(used.tokens - call.tokens, used.nano_usd - call.nano_usd)
        else:
            self._held_tokens -= reservation.call.tokens
            self._held_nano -= reservation.call.nano_usd
            difference = used.tokens - reservation.charged
            if _correct_grant(self._granted, call.at_s, difference):
                self._granted_tokens += difference
        self._spent = _charged(self._spent, call.at_s, now_s, used)

    def lapse(self, now_s: float, *, spare: str = "", is_gone: Callable[[str], bool] | None = None) -> None:
        """Forget old minutes, begin days and months, charge old reservations.

        `spare` is the call that is being settled; `is_gone` tells of a holder that it cannot settle any more.
        """
        if self._quiet_from_s <= now_s < self._quiet_until_s and is_gone is None:
            return
        granted, reservations = self._granted, self._reservations
        if granted and not (_counts(granted[0], now_s) and _counts(granted[-1], now_s)):  # the others are between them
            self._remember([grant for grant in granted if _counts(grant, now_s)])
        self._spent = _rolled(self._spent, now_s)
        oldest = next(iter(reservations.values()), None)
        if oldest is not None and (is_gone is not None or oldest.call.at_s + LEASE_S <= now_s):
            live: list[Held] = []
            for one in reservations.values():
                call = one.call
                has_ended = call.at_s + LEASE_S <= now_s or (is_gone is not None and is_gone(call.holder))
                if has_ended and call.id != spare:
                    self._spent = _charged(self._spent, call.at_s, now_s, Used(call.tokens, call.nano_usd))
                else:
                    live.append(one)
            self._reserve(live)
        ends_s = [grant.at_s + MINUTE_S for grant in self._granted]
        ends_s += [reservation.call.at_s + LEASE_S for reservation in self._reservations.values()]
        self._quiet_until_s = min(ends_s, default=inf) if self._spent.day == _day(now_s) else 0.0
        self._quiet_until_s = min(self._quiet_until_s, (self._spent.day + 1) * DAY_S)
        self._quiet_from_s = now_s

    def _remember(self, granted: Iterable[Granted]) -> None:
        self._granted = list(granted)
        self._granted_requests = sum([grant.requests for grant in self._granted])
        self._granted_tokens = sum([grant.tokens for grant in self._granted])

    def _reserve(self, reservations: Iterable[Held]) -> None:
        self._reservations = {one.call.id: one for one in reservations}
        calls = [one.call for one in self._reservations.values()]
        self._held_tokens = sum([call.tokens for call in calls])
        self._held_nano = sum([call.nano_usd for call in calls])
        self._held_from_s = min([call.at_s for call in calls], default=inf)

    def _over_budget(self, terms: Terms, call: MeteredCall) -> Refusal | None:
        for budget in terms.budgets:
            cost = call.nano_usd if budget.unit == "usd" else call.tokens
            used, reserved = self._used_of(budget)
            left = budget.amount - used - reserved
            if cost > left or left <= 0:
                unspent = max(0, budget.amount - used)
                is_reserved = cost <= unspent and unspent > 0
                helps = not is_reserved and cost <= budget.amount
                return Refusal(
                    limit="budget",
                    allowed=budget.amount,
                    left=max(0, left),
                    unspent=unspent,
                    requested=cost,
                    wait_s=reset_s(budget, call.at_s) if helps else None,
                    budget=budget,
                    is_reserved=is_reserved,
                )
        return None

    def _used_of(self, budget: Budget) -> tuple[int, int]:
        """How much of a budget is used, and how much of it is reserved."""
        if self._reservations and self._held_from_s < _began_s(self._spent, budget.period):
            return used_of(self.value(), budget, self._spent.day * DAY_S)  # some began in another day or month
        used = _spent_in(self._spent, budget)
        if budget.unit == "usd":
            return used.nano_usd, self._held_nano
        return used.tokens, self._held_tokens

    def _over_minute(self, terms: Terms, call: MeteredCall) -> Refusal | None:
        if terms.rpm is not None and self._granted_requests >= terms.rpm:
            return self._minute_refusal("requests", terms.rpm, self._granted_requests, 1, call)
        if terms.tpm is not None and self._granted_tokens + (charge := charge_of(terms, call)) > terms.tpm:
            return self._minute_refusal("tokens", terms.tpm, self._granted_tokens, charge, call)
        return None

    def _minute_refusal(self, limit: Limit, allowed: int, used: int, more: int, call: MeteredCall) -> Refusal:
        excess, free_at_s = used + more - allowed, call.at_s
        for grant in self._granted:  # until so much of the minute has passed that the excess is gone
            if excess <= 0:
                break
            excess -= grant.requests if limit == "requests" else grant.tokens
            free_at_s = max(free_at_s, grant.at_s + MINUTE_S)
        wait_s = free_at_s - call.at_s
        return Refusal(limit=limit, allowed=allowed, left=max(0, allowed - used), requested=more, wait_s=wait_s)

    def _too_many(self, terms: Terms) -> Refusal | None:
        allowed = terms.concurrency
        if allowed is None or len(self._reservations) < allowed:
            return None
        return Refusal(limit="concurrency", allowed=allowed, left=0, requested=1, wait_s=None)


def used_of(account: Account, budget: Budget, now_s: float) -> tuple[int, int]:
    """How much of a budget is used, and how much of it is reserved."""
    spent = _rolled(account.spent, now_s)
    used = _spent_in(spent, budget)
    began_s = _began_s(spent, budget.period)
    reserved = [reservation.call for reservation in account.reservations if reservation.call.at_s >= began_s]
    if budget.unit == "usd":
        return used.nano_usd, sum([call.nano_usd for call in reserved])
    return used.tokens, sum([call.tokens for call in reserved])


def left_of(account: Account, budget: Budget, now_s: float) -> int:
    """How much of a budget may still be reserved."""
    return max(0, budget.amount - sum(used_of(account, budget, now_s)))


def reset_s(budget: Budget, now_s: float) -> float | None:
    """Seconds until a budget begins anew; None for one that never does."""
    match budget.period:
        case "day":
            return (now_s // DAY_S + 1) * DAY_S - now_s
        case "month":
            now = datetime.fromtimestamp(now_s, UTC)
            year, month = divmod(now.year * 12 + now.month, 12)
            return datetime(year, month + 1, 1, tzinfo=UTC).timestamp() - now_s
        case "total":
            return None


# Minutes


def _counts(grant: Granted, now_s: float) -> bool:
    """Whether a grant is of the last minute; one far in the future was written by a clock that was put back."""
    return now_s - MINUTE_S < grant.at_s <= now_s + MINUTE_S


def charge_of(terms: Terms, call: MeteredCall) -> int:
    """The tokens that a call is charged in its minute."""
    tokens, most = call.tokens, terms.tpm
    return tokens if most is None or tokens < most else most


def _correct_grant(granted: list[Granted], at_s: float, difference: int) -> bool:
    """Have a call of the minute charged otherwise; False where nothing is left to correct, since it has passed."""
    place = len(granted) if difference else 0
    while place:  # from the end: what ends now began lately
        place -= 1
        grant = granted[place]
        if grant.begun_s <= at_s <= grant.at_s:
            granted[place] = Granted(grant.begun_s, grant.at_s, grant.requests, grant.tokens + difference)
            return True
    return False


# Days and months


def _day(at_s: float) -> int:
    return int(at_s // DAY_S)


@lru_cache(maxsize=16)
def _month(day: int) -> int:
    at = datetime.fromtimestamp(day * DAY_S, UTC)
    return at.year * 12 + at.month


def _rolled(spent: Spent, now_s: float) -> Spent:
    """The use, on the day that it is; the sums of other days are found again where the clock goes there."""
    day = _day(now_s)
    if day == spent.day:
        return spent
    month, in_month, other_months = _month(day), spent.in_month, spent.other_months
    in_day, other_days = _turned(spent.other_days, Sum(spent.day, spent.in_day), day)
    if month != spent.month:
        in_month, other_months = _turned(other_months, Sum(spent.month, in_month), month)
    return Spent(day, month, in_day, in_month, spent.in_total, other_days, other_months)


def _turned(others: tuple[Sum, ...], current: Sum, number: int) -> tuple[Used, tuple[Sum, ...]]:
    """The sum of another day or month than the current one, and those that are kept beside it."""
    used = next((one.used for one in others if one.number == number), Used())
    return used, _nearest([*[one for one in others if one.number != number], current], number)


def _added(others: tuple[Sum, ...], number: int, used: Used, current: int) -> tuple[Sum, ...]:
    """The sums beside the current one, with more in one of them."""
    before = next((one.used for one in others if one.number == number), Used())
    rest = [one for one in others if one.number != number]
    return _nearest([*rest, Sum(number, before.plus(used))], current)


def _nearest(sums: list[Sum], number: int) -> tuple[Sum, ...]:
    used = [one for one in sums if one.used != Used()]
    return tuple(sorted(used, key=lambda one: abs(one.number - number))[:KEPT_SUMS])


def _began_s(spent: Spent, period: str) -> float:
    """When the day or month began that it is; what is reserved for all time began whenever it did."""
    match period:
        case "day":
            return spent.day * DAY_S
        case "month":
            return _month_begins_s(spent.month)
        case _:
            return -inf


def _spent_in(spent: Spent, budget: Budget) -> Used:
    """The use of the day, month or time that a budget is for."""
    match budget.period:
        case "day":
            return spent.in_day
        case "month":
            return spent.in_month
        case "total":
            return spent.in_total


@lru_cache(maxsize=16)
def _month_begins_s(month: int) -> float:
    year, place = divmod(month - 1, 12)
    return datetime(year, place + 1, 1, tzinfo=UTC).timestamp() if year > 0 else -inf


def _charged(spent: Spent, at_s: float, now_s: float, used: Used) -> Spent:
    """The use, with a call that began at `at_s`."""
    spent, day = _rolled(spent, now_s), _day(at_s)
    in_day, in_month, other_days, other_months = spent.in_day, spent.in_month, spent.other_days, spent.other_months
    if day == spent.day:
        in_day = in_day.plus(used)
    else:
        other_days = _added(other_days, day, used, spent.day)
    if (month := _month(day)) == spent.month:
        in_month = in_month.plus(used)
    else:
        other_months = _added(other_months, month, used, spent.month)
    return Spent(spent.day, spent.month, in_day, in_month, spent.in_total.plus(used), other_days, other_months)
