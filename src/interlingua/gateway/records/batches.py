"""Writing away from the event loop: what comes is put in a queue, and one thread writes it, many at a time.

Rules
- Putting never waits and never raises; beyond the bound what comes is dropped, counted, and said once.
- What fails to be written is dropped; that is said where it begins and where it is over, at most once a minute. The
  thread goes on with what comes next.
- `close` writes what is left, for as long as that may take; the end of the process does the same.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_WAITING", "Batches"]

MAX_WAITING = 10_000
"""How many may wait to be written."""
CLOSING_S = 10.0
"""How long the end waits for what is left."""
SAY_AGAIN_S = 60.0
"""How long after a failure was said the next one is: a disk may be full, and not, and full again."""
T = TypeVar("T")


class Batches(Generic[T]):
    """A queue with a thread that empties it."""

    def __init__(
        self,
        write: Callable[[list[T]], None],
        *,
        name: str,
        every_s: float = 0.2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A queue that is empty; its thread begins with the first thing and rests for `every_s` after a batch."""
        self._write = write
        self._name = name
        self._every_s = every_s
        self._waiting: deque[T] = deque()
        self._wake = threading.Event()
        self._is_woken = False  # what the event says, without a call
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._clock = clock
        self._is_failing = False  # and that was said
        self._said_s: float | None = None
        self._lost = 0
        self.dropped: int = 0
        """How many were dropped because too many waited."""

    def put(self, item: T) -> None:
        """Have something written soon."""
        if len(self._waiting) >= MAX_WAITING:
            if not self.dropped:
                self._say("it takes longer to write than to come; what does not fit is dropped, this is said once")
            self.dropped += 1
            return
        self._waiting.append(item)
        if not self._is_woken:
            self._is_woken = True
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"interlingua-{self._name}", daemon=True)
                self._thread.start()
                atexit.register(self.close)

    def close(self) -> None:
        """Write what is left, and let the thread go; what is put after that begins another one."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(CLOSING_S)
        self._thread = None
        self._sleep()
        self._closing.clear()
        atexit.unregister(self.close)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._sleep()  # before looking: what is put after this wakes again
            self._flush()
            self._closing.wait(self._every_s)
        self._flush()

    def _sleep(self) -> None:
        self._wake.clear()
        self._is_woken = False

    def _flush(self) -> None:
        waiting = self._waiting
        batch = [waiting.popleft() for _ in range(len(waiting))]
        if not batch:
            return
        try:
            self._write(batch)
        except Exception as error:  # noqa: BLE001 - a full disk or a closed pipe must not end the thread
            self._lost += len(batch)
            now_s = self._clock()
            if not self._is_failing and (self._said_s is None or now_s - self._said_s >= SAY_AGAIN_S):
                self._is_failing, self._said_s = True, now_s
                self._say("what cannot be written is dropped, until it can be written again", error)
        else:
            if self._is_failing:
                self._is_failing = False
                self._say(f"it is written again; {self._lost} could not be")
                self._lost = 0

    def _say(self, sentence: str, error: Exception | None = None) -> None:
        logging.getLogger("interlingua.gateway").warning("%s: %s", self._name, sentence, exc_info=error)
