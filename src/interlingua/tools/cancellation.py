"""Word to what runs in other threads that nobody waits for it any more.

A thread cannot be stopped from outside; what can is a coroutine in it, and the next step of a run that another run's
tool is. Whoever starts threads and may leave them puts a `Halt` into their context.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["HALT", "Halt"]


class Halt:
    """Whether the waiting is over, and what is to be stopped then."""

    __slots__ = ("_stops", "is_over")

    def __init__(self) -> None:
        """Somebody waits."""
        self.is_over: bool = False
        """Whether nobody waits any more."""
        self._stops: list[Callable[[], None]] = []

    def add(self, stop: Callable[[], None]) -> None:
        """Call `stop` when the waiting is over, and at once where it is; from any thread, perhaps twice."""
        self._stops.append(stop)
        if self.is_over:
            stop()

    def end(self) -> None:
        """Say that nobody waits any more."""
        self.is_over = True
        for stop in tuple(self._stops):
            stop()


HALT: ContextVar[Halt | None] = ContextVar("interlingua_tool_halt", default=None)
"""The halt that ends the waiting for the calls that run here."""
