"""Ends a process of tests that hangs where no signal reaches it, in C, and shows every stack.

pytest's `faulthandler_timeout` starts a thread for each test and waits for its end: 0.6 ms of a processor, and several
of waiting where the processors are busy. This one starts a thread in half a minute.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import time

__all__ = ["ENDS_AFTER_S", "Watchdog"]

ENDS_AFTER_S = 600
"""How long a test may take; twice of what pytest-timeout, which needs a signal, gives it."""
LOOKS_EVERY_S = 30
"""How long the thread waits for is counted anew by the first test after this time; so much may be missing."""


class Watchdog:
    """Waits for the end of each test."""

    def __init__(self) -> None:
        """Keep the stderr of the process, which tests capture."""
        self._stderr = os.dup((sys.__stderr__ or sys.stderr).fileno())
        self._counted_since = float("-inf")

    def count_anew(self, *, now: float | None = None) -> bool:
        """A test begins: count from now on, if that was long ago. Whether it was."""
        now = time.monotonic() if now is None else now
        if now - self._counted_since < LOOKS_EVERY_S:
            return False
        self._counted_since = now
        faulthandler.dump_traceback_later(ENDS_AFTER_S, exit=True, file=self._stderr)
        return True

    def rest(self) -> None:
        """Wait for nothing until a test begins."""
        self._counted_since = float("-inf")
        faulthandler.cancel_dump_traceback_later()
