"""Limits on our own side: how many calls, requests and tokens go to a target, and who waits for them in which order.

Strategy: each pattern has a gate, a ledger with a line of waiters before it. A gate is a value with a lock; it neither
waits nor runs by itself. Whoever is first in the line sleeps until the ledger has room, takes its own grant and wakes
the next one; a waiter that goes away wakes it, too. Nothing is granted to somebody who sleeps, so that a waiter that is
cancelled cannot take a grant along.

Rules
- First come, first served, in one line for threads and tasks: who needs little does not overtake who needs much.
- At most 1,000 wait before a gate. Who finds the line full, or would be too late, is told at once, and when to come
  again: `RateLimitError` with `retry_after_s` and the code `client_limit`. It never came from the provider.
- A ticket is given back once, by `leave`; one that is lost is given back when it is collected.
- What is allowed may change while calls wait.

Not responsible for: how many tokens a call will need, which target is asked instead (`client.call.chain`).
"""

from __future__ import annotations

from _thread import LockType, allocate_lock  # every call comes by here, and `threading` takes 2 ms to load
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from interlingua.errors import RateLimitError
from interlingua.registry.alias import longest_prefix
from interlingua.registry.allowance import Allowance, check_pattern
from interlingua.routing.window import Ledger
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["CLIENT_LIMIT", "FREE", "MAX_WAITING", "MAX_WAIT_S", "Gate", "Limiter", "Load", "Ticket", "Waiter"]

MAX_WAITING = 1_000
"""How many calls wait before one gate."""
MAX_WAIT_S = 600.0
"""How long a call waits that has no deadline of its own."""
CLIENT_LIMIT = "client_limit"
"""The code of an error that comes from a limit of our own."""
_MAX_FOUND_BYTES = 2_000_000
_UNKNOWN_WAIT_S = 1.0
_NAP_S = 5.0  # how late the first in the line may notice that a ticket was lost in the very moment that it looked


class Load(Struct, frozen=True, kw_only=True):
    """How a limit is used, for people and for choosing a target."""

    allowance: Allowance
    """The allowance."""
    running: int
    """Calls under way."""
    waiting: int
    """Calls in the line."""
    requests: int
    """Requests of the last minute."""
    tokens: int
    """Tokens of the last minute."""


class Waiter:
    """A call in the line."""

    __slots__ = ("deadline_s", "target", "tokens", "wake")

    def __init__(self, target: str, tokens: int, deadline_s: float, wake: Callable[[], None]) -> None:
        """A call that is woken by `wake`, and gives up at its deadline."""
        self.target: str = target
        """The target."""
        self.tokens: int = tokens
        """How many tokens it is thought to need."""
        self.deadline_s: float = deadline_s
        """When it gives up."""
        self.wake: Callable[[], None] = wake
        """Wakes it, from any thread; waking twice does no harm."""


class Ticket:
    """The right to make one call, until it is given back."""

    __slots__ = ("_gate", "_left", "entered_s", "tokens")

    def __init__(self, gate: Gate | None, entered_s: float = 0.0, tokens: int = 0) -> None:
        """A ticket of `gate`; None is for a target without limits."""
        self._gate = gate
        self._left = gate is None
        self.entered_s: float = entered_s
        """When the call entered."""
        self.tokens: int = tokens
        """The tokens that it was charged."""

    def leave(self, tokens_used: int | None = None) -> None:
        """Give the ticket back, with the tokens that the call used when they are known; a second time does nothing."""
        if self._left or self._gate is None:
            return
        self._left = True
        with self._gate.lock:
            self._gate.leave(self, tokens_used)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()

    def __del__(self) -> None:
        if not self._left and self._gate is not None:
            self._gate.lose()


FREE = Ticket(None)
"""The ticket for a target without limits."""


