"""The running of calls on asyncio: coroutines in the event loop, ordinary functions in threads.

Rules
- At most so many calls run at once. Results keep the order of the calls. Each handler sees a copy of the caller's
  context variables, and is a task of its own, so that whom it cancels is itself.
- A coroutine that takes too long is cancelled, and given up when it does not end soon after. A function in a thread
  cannot be stopped: it is left to end by itself, does not hold up the end of the program or of the loop, and what it
  gives later is dropped.
- Cancellation from outside cancels the coroutines, waits for them as long, and passes.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any, TypeAlias, cast

from interlingua.tools.face import Work
from interlingua.tools.listening import OnProgress, tell
from interlingua.tools.outcome import answered, failed, timed_out
from interlingua.tools.progress import LISTENER
from interlingua.tools.watch import ended, watched
from interlingua.types.content import ToolResult

__all__ = ["run_all"]

GRACE_S = 2.0
"""How long a cancelled coroutine may take to end before it is given up."""

_given_up: set[asyncio.Task[Any]] = set()
"""Coroutines that did not end when they were cancelled; the loop alone would forget them."""

_Came: TypeAlias = tuple[Any, BaseException | None]
"""The value of a function in a thread, or its exception."""


async def run_all(
    steps: Sequence[Work | ToolResult], *, at_once: int, on_progress: OnProgress | None
) -> tuple[ToolResult, ...]:
    """The result of each call, in order."""
    gate = asyncio.Semaphore(at_once)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_passed(gate, step, on_progress)) if isinstance(step, Work) else step
                for step in steps
            ]
    except BaseExceptionGroup as errors:  # what is no result passes as it was raised
        raise errors.exceptions[0] from None
    return tuple([task if isinstance(task, ToolResult) else task.result() for task in tasks])


async def _passed(gate: asyncio.Semaphore, work: Work, on_progress: OnProgress | None) -> ToolResult:
    """The result of one call, whatever its handler does."""
    async with gate:
        watch = watched(work)
        try:
            result, error = await _outcome(work, on_progress)
        except BaseException as interruption:
            ended(watch, None, interruption)
            raise
        return ended(watch, result, error)


async def _outcome(work: Work, on_progress: OnProgress | None) -> tuple[ToolResult, BaseException | None]:
    """The result of one call, and what its handler raised."""
    task = asyncio.create_task(_value(work, on_progress))
    try:
        await asyncio.wait({task}, timeout=work.timeout_s)
        if not task.done():
            return timed_out(work.call, work.timeout_s), TimeoutError()
    finally:
        await _ended(task)
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is None:
        return answered(work.call, task.result()), None
    if isinstance(error, Exception | asyncio.CancelledError):
        return failed(work.call, error), error
    raise error


async def _ended(task: asyncio.Task[Any]) -> None:
    """Cancel a handler that still runs, and wait for its end, within bounds."""
    if task.done():
        _forget(task)
        return
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=GRACE_S)
    finally:
        _given_up.add(task)
        task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _given_up.discard(task)
    if not task.cancelled():
        task.exception()  # nobody else asks, and asyncio would complain


async def _value(work: Work, on_progress: OnProgress | None) -> object:
    """The value of a handler: awaited when it is awaitable; a function that may block runs in a thread."""
    listener = partial(tell, on_progress, work.call)
    if work.is_async:
        LISTENER.set(listener)
        value = work.run()
    else:
        value = await _in_thread(work, listener)
    return await cast("Awaitable[Any]", value) if isinstance(value, Awaitable) else value


async def _in_thread(work: Work, listener: Callable[[str], None]) -> object:
    """The value of a function that runs in a thread of its own; its notes are handed over in the loop's thread."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[_Came] = loop.create_future()

    def post(callback: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(callback, *arguments)

    def settle(outcome: _Came) -> None:
        if not came.done():
            came.set_result(outcome)

    def run() -> None:
        LISTENER.set(partial(post, listener))
        try:
            outcome = work.run(), None
        except BaseException as error:  # noqa: BLE001 - raised where the call is awaited
            outcome = None, error
        post(settle, outcome)

    threading.Thread(target=copy_context().run, args=(run,), name=f"tool {work.call.name}", daemon=True).start()
    value, error = await came
    if error is not None:
        raise error
    return value
