"""Which target is asked, and what becomes of its failure: the way of a call through its chain, without I/O.

Rules
- A chain tries its targets in order. A fault of the target or of the way to it goes on to the next one; a fault of the
  request stops; a target that cannot take the request is skipped. Every try is recorded in `attempts`.

Not responsible for: one try (`core`; the gateway has its own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from interlingua.client.job import later
from interlingua.client.report import failed, served, stops, summary
from interlingua.errors import ChainExhaustedError, Error

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.effect import Steps
    from interlingua.client.job import Job, Lane
    from interlingua.types.response import Attempt

__all__ = ["routed"]

A = TypeVar("A")


def routed(job: Job, attempt: Callable[[Job, Lane], Steps[A]]) -> Steps[tuple[A, tuple[Attempt, ...]]]:
    """What the first target gives that can, with every try."""
    attempts: tuple[Attempt, ...] = ()
    began = job.clock()
    error: Error | None = None
    for lane in job.lanes:
        started = job.clock()
        try:
            answer = yield from attempt(later(job, started - began) if attempts else job, lane)
            return answer, (*attempts, served(lane.endpoint.spec, job.clock() - started))
        except Error as problem:
            error = problem
            attempts = (*attempts, failed(lane.endpoint.spec, error, job.clock() - started))
            error.attempts = attempts
            if len(job.lanes) == 1 or stops(error):
                raise
    raise ChainExhaustedError(
        f"no target of the chain answered: {summary(attempts)}",
        attempts=attempts,
        retryable=error is not None and error.retryable,
    ) from error