class Gate:
    """The line before one ledger. All methods but `lose` are called with `lock` held."""

    def __init__(self, pattern: str, allowed: Allowance, clock: Callable[[], float]) -> None:
        """A gate that nobody has gone through."""
        self.pattern: str = pattern
        """The targets that it is for."""
        self.allowed: Allowance = allowed
        """The allowance."""
        self.ledger: Ledger = Ledger()
        """The calls that count against that."""
        self.line: deque[Waiter] = deque()
        """The waiting calls, the first one first."""
        self.lock: LockType = allocate_lock()
        """Held by whoever calls a method."""
        self._clock = clock
        self._lost: deque[None] = deque()

    def try_now(self, tokens: int) -> Ticket | None:
        """A ticket when nobody waits and there is room; None otherwise."""
        self._collect()
        now_s = self._clock()
        if self.line or self.ledger.wait_s(self.allowed, tokens, now_s) != 0:
            return None
        return self._enter(tokens, now_s)

    def join(self, waiter: Waiter) -> None:
        """Put a waiter at the end of the line.

        Raises: RateLimitError when the line is full, or when its end is too far away.
        """
        now_s = self._clock()
        left_s = waiter.deadline_s - now_s
        ahead = sum(other.tokens for other in self.line) if self.allowed.tpm is not None else 0
        tokens = ahead + waiter.tokens
        ahead_s = self.ledger.window_s(self.allowed, len(self.line) + 1, tokens, now_s)  # it waits at least that long
        if len(self.line) >= MAX_WAITING:
            raise self._refusal(waiter, f"{len(self.line):,} calls wait already", ahead_s)
        if ahead_s > left_s:
            raise self._refusal(waiter, f"that takes at least {ahead_s:.1f} s, with {left_s:.1f} s left", ahead_s)
        self.line.append(waiter)

    def turn(self, waiter: Waiter) -> Ticket | float:
        """The waiter's ticket, or the seconds that it sleeps, unless it is woken, before it asks again.

        Raises: RateLimitError when its deadline has passed.
        """
        self._collect()
        now_s = self._clock()
        left_s = waiter.deadline_s - now_s
        sleep_s = left_s
        wait_s: float | None = None
        if self.line[0] is waiter:
            wait_s = self.ledger.wait_s(self.allowed, waiter.tokens, now_s)
            if wait_s == 0:
                self.line.popleft()
                ticket = self._enter(waiter.tokens, now_s)
                self._wake_first()
                return ticket
            sleep_s = min(left_s, _NAP_S if wait_s is None else wait_s)
        if left_s <= 0:
            self.go(waiter)
            raise self._refusal(waiter, "the call's time is over", wait_s)
        return sleep_s

    def go(self, waiter: Waiter) -> None:
        """Take a waiter out of the line; one that is not in it any more is no mistake."""
        if not self.line:
            return
        was_first = self.line[0] is waiter
        with suppress(ValueError):
            self.line.remove(waiter)
        if was_first:
            self._wake_first()

    def leave(self, ticket: Ticket, tokens_used: int | None) -> None:
        """Take a ticket back."""
        self.ledger.leave()
        if tokens_used is not None and self.allowed.tpm is not None:
            self.ledger.settle(ticket.entered_s, ticket.tokens, tokens_used, self._clock())
        self._wake_first()

    def change(self, allowed: Allowance) -> None:
        """Allow something else from now on."""
        self.allowed = allowed
        self._wake_first()

    def lose(self) -> None:
        """Take back a ticket that was collected; called from anywhere, also where the lock is held already."""
        self._lost.append(None)
        if self.lock.acquire(blocking=False):  # else who holds it or is next in the line takes it back
            try:
                self._collect()
                self._wake_first()
            finally:
                self.lock.release()

    def would_wait(self, tokens: int) -> bool:
        """Whether a call that came now would wait."""
        self._collect()
        return bool(self.line) or self.ledger.wait_s(self.allowed, tokens, self._clock()) != 0

    def load(self) -> Load:
        """How it is used."""
        self._collect()
        ledger = self.ledger
        ledger.forget(self._clock())
        return Load(
            allowance=self.allowed,
            running=ledger.running,
            waiting=len(self.line),
            requests=ledger.requests,
            tokens=ledger.tokens,
        )

    def _enter(self, tokens: int, now_s: float) -> Ticket:
        return Ticket(self, now_s, self.ledger.enter(self.allowed, tokens, now_s))

    def _wake_first(self) -> None:
        if self.line:
            self.line[0].wake()

    def _refusal(self, waiter: Waiter, why: str, wait_s: float | None) -> RateLimitError:
        return RateLimitError(
            f"{waiter.target}: the limit of our own for {self.pattern} is reached, and {why}",
            code=CLIENT_LIMIT,
            retry_after_s=wait_s or _UNKNOWN_WAIT_S,
        )

    def _collect(self) -> None:
        while self._lost:
            self._lost.popleft()
            self.ledger.leave()


