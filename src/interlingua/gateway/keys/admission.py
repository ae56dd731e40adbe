"""What a key may now: a call is let in before it is made, and settled when it has ended.

Strategy: for a key whose limits count tokens or money, the most that a call may use is reserved before it: its input
as `client/estimate` has it of the bytes, and for the output `max_tokens` of each choice (4,096 where it does not say).
Only where that is too much is the request read for it, which comes nearer. The price is
that of the dearest target of its chain. When the call has ended, what it used takes the place of the reservation.

Rules
- A key without limits is not looked at before a call; where a database is kept, what it used is counted after it.
- What a provider did not count is estimated from what came. A client that leaves pays for what had come. A call without
  an answer costs nothing, but for tries that failed although a target had answered: those were paid for.
- Where money is limited and the price of a target is not known, the call is refused (403), and so is what is passed to
  a provider without being read. Configured prices, also of 0, make such targets usable.
- A minute and the calls at a time are told with 429, a budget with 402, each with the limit, and when it begins anew.
- A grant is settled once, whatever ends the call, and also when the client has left meanwhile.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from interlingua.client.estimate import estimate_body, estimate_tokens
from interlingua.client.price import price_of
from interlingua.errors import BillingError, Error, PermissionDeniedError, RateLimitError
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import Call, Enter, Leave, Refusal, Used
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.terms import NO_TERMS, money, nano_usd, told_budget
from interlingua.providers.price import cost_usd
from interlingua.transport.override import answers_alone
from interlingua.types.limit import RateLimit
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from interlingua.client.job import Job, Lane
    from interlingua.gateway.calls.asked import Asked
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.keys.accounts import Accounts
    from interlingua.gateway.keys.terms import Terms
    from interlingua.gateway.settings import GatewayKey
    from interlingua.providers.price import Price
    from interlingua.types.response import Response

__all__ = [
    "FREE",
    "OUTPUT_TOKENS",
    "Admission",
    "Grant",
    "account_of",
    "admission_of",
    "refusal_error",
]

W = TypeVar("W")
OUTPUT_TOKENS = 4_096
"""What is reserved for the output of a call that does not say how long it may get."""
_MOST_WRITTEN: dict[str, tuple[str, ...]] = {
    "openai-chat": ("max_completion_tokens", "max_tokens"),
    "openai-responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
}
"""The members that say how long an answer may get, where that is told in the head of a body."""
MOST_DIGITS = 12
DAY_S = 86_400
SOON_S = 1.0
"""When to come again where another call has to end first."""


def account_of(name: str, *, team: bool = False) -> str:
    """The name of a key's account, or of a team's."""
    return f"{'team' if team else 'key'}:{name}"


class _Failed(NamedTuple):
    """A try that failed, and what its target had answered."""

    error: Error
    came: Response[Any]
    lane: Lane


class _Plan:
    """What there is to know of a key before any call of it, found once for a key and its team's terms."""

    __slots__ = ("has_budgets", "key", "limited", "names", "needs_money", "needs_tokens", "teams")

    def __init__(self, key: GatewayKey, teams: dict[str, Terms], names: tuple[str, ...]) -> None:
        """The plan of a key among teams; `names` are its accounts."""
        team = teams.get(key.team, NO_TERMS) if key.team else NO_TERMS
        terms = (key.terms, team)
        self.key: GatewayKey = key
        self.teams: dict[str, Terms] = teams
        self.names: tuple[str, ...] = names
        """A call is written down in all of them: a limit that is set later counts what was used before."""
        self.limited: tuple[tuple[str, Terms], ...] = (
            tuple(zip(names, terms, strict=False)) if terms != (NO_TERMS, NO_TERMS) else ()
        )
        self.needs_tokens: bool = any(each.needs_tokens for each in terms)
        self.needs_money: bool = any(each.needs_money for each in terms)
        self.has_budgets: bool = any(each.budgets for each in terms)


