"""A run, blocking: its driver, and what a caller holds of it.

Rules
- Several calls run at once, each in a thread; a single call whose progress nobody waits for runs in the caller's own.
- At most `MOST_AT_ONCE` calls of a step run at the same time.
- A thread cannot be stopped from outside: a function that still runs when the time is up, or when the run is left, is
  left to itself, and its result is not looked at. A coroutine is cancelled, and a sub-agent begins no further step.
- KeyboardInterrupt closes the open exchange and leaves the run's messages as a history that can be gone on with.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from interlingua.agent.effects import Begin, Finished, Invoke, Next, Progressed
from interlingua.agent.events import RunFinished
from interlingua.agent.face import RunFace, note_failed_observer
from interlingua.agent.state import CURRENT, Call
from interlingua.client.call.pump import Pump
from interlingua.errors import Error, UsageError
from interlingua.tools.cancellation import HALT, Halt
from interlingua.types.content import ToolResult
from interlingua.types.event import TextDelta

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from interlingua.agent.effects import LoopSteps, Notice
    from interlingua.agent.events import RunEvent
    from interlingua.agent.state import RunState
    from interlingua.client.call.effect import Steps
    from interlingua.client.web.chat import WebChat
    from interlingua.client.web.sse import SseBody

__all__ = ["MOST_AT_ONCE", "Execute", "Report", "Run"]

T = TypeVar("T")

MOST_AT_ONCE = 16
"""How many calls of one step run at the same time."""
Report: TypeAlias = Callable[[str], None]
"""Where the progress of a call goes."""
Execute: TypeAlias = Callable[[Call, Report], ToolResult]
"""Runs one call."""


class _TaskGroup:
    """Calls that run."""

    def __init__(self, calls: Sequence[Call], execute: Execute) -> None:
        self._execute = execute
        self._notices: SimpleQueue[Notice | BaseException] = SimpleQueue()
        self._waiting = deque(calls)
        self._halt = Halt()

    def here(self) -> None:
        """Run them in this thread."""
        while self._waiting:
            self._work(self._waiting.popleft())

    def apart(self) -> None:
        """Run them in threads of their own."""
        for _ in range(min(MOST_AT_ONCE, len(self._waiting))):
            threading.Thread(target=copy_context().run, args=(self._hand,), daemon=True).start()

    def close(self) -> None:
        """Begin no other call, and stop of those that run what can be stopped."""
        self._waiting.clear()
        self._halt.end()

    def _hand(self) -> None:
        HALT.set(self._halt)
        while True:
            try:
                call = self._waiting.popleft()
            except IndexError:
                return
            self._work(call)

    def _work(self, call: Call) -> None:
        try:
            self._notices.put(
                Finished(call, self._execute(call, lambda text: self._notices.put(Progressed(call, text))))
            )
        except BaseException as error:  # noqa: BLE001 - raised where the run is driven
            self._notices.put(error)

    def next(self, within_s: float | None) -> Notice | None:
        try:
            notice = self._notices.get(timeout=within_s)
        except Empty:
            self.close()
            return None
        if isinstance(notice, BaseException):
            raise notice
        return notice


class _RunPump(Pump[None]):
    """The driver: that of a call, and what the loop asks beside."""

    __slots__ = ("_execute", "_here", "_task_group")

    def __init__(
        self,
        steps: LoopSteps[None],
        execute: Execute,
        *,
        here: bool,
    ) -> None:
        """Steps that have not begun; `here`: a single call may run in this thread."""
        super().__init__(cast("Steps[None]", steps))
        self._execute = execute
        self._here = here
        self._task_group: _TaskGroup | None = None

    def close(self) -> None:
        if self._task_group is not None:
            self._task_group.close()
        super().close()

    def _perform(self, effect: Any) -> Any:
        match effect:
            case Begin(calls=calls):
                self._task_group = _TaskGroup(calls, self._execute)
                if self._here and len(calls) == 1:
                    self._task_group.here()
                else:
                    self._task_group.apart()
                return None
            case Next(within_s=within_s):
                return cast("_TaskGroup", self._task_group).next(within_s)
            case Invoke(function=function, argument=argument):
                return _plain(function(argument))
            case _:
                return super()._perform(effect)


def _plain(value: object) -> object:
    """The result of a function of the caller's.

    Raises: UsageError for a coroutine, which nothing here awaits.
    """
    if hasattr(value, "__await__"):
        if hasattr(value, "close"):
            cast("Any", value).close()
        raise UsageError("a coroutine function cannot decide here; use the Agent of interlingua.aio")
    return value


class Run(RunFace[T]):
    """One run of an agent: finished, or live, a context manager and an iterator over the model's and its own events."""

    def __init__(
        self,
        state: RunState,
        steps: LoopSteps[None],
        execute: Execute,
        observers: Sequence[Callable[[RunEvent], object]],
        *,
        here: bool,
    ) -> None:
        """A run that has not begun; an agent makes it."""
        super().__init__(state)

        def at_work(call: Call, report: Report) -> ToolResult:
            token = CURRENT.set(state)
            try:
                return execute(call, report)
            finally:
                CURRENT.reset(token)

        self._pump = _RunPump(steps, at_work, here=here)
        self._observers = observers
        self._ready: Iterator[RunEvent] = iter(())
        self._begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._pump.close()
        self._left()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RunEvent:
        while True:
            for event in self._ready:
                return event
            self._begun = True
            try:
                with self._watched():
                    batch = cast("list[RunEvent] | None", self._pump.pull())
            except Error as error:
                error.run = self
                self._tell(RunFinished("error", len(self.steps)))
                raise
            if batch is None:
                raise StopIteration
            for event in batch:
                self._tell(event)
            self._ready = iter(batch)

    def _tell(self, event: RunEvent) -> None:
        for observe in self._observers:
            try:
                _plain(observe(event))
            except Exception as error:  # noqa: BLE001 - an observer cannot break a run
                note_failed_observer(error)

    @property
    def text_stream(self) -> Generator[str]:
        """The text of all answers, piece by piece."""
        return (event.text for event in self if type(event) is TextDelta and event.choice == 0)

    def sse(self, target: str | WebChat = "ai-sdk") -> SseBody:
        """The run as the body of an answer to a web page: `ai-sdk`, `ag-ui`, or what `il.web_chat` read.

        An error that ends the run is an error part. Leaving the run, or closing the body, ends the run.

        Raises: UsageError for a dialect, and when something was read already.
        """
        from interlingua.agent.pages import RunEventWriter  # only web applications need it
        from interlingua.client.web.sse import SseBody, begun_before  # the same

        if self._begun:
            raise begun_before()
        return SseBody(self, RunEventWriter(target), lambda: None)

    def finish(self) -> Self:
        """The run itself, at its end; what is left of it is carried out first.

        Raises: what ended it, where that is an error; not what its bounds ended.
        """
        for _ in self:
            pass
        return self

    def close(self) -> None:
        """End the run; what is open is closed, and calls that did not run are answered as such."""
        self._ready = iter(())
        self._pump.close()
        self._state.stop("cancelled")
        self._left()