class Limiter:
    """The gates of all patterns, for threads and event loops alike."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """A limiter without limits; `clock` gives seconds that only grow."""
        self._clock = clock
        self._gates: dict[str, Gate] = {}
        self._gate_cache = ByteCache[str, Gate | None](_MAX_FOUND_BYTES)
        self._from_file: Mapping[str, Allowance] = {}
        self._from_code: dict[str, Allowance] = {}
        self._lock = allocate_lock()

    def set(self, pattern: str, allowed: Allowance) -> None:
        """Limit the targets of `pattern`; an allowance without limits lifts what a file says, too.

        Raises: ConfigError for a pattern that names no target.
        """
        check_pattern(pattern)
        with self._lock:
            self._from_code[pattern] = allowed
            self._settle()

    def load_file(self, allowances: Mapping[str, Allowance]) -> None:
        """Take what a file says in the place of what an earlier one said; what was set in code goes before."""
        with self._lock:
            self._from_file = dict(allowances)
            self._settle()

    def covers(self, target: str) -> bool:
        """Whether a limit holds for `target`; where none does, `enter` costs nothing and need not be asked."""
        return bool(self._gates) and self._gate(target) is not None

    def would_wait(self, target: str, tokens: int = 0) -> bool:
        """Whether a call that came now would wait."""
        gate = self._gate(target)
        if gate is None:
            return False
        with gate.lock:
            return gate.would_wait(tokens)

    def enter(self, target: str, tokens: int = 0, within_s: float | None = None) -> Ticket:
        """The ticket for one call of about so many tokens, waited for at most `within_s` seconds.

        Raises: RateLimitError when the line is full or the time does not suffice, with the seconds to wait.
        """
        gate = self._gate(target)
        return FREE if gate is None else self._pass(gate, target, tokens, within_s)

    async def enter_async(self, target: str, tokens: int = 0, within_s: float | None = None) -> Ticket:
        """`enter`, awaited; who is cancelled leaves the line.

        Raises: RateLimitError when the line is full or the time does not suffice, with the seconds to wait.
        """
        gate = self._gate(target)
        return FREE if gate is None else await self._pass_async(gate, target, tokens, within_s)

    def loads(self) -> dict[str, Load]:
        """How each limit is used, by pattern."""
        loads: dict[str, Load] = {}
        for pattern, gate in sorted(self._gates.items()):
            with gate.lock:
                loads[pattern] = gate.load()
        return loads

    def take_over(self, other: Limiter) -> None:
        """Limit what `other` limits; what goes through it at the moment is not counted."""
        with self._lock:
            self._from_file, self._from_code = other._from_file, dict(other._from_code)
            self._settle()

    def _pass(self, gate: Gate, target: str, tokens: int, within_s: float | None) -> Ticket:
        with gate.lock:
            if (ticket := gate.try_now(tokens)) is not None:
                return ticket
        wakeup = allocate_lock()
        wakeup.acquire()
        waiter = self._waiter(target, tokens, within_s, lambda: _ring(wakeup))
        try:
            with gate.lock:
                gate.join(waiter)
            while True:
                with gate.lock:
                    turn = gate.turn(waiter)
                if isinstance(turn, Ticket):
                    return turn
                wakeup.acquire(timeout=turn)
        except BaseException:
            with gate.lock:
                gate.go(waiter)
            raise

    async def _pass_async(self, gate: Gate, target: str, tokens: int, within_s: float | None) -> Ticket:
        with gate.lock:
            if (ticket := gate.try_now(tokens)) is not None:
                return ticket
        from interlingua.routing.wakeup import Wakeup  # asyncio is loaded for who waits on it

        wakeup = Wakeup()
        waiter = self._waiter(target, tokens, within_s, wakeup.ring)
        try:
            with gate.lock:
                gate.join(waiter)
            while True:
                with gate.lock:
                    turn = gate.turn(waiter)
                if isinstance(turn, Ticket):
                    return turn
                await wakeup.wait(turn)
        except BaseException:
            with gate.lock:
                gate.go(waiter)
            raise

    def _waiter(self, target: str, tokens: int, within_s: float | None, wake: Callable[[], None]) -> Waiter:
        return Waiter(target, tokens, self._clock() + (MAX_WAIT_S if within_s is None else within_s), wake)

    def _gate(self, target: str) -> Gate | None:
        cache = self._gate_cache
        try:
            return cache[target]
        except KeyError:
            gates = self._gates
            beginning = longest_prefix(target, {pattern: pattern for pattern in gates})
            gate = gates.get(target) or (gates[beginning] if beginning is not None else None)
            cache.put(target, gate)
            return gate

    def _settle(self) -> None:
        """Have a gate for each pattern that limits something; gates that stay keep their lines and ledgers."""
        allowances = {**self._from_file, **self._from_code}
        gates = dict(self._gates)
        for pattern, allowed in allowances.items():
            if pattern not in gates:
                gates[pattern] = Gate(pattern, allowed, self._clock)
        for pattern, gate in gates.items():
            with gate.lock:
                gate.change(allowances.get(pattern, Allowance()))
        self._gates = {pattern: gate for pattern, gate in gates.items() if gate.allowed != Allowance()}
        self._gate_cache = ByteCache[str, Gate | None](_MAX_FOUND_BYTES)


def _ring(wakeup: LockType) -> None:
    """Wake who waits for a lock; one that is awake already is not woken again."""
    with suppress(RuntimeError):
        wakeup.release()
