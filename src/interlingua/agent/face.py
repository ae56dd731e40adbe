"""The shared face of the blocking and the awaited run: its state, its events, and the answers to it."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from interlingua.client.observe import is_observed
from interlingua.client.prompt import turns
from interlingua.errors import RunStoppedError, UsageError
from interlingua.types.run import Decision

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from interlingua.agent.state import RunState
    from interlingua.agent.watch import RunWatch
    from interlingua.client.prompt import Prompt
    from interlingua.types.change import Change
    from interlingua.types.content import ToolCall
    from interlingua.types.message import Message
    from interlingua.types.response import Attempt
    from interlingua.types.run import RunRecord, Step, StopReason
    from interlingua.types.usage import Usage

__all__ = ["RunFace", "note_failed_observer"]

T = TypeVar("T")

_WORDS: dict[StopReason | None, str] = {
    None: "it has not come to its end: read on, or call finish()",
    "approval": "it waits for an approval; run.approve(call), then agent.resume(run)",
    "max_steps": "it took all of its steps (max_steps)",
    "max_tokens": "it used up its tokens (max_tokens)",
    "max_time_s": "its time was up (max_time_s)",
    "max_cost_usd": "it used up its money (max_cost_usd)",
    "uncounted": "the model's price or its tokens are not known, so max_cost_usd or max_tokens cannot hold",
    "max_tool_calls": "it made all of its calls (max_tool_calls)",
    "repeated_error": "a tool gave the same error again and again",
    "blank": "the model gave nothing but empty answers",
    "length": "the answer was cut off",
    "refused": "the model refused, or its answer was held back",
    "invalid_output": "the answer is no value of the type",
    "cancelled": "it was closed before its end",
    "error": "the model, or the way to it, failed",
}

_UNWATCHED = nullcontext()
_log = logging.getLogger("interlingua.agent")


class RunFace(Generic[T]):
    """One run of an agent, to look at and to talk to. It is a history, too: `history=run` goes on with it."""

    def __init__(self, state: RunState) -> None:
        """A run by what it has come to so far; an agent makes it."""
        self._state = state
        self._watch: RunWatch | None = None
        self._is_told = False

    def _watched(self) -> AbstractContextManager[object]:
        """The context of a piece of the run's work, by which observers know that it belongs to the run."""
        if not self._is_told:
            self._is_told = True
            if is_observed():
                from interlingua.agent.watch import RunWatch  # only who is observed needs it

                self._watch = RunWatch(self._state)
        return _UNWATCHED if self._watch is None else self._watch

    def _left(self) -> None:
        """Say that nothing more comes of the run."""
        if self._watch is not None:
            self._watch.finish()

    @property
    def output(self) -> T:
        """The answer: a value of the agent's `output`, the result of its final tool, else the last text.

        Raises: RunStoppedError, with the run, unless the run is done.
        """
        state = self._state
        if state.stop_reason != "done":
            words = _WORDS[state.stop_reason]
            more = f": {state.why}" if state.why else ""
            raise RunStoppedError(f"this run has no output, since {words}{more}", run=self)
        return cast("T", state.output)

    @property
    def text(self) -> str:
        """The text of the last answer, also of a run that stopped before it was done."""
        return self._state.steps[-1].response.text if self._state.steps else ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation: the system text as a system message, what was asked, every turn and result."""
        return self._state.record.messages

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every answer of the model with the results of its calls."""
        return tuple(self._state.steps)

    @property
    def usage(self) -> Usage | None:
        """Tokens of all answers together, those of sub-agents included; None when no provider gave any."""
        return self._state.usage

    @property
    def cost_usd(self) -> float | None:
        """Price of all answers together in US dollars; None when that of one is unknown."""
        return self._state.cost_usd

    @property
    def elapsed_s(self) -> float:
        """Seconds that it took, or takes so far."""
        return self._state.elapsed_s

    @property
    def stop_reason(self) -> StopReason | None:
        """Why it ended; None while it runs."""
        return self._state.stop_reason

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls that wait for an approval."""
        return self._state.pending

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of translation, in all steps."""
        return tuple([change for step in self._state.steps for change in step.response.changes])

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every try at a target, in all steps."""
        return tuple([attempt for step in self._state.steps for attempt in step.response.attempts])

    @property
    def record(self) -> RunRecord:
        """All of it, written down: what `il.dump(run)` writes and `agent.resume` goes on with."""
        return self._state.record

    def approve(self, call: ToolCall | str) -> None:
        """Let a call run that waits, named by itself or its id.

        Raises: UsageError for a call that does not wait.
        """
        self._state.decide(call, Decision(approved=True))

    def deny(self, call: ToolCall | str, why: str = "") -> None:
        """Keep a call that waits from running; the model is told, and why.

        Raises: UsageError for a call that does not wait.
        """
        self._state.decide(call, Decision(approved=False, why=why))

    def inject(self, prompt: Prompt) -> None:
        """Say something to the model before its next step, from anywhere; a run that was about to end goes on.

        Raises: UsageError for what is no prompt, and for a run that is done.
        """
        if self._state.stop_reason == "done":
            raise UsageError("this run has ended, so it takes no more messages; run(prompt, history=run) continues it")
        self._state.injected.extend(turns(prompt))

    def __reduce__(self) -> tuple[Callable[[RunRecord], RunRecord], tuple[RunRecord]]:
        """Pickled as its record, which `agent.resume` takes: the model, its key and its connections stay here."""
        return _written_down, (self.record,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.stop_reason or 'running'}, {len(self._state.steps)} steps)"


def _written_down(record: RunRecord) -> RunRecord:
    """The record that a pickled run is in the other process."""
    return record


def note_failed_observer(error: Exception) -> None:
    """Log what an observer raised; nothing else may come of it."""
    _log.warning("an observer of a run failed", exc_info=error)
