"""The loop's own events, which stand among the model's in the stream of a run, each with its step.

```
run  := step* RunFinished
step := the model's events  StepFinished  (ApprovalNeeded* ToolStarted* (ToolProgress | ToolFinished)*)?
```

Steps count from 1. Tools run at once, so what they say may interleave; every call has one `ToolFinished`, also one that
never ran, in the order in which they end.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.event import Event
from interlingua.types.response import Response
from interlingua.types.run import StopReason

__all__ = [
    "ApprovalNeeded",
    "LoopEvent",
    "RunEvent",
    "RunFinished",
    "StepFinished",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
]


class StepFinished(msgspec.Struct, frozen=True):
    """The model has answered."""

    response: Response[Any]
    """The whole answer."""
    step: int
    """Which step, from 1."""


class ApprovalNeeded(msgspec.Struct, frozen=True):
    """A call waits for `run.approve(call)` or `run.deny(call, why)`; undecided, it ends the run until it is resumed."""

    call: ToolCall
    """The call."""
    step: int
    """Which step, from 1."""


class ToolStarted(msgspec.Struct, frozen=True):
    """A tool begins to run."""

    call: ToolCall
    """The call."""
    step: int
    """Which step, from 1."""


class ToolProgress(msgspec.Struct, frozen=True):
    """A note of a tool while it runs; the model does not see it."""

    call: ToolCall | BrokenToolCall
    """The call."""
    text: str
    """The text."""
    step: int
    """Which step, from 1."""


class ToolFinished(msgspec.Struct, frozen=True):
    """A call has its result, also when nothing ran: broken, unknown, denied or over a limit."""

    call: ToolCall | BrokenToolCall
    """The call."""
    result: ToolResult
    """The result that the model gets."""
    step: int
    """Which step, from 1."""


class RunFinished(msgspec.Struct, frozen=True):
    """The run has ended; nothing comes after it. Of a run that an error ended only observers see it."""

    stop_reason: StopReason
    """The reason of the end."""
    step: int
    """How many steps it took."""


LoopEvent: TypeAlias = StepFinished | ApprovalNeeded | ToolStarted | ToolProgress | ToolFinished | RunFinished
"""Events of the loop itself."""
RunEvent: TypeAlias = Event | LoopEvent
"""Events in the stream of a run."""
