"""One call of a key: the most that it may use, before it is made, and what it has used when it has ended.

Strategy: for a key whose limits count tokens or money, the most that a call may use is reserved before it: its input
as `routing/estimate` has it of the bytes, and its output up to the cap that goes out with it (`cap`). When the call has
ended, what it used takes the place of the reservation.

Rules
- What a provider did not count is estimated from what came. A client that leaves pays for what had come; where nothing
  had, a call with a cap is charged as it was reserved, since its provider may work on. Any other call without an answer
  costs nothing, but for tries that failed although a target had answered: those were paid for.
- A try that was sent and had no answer in time is charged as it was reserved: its provider may have written one.
- A whole answer that cannot be read is charged as the call was reserved: its provider wrote it. One of several that a
  call takes is charged by what it asked for. What an upstream itself calls an error costs nothing, nor does a page in
  the place of an answer.
- Before a further try after one that was paid for, that one is settled and the next one reserved.
- A count that cannot be true charges no more than the call had reserved. A negative one says nothing, and is estimated
  like one that is absent; it never pays anything back. One above the largest context of any model and the size of the
  request together is made up: of the input it is estimated, of the output, of which some may be hidden, what the call
  had reserved is charged. It is said in the log.
- A count above the reservation that can be true is charged: a provider may have ignored the cap, and bills for it.
- No output beside an answer is not believed, and is estimated. Of the input no more was cached than there was of it.
- A reservation is settled once, whatever ends the call.
"""

from __future__ import annotations

import logging
from asyncio import CancelledError
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from interlingua.client.call.effect import Enter
from interlingua.client.call.values import CallRefused
from interlingua.errors import APITimeoutError, Error
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import MeteredCall, Used
from interlingua.gateway.keys.cap import input_tokens, tier_of
from interlingua.gateway.keys.terms import nano_usd
from interlingua.providers.price import cost_usd
from interlingua.registry.prices import price_of
from interlingua.routing.estimate import estimate_tokens
from interlingua.transport.override import answers_alone
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.gateway.keys.admission import KeyPlan
    from interlingua.providers.price import Price
    from interlingua.routing.limits import Limiter
    from interlingua.types.change import Change
    from interlingua.types.response import Response

__all__ = [
    "MAX_CONTEXT_TOKENS",
    "Bounds",
    "CallReservation",
    "done",
    "is_late",
    "sound_usage",
]

DAY_S = 86_400
_AFTER_IT_IS_SENT = ("first_byte", "idle", "total")
"""The deadlines of which a provider knows nothing: it writes on, and bills."""


class _Again:
    """The limits of a key, as a chain asks a limit before a try."""

    def __init__(self, reservation: CallReservation) -> None:
        """Those of the key of a reservation."""
        self._reservation = reservation

    async def enter_async(self, *_: object) -> None:
        """Reserve the next try, as the first one was."""
        await self._reservation.enter_again()


class _Failed(NamedTuple):
    """A try that failed or paused, and what its target had answered."""

    error: Error | None
    """None for an answer that paused, and is gone on with."""
    came: Response[Any] | None
    """None for an answer that cannot be read, or did not come in time."""
    target: CallTarget


