"""An event loop whose clock stands while there is work, and leaps to the next timer when there is none.

What a test says of time is then exact: how slow or busy the machine is changes nothing, and nobody waits. It is for
tests inside one thread: what threads, processes and sockets do takes a time that this clock knows nothing of.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

__all__ = ["LEAPING", "LeapingLoop"]


class _Selector(selectors.DefaultSelector):
    """One that never waits for a timer: it has the clock moved instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1_000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; without anything it is later by the time-out, and like any clock by a little more."""
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready and timeout > 0:
            self.now_s += timeout + 1e-9
        return ready


class LeapingLoop(asyncio.SelectorEventLoop):
    """asyncio's own, with a clock of its own."""

    def __init__(self) -> None:
        """A loop at the same moment as every other new one."""
        self._leaping = _Selector()
        super().__init__(self._leaping)

    def time(self) -> float:
        """Seconds, which only timers move."""
        return self._leaping.now_s


LEAPING: tuple[str, dict[str, Any]] = ("asyncio", {"loop_factory": LeapingLoop})
"""What the fixture `anyio_backend` gives where the tests of a file run in such a loop."""
