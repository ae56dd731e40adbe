"""A run, awaited: its driver, and what a caller holds of it.

Rules
- The calls of a step run at once, each in a task, at most `MOST_AT_ONCE` at the same time; what still runs when the
  time is up is cancelled.
- Cancellation of the run cancels its tools and closes the open exchange; a handler that is cancelled by anything else
  has failed, and the run goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from interlingua.agent.effects import Begin, Finished, Invoke, Next, Progressed
from interlingua.agent.events import RunFinished
from interlingua.agent.face import RunFace, note_failed_observer
from interlingua.agent.run import MOST_AT_ONCE, Report
from interlingua.agent.state import CURRENT, Call
from interlingua.client.aio.pump import AsyncPump
from interlingua.errors import Error
from interlingua.types.content import ToolResult
from interlingua.types.event import TextDelta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from interlingua.agent.effects import LoopSteps, Notice
    from interlingua.agent.events import RunEvent
    from interlingua.agent.state import RunState
    from interlingua.client.aio.sse import AsyncSseBody
    from interlingua.client.call.effect import Steps
    from interlingua.client.web.chat import WebChat

__all__ = ["AsyncExecute", "AsyncRun"]

T = TypeVar("T")

AsyncExecute: TypeAlias = Callable[[Call, Report], Awaitable[ToolResult]]
"""Runs one call."""


class _AsyncTaskGroup:
    """Calls that run."""

    def __init__(self, calls: Sequence[Call], execute: AsyncExecute) -> None:
        self._execute = execute
        self._notices: asyncio.Queue[Notice | BaseException] = asyncio.Queue()
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._tasks = [asyncio.create_task(self._work(call), name=call.name) for call in calls]

    async def _work(self, call: Call) -> None:
        loop = asyncio.get_running_loop()

        def report(text: str) -> None:
            loop.call_soon_threadsafe(self._notices.put_nowait, Progressed(call, text))

        try:
            async with self._places:
                result = await self._execute(call, report)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            result = ToolResult(call.id, call.name, f"tool {call.name} was cancelled", is_error=True)
        except BaseException as error:  # noqa: BLE001 - raised where the run is driven
            await self._notices.put(error)
            return
        await self._notices.put(Finished(call, result))

    async def next(self, within_s: float | None) -> Notice | None:
        try:
            async with asyncio.timeout(within_s):
                notice = await self._notices.get()
        except TimeoutError:
            await self.close()
            return None
        if isinstance(notice, BaseException):
            raise notice
        return notice

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _AsyncRunPump(AsyncPump[None]):
    """The driver: that of a call, and what the loop asks beside."""

    __slots__ = ("_execute", "_task_group")

    def __init__(self, steps: LoopSteps[None], execute: AsyncExecute) -> None:
        """Steps that have not begun."""
        super().__init__(cast("Steps[None]", steps))
        self._execute = execute
        self._task_group: _AsyncTaskGroup | None = None

    async def _perform(self, effect: Any) -> Any:
        match effect:
            case Begin(calls=calls):
                self._task_group = _AsyncTaskGroup(calls, self._execute)
                return None
            case Next(within_s=within_s):
                return await cast("_AsyncTaskGroup", self._task_group).next(within_s)
            case Invoke(function=function, argument=argument):
                return await _settled(function(argument))
            case _:
                return await super()._perform(effect)

    async def close(self) -> None:
        group, self._task_group = self._task_group, None
        if group is not None:
            await group.close()
        await super().close()


async def _settled(value: object) -> object:
    """The result of a function of the caller's, awaited where it can be."""
    return await cast("Awaitable[object]", value) if isinstance(value, Awaitable) else value


class AsyncRun(RunFace[T]):
    """One run of an agent: finished, or live, an async context manager and iterator over the model's and its events."""

    def __init__(
        self,
        state: RunState,
        steps: LoopSteps[None],
        execute: AsyncExecute,
        observers: Sequence[Callable[[RunEvent], object]],
    ) -> None:
        """A run that has not begun; an agent makes it."""
        super().__init__(state)

        async def at_work(call: Call, report: Report) -> ToolResult:
            CURRENT.set(state)  # the task's own context, which ends with it
            return await execute(call, report)

        self._pump = _AsyncRunPump(steps, at_work)
        self._observers = observers
        self._ready: Iterator[RunEvent] = iter(())
        self._begun = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RunEvent:
        while True:
            for event in self._ready:
                return event
            self._begun = True
            try:
                with self._watched():
                    batch = cast("list[RunEvent] | None", await self._pump.pull())
            except Error as error:
                error.run = self
                await self._tell(RunFinished("error", len(self.steps)))
                raise
            if batch is None:
                raise StopAsyncIteration
            for event in batch:
                await self._tell(event)
            self._ready = iter(batch)

    async def _tell(self, event: RunEvent) -> None:
        for observe in self._observers:
            try:
                await _settled(observe(event))
            except Exception as error:  # noqa: BLE001 - an observer cannot break a run
                note_failed_observer(error)

    @property
    def text_stream(self) -> AsyncGenerator[str]:
        """The text of all answers, piece by piece."""
        return (event.text async for event in self if type(event) is TextDelta and event.choice == 0)

    def sse(self, target: str | WebChat = "ai-sdk") -> AsyncSseBody:
        """The run as the body of an answer to a web page: `ai-sdk`, `ag-ui`, or what `il.web_chat` read.

        An error that ends the run is an error part. Leaving the run, or closing the body, ends the run.

        Raises: UsageError for a dialect, and when something was read already.
        """
        from interlingua.agent.pages import RunEventWriter  # only web applications need it
        from interlingua.client.aio.sse import AsyncSseBody  # the same
        from interlingua.client.web.sse import begun_before  # the same

        if self._begun:
            raise begun_before()
        return AsyncSseBody(self, RunEventWriter(target), lambda: None)

    async def finish(self) -> Self:
        """The run itself, at its end; what is left of it is carried out first.

        Raises: what ended it, where that is an error; not what its bounds ended.
        """
        async for _ in self:
            pass
        return self

    async def close(self) -> None:
        """End the run; what is open is closed, and calls that did not run are answered as such."""
        self._ready = iter(())
        await self._pump.close()
        self._state.stop("cancelled")
        self._left()