class CallReservation(msgspec.Struct, eq=False):
    """The right to make one call, until it is settled."""

    call: MeteredCall
    """The call, which has entered."""
    plan: KeyPlan
    """The facts of its key."""
    exchange: ClientExchange | None = None
    """The exchange, where the reservation was made from it."""
    client_call: Call | None = None
    """The call for that."""
    tries: tuple[_Failed, ...] = ()
    """Those that failed or paused, and were paid for."""
    counts: bool = True
    """Whether it is still to be settled."""
    cap: int | None = None
    """The most tokens of each answer, which goes out with the call; None where nobody limits them."""
    changes: tuple[Change, ...] = ()
    """The entry that says the cap."""
    is_sent: bool = False
    """Whether a target was asked."""
    writes: bool = True
    """Whether it has something written: the price of a model that does not is that of what it reads."""

    def settle(
        self, response: Response[Any] | None, target: CallTarget | None = None, *, is_partial: bool = False
    ) -> Awaitable[object] | None:
        """Write down what the call has used; to be awaited, if it is not done. A second time does nothing.

        `response` is the answer of `target`, None where there was none; `is_partial` says that it is what had
        come of one.
        """
        if not self.counts:
            return None
        self.counts, call = False, self.call
        row = self._row(response, target, is_partial=is_partial)
        rows, used = (row,), self._used(row)
        if self.tries:
            of_tries, more = self._of_tries()
            rows, used = rows + of_tries, more.plus(used)
        self.exchange = None  # it leads back here
        return self.plan.admission.settle(call, self.plan.names, used, rows)

    def failed(self, error: Error, target: CallTarget, part: Response[Any] | None = None) -> None:
        """Remember a try that failed and was paid for: its target had answered, or was late and may have written.

        `part` counts what the try asked for, where that is less than the call has reserved.
        """
        came = getattr(error, "response", None) or getattr(error, "partial", None)
        if (came is not None or error.is_unreadable or is_late(error)) and self.counts:
            self.tries += (_Failed(error, came or part, target),)

    def paused(self, response: Response[Any], target: CallTarget) -> None:
        """Remember an answer that is gone on with by a further request."""
        if self.counts:
            self.tries += (_Failed(None, response, target),)

    def again(self, target: CallTarget) -> Steps[None]:
        """Where a try was paid for: settle that one, and reserve the next one as the first one was.

        Raises: CallRefused where that does not fit any more.
        """
        self.is_sent = True
        if self.tries and self.cap is not None:
            limiter = cast("Limiter", _Again(self))
            yield Enter(limiter, target.endpoint.spec, self.call.tokens, None)

    async def enter_again(self) -> None:
        """As `again`, to be awaited."""
        rows, used = self._of_tries()
        admission, plan, self.tries = self.plan.admission, self.plan, ()
        await admission.settle(self.call, plan.names, used, rows)
        self.call, refusal = await admission.reserve_again(self)
        if refusal is not None:
            self.counts = False
            row = Row(plan.key.name, _day(self.call), "", 1, 1)
            await admission.settle(msgspec.structs.replace(self.call, tokens=0, nano_usd=0), plan.names, Used(), (row,))
            raise CallRefused(refusal)

    def _of_tries(self) -> tuple[tuple[Row, ...], Used]:
        """The rows of tries that failed or paused, and what they used."""
        rows: tuple[Row, ...] = ()
        used = Used()
        for failed in self.tries:
            # Where the counts cannot be read, the reservation is charged.
            row = self._reserved(failed.target) if failed.came is None else self._row(failed.came, failed.target)
            rows += (msgspec.structs.replace(row, requests=0, failed=int(failed.error is not None)),)
            used = used.plus(self._used(row))
        return rows, used

    def _used(self, row: Row) -> Used:
        """The charge of a row; where a price is not known any more, the reservation."""
        return Used(row.input_tokens + row.output_tokens, self.call.nano_usd if row.unpriced else row.nano_usd)

    def settle_failed(self, error: BaseException) -> Awaitable[object] | None:
        """As `settle`, for a call that ended with an error; what its last target had answered is its answer.

        A call that was cut off before anything came is charged as it was reserved: its provider may work on.
        """
        if self.counts and self.is_sent and isinstance(error, CancelledError) and self._is_bounded:
            return self._settle_reserved()
        if not self.tries or self.tries[-1].error is not error:
            return self.settle(None)
        last, self.tries = self.tries[-1], self.tries[:-1]
        if last.came is None:
            return self._settle_reserved(last.target)
        return self.settle(last.came, last.target)

    @property
    def _is_bounded(self) -> bool:
        """Whether what was reserved is the most that the call may use."""
        return self.cap is not None or not self.writes

    def without_parts(self) -> None:
        """Forget the answers that were remembered as parts: what is settled next has their counts."""
        self.tries = tuple([one for one in self.tries if one.error is not None])

    def _settle_reserved(self, target: CallTarget | None = None) -> Awaitable[object]:
        """As `settle`, for a call of which nobody knows what it uses."""
        self.counts, self.exchange, call = False, None, self.call
        rows, used = self._of_tries()
        row = self._reserved(target)
        if not self.writes:  # the reservation is for all parts, of which some have come
            left = max(call.tokens - used.tokens, 0), max(call.nano_usd - used.nano_usd, 0)
            row = msgspec.structs.replace(row, input_tokens=left[0], nano_usd=left[1])
        used = used.plus(Used(row.input_tokens, row.nano_usd))
        return self.plan.admission.settle(call, self.plan.names, used, (row, *rows))

    def _reserved(self, target: CallTarget | None) -> Row:
        """The charge of a call at its full reservation."""
        return Row(
            key=self.plan.key.name,
            day=_day(self.call),
            model="" if target is None else target.endpoint.spec,
            requests=1,
            failed=1,
            input_tokens=self.call.tokens,
            estimated=1,
            nano_usd=self.call.nano_usd,
        )

    def settle_unread(self, spec: str, *, is_failed: bool = False) -> Awaitable[object] | None:
        """As `settle`, for a call of which nobody reads what it used: as it was reserved."""
        if not self.counts:
            return None
        self.counts, self.exchange = False, None
        tokens = 0 if is_failed else self.call.tokens
        row = Row(
            key=self.plan.key.name,
            day=_day(self.call),
            model=spec,
            requests=1,
            failed=int(is_failed),
            input_tokens=tokens,
            estimated=int(not is_failed),
            unpriced=int(not is_failed),
        )
        used = Used() if is_failed else Used(tokens, self.call.nano_usd)
        return self.plan.admission.settle(self.call, self.plan.names, used, (row,))

    def _row(self, response: Response[Any] | None, target: CallTarget | None, *, is_partial: bool = False) -> Row:
        """The row that an answer adds to the use of its key."""
        key, day = self.plan.key.name, _day_text(self.call.at_s // DAY_S)
        if response is None:
            return Row(key, day, "" if target is None else target.endpoint.spec, 1, 1)
        usage, cost, estimated = response.usage, response.cost_usd, 0
        if usage is not None and (sound := sound_usage(usage, self._bounds(response, target))) is not usage:
            usage, cost = sound, None
        if is_partial or usage is None or usage.input_tokens is None or usage.output_tokens is None:
            usage, cost, estimated = self._estimated(usage or Usage(), response, target), None, 1
        if cost is None and target is not None:
            price = self._price(target)
            cost = None if price is None else cost_usd(price, usage)
        return Row(
            key,
            day,
            response.model if target is None else target.endpoint.spec,
            1,
            0,
            max(usage.input_tokens or 0, 0),
            max(usage.output_tokens or 0, 0),
            estimated,
            0 if cost is None else max(nano_usd(cost), 0),
            1 if cost is None else 0,
        )

    def _bounds(self, response: Response[Any], target: CallTarget | None) -> Bounds:
        """The possible counts of an answer."""
        spec = "a target" if target is None else target.endpoint.spec
        size = 0 if self.exchange is None else len(self.exchange.http.body)
        has_content = any([not isinstance(part, TextPart) or part.text for part in response.parts])
        is_clamped = any([change.code == "count_clamped" for change in response.changes])
        return Bounds(spec, size, self.call.tokens, has_content, is_clamped)

    def _price(self, target: CallTarget) -> Price | None:
        """The price of a target that told no cost."""
        endpoint, exchange, call = target.endpoint, self.exchange, self.client_call
        if endpoint.price is None and not endpoint.base_url.startswith("https://"):
            return None  # as `price_of` says: no tier has to be known for that
        if exchange is None or call is None:
            is_asked = not answers_alone()
            return price_of(endpoint, (endpoint.model,), None, is_asked=is_asked, writes=self.writes)
        return price_of(endpoint, (endpoint.model,), tier_of(exchange, call), is_asked=call.with_credential)

    def _estimated(self, usage: Usage, response: Response[Any], target: CallTarget | None) -> Usage:
        """The reported tokens, and an estimate where none were reported."""
        read, exchange, call = usage.input_tokens, self.exchange, self.client_call
        if read is None:
            if exchange is None or call is None or target is None:
                read = self.call.tokens
            else:
                read = input_tokens(exchange, call, target)
        answers = [response.parts, *[choice.parts for choice in response.alternatives]]
        messages = tuple([Message(role="assistant", parts=parts) for parts in answers])
        came = estimate_tokens(Request(messages=messages)) if any(answers) else 0
        written = max(usage.output_tokens or 0, came)
        return msgspec.structs.replace(usage, input_tokens=read, output_tokens=written)


def is_late(error: BaseException) -> bool:
    """Whether a target that had got the request did not answer in time."""
    return isinstance(error, APITimeoutError) and error.phase in _AFTER_IT_IS_SENT


async def done(waiting: Awaitable[object] | None) -> None:
    """Wait for what is not done yet."""
    if waiting is not None:
        await waiting


# What came


def _day(call: MeteredCall) -> str:
    return _day_text(call.at_s // DAY_S)


@lru_cache(maxsize=4)
def _day_text(day: float) -> str:
    return datetime.fromtimestamp(day * DAY_S, UTC).strftime("%Y-%m-%d")


# Counts of tokens that can be true


MAX_CONTEXT_TOKENS = 10_000_000
"""More tokens than any model reads or writes in one answer."""
_WRITTEN = ("output_tokens", "reasoning_tokens")
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Bounds(NamedTuple):
    """The possible counts of one call."""

    spec: str
    """The target that answered."""
    body_bytes: int
    """How large the request was; a token has a byte at least."""
    reserved_tokens: int
    """The tokens reserved for it; 0 for nothing."""
    has_content: bool = False
    """Whether something was answered, so that its output is not 0."""
    is_clamped: bool = False
    """Whether reading the answer left a count out, or clamped it."""


def sound_usage(usage: Usage, bounds: Bounds) -> Usage:
    """The counts that can be true; the very same usage where all of them can."""
    possible = _possible(usage, bounds)
    if bounds.is_clamped and possible is usage:
        _log(bounds.spec, ["a count below 0"])
    cached, stored = possible.cache_read_tokens or 0, possible.cache_write_tokens or 0
    if possible.input_tokens is None or cached + stored <= possible.input_tokens:
        return possible
    _log(bounds.spec, ["cache_read_tokens", "cache_write_tokens"])
    read = min(cached, possible.input_tokens)
    return msgspec.structs.replace(
        possible, cache_read_tokens=read, cache_write_tokens=min(stored, possible.input_tokens - read)
    )


def _possible(usage: Usage, bounds: Bounds) -> Usage:
    """The usage without each count that is out of bounds alone; the same one where none is."""
    most = MAX_CONTEXT_TOKENS + bounds.body_bytes
    is_silent = bounds.has_content and usage.output_tokens == 0
    if not is_silent and (
        0 <= (usage.input_tokens or 0) <= most
        and 0 <= (usage.output_tokens or 0) <= most
        and 0 <= (usage.cache_read_tokens or 0) <= most
        and 0 <= (usage.cache_write_tokens or 0) <= most
        and 0 <= (usage.reasoning_tokens or 0) <= most
    ):
        return usage
    counts: dict[str, int | None] = {name: getattr(usage, name) for name in _COUNTS}
    bad = [name for name, count in counts.items() if count is not None and not 0 <= count <= most]
    bad += ["output_tokens"] if is_silent else []
    _log(bounds.spec, bad)
    for name in bad:
        is_huge_output = name in _WRITTEN and (counts[name] or 0) > 0
        counts[name] = (bounds.reserved_tokens or None) if is_huge_output else None
    return msgspec.structs.replace(usage, **counts)


def _log(spec: str, names: Iterable[str]) -> None:
    logging.getLogger("interlingua.gateway").warning(
        "%s counted tokens that cannot be true (%s); they are not charged as they are", spec, ", ".join(names)
    )