class Grant:
    """The right to make one call, until it is settled."""

    __slots__ = ("_admission", "_failed", "_wanted", "call", "counts", "plan")

    def __init__(self, admission: Admission, plan: _Plan, call: Call, wanted: _Wanted | None = None) -> None:
        """A grant of a call that has entered."""
        self._admission = admission
        self._wanted = wanted
        self._failed: list[_Failed] = _NONE_FAILED
        self.plan: _Plan = plan
        """What there is to know of its key."""
        self.call: Call = call
        """The call."""
        self.counts: bool = True
        """Whether it matters to anybody what the call has used."""

    async def settle(
        self, response: Response[Any] | None, lane: Lane | None = None, *, is_partial: bool = False
    ) -> None:
        """Write down what the call has used; a second time does nothing.

        `response` is the answer of the target `lane`, None where there was none; `is_partial` says that it is what had
        come of one.
        """
        if not self.counts:
            return
        self.counts = False
        wanted, self._wanted = self._wanted, None  # it leads back here
        call, plan, admission = self.call, self.plan, self._admission
        used, row = _spent(call, plan.key.name, wanted, response, lane, is_partial=is_partial)
        rows = (row,)
        for failed in self._failed:
            tried, row = _spent(call, plan.key.name, wanted, failed.came, failed.lane)
            used = used.plus(tried)
            rows += (msgspec.structs.replace(row, requests=0, failed=1),)
        await admission.settle(call, plan.names, used, rows)

    def failed(self, error: Error, lane: Lane) -> None:
        """Remember a try that failed: where its target had answered, it was paid for."""
        came = getattr(error, "response", None) or getattr(error, "partial", None)
        if came is not None and self.counts:
            self._failed = [*self._failed, _Failed(error, came, lane)]

    async def settle_failed(self, error: BaseException) -> None:
        """Write down a call that ended with an error; what its last target had answered is its answer."""
        last = self._failed.pop() if self._failed and self._failed[-1].error is error else None
        await (self.settle(None) if last is None else self.settle(last.came, last.lane))

    async def settle_unread(self, spec: str, *, is_failed: bool = False) -> None:
        """Write down a call of which nobody reads what it used: as it was reserved. A second time does nothing."""
        if not self.counts:
            return
        self.counts = False
        call = self.call
        tokens = 0 if is_failed else call.tokens
        row = Row(
            key=self.plan.key.name,
            day=_day(call),
            model=spec,
            requests=1,
            failed=int(is_failed),
            input_tokens=tokens,
            estimated=int(not is_failed),
            unpriced=int(not is_failed),
        )
        await self._admission.settle(call, self.plan.names, Used(tokens), (row,))


_NONE_FAILED: list[_Failed] = []
"""Is never added to."""


