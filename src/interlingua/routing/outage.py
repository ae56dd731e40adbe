"""Whether something that may go away is to be asked: after a failure it is left alone for a while.

Rules
- While it rests nobody asks. When the rest is over one call tries, and the others go on resting until that is answered.
- Whoever wants to know is told once when it goes away, with the reason, and once when it is back.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable

__all__ = ["REST_S", "Outage"]

REST_S = 5.0
"""How long it is left alone."""


class Outage:
    """The outage of something that may go away."""

    def __init__(self, clock: Callable[[], float], on_change: Callable[[str], None]) -> None:
        """It is there, until it fails; `on_change` is told the reason, and an empty text when it is back."""
        self.problem: str = ""
        """Why it could not be asked the last time; empty while it can."""
        self.count: int = 0
        """How often it failed."""
        self._clock = clock
        self._on_change = on_change
        self._rests_until_s = 0.0
        self._lock = allocate_lock()

    def may_try(self) -> bool:
        """Whether it is to be asked now; who gets yes after a rest is the one that tries."""
        if not self.problem:
            return True
        with self._lock:
            now_s = self._clock()
            if now_s < self._rests_until_s:
                return False
            self._rests_until_s = now_s + REST_S
            return True

    def failed(self, reason: str) -> None:
        """It did not answer."""
        with self._lock:
            self.count += 1
            self._rests_until_s = self._clock() + REST_S
            news, self.problem = not self.problem, reason
        if news:
            self._on_change(reason)

    def answered(self) -> None:
        """It did."""
        if not self.problem:
            return
        with self._lock:
            self._rests_until_s = 0.0
            news, self.problem = bool(self.problem), ""
        if news:
            self._on_change("")
