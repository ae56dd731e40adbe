"""How imitated batches go: when they end, how, and what breaks on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from interlingua.testing.upstream.answers.say import Answer
from interlingua.testing.upstream.verdict import Asked

__all__ = ["BatchPlan", "Moment"]

Moment: TypeAlias = Literal["uploaded", "before", "submitted", "shown", "results", "deleted"]
"""When a test is told: at a file, before a batch is taken, after that and before its client is told, at looks, at
results, before something is deleted."""


class BatchPlan(msgspec.Struct, kw_only=True):
    """How batches go; a test may change it on the way."""

    looks: int = 1
    """How often a batch is looked at before it has ended."""
    ending: Literal["", "expired", "cancelled", "failed"] = ""
    """How batches end; empty: as they should."""
    reason: str = "invalid_file"
    """The code of a batch that fails as a whole, where its service has one."""
    never_run: Callable[[str], bool] = lambda _: False
    """Whether a request, by its id, is never run."""
    fails: Callable[[str], int | None] = lambda _: None
    """The status with which a request, by its id, fails."""
    answer: Callable[[Asked], Answer | str] | None = None
    """The function that answers a request; None: as to a live call."""
    lost: int = 0
    """How many batches are taken without a reply: the connection is cut instead."""
    refused: int = 0
    """How many batches are refused first, with status 503."""
    undeletable: int = 0
    """How many deletions are refused first, with status 503."""
    cut: int = 0
    """How many readings of results end in the middle of a line, as if that were their end."""
    spoil: Callable[[list[bytes]], list[bytes]] = lambda lines: lines
    """Changes the results: their order, what is missing, what is there twice."""
    on: Callable[[Moment], None] = lambda _: None
    """Is told when something happens; a test may end its client then."""
    jobs: bool = False
    """Whether the service has Mistral's jobs instead of OpenAI's batches."""
    clock: Callable[[], float] = time.time
    """Gives the moment of a batch, in Unix seconds."""
