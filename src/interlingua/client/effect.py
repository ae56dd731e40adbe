"""What the steps of a call ask of their driver.

Strategy: a call is a generator that yields effects and is sent their results. A driver performs them on a blocking or
an awaited transport and throws into the generator what went wrong. A yielded list of events is what a stream gives.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from interlingua.transport.base import Timeouts
    from interlingua.types.event import Event
    from interlingua.wire.http import HttpRequest

__all__ = ["Effect", "Open", "Read", "Steps"]

R = TypeVar("R")


class Open(NamedTuple):
    """Effect: open an exchange; its result is the reply."""

    request: HttpRequest
    """What to send."""
    timeouts: Timeouts
    """Its deadlines."""


class Read(NamedTuple):
    """Effect: the next piece of the body of the open exchange, `b""` at its end."""

    within_s: float | None = None
    """Give up after that time as if the body had ended; None leaves it to the transport's deadlines."""
    needed: bool = True
    """Whether the answer depends on it; a driver that cannot give up in time leaves out what is not needed."""


Effect: TypeAlias = "Open | Read | list[Event]"
"""What a driver has to do; a list of events is given to the reader of the stream."""
Steps: TypeAlias = Generator[Effect, Any, R]
