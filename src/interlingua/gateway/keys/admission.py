"""Lets the calls of keys in before they are made, as far as their accounts allow, and tells who may not.

Rules
- A key without limits is not looked at before a call; where a database is kept, what it used is counted after it.
- Where tokens or money are limited, a call goes out with a cap (`cap`) that fits into what is left of each limit. Only
  where its input by the number of bytes is too much is the request read for it, which comes nearer. Calls
  under way lower no cap: a call that fits once they have ended waits for that (429).
- What a target reads beside the body is reserved up to a context window, and where that is more than a
  budget or a minute has left, all of that is: then one such call is under way at a time.
- What is passed to a provider without being read is refused (403) where money is limited; where tokens of a
  minute are, it counts about as much as its body and its longest answer have, and is refused where nobody can say how
  much (batches).
- A minute and the calls at a time are told with 429, a budget with 402, each with the limit, and when it begins anew.
- A call whose client leaves while it waits to be let in is not made, and reserves nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import BadRequestError, BillingError, Error, PermissionDeniedError, RateLimitError
from interlingua.gateway.keys.accounts import MAX_COUNT, account_of
from interlingua.gateway.keys.budget import MeteredCall, Refusal
from interlingua.gateway.keys.cap import (
    DEFAULT_MAX_TOKENS,
    Size,
    asks_background,
    cap_change,
    cost_of_reading,
    extra_tokens,
    least_of,
    read_nearer,
    wish_of,
)
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.reservation import CallReservation
from interlingua.gateway.keys.terms import NO_TERMS, budget_text, money
from interlingua.routing.estimate import estimate_body
from interlingua.types.limit import RateLimit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from interlingua.client.call.values import Call, CallTarget
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.gateway.keys.accounts import Accounts, Row
    from interlingua.gateway.keys.budget import Used
    from interlingua.gateway.keys.terms import Terms
    from interlingua.gateway.settings import GatewayKey, GatewaySettings

__all__ = ["Admission", "KeyPlan", "UnreadSize", "admission_of", "refusal_error"]

MISSED_TOKENS = 32
"""So many tokens, and a quarter, an estimate of an input may miss where a cap uses up what is left."""
_OF_TOKENS = frozenset({"budget", "tokens"})
"""The limits that what is read counts against."""
SOON_S = 1.0
"""When to come again where another call has to end first."""


class KeyPlan:
    """The facts of a key before any call of it, gathered once for a key and its team's terms."""

    __slots__ = (
        "admission",
        "context_tokens",
        "default_max_tokens",
        "has_budgets",
        "key",
        "limited",
        "minute_tokens",
        "names",
        "needs_money",
        "needs_tokens",
    )

    def __init__(self, admission: Admission, key: GatewayKey) -> None:
        """The plan of a key, as the teams of `admission` are now."""
        names = (account_of(key.name),)
        terms = (key.terms, admission.teams.get(key.team, NO_TERMS) if key.team else NO_TERMS)
        if key.team:
            names += (account_of(key.team, team=True),)
        self.admission: Admission = admission
        """The admission that lets its calls in."""
        self.key: GatewayKey = key
        """The key."""
        self.names: tuple[str, ...] = names
        """A call is written down in all of them: a limit that is set later counts what was used before."""
        self.limited: tuple[tuple[str, Terms], ...] = (
            tuple(zip(names, terms, strict=False)) if any(each.is_limit for each in terms) else ()
        )
        """The names with what each may use; empty where there is no limit."""
        self.needs_tokens: bool = any(each.needs_tokens for each in terms)
        """Whether it matters how many tokens a call will use."""
        self.needs_money: bool = any(each.needs_money for each in terms)
        """Whether it matters what a call costs."""
        self.has_budgets: bool = any(each.budgets for each in terms)
        """Whether anything may be used up."""
        self.minute_tokens: int | None = min([each.tpm for each in terms if each.tpm is not None], default=None)
        """The tokens of a minute; None for no limit."""
        defaults = [each.default_max_tokens for each in terms if each.default_max_tokens is not None]
        self.default_max_tokens: int = min(defaults, default=DEFAULT_MAX_TOKENS)
        """How long an answer gets whose client names no limit."""
        windows = [each.context_tokens for each in terms if each.context_tokens is not None]
        self.context_tokens: int | None = max(windows, default=None)
        """The tokens reserved for the input that a target reads beside the body; None for the window of its model."""


