"""Effects: the requests of a call's steps to their driver.

Strategy: a call is a generator that yields effects and is sent their results. A driver performs them on a blocking or
an awaited transport and throws into the generator what went wrong. A yielded list of events is what a stream gives.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from interlingua.dialects._contract import StreamDecoder
    from interlingua.routing.health import HealthStore, Operation
    from interlingua.routing.limits import Limiter
    from interlingua.transport.base import Carrier, Timeouts
    from interlingua.types.event import Event
    from interlingua.wire.http import HttpRequest

__all__ = [
    "NEXT",
    "Ask",
    "Consult",
    "Effect",
    "Enter",
    "Fetch",
    "Open",
    "Race",
    "Read",
    "Rest",
    "Sleep",
    "Steps",
    "Work",
]

R = TypeVar("R")


class Open(Struct, frozen=True):
    """Effect: open an exchange; its result is the reply."""

    request: HttpRequest
    """The request to send."""
    timeouts: Timeouts
    """Its deadlines."""
    carrier: Carrier | None = None
    """The carrier of the request; None for the transport that its address names."""


class Fetch(Struct, frozen=True):
    """Effect: a whole exchange; its result is the `HttpReply` with all of its body, and nothing is left open."""

    request: HttpRequest
    """The request to send."""
    timeouts: Timeouts
    """Its deadlines."""
    carrier: Carrier | None = None
    """The carrier of the request; None for the transport that its address names."""


class Read(Struct, frozen=True):
    """Effect: the next piece of the body of the open exchange, `b""` at its end."""

    within_s: float | None = None
    """Give up after that time as if the body had ended; None leaves it to the transport's deadlines."""
    needed: bool = True
    """Whether the answer depends on it; a driver that cannot give up in time leaves out what is not needed."""
    decoder: StreamDecoder | None = None
    """The decoder, for a driver that reads the pieces where they come. A piece that is one piece of text, with which
    nothing ends, needs the steps no more then; of any other one they are sent the events in its place."""


NEXT = Read()
"""The next piece, whoever asks for it."""


class Rest(Struct, frozen=True):
    """Effect: what is left of the body of the open exchange, in one piece."""


class Sleep(Struct, frozen=True):
    """Effect: wait; whatever is open is closed before."""

    seconds: float
    """How long."""


class Consult(Struct, frozen=True):
    """Effect: ask a store of health that has to be waited for; its result is how each target stands."""

    store: HealthStore
    """The store."""
    operations: tuple[tuple[str, Operation], ...]
    """Targets, and what happens to each."""


class Enter(Struct, frozen=True):
    """Effect: wait until a limit of our own lets a call through; its result is the ticket."""

    limits: Limiter
    """The limits."""
    target: str
    """The target to enter."""
    tokens: int
    """About how many tokens it takes."""
    within_s: float | None
    """How long to wait at most; None leaves it to the limiter."""


class Work(Struct, frozen=True):
    """Effect: heavy work of the processor, off the event loop where there is one; its result is what it gives."""

    function: Callable[[], Any]
    """The work."""
    elsewhere: Callable[[], Awaitable[Any]] | None = None
    """The work outside of this process, for a driver that awaits; None where there is no other place."""


class Ask(Struct, frozen=True):
    """Effect: ask code of the caller's, which an awaited driver may have to await; its result is what that gives."""

    function: Callable[[bool], Any]
    """Asks it; is told whether the driver awaits."""


class Race(Struct, frozen=True):
    """Effect: two ways at once; its result is what the first one gives that gives anything, and whether both had begun.

    The exchange that the winner left open goes on; the other way is cancelled, and what it had open is closed.
    """

    first: Steps[Any]
    """Begins now."""
    second: Callable[[], Steps[Any]]
    """Begins when the first has not come to its end in time."""
    after_s: float
    """The time that the first has, in seconds."""
    nothing: object
    """The result of a way that has not won."""


Effect: TypeAlias = "Fetch | Open | Read | Rest | Sleep | Consult | Enter | Work | Ask | Race | list[Event]"
"""Effects that a driver carries out; a list of events is given to the reader of the stream."""
Steps: TypeAlias = Generator[Effect, Any, R]
