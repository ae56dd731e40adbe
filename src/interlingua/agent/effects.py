"""Effects of the loop, beside those of a model's call: to run tools, and to call the caller's functions."""

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
    """Its argument."""


class Progressed(NamedTuple):
    """A tool tells something."""

    call: Call
    """Its call."""
    text: str
    """The text."""


class Finished(NamedTuple):
    """A call has its result."""

    call: Call
    """The call."""
    result: ToolResult
    """Its result."""


Notice: TypeAlias = Progressed | Finished
"""Notes of running calls."""
LoopEffect: TypeAlias = "Effect | list[LoopEvent] | Begin | Next | Invoke"
"""Effects that a driver of the loop carries out; a list of events is given to whoever reads the run."""
LoopSteps: TypeAlias = Generator[LoopEffect, Any, R]