class _Free(Grant):
    """A grant that costs nothing and counts nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        """There is nothing to settle."""
        self._failed = _NONE_FAILED
        self.counts = False


FREE: Grant = _Free()
"""Lets in whoever has no limits, where nothing is counted."""


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
        self.accounts = accounts
        self.teams: dict[str, Terms] = teams
        """What teams may use."""
        self._now = now
        self._make_id = make_id
        self._beginning = ""
        self._numbers = count(1)
        self._holder = holder
        self._counts = counts
        self._plans: dict[str, _Plan] = {}
        self._left: Accounts | None = None
        self._tasks: set[asyncio.Future[Any]] = set()

    @property
    def accounts(self) -> Accounts:
        """What keys and teams have used."""
        return self._accounts

    @accounts.setter
    def accounts(self, accounts: Accounts) -> None:
        self._accounts, self._at_once = accounts, accounts.at_once

    async def admit(self, key: GatewayKey | None, asked: Asked, job: Job) -> Grant:
        """The grant of a call that is about to be made.

        Raises: RateLimitError, BillingError with the limit and when it begins anew; PermissionDeniedError where money
        is limited and a price is not known.
        """
        if key is None:
            return FREE
        plan = self._plan(key)
        if not plan.limited:
            return self._uncounted(plan)
        if not plan.needs_tokens:
            return await self._enter(plan)
        wanted = _Wanted(asked, job)
        most = wanted.most(needs_money=plan.needs_money)
        try:
            return await self._enter(plan, most[0], most[1], wanted)
        except (RateLimitError, BillingError):
            nearer = wanted.nearer(needs_money=plan.needs_money)
            if nearer >= most:
                raise
        return await self._enter(plan, *nearer, wanted)

    async def admit_unread(self, key: GatewayKey | None, tokens: int | None) -> Grant:
        """The grant of a request that is passed to a provider without being read, with about so many tokens.

        0 is one that costs nothing, None one of which nobody knows what it costs.

        Raises: as `admit`; PermissionDeniedError where there is a budget, and what is used is not known.
        """
        if key is None:
            return FREE
        plan = self._plan(key)
        if not plan.limited:
            return self._uncounted(plan)
        if tokens != 0 and (plan.has_budgets if tokens is None else plan.needs_money):
            raise PermissionDeniedError(
                f"the key {key.name} has a budget, and what this request uses of it is not known", status=403
            )
        return await self._enter(plan, tokens or 0)

    async def settle(self, call: Call, names: tuple[str, ...], used: Used, rows: tuple[Row, ...]) -> None:
        """Write down what a call has used; it is written also when the client leaves meanwhile."""
        at_once, now_s = self._at_once, self._now()
        if at_once is not None and at_once.leave_now(call, names, used, now_s, rows):
            return
        leaving = self._accounts.leave(Leave(call, names, used, now_s), *rows)
        await (self._whole(leaving) if at_once is None else leaving)

    def move(self, accounts: Accounts, holder: str) -> None:
        """Keep what keys have used in other accounts from now on, also of keys without limits; `holder` is us there."""
        self.accounts, self._left, self._counts, self._holder = accounts, self.accounts, True, holder

    async def close(self) -> None:
        """Write what is still to be written."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self.accounts.close()
        if self._left is not None:
            await self._left.close()

    def _plan(self, key: GatewayKey) -> _Plan:
        plan = self._plans.get(key.name)
        if plan is None or plan.key is not key or plan.teams is not self.teams:
            names = (account_of(key.name), account_of(key.team, team=True)) if key.team else (account_of(key.name),)
            plan = self._plans[key.name] = _Plan(key, self.teams, names)
        return plan

    def _uncounted(self, plan: _Plan) -> Grant:
        if not self._counts:
            return FREE
        return Grant(self, plan, Call("", self._holder, self._now()))

    async def _enter(self, plan: _Plan, tokens: int = 0, cost: int = 0, wanted: _Wanted | None = None) -> Grant:
        self._beginning = self._beginning or self._make_id()
        call = Call(f"{self._beginning}.{next(self._numbers)}", self._holder, self._now(), tokens, cost)
        grant, at_once = Grant(self, plan, call, wanted), self._at_once
        entered = at_once is not None and at_once.enter_now(call, plan.limited)
        if entered is True:
            return grant
        refusal = entered or await self._entered_late(grant)
        if refusal is not None:
            raise refusal_error(refusal, call)
        return grant

    def _entered_late(self, grant: Grant) -> Awaitable[Refusal | None]:
        """Why a call that has to wait for others does not enter."""
        entering = self._accounts.enter(Enter(grant.call, grant.plan.limited))
        if self._at_once is None:
            return self._whole(entering, on_left=lambda: grant.settle(None))
        return entering

    async def _whole(
        self,
        work: Awaitable[W],
        on_left: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> W:
        """What the work comes to. It is finished also when the client leaves meanwhile, and then `on_left` is done."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if on_left is not None:
                left = asyncio.ensure_future(_after(task, on_left))
                self._tasks.add(left)
                left.add_done_callback(self._tasks.discard)
            raise


def admission_of(gateway: Gateway) -> Admission:
    """The admission of a gateway: over its database of keys where it has one, else in memory."""
    path, holder = gateway.settings.key_file, ""
    accounts: Accounts = MemoryAccounts()
    if path:
        from pathlib import Path

        from interlingua.gateway.keys.ledger import (  # only who has keys in a file needs SQLite
            FileAccounts,
            holder_here,
        )

        holder = holder_here()
        accounts = FileAccounts(Path(path).expanduser(), now=gateway.now, holder=holder)
    return Admission(
        accounts,
        gateway.settings.teams,
        now=gateway.now,
        make_id=lambda: gateway.make_id(""),
        holder=holder,
        counts=bool(path),
    )


async def _after(task: asyncio.Future[W], then: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Give back what was reserved for a client that did not wait for it."""
    with suppress(Error):
        if await task is None:
            await then()


# What a call may use, and what it has used


class _Wanted:
    """What a call asks for, read as far as somebody has to know."""

    __slots__ = ("_asked", "_job")

    def __init__(self, asked: Asked, job: Job) -> None:
        self._asked = asked
        self._job = job

    def most(self, *, needs_money: bool) -> tuple[int, int]:
        """The most tokens that it may use, and the most that it may cost, at the dearest of its targets.

        Raises: PermissionDeniedError where money is limited and a price is not known.
        """
        head = self._asked.head
        if head.tokens is None:
            head.tokens = estimate_body(self._asked.http.body), self._written()
        read, written = head.tokens
        if not needs_money:
            return read + written, 0
        return read + written, self._most_cost([read] * len(self._job.lanes), written)

    def nearer(self, *, needs_money: bool) -> tuple[int, int]:
        """The same, with the request read for it.

        Raises: as `most`.
        """
        written, read = self._written(), [self.input_tokens(lane) for lane in self._job.lanes]
        return max(read, default=0) + written, self._most_cost(read, written) if needs_money else 0

    def _most_cost(self, read: Sequence[int], written: int) -> int:
        costs = [
            _most_cost(lane, Usage(input_tokens=tokens, output_tokens=written), self.tier())
            for lane, tokens in zip(self._job.lanes, read, strict=True)
        ]
        return max(costs, default=0)

    def input_tokens(self, lane: Lane) -> int:
        """About how many tokens it has for a target, read for that."""
        request = self._request()
        return (
            estimate_body(self._asked.http.body) if request is None else estimate_tokens(request, lane.endpoint.model)
        )

    def price(self, lane: Lane) -> Price | None:
        """The price of a target, for the tier of service that it asks for."""
        return price_of(lane.endpoint, (lane.endpoint.model,), self.tier(), is_asked=self._job.with_credential)

    def tier(self) -> str | None:
        """The tier of service that it asks for."""
        if not self._asked.is_read and "service_tier" not in self._asked.head.members:
            return None
        request = self._request()
        return None if request is None else request.service_tier

    def _written(self) -> int:
        """The most tokens of its answers; where its head does not say that plainly, it is read."""
        asked = self._asked
        names, members = _MOST_WRITTEN.get(asked.dialect.name), asked.head.members
        if names is not None and "n" not in members:
            told = b""
            for name in names:
                if name in members:
                    told = b"twice" if told else bytes(members[name])
            if not told:
                return OUTPUT_TOKENS
            if told.isdigit() and len(told) <= MOST_DIGITS:
                return int(told) or OUTPUT_TOKENS
        request = self._request()
        return OUTPUT_TOKENS if request is None else (request.max_tokens or OUTPUT_TOKENS) * (request.n or 1)

    def _request(self) -> Request | None:
        """The request; None for a body that only its provider can read."""
        if not self._asked.is_read and self._job.request.messages:
            return self._job.request
        try:
            return self._asked.decoded.request
        except Error:
            return None


def _most_cost(lane: Lane, usage: Usage, tier: str | None) -> int:
    price = _price(lane, tier)
    cost = None if price is None else cost_usd(price, usage)
    if cost is None:
        raise PermissionDeniedError(
            f"this key has a budget in money, and the price of {lane.endpoint.spec} is not known: configure it "
            "(?price_in=…&price_out=… in its DSN, US dollars for a million tokens), or install interlingua[prices]",
            status=403,
        )
    return nano_usd(cost)


def _spent(
    call: Call,
    key: str,
    wanted: _Wanted | None,
    response: Response[Any] | None,
    lane: Lane | None,
    *,
    is_partial: bool = False,
) -> tuple[Used, Row]:
    """What a call has used, for the accounts and for the day of its key."""
    day = _day_told(int(call.at_s // DAY_S))
    if response is None:
        return _NOTHING, Row(key, day, "" if lane is None else lane.endpoint.spec, 1, 1)
    told, cost = response.usage, None if is_partial else response.cost_usd
    is_estimated = is_partial or told is None or told.input_tokens is None or told.output_tokens is None
    if told is None or is_estimated:
        told = _estimated(told or Usage(), wanted, response, lane)
    if cost is None and lane is not None:
        price = _price(lane, None) if wanted is None else wanted.price(lane)
        cost = None if price is None else cost_usd(price, told)
    nano = None if cost is None else nano_usd(cost)
    read, written = told.input_tokens or 0, told.output_tokens or 0
    model = response.model if lane is None else lane.endpoint.spec
    return (
        Used(read + written, call.nano_usd if nano is None else nano),  # where a price is not known any more
        Row(key, day, model, 1, 0, read, written, int(is_estimated), nano or 0, int(nano is None)),
    )


_NOTHING = Used()


def _estimated(told: Usage, wanted: _Wanted | None, response: Response[Any], lane: Lane | None) -> Usage:
    """What was told of tokens, and about how many came where that was not told."""
    read = told.input_tokens
    if read is None:
        read = 0 if wanted is None or lane is None else wanted.input_tokens(lane)
    written = max(told.output_tokens or 0, _estimated_output(response))
    return msgspec.structs.replace(told, input_tokens=read, output_tokens=written)


def _day(call: Call) -> str:
    return _day_told(int(call.at_s // DAY_S))


@lru_cache(maxsize=4)
def _day_told(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_S, UTC).strftime("%Y-%m-%d")


def _price(lane: Lane, tier: str | None) -> Price | None:
    return price_of(lane.endpoint, (lane.endpoint.model,), tier, is_asked=not answers_alone())


def _estimated_output(response: Response[Any]) -> int:
    """About how many tokens came."""
    told = [response.parts, *[choice.parts for choice in response.alternatives]]
    messages = tuple([Message(role="assistant", parts=parts) for parts in told])
    return estimate_tokens(Request(messages=messages)) if any(told) else 0


# What is told


_SAID = {"requests": "requests a minute", "tokens": "tokens a minute", "concurrency": "calls at a time"}


def refusal_error(refusal: Refusal, call: Call) -> Error:
    """The error that tells why a call does not enter."""
    kind, _, name = refusal.account.partition(":")
    whose = f"the {kind} {name}"
    if refusal.limit == "budget":
        return _over_budget(refusal, whose, call)
    wait_s = SOON_S if refusal.wait_s is None else max(0.001, refusal.wait_s)
    end = "another call has to end first" if refusal.wait_s is None else f"it may come again in {_time(wait_s)}"
    limits = {refusal.limit: RateLimit(limit=refusal.allowed, remaining=refusal.left, reset_s=wait_s)}
    return RateLimitError(
        f"{whose} may have {refusal.allowed:,} {_SAID[refusal.limit]}, and they are used up; {end}",
        status=429,
        retry_after_s=wait_s,
        rate_limits=limits if refusal.limit != "concurrency" else {},
    )


def _over_budget(refusal: Refusal, whose: str, call: Call) -> Error:
    assert refusal.budget is not None, "a budget that is used up is named"  # noqa: S101 - an invariant
    budget = refusal.budget

    def amount(count: int) -> str:
        return money(count) if budget.unit == "usd" else f"{count:,} tokens"

    said = f"{whose} has a budget of {told_budget(budget)}"
    wants = f"this call may use up to {amount(refusal.wanted)}, and {amount(refusal.left)} is left"
    if refusal.is_reserved:
        return RateLimitError(
            f"{said}; {wants} while other calls are under way", status=429, retry_after_s=SOON_S, code="budget_reserved"
        )
    if refusal.wait_s is not None:
        begins = datetime.fromtimestamp(call.at_s + refusal.wait_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        wants = f"{wants}; it begins anew at {begins}"
    elif refusal.left:
        wants = f"{wants}; ask for fewer max_tokens"
    return BillingError(f"{said}; {wants}", status=402, retry_after_s=refusal.wait_s, code="insufficient_quota")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
