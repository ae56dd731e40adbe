"""A clock of the caller's own: durations and deadlines of a call go by it, and the health of its targets.

Rules
- Health that is told in one time cannot be asked in another: a model with a clock of its own keeps its own health, in
  memory. Limits on our own side stay those of the process, and so do pauses: they are waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.routing.health import MemoryHealth

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.routing.health import HealthStore

__all__ = ["Timing"]


class Timing:
    """A clock, and the health of targets by it."""

    __slots__ = ("clock", "health")

    def __init__(self, clock: Callable[[], float]) -> None:
        """Nothing is known of any target."""
        self.clock: Callable[[], float] = clock
        """Seconds that only grow."""
        self.health: HealthStore = MemoryHealth(clock)
        """The health of targets."""
