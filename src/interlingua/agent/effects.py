"""What the loop asks of its driver beside what a model's call asks: to run tools, and to ask the caller's functions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from interlingua.agent.events import LoopEvent
from interlingua.agent.state import Call
from interlingua.client.call.effect import Effect
from interlingua.types.content import ToolResult

__all__ = ["Begin", "Finished", "Invoke", "LoopEffect", "LoopSteps", "Next", "Notice", "Progressed"]

R = TypeVar("R")


class Begin(NamedTuple):
    """Effect: begin to run these calls, all at once."""

    calls: tuple[Call, ...]
    """The calls."""


class Next(NamedTuple):
    """Effect: what the running calls tell next; None when the time is up, and then they are given up."""

    within_s: float | None
    """How long to wait; None for as long as it takes."""


class Invoke(NamedTuple):
    """Effect: what a function of the caller's gives, awaited where that is possible."""

    function: Callable[[Any], Any]
    """The function."""
    argument: Any
    """What it is given."""


class Progressed(NamedTuple):
    """A tool tells something."""

    call: Call
    """Its call."""
    text: str
    """What it tells."""


class Finished(NamedTuple):
    """A call has its result."""

    call: Call
    """The call."""
    result: ToolResult
    """Its result."""


Notice: TypeAlias = Progressed | Finished
"""What running calls tell."""
LoopEffect: TypeAlias = "Effect | list[LoopEvent] | Begin | Next | Invoke"
"""What a driver has to do; a list of events is given to whoever reads the run."""
LoopSteps: TypeAlias = Generator[LoopEffect, Any, R]