class Admission:
    """Lets calls in."""

    def __init__(
        self,
        accounts: Accounts,
        teams: dict[str, Terms],
        *,
        now: Callable[[], float],
        make_id: Callable[[], str],
        holder: str = "",
        counts: bool = True,
    ) -> None:
        """Lets in by what `accounts` hold; `now` gives Unix seconds, `counts` has keys without limits counted, too.

        `make_id` makes what the ids of all calls begin with.
        """
        self._plans: dict[str, KeyPlan] = {}
        self.accounts: Accounts = accounts
        """The accounts of keys and teams."""
        self.teams = teams
        self._now = now
        self._make_id = make_id
        self._beginning = ""
        self._numbers = count(1)
        self._holder = holder
        self._counts = counts
        self._left: Accounts | None = None

    @property
    def teams(self) -> dict[str, Terms]:
        """The terms of teams."""
        return self._teams

    @teams.setter
    def teams(self, teams: dict[str, Terms]) -> None:
        self._teams = teams
        self._plans.clear()

    async def admit(self, exchange: ClientExchange, key: GatewayKey, call: Call) -> None:
        """Give a call of a key, which is about to be made, its reservation.

        Raises: RateLimitError, BillingError with the limit and when it begins anew; PermissionDeniedError where money
        is limited and a price is not known.
        """
        plan = self._planned(key)
        if not plan.limited:
            exchange.reservation = self._uncounted(plan)
        elif plan.needs_tokens:
            exchange.reservation = await self._capped(exchange, plan, call)
        else:
            reservation = CallReservation(self._call(), plan)
            await self._enter(reservation)
            exchange.reservation = reservation

    async def _capped(self, exchange: ClientExchange, plan: KeyPlan, call: Call) -> CallReservation:
        """The reservation of a call that has a cap: the most that it may have written within every limit."""
        if asks_background(exchange.head.body, exchange.dialect.service):
            raise BadRequestError(
                f"background: the key {plan.key.name} has limits of tokens or money, and what an answer in the "
                "background costs is known only after it; ask without it, also as a stream",
                status=400,
                code="unsupported_parameter",
            )
        size = Size(exchange, plan, call, wish_of(exchange), least_of(call.targets))
        read = by_size = estimate_body(exchange.http.body)
        cap, is_near = size.first_cap(), False
        if plan.minute_tokens is not None and plan.minute_tokens > read + size.least:
            cap = min(cap, (plan.minute_tokens - read) // size.wish.choices)
        extra = extra_tokens(exchange, call, plan.context_tokens)
        while True:
            size.check_thinking(cap)
            most = size.most(read + extra, cap)
            reservation = CallReservation(
                self._call(*most), plan, exchange, call, cap=cap, changes=cap_change(exchange, size.wish, cap)
            )
            refusal = await self._entered(reservation)
            if refusal is None:
                return reservation
            if extra:
                if refusal.is_reserved or refusal.limit not in _OF_TOKENS:
                    raise refusal_error(refusal, reservation.call)
                extra = size.extra_room(read, cap, extra, refusal)
            elif is_near:  # a cap uses up what is left, so that it leaves room for what an estimate misses
                read = min(by_size, read + read // 4 + MISSED_TOKENS)
                room = size.room(read, cap, refusal)
                if room < size.least or room >= cap:
                    raise refusal_error(refusal, reservation.call)
                cap = room
            else:
                is_near, read = True, min(read, read_nearer(exchange, call))

    async def _enter(self, reservation: CallReservation) -> None:
        refusal = await self._entered(reservation)
        if refusal is not None:
            raise refusal_error(refusal, reservation.call)

    async def reserve_again(self, reservation: CallReservation) -> tuple[MeteredCall, Error | None]:
        """A further reservation for a call, as its first one; why there is none."""
        call = self._call(reservation.call.tokens, reservation.call.nano_usd)
        refusal = await self.accounts.enter(Enter(call, reservation.plan.limited))
        return call, None if refusal is None else refusal_error(refusal, call)

    async def admit_unread(self, key: GatewayKey | None, size: UnreadSize) -> CallReservation | None:
        """The reservation of a request that is passed to a provider without being read; None where nothing is counted.

        Raises: as `admit`; PermissionDeniedError where there is a budget, or tokens are limited, and what is used is
        not known.
        """
        if key is None:
            return None
        plan = self._planned(key)
        if not plan.limited:
            return self._uncounted(plan)
        limit = size.refused_by(plan)
        if limit:
            raise PermissionDeniedError(
                f"the key {key.name} has {limit}, and what this request uses of it is not known", status=403
            )
        reservation = CallReservation(self._call(size.tokens(plan)), plan)
        await self._enter(reservation)
        return reservation

    async def admit_reading(
        self, key: GatewayKey | None, targets: Sequence[CallTarget], reads: int
    ) -> CallReservation | None:
        """The reservation of a call that reads about so many tokens, and writes none; None where nothing is counted.

        Raises: as `admit`.
        """
        if key is None:
            return None
        plan, tokens = self._planned(key), min(reads, MAX_COUNT)
        if not plan.limited:
            return self._uncounted(plan, tokens, writes=False)
        cost = cost_of_reading(targets, reads) if plan.needs_money else 0
        reservation = CallReservation(self._call(tokens, min(cost, MAX_COUNT)), plan, writes=False)
        await self._enter(reservation)
        return reservation

    def settle(self, call: MeteredCall, names: tuple[str, ...], used: Used, rows: tuple[Row, ...]) -> Awaitable[object]:
        """Write down what a call has used; to be awaited, and done also when nobody does."""
        return self.accounts.leave(Leave(call, names, used, self._now()), *rows)

    def move(self, accounts: Accounts, holder: str) -> None:
        """Keep what keys have used in other accounts from now on, also of keys without limits; `holder` is us there."""
        self.accounts, self._left, self._counts, self._holder = accounts, self.accounts, True, holder

    async def close(self) -> None:
        """Write what is still to be written."""
        await self.accounts.close()
        if self._left is not None:
            await self._left.close()

    def _planned(self, key: GatewayKey) -> KeyPlan:
        plan = self._plans.get(key.name)
        if plan is None or plan.key is not key:
            plan = self._plans[key.name] = KeyPlan(self, key)
        return plan

    def _uncounted(self, plan: KeyPlan, tokens: int = 0, *, writes: bool = True) -> CallReservation | None:
        return (
            CallReservation(MeteredCall("", self._holder, self._now(), tokens), plan, writes=writes)
            if self._counts
            else None
        )

    def _call(self, tokens: int = 0, nano_usd: int = 0) -> MeteredCall:
        if not self._beginning:
            self._beginning = f"{self._make_id()}."
        return MeteredCall(f"{self._beginning}{next(self._numbers)}", self._holder, self._now(), tokens, nano_usd)

    def _entered(self, reservation: CallReservation) -> Awaitable[Refusal | None]:
        """Why a call does not enter; None for one that has."""
        return self.accounts.enter(Enter(reservation.call, reservation.plan.limited))


class UnreadSize(NamedTuple):
    """About how many tokens a request uses that is passed to a provider without being read."""

    reads: int | None
    """How many it has; 0 for one that costs nothing, None where nobody can say."""
    writes: int | None = 0
    """The most that are written for it; None where it names no limit."""

    def refused_by(self, plan: KeyPlan) -> str:
        """The limit of a key that it might pass unseen; empty for none."""
        if self.reads == 0:
            return ""
        if plan.needs_money or (plan.has_budgets and (self.reads is None or self.writes != 0)):
            return "a budget"
        return "a limit of tokens" if plan.needs_tokens and self.reads is None else ""

    def tokens(self, plan: KeyPlan) -> int:
        """The tokens reserved for it."""
        writes = plan.default_max_tokens if self.writes is None else self.writes
        return min((self.reads or 0) + writes, MAX_COUNT)


def admission_of(settings: GatewaySettings, now: Callable[[], float], make_id: Callable[[str], str]) -> Admission:
    """The admission of a gateway: over its database of keys where it has one, else in memory."""
    path, holder = settings.key_file, ""
    accounts: Accounts = MemoryAccounts()
    if path:
        from pathlib import Path

        from interlingua.gateway.keys.file_accounts import FileAccounts  # only keys in a file need SQLite
        from interlingua.gateway.keys.holders import holder_here

        holder = holder_here()
        accounts = FileAccounts(Path(path).expanduser(), now=now, holder=holder)
    return Admission(
        accounts,
        settings.teams,
        now=now,
        make_id=lambda: make_id(""),
        holder=holder,
        counts=bool(path),
    )


# What is told


_SAID = {"requests": "requests a minute", "tokens": "tokens a minute", "concurrency": "calls at a time"}


def refusal_error(refusal: Refusal, call: MeteredCall) -> Error:
    """The error that tells why a call does not enter."""
    kind, _, name = refusal.account.partition(":")
    whose = f"the {kind} {name}"
    if refusal.limit == "budget":
        return _over_budget(refusal, whose, call)
    wait_s = SOON_S if refusal.wait_s is None else max(0.001, refusal.wait_s)
    when = f"{wait_s:.0f} s" if wait_s >= 10 else f"{wait_s:.1f} s"
    end = "another call has to end first" if refusal.wait_s is None else f"it may come again in {when}"
    limits = {refusal.limit: RateLimit(limit=refusal.allowed, remaining=refusal.left, reset_s=wait_s)}
    return RateLimitError(
        f"{whose} may have {refusal.allowed:,} {_SAID[refusal.limit]}, and they are used up; {end}",
        status=429,
        retry_after_s=wait_s,
        rate_limits=limits if refusal.limit != "concurrency" else {},
    )


def _over_budget(refusal: Refusal, whose: str, call: MeteredCall) -> Error:
    assert refusal.budget is not None, "a budget that is used up is named"  # noqa: S101 - an invariant
    budget = refusal.budget

    def amount(count: int) -> str:
        return money(count) if budget.unit == "usd" else f"{count:,} tokens"

    sentence = f"{whose} has a budget of {budget_text(budget)}"
    wants = f"this call may use up to {amount(refusal.requested)}, with {amount(refusal.left)} left"
    if refusal.is_reserved:
        return RateLimitError(
            f"{sentence}; {wants} while other calls are under way",
            status=429,
            retry_after_s=SOON_S,
            code="budget_reserved",
        )
    if refusal.wait_s is not None:
        begins = datetime.fromtimestamp(call.at_s + refusal.wait_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        wants = f"{wants}; it begins anew at {begins}"
    elif refusal.left:
        wants = f"{wants}; ask for fewer max_tokens"
    return BillingError(f"{sentence}; {wants}", status=402, retry_after_s=refusal.wait_s, code="insufficient_quota")
