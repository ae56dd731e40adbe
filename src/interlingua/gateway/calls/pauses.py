"""Answers that pause for tools of the provider, and how the gateway goes on with them for clients that cannot.

Strategy: Anthropic ends a long turn of its own tools in `pause_turn`, to be sent back as it is. Only clients of the
dialects that have such an end do so. For any other client the paused turn goes back to the target that wrote it, and
the client gets the answers joined to one.

Rules
- A stream has one start and one end: the blocks of a continuation are numbered on, its counts are those so far.
- A turn is gone on with `MAX_CONTINUATIONS` times at most; one that still pauses ends as cut off (`length`).
- The container in which tools of the provider have run is named again (`container`), so that they find their files.
- Usage and costs are sums; a sum with an unknown part is unknown. Each continuation is reserved and settled by itself.
- A turn without a step of the provider's, or with calls for the client, is not gone on with: no target would take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.client.call.core import Outcome
from interlingua.client.call.job import later
from interlingua.client.call.live import Live
from interlingua.dialects.table import get_service
from interlingua.types.content import BrokenToolCall, OpaquePart, ServerToolPart, ToolCall
from interlingua.types.event import Extra, StreamEnd, StreamError, StreamStart, UsageUpdate
from interlingua.types.usage import add_usage

if TYPE_CHECKING:
    from interlingua.client.call.job import Job, Lane
    from interlingua.dialects._contract import Encoded, StreamDecoder
    from interlingua.errors import Error
    from interlingua.types.event import Event
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import Headers

__all__ = ["MAX_CONTINUATIONS", "ContinuedStream", "PausingOutcome", "behind", "continuation", "is_paused", "joined"]

MAX_CONTINUATIONS = 8
"""How often the gateway goes on with one answer."""
_STEPS = frozenset({ServerToolPart, OpaquePart})
_CALLS = frozenset({ToolCall, BrokenToolCall})


def is_paused(response: Response[Any], dialect: str, target: str) -> bool:
    """Whether the gateway has to go on with an answer of a target for a client, each with the name of its dialect."""
    if response.finish_reason != "pause":
        return False
    if get_service(dialect).pauses is not None or get_service(target).pauses is None:
        return False  # who knows pauses goes on by itself, and only a target that knows them takes the turn back;
        # so a body that goes out as it came, which nobody can add a turn to, is never gone on with
    kinds = frozenset(map(type, response.parts))
    return bool(kinds & _STEPS) and not kinds & _CALLS


def continuation(job: Job, lane: Lane, response: Response[Any], attempts: tuple[Attempt, ...]) -> Job:
    """The job that goes on with a paused answer: its turn at the end, for its own target, in what time is left."""
    passed_s = sum([(attempt.duration_s or 0.0) + (attempt.delay_s or 0.0) for attempt in attempts])
    request = replace(job.request, messages=(*job.request.messages, response.message))
    pauses = lane.dialect.service.pauses
    request = request if pauses is None else pauses.resumed(request, response)
    return later(replace(job, lanes=(lane,), ranking=None, request=request), passed_s)


def joined(first: Response[Any], second: Response[Any], target: str) -> Response[Any]:
    """One answer of a paused one and its continuation: it has the id and the request of the first."""
    costs = (first.cost_usd, second.cost_usd)
    pauses = get_service(target).pauses
    second = second if pauses is None else pauses.joined(first, second)
    return replace(
        second,
        parts=first.parts + second.parts,
        usage=add_usage(first.usage, second.usage),
        cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
        changes=first.changes + second.changes,
        id=first.id,
        request=first.request,
    )


class PausingOutcome(Outcome):
    """The outcome of a stream that is gone on with where it pauses."""

    __slots__ = ("_dialect", "_left", "before", "last", "target")

    def __init__(self, dialect: str) -> None:
        """Nothing has come yet for a client of `dialect`."""
        super().__init__()
        self._dialect = dialect
        self._left = MAX_CONTINUATIONS
        self.target: str = ""
        """The dialect of the target that answers."""
        self.before: Response[Any] | None = None
        """The answers that paused, joined."""
        self.last: Response[Any] | None = None
        """The answer of a stream that came to its end and is still to be settled."""

    def ended(self, response: Response[Any]) -> None:
        """Take the response of a stream; the whole one is there once that did not pause, or may not be gone on with."""
        self.last = response
        whole = response if self.before is None else joined(self.before, response, self.target)
        done: Response[Any] | None = None
        if not is_paused(response, self._dialect, self.target):
            done = whole
        elif self._left:
            self.before, self._left = whole, self._left - 1
        else:
            done = replace(whole, finish_reason="length")
        if done is not None:
            super().ended(done)


class ContinuedStream(Live):
    """The stream that goes on with a paused answer: its events are those behind the events of that."""

    __slots__ = ("_before",)

    def __init__(self, lane: Lane, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing was read."""
        super().__init__(lane, encoded, headers, decoder)
        self._before: Response[Any] | None = None

    def goes_on(self, before: Response[Any]) -> None:
        """Number the events from now on, and the first ones, behind those of a paused answer."""
        self._before = before
        self.first[:] = behind(before, self.first)

    def fed(self, piece: bytes) -> list[Event]:
        """The events that a piece completes, or those of the end."""
        events = super().fed(piece)
        return events if self._before is None else behind(self._before, events)

    def failed(self, error: Error) -> list[Event]:
        """The events of a body that broke."""
        events = super().failed(error)
        return events if self._before is None else behind(self._before, events)


def behind(before: Response[Any], events: list[Event]) -> list[Event]:
    """Events of a continuation behind those of a paused answer: no second start, further blocks, counts so far."""
    moved: list[Event] = []
    for event in events:
        match event:
            case StreamStart():
                pass
            case UsageUpdate(usage=usage):
                moved.append(UsageUpdate(add_usage(before.usage, usage) or usage))
            case Extra() | StreamEnd() | StreamError():
                moved.append(event)
            case _:
                moved.append(replace(event, index=event.index + len(before.parts)))
    return moved
