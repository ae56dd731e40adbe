"""The turn of one process at the journal: who has been alone for long keeps the lock while nobody else wants it.

Strategy: taking the lock and letting go of it are calls of the system, four of them for a call of a key. So a process
that found nothing of others for hundreds of turns keeps it, and looks at one word in memory instead, which others set
who wait for it. It looks with each turn, and a few times while nothing happens; then it lets go by itself.

Rules
- The lock is the system's: it is free as soon as the process that keeps it has ended, however it ended.
- Who is asked for it lets go with the end of its turn, or within `IDLE_S`, and keeps it again only after another
  `ALONE` turns without a line of anybody else.
- In one thread of one process somebody else's turn cannot come before this one lets go, so it is made to
  (`let_go_here`).
- A process that is stopped while it keeps the lock has others wait until it goes on or ends, as one that is stopped in
  the middle of a turn.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.keys.journal import Journal

__all__ = ["Turn", "let_go_here"]

ALONE = 256
"""After so many turns without a line of anybody else the lock is kept."""
IDLE_S = 0.005
"""After so many seconds without a line of our own it is let go."""


class Turn:
    """What one process has of the lock of a journal; it is used in one thread, on an event loop."""

    __slots__ = ("__weakref__", "_journal", "_keeps", "_on_rest", "_timer", "_turns", "_written", "is_kept", "words")

    def __init__(self, journal: Journal, on_rest: Callable[[], object]) -> None:
        """Nothing yet; `on_rest` is called when the lock was let go because nothing happened."""
        self._journal = journal
        self._on_rest = on_rest
        self._turns = 0
        self._keeps = False
        self._written = 0
        self._timer: asyncio.TimerHandle | None = None
        self.is_kept: bool = False
        """Whether the lock is ours since the last turn: nobody else can have written."""
        self.words: memoryview = journal.words
        """The words of the lock: where the second is not 0, and where the lock is not kept, a turn has to end."""

    def begins(self) -> bool:
        """Whether it is ours now."""
        return self.is_kept or self._journal.lock()

    def met(self, *, others: bool) -> None:
        """Learn from what was read in a turn whether others are there."""
        self._turns = 0 if others else self._turns + 1
        self._keeps = self._turns > ALONE

    def ends(self) -> None:
        """Let others have their turn, or keep it while nobody wants one."""
        if not self._keeps:
            self._journal.unlock()
        elif self.words[1]:
            self.give_up()
        elif not self.is_kept:
            self.is_kept = True
            _HERE.keeping.add(self)
            self._look_later()

    def give_up(self) -> None:
        """Let others have their turn; after one that was kept, for long."""
        if self._keeps:
            self._turns, self._keeps = 0, False
            self._journal.is_wanted = False
        self._let_go()

    def close(self) -> None:
        """Keep nothing any more."""
        if self.is_kept:
            self._let_go()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _let_go(self) -> None:
        if self.is_kept:
            self.is_kept = False
            _HERE.keeping.discard(self)
        self._journal.unlock()

    def _look_later(self) -> None:
        self._written = self._journal.size
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._look)

    def _look(self) -> None:
        """Let go where somebody waits, or nothing was written since it was looked last."""
        self._timer = None
        if self.is_kept and self._journal.is_wanted:
            self.give_up()
        elif self.is_kept and self._journal.size == self._written:
            self._let_go()
            self._on_rest()
        elif self.is_kept:
            self._look_later()


class _Here(threading.local):
    """What there is in each thread."""

    def __init__(self) -> None:
        self.keeping: WeakSet[Turn] = WeakSet()


_HERE = _Here()


def let_go_here() -> None:
    """Have all turns that are kept in this thread end, for who is about to wait for one without letting it run."""
    for turn in tuple(_HERE.keeping):
        turn.give_up()
