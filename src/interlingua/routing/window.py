"""The calls of the last minute and those under way: the arithmetic of a limit, without clock or lock.

Strategy: each grant is remembered with its time until it is a minute old, so that what is allowed holds in any 60
seconds, not only in those that begin with a full minute. Grants within a grain of time may be remembered together, at
the time of the last one: a store that is shared keeps less, and is never too generous by it.

Rules
- Tokens are estimated when a call enters and settled when it leaves. What it used less is given back; what it used
  more makes later calls wait.
- An estimate above what a whole minute allows counts as a whole minute: such a call goes alone, and its answer tells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from interlingua.registry.allowance import Allowance

__all__ = ["PERIOD_S", "Kept", "Ledger"]

PERIOD_S = 60.0
"""The length of a window."""
Kept: TypeAlias = tuple[float, float, int, int]
"""A grant that is kept elsewhere: from when, until when, requests, tokens."""


class _Grant:
    """Calls that were let in at one time, or from `begun_s` until then."""

    __slots__ = ("at_s", "begun_s", "requests", "tokens")

    def __init__(self, at_s: float, requests: int, tokens: int) -> None:
        self.begun_s = at_s
        self.at_s = at_s
        self.requests = requests
        self.tokens = tokens


class Ledger:
    """The calls that count against one allowance."""

    __slots__ = ("_grain_s", "_grants", "requests", "running", "tokens")

    def __init__(self, grain_s: float = 0.0) -> None:
        """An empty ledger; grants within `grain_s` are remembered together."""
        self._grain_s = grain_s
        self._grants: deque[_Grant] = deque()
        self.running: int = 0
        """Calls under way."""
        self.requests: int = 0
        """Requests of the last minute."""
        self.tokens: int = 0
        """Tokens of the last minute."""

    @classmethod
    def resumed(cls, grants: Iterable[Kept], running: int, grain_s: float) -> Ledger:
        """The ledger that was kept as `kept` gives it."""
        ledger = cls(grain_s)
        ledger.running = running
        for begun_s, at_s, requests, tokens in grants:
            grant = _Grant(at_s, requests, tokens)
            grant.begun_s = begun_s
            ledger._grants.append(grant)
            ledger.requests += requests
            ledger.tokens += tokens
        return ledger

    def entries(self) -> list[Kept]:
        """The calls of the last minute, for a store elsewhere."""
        return [(grant.begun_s, grant.at_s, grant.requests, grant.tokens) for grant in self._grants]

    def wait_s(self, allowed: Allowance, tokens: int, now_s: float) -> float | None:
        """Seconds until a call with so many tokens fits, 0 for now; None while a call has to leave first."""
        if allowed.concurrency is not None and self.running >= allowed.concurrency:
            return None
        return self.window_s(allowed, 1, _charged(allowed, tokens), now_s)

    def window_s(self, allowed: Allowance, requests: int, tokens: int, now_s: float) -> float:
        """Seconds until so much more fits into the minute, as far as can be said: at most until it is empty."""
        self.forget(now_s)
        excess_requests = 0 if allowed.rpm is None else self.requests + requests - allowed.rpm
        excess_tokens = 0 if allowed.tpm is None else self.tokens + tokens - allowed.tpm
        ready_s = now_s
        for grant in self._grants:
            if excess_requests <= 0 and excess_tokens <= 0:
                break
            excess_requests -= grant.requests
            excess_tokens -= grant.tokens
            ready_s = grant.at_s + PERIOD_S
        return ready_s - now_s

    def enter(self, allowed: Allowance, tokens: int, now_s: float) -> int:
        """Write a call down; the tokens that it is charged."""
        cost = _charged(allowed, tokens)
        self.running += 1
        if allowed.rpm is not None or allowed.tpm is not None:
            self._add(1, cost, now_s)
        return cost

    def leave(self) -> None:
        """A call has ended."""
        self.running -= 1

    def settle(self, entered_s: float, charged_tokens: int, used_tokens: int, now_s: float) -> None:
        """Correct what a call was charged by what it used."""
        self.forget(now_s)
        difference = used_tokens - charged_tokens
        grant = next((one for one in reversed(self._grants) if one.begun_s <= entered_s), None)
        if grant is not None and entered_s <= grant.at_s:
            grant.tokens += difference
            self.tokens += difference
        elif difference > 0:
            self._add(0, difference, now_s)

    def forget(self, now_s: float) -> None:
        """Drop what is a minute old, and what is more than a minute ahead: the clock was put back since."""
        grants = self._grants
        while grants and grants[-1].at_s > now_s + PERIOD_S:
            ahead = grants.pop()
            self.requests -= ahead.requests
            self.tokens -= ahead.tokens
        while grants and grants[0].at_s + PERIOD_S <= now_s:
            old = grants.popleft()
            self.requests -= old.requests
            self.tokens -= old.tokens

    def _add(self, requests: int, tokens: int, now_s: float) -> None:
        self.requests += requests
        self.tokens += tokens
        last = self._grants[-1] if self._grants else None
        if last is not None and now_s - last.begun_s <= self._grain_s:
            last.at_s = now_s
            last.requests += requests
            last.tokens += tokens
        else:
            self._grants.append(_Grant(now_s, requests, tokens))


def _charged(allowed: Allowance, tokens: int) -> int:
    """The tokens that a call with so many is charged."""
    return tokens if allowed.tpm is None else min(tokens, allowed.tpm)
