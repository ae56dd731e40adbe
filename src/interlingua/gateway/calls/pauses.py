"""Answers that pause for tools of the provider, and how the gateway goes on with them for clients that cannot.

Strategy: Anthropic ends a long turn of its own tools in `pause_turn`, to be sent back as it is. Only clients of the
dialects that have such an end do so. For any other client the paused turn goes back to the target that wrote it, and
the client gets the answers joined to one.

Rules
- A turn is gone on with `MAX_CONTINUATIONS` times at most; one that pauses still is told as cut off (`length`).
- Usage and costs are sums; a sum with an unknown part is unknown. Each continuation is reserved and settled by itself.
- A turn without a step of the provider's, or with calls for the client, is not gone on with: no target would take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.client.call.job import later
from interlingua.types.content import BrokenToolCall, OpaquePart, ServerToolPart, ToolCall
from interlingua.types.usage import add_usage

if TYPE_CHECKING:
    from interlingua.client.call.job import Job, Lane
    from interlingua.types.response import Attempt, Response

__all__ = ["MAX_CONTINUATIONS", "continuation", "is_paused", "joined"]

MAX_CONTINUATIONS = 8
"""How often the gateway goes on with one answer."""
_HAVE_PAUSES = frozenset({"anthropic", "unified"})
"""The dialects whose clients are told of a pause, and go on by themselves."""
_STEPS = frozenset({ServerToolPart, OpaquePart})
_CALLS = frozenset({ToolCall, BrokenToolCall})


def is_paused(response: Response[Any], dialect: str) -> bool:
    """Whether the gateway has to go on with an answer for a client of `dialect`."""
    if response.finish_reason != "pause" or dialect in _HAVE_PAUSES:
        return False
    kinds = frozenset(map(type, response.parts))
    return bool(kinds & _STEPS) and not kinds & _CALLS


def continuation(job: Job, lane: Lane, response: Response[Any], attempts: tuple[Attempt, ...]) -> Job:
    """The job that goes on with a paused answer: its turn at the end, for its own target, in what time is left."""
    passed_s = sum([(attempt.duration_s or 0.0) + (attempt.delay_s or 0.0) for attempt in attempts])
    request = replace(job.request, messages=(*job.request.messages, response.message))
    return later(replace(job, lanes=(lane,), ranking=None, request=request), passed_s)


def joined(first: Response[Any], second: Response[Any]) -> Response[Any]:
    """One answer of a paused one and its continuation: it has the id and the request of the first."""
    costs = (first.cost_usd, second.cost_usd)
    return replace(
        second,
        parts=first.parts + second.parts,
        usage=add_usage(first.usage, second.usage),
        cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
        changes=first.changes + second.changes,
        id=first.id,
        request=first.request,
    )
