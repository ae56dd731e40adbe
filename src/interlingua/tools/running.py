"""The running of calls in blocking code: in the calling thread, or in threads that end with the call.

Rules
- One call without a bound on its time runs where it is called; several, and those with a bound, run in threads, at
  most so many at once. A coroutine gets an event loop of its own, in its thread, so that it works inside a running
  loop, too, and can be cancelled.
- Results keep the order of the calls. Each handler sees a copy of the caller's context variables.
- Notes reach the listener in the calling thread.
- A function that takes too long cannot be stopped: its result is an error, its thread is left to end by itself, does
  not hold up the end of the program, and what it gives later is dropped.
- SystemExit and KeyboardInterrupt of a handler are raised in the calling thread; coroutines that still run are
  cancelled then, and so they are when nobody waits for the calling thread any more (`cancellation`).
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Awaitable, Sequence
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from interlingua.tools.cancellation import HALT
from interlingua.tools.face import Work
from interlingua.tools.listening import OnProgress, tell
from interlingua.tools.outcome import answered, failed, is_cancelled, timed_out
from interlingua.tools.progress import LISTENER
from interlingua.tools.watch import ended, watched
from interlingua.types.content import ToolResult

if TYPE_CHECKING:
    import asyncio

__all__ = ["run_all"]


class _Note(NamedTuple):
    """A note of a handler while it runs."""

    place: int
    text: str


class _End(NamedTuple):
    """The end of a handler: a result, or what is raised in the calling thread."""

    place: int
    result: ToolResult | None
    error: BaseException | None = None


_Inbox: TypeAlias = "queue.SimpleQueue[_Note | _End]"


def run_all(
    steps: Sequence[Work | ToolResult], *, at_once: int, on_progress: OnProgress | None
) -> tuple[ToolResult, ...]:
    """The result of each call, in order."""
    works = {place: step for place, step in enumerate(steps) if isinstance(step, Work)}
    ended: dict[int, ToolResult] = {}
    if len(works) == 1:
        ((place, work),) = works.items()
        first = work if work.is_async or work.timeout_s is not None else copy_context().run(_here, work, on_progress)
        if isinstance(first, ToolResult):
            ended[place] = first
        else:
            ended = _TaskGroup({place: first}, at_once, on_progress).run()
    elif works:
        ended = _TaskGroup(works, at_once, on_progress).run()
    return tuple([step if isinstance(step, ToolResult) else ended[place] for place, step in enumerate(steps)])


def _here(work: Work, on_progress: OnProgress | None) -> ToolResult | Work:
    """The result of a call that runs in this very thread; what is left to run when it gives an awaitable."""
    LISTENER.set(lambda text: tell(on_progress, work.call, text))
    watch = watched(work)
    try:
        value = work.run()
        if isinstance(value, Awaitable):
            return work._replace(run=partial(_awaited, cast("Awaitable[Any]", value)), watch=watch)
    except BaseException as error:
        if isinstance(error, Exception) or is_cancelled(error):
            return ended(watch, failed(work.call, error), error)
        ended(watch, None, error)
        raise
    return ended(watch, answered(work.call, value))


def _awaited(value: Awaitable[Any]) -> Awaitable[Any]:
    return value


class _Hand:
    """One call in its thread."""

    def __init__(self, place: int, work: Work, inbox: _Inbox) -> None:
        self.work = work
        self._place = place
        self._inbox = inbox
        self._is_stopped = False
        self.watch = work.watch
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.deadline = None if work.timeout_s is None else time.monotonic() + work.timeout_s
        self.thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name=f"tool {work.call.name}", daemon=True
        )
        self.thread.start()

    def stop(self) -> None:
        """Cancel what can be cancelled, which is a coroutine."""
        self._is_stopped = True
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # it ended in this very moment, and its loop is closed
                self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        LISTENER.set(lambda text: self._inbox.put(_Note(self._place, text)))
        self.watch = self.watch or watched(self.work)
        try:
            value = self.work.run()
            if isinstance(value, Awaitable):
                value = self._awaited(cast("Awaitable[Any]", value))
            result = answered(self.work.call, value)
        except BaseException as error:  # noqa: BLE001 - what is no result is raised where the call was made
            is_result = isinstance(error, Exception) or (is_cancelled(error) and not self._is_stopped)
            result = ended(self.watch, failed(self.work.call, error) if is_result else None, error)
            self._inbox.put(_End(self._place, result, error))
        else:
            self._inbox.put(_End(self._place, ended(self.watch, result)))

    def _awaited(self, value: Awaitable[Any]) -> object:
        """The value of an awaitable, in an event loop of its own."""
        import asyncio

        async def wait() -> object:
            self._task = asyncio.current_task()
            self._loop = asyncio.get_running_loop()
            if self._is_stopped and self._task is not None:
                self._task.cancel()
            return await value

        with asyncio.Runner() as runner:
            return runner.run(wait())


class _TaskGroup:
    """The threads of one step, seen from the calling thread."""

    def __init__(self, works: dict[int, Work], at_once: int, on_progress: OnProgress | None) -> None:
        self._waiting = deque(works.items())
        self._running: dict[int, _Hand] = {}
        self._ended: dict[int, ToolResult] = {}
        self._inbox: _Inbox = queue.SimpleQueue()
        self._at_once = at_once
        self._on_progress = on_progress

    def run(self) -> dict[int, ToolResult]:
        """The result of each call, by its place."""
        try:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < self._at_once:
                    place, work = self._waiting.popleft()
                    hand = self._running[place] = _Hand(place, work, self._inbox)
                    halt = HALT.get()
                    if halt is not None:
                        halt.add(hand.stop)
                self._receive()
                # The calls whose time is over are given up.
                now = time.monotonic()
                for place, hand in list(self._running.items()):
                    if hand.deadline is not None and hand.deadline <= now:
                        del self._running[place]
                        hand.stop()
                        late = timed_out(hand.work.call, hand.work.timeout_s)
                        self._ended[place] = ended(hand.watch, late, TimeoutError())
        finally:
            for hand in self._running.values():
                hand.stop()
        return self._ended

    def _receive(self) -> None:
        """Take the next note or end, or wait until the next time-out."""
        deadlines = [hand.deadline for hand in self._running.values() if hand.deadline is not None]
        patience_s = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        try:
            item = self._inbox.get(timeout=patience_s)
        except queue.Empty:
            return
        hand = self._running.get(item.place)
        if hand is None:
            return  # it was given up
        if isinstance(item, _Note):
            tell(self._on_progress, hand.work.call, item.text)
        elif item.result is not None:
            del self._running[item.place]
            hand.thread.join()
            self._ended[item.place] = item.result
        elif item.error is not None:
            raise item.error
