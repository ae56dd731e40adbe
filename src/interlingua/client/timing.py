"""A clock of the caller's own: durations and deadlines of a call go by it, and the health of its targets.

Rules
- Health that is told in one time cannot be asked in another: a model with a clock of its own keeps its own health, in
  memory. Limits on our own side stay those of the process, and so do pauses: they are waited for.
"""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

from interlingua.errors import Error, UsageError, kind_of
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
        self.clock: Callable[[], float] = partial(_read, clock)
        """Seconds that only grow."""
        self.health: HealthStore = MemoryHealth(self.clock)
        """The health of targets."""


def _read(clock: Callable[[], object]) -> float:
    """The time on a clock of the caller's.

    Raises: UsageError for what it raises, and for what is no time.
    """
    try:
        now_s = clock()
    except Error:
        raise
    except Exception as error:
        raise UsageError(f"the clock raised {kind_of(error)}") from error
    if isinstance(now_s, int | float) and not isinstance(now_s, bool) and isfinite(now_s):
        return now_s
    raise UsageError(f"the clock gave {now_s!r:.60}, and a time is a number of seconds")
