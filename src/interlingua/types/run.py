"""A run of the agent loop, written down: what it came to, what it waits for, and what it has used up.

The record is what `il.dump` writes of a run and `il.load` gives back. It holds a conversation, so it is a history like
any other, and `Agent.resume` goes on with it in another process. Not in it: code, and the typed output, which is the
caller's own.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.response import Response
from interlingua.types.usage import Usage

__all__ = ["Decision", "Recorded", "RunRecord", "Step", "StopReason"]

StopReason: TypeAlias = Literal[
    "done",
    "approval",
    "max_steps",
    "max_tokens",
    "max_time_s",
    "max_cost_usd",
    "uncounted",
    "max_tool_calls",
    "repeated_error",
    "blank",
    "length",
    "refused",
    "invalid_output",
    "cancelled",
    "error",
]
"""Why a run ended: with its answer; to wait for an approval; at the limit of that name; because nobody knows its price
or its tokens, while there is a limit on them; because a tool gave the same error again and again; because nothing but
empty answers came; with an answer that was cut by the length limit, refused, or no value of the type; closed or
interrupted; by an error of the model or the way to it."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """One answer of the model, and the results of the tools that it called."""

    response: Response[Any]
    """The answer, without the request, which is what the run's messages held then."""
    results: tuple[ToolResult, ...] = ()
    """The result of every call, in call order; empty for an answer without calls, and until all are there."""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """The decision about one call."""

    approved: bool
    """Whether it may run."""
    why: str = ""
    """The reason of a denial that the model reads."""


class RunRecord(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True):
    """A run, written down."""

    messages: tuple[Message, ...] = ()
    """The conversation: the system text as a system message, what was asked, every turn and result."""
    steps: tuple[Step, ...] = ()
    """Every answer, oldest first."""
    stop_reason: StopReason | None = None
    """Why it ended; None while it runs."""
    pending: tuple[ToolCall, ...] = ()
    """The calls that wait for an approval."""
    decisions: dict[str, Decision] = {}
    """The decisions about them so far, by call id."""
    injected: tuple[Message, ...] = ()
    """Messages that were put in and have not been sent yet."""
    tool_counts: dict[str, int] = {}
    """How often each tool ran."""
    usage: Usage | None = None
    """Tokens of all answers together, those of sub-agents included."""
    cost_usd: float | None = None
    """Price of all answers together in US dollars; None when that of one is unknown."""
    elapsed_s: float = 0.0
    """Seconds that the run took so far."""

    @property
    def record(self) -> RunRecord:
        """Itself: what has come from another process, or out of a file, can stand where a run did."""
        return self


class Recorded(Protocol):
    """Whatever has a record, as a run has."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation, oldest first."""
        ...

    @property
    def record(self) -> RunRecord:
        """The record of the run so far."""
        ...
