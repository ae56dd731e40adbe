"""Claims about time that a busy machine cannot make false."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_best"]


def at_best(claim: Callable[[], object], tries: int = 10) -> bool:
    """Whether a claim about time comes true in one of several tries; the first that does ends them.

    It is for what takes real threads, sockets or processes, where no clock can be moved and no step counted. The bound
    in the claim lies between two numbers that are far apart: some ten times above what an idle machine takes, and below
    what the fault would take, a wait or a time-out that each try would have to sit out. So a fault fails every try,
    however idle the machine, and the claim is false alone on a machine that is ten times too slow ten times in a row.
    """
    return any(claim() for _ in range(tries))
