"""One call that a tool works on, told to whoever listens.

Rules
- It begins in the very context in which the handler runs, so that what is begun in there knows where it belongs.
- Every call that has begun ends once: with its result, also that of a time-out, or without one when it was interrupted.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from interlingua.client.observe import ToolCalled, ToolReturned, is_observed, listeners, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.tools.face import Work
    from interlingua.types.content import ToolCall, ToolResult

__all__ = ["ToolWatch", "ended", "watched"]

R = TypeVar("R", bound="ToolResult | None")


class ToolWatch:
    """One call that a tool works on."""

    def __init__(self, call: ToolCall, clock: Callable[[], float], make_id: Callable[[], str]) -> None:
        """A call whose handler is about to run, here."""
        from interlingua.client.call.watch import PARENT
        from interlingua.client.meter import tags_here

        self._call = call
        self._clock = clock
        own_id = make_id()
        self._head: dict[str, Any] = {"id": own_id, "parent_id": PARENT.get(), "tags": tags_here()}
        self._listeners = listeners()
        self._is_ended = False
        PARENT.set(own_id)
        self._began_s = clock()
        tell(ToolCalled(**self._head, tool=call.name, tool_call_id=call.id, call=call), self._listeners)

    def end(self, result: ToolResult | None, error: BaseException | None = None) -> None:
        """The call has its result, or none when it was interrupted; only the first end counts."""
        if self._is_ended:
            return
        self._is_ended = True
        tell(
            ToolReturned(
                **self._head,
                tool=self._call.name,
                tool_call_id=self._call.id,
                is_error=result is None or result.is_error,
                duration_s=self._clock() - self._began_s,
                error=None if error is None else type(error).__name__,
                result=result,
            ),
            self._listeners,
        )


def watched(work: Work) -> ToolWatch | None:
    """The watch of a call whose handler is about to run in this context; None when nobody listens."""
    if not is_observed():
        return None
    from interlingua.client.call.watch import new_id

    return ToolWatch(work.call, time.monotonic, new_id)


def ended(watch: ToolWatch | None, result: R, error: BaseException | None = None) -> R:
    """The result itself, once it is told to whoever listens."""
    if watch is not None:
        watch.end(result, error)
    return result
