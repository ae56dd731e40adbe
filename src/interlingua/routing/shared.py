"""Limits that several processes share through Redis or Postgres.

Strategy: what counts against a pattern is one value in the store, the same ledger as in memory, in grains of a second.
Each process has its own line, first come, first served; who is first in it asks the store, and asks again when there
may be room. So there is one question at a time from each process, however many wait.

Rules
- Times are those of the wall clock. A window is never too generous, and late by at most a second.
- A call holds its place for ten minutes at most: a process that was killed takes its places along no longer than that.
- Giving back never holds up an event loop: there it is told by a worker.
- Which process is next is nobody's decision: between processes there is no line.
- When the store does not answer, each process allows by itself what all of them were allowed together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import sleep
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from interlingua.errors import DecodeError, LimitExceededError, RateLimitError
from interlingua.registry.allowance import Allowance
from interlingua.routing.commands import LinkGone, Read
from interlingua.routing.limits import CLIENT_LIMIT, FREE, MAX_WAIT_S, Gate, Limiter, Load, Ticket
from interlingua.routing.link import Link
from interlingua.routing.shared_cell import changed
from interlingua.routing.window import PERIOD_S, Kept, Ledger
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from interlingua.routing.commands import Steps

__all__ = ["GRAIN_S", "LEASE_S", "POLL_S", "SharedLimiter", "SharedTicket"]

GRAIN_S = 1.0
"""Grants within that time are kept together."""
LEASE_S = 600.0
"""How long a call may hold its place."""
POLL_S = 0.05
"""How soon is asked again, where nobody can say when there will be room."""
_LONGEST_NAP_S = 1.0


class _Book(Struct, omit_defaults=True):
    """Everything that counts against a pattern, as it lies in the store."""

    grants: list[Kept] = []
    leases: dict[str, float] = {}


class _Left(NamedTuple):
    """A call that has ended."""

    call_id: str
    entered_s: float = 0.0
    charged: int = 0
    used: int | None = None


class SharedTicket(Ticket):
    """The right to make one call, written down in the store."""

    __slots__ = ("_call_id", "_limiter", "_pattern", "_was_left")

    def __init__(self, limiter: SharedLimiter, pattern: str, call_id: str, entered_s: float, tokens: int) -> None:
        """A ticket that `limiter` gave."""
        super().__init__(None, entered_s, tokens)
        self._limiter = limiter
        self._pattern = pattern
        self._call_id = call_id
        self._was_left = False

    def leave(self, tokens_used: int | None = None) -> None:
        """Give the ticket back, with the tokens that the call used when they are known; a second time does nothing."""
        if not self._was_left:
            self._was_left = True
            self._limiter.give_back(self._pattern, _Left(self._call_id, self.entered_s, self.tokens, tokens_used))

    def __del__(self) -> None:
        if not self._was_left:
            self._limiter.lose(self._pattern, _Left(self._call_id))


class SharedLimiter(Limiter):
    """The limits of every process that has the same store."""

    def __init__(
        self,
        link: Link,
        *,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
        make_id: Callable[[], str],
    ) -> None:
        """A limiter without limits; `clock` gives seconds that only grow, `make_id` what no other process makes."""
        super().__init__(clock)
        self._link = link
        self._wall_clock = wall_clock
        self._make_id = make_id
        self._lines: dict[str, Gate] = {}
        self._full_until_s: dict[str, float] = {}
        self._lost: dict[str, deque[_Left]] = {}

    def would_wait(self, target: str, tokens: int = 0) -> bool:
        """Whether a call that came now would wait, as far as this process knows without asking."""
        gate = self._gate(target)
        if gate is None:
            return False
        if self._link.problem:
            return super().would_wait(target, tokens)
        line = self._line(gate)
        with line.lock:
            is_busy = line.would_wait(0)
        return is_busy or self._clock() < self._full_until_s.get(gate.pattern, 0.0)

    def enter(self, target: str, tokens: int = 0, within_s: float | None = None) -> Ticket:
        """The ticket for one call of about so many tokens, waited for at most `within_s` seconds.

        Raises: RateLimitError when the line is full or the time does not suffice, with the seconds to wait.
        """
        gate = self._gate(target)
        if gate is None:
            return FREE
        deadline_s = self._clock() + (MAX_WAIT_S if within_s is None else within_s)
        with self._pass(self._line(gate), target, 0, within_s):
            while True:
                try:
                    entry = self._link.run(self._entered(gate, tokens))
                except LinkGone:
                    return self._pass(gate, target, tokens, deadline_s - self._clock())
                if isinstance(entry, Ticket):
                    return entry
                sleep(self._nap_s(gate, target, entry, deadline_s))

    async def enter_async(self, target: str, tokens: int = 0, within_s: float | None = None) -> Ticket:
        """`enter`, awaited; who is cancelled leaves the line.

        Raises: RateLimitError when the line is full or the time does not suffice, with the seconds to wait.
        """
        gate = self._gate(target)
        if gate is None:
            return FREE
        deadline_s = self._clock() + (MAX_WAIT_S if within_s is None else within_s)
        with await self._pass_async(self._line(gate), target, 0, within_s):
            while True:
                try:
                    entry = await self._link.run_async(self._entered(gate, tokens))
                except LinkGone:
                    return await self._pass_async(gate, target, tokens, deadline_s - self._clock())
                if isinstance(entry, Ticket):
                    return entry
                await asyncio.sleep(self._nap_s(gate, target, entry, deadline_s))

    def loads(self) -> dict[str, Load]:
        """How each limit is used by all processes, by pattern; who waits is told of this one alone."""
        loads = super().loads()
        for pattern, gate in sorted(self._gates.items()):
            with suppress(LinkGone):
                loads[pattern] = self._link.run(self._load(gate))
        return loads

    def give_back(self, pattern: str, left: _Left) -> None:
        """Tell the store that a call has ended: here, or in a worker where an event loop runs."""
        self._full_until_s.pop(pattern, None)
        try:
            asyncio.get_running_loop().run_in_executor(None, self._tell, pattern, left)
        except RuntimeError:  # no loop, or one whose workers have ended
            self._tell(pattern, left)

    def lose(self, pattern: str, left: _Left) -> None:
        """Remember a call that was collected without an end; the next one tells of it."""
        self._lost.setdefault(pattern, deque()).append(left)

    def _tell(self, pattern: str, left: _Left) -> None:
        with suppress(LinkGone):  # its place is free when its lease is over
            self._link.run(self._gone(pattern, left))

    def _line(self, gate: Gate) -> Gate:
        """The line of this process before a pattern: one at a time asks the store."""
        line = self._lines.get(gate.pattern)
        if line is None:
            line = self._lines.setdefault(gate.pattern, Gate(gate.pattern, Allowance(concurrency=1), self._clock))
        return line

    def _nap_s(self, gate: Gate, target: str, wait_s: float | None, deadline_s: float) -> float:
        """How long to sleep before the store is asked again.

        Raises: RateLimitError when there is no sense in waiting.
        """
        now_s = self._clock()
        left_s = deadline_s - now_s
        self._full_until_s[gate.pattern] = now_s + (wait_s or POLL_S)
        if left_s <= 0 or (wait_s is not None and wait_s > left_s):
            raise RateLimitError(
                f"{target}: the limit of our own for {gate.pattern} is reached by all processes together",
                code=CLIENT_LIMIT,
                retry_after_s=wait_s or 1.0,
            )
        nap_s = POLL_S if wait_s is None else min(wait_s, _LONGEST_NAP_S)
        return min(nap_s, left_s)

    # What is written down in the store

    def _key(self, pattern: str) -> str:
        return f"{self._link.prefix}{{limits}}:{pattern}"

    def _entered(self, gate: Gate, tokens: int) -> Steps[Ticket | float | None]:
        """The ticket, or the seconds until there may be room; None where nobody can say."""
        call_id = self._make_id()
        lost = self._lost.pop(gate.pattern, ())

        def change(stored: bytes) -> tuple[bytes, float, _Granted | float | None]:
            now_s = self._wall_clock()
            ledger, leases = _opened(stored, now_s)
            for gone in lost:
                leases.pop(gone.call_id, None)
            ledger.running = len(leases)
            wait_s = ledger.wait_s(gate.allowed, tokens, now_s)
            if wait_s != 0:
                return *_closed(ledger, leases, now_s), wait_s
            cost = ledger.enter(gate.allowed, tokens, now_s)
            if gate.allowed.concurrency is not None:
                leases[call_id] = now_s + LEASE_S
            return *_closed(ledger, leases, now_s), _Granted(now_s, cost)

        try:
            is_written, result = yield from changed(self._key(gate.pattern), change)
        except GeneratorExit:  # cancelled, or the store went away, when it may have been written already
            self.lose(gate.pattern, _Left(call_id))
            raise
        if isinstance(result, _Granted):
            return SharedTicket(self, gate.pattern, call_id, *result) if is_written else None
        return result

    def _gone(self, pattern: str, left: _Left) -> Steps[tuple[bool, None]]:
        def change(stored: bytes) -> tuple[bytes, float, None]:
            now_s = self._wall_clock()
            ledger, leases = _opened(stored, now_s)
            leases.pop(left.call_id, None)
            if left.used is not None:
                ledger.settle(left.entered_s, left.charged, left.used, now_s)
            return *_closed(ledger, leases, now_s), None

        return (yield from changed(self._key(pattern), change))

    def _load(self, gate: Gate) -> Steps[Load]:
        ((value,),) = yield [Read((self._key(gate.pattern),))]
        ledger, leases = _opened(value or b"", self._wall_clock())
        return Load(
            allowance=gate.allowed,
            running=len(leases),
            waiting=len(self._line(gate).line),
            requests=ledger.requests,
            tokens=ledger.tokens,
        )


class _Granted(NamedTuple):
    """A call that may go."""

    entered_s: float
    tokens: int


def _opened(value: bytes, now_s: float) -> tuple[Ledger, dict[str, float]]:
    """The ledger and the places that are taken; what somebody else wrote there counts as nothing."""
    book = _Book()
    if value:
        with suppress(DecodeError, LimitExceededError):
            book = decode(value, _Book)
    last_s = now_s + LEASE_S + PERIOD_S  # a later end was written before a clock was put back
    leases = {call_id: end_s for call_id, end_s in book.leases.items() if now_s < end_s <= last_s}
    ledger = Ledger.resumed(book.grants, len(leases), GRAIN_S)
    ledger.forget(now_s)
    return ledger, leases


def _closed(ledger: Ledger, leases: dict[str, float], now_s: float) -> tuple[bytes, float]:
    """The bytes to write, and until when they matter."""
    end_s = max([now_s + PERIOD_S + GRAIN_S, *leases.values()])
    return encode(_Book(ledger.entries(), leases)), end_s
