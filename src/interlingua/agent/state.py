"""The state of a run: the one place that changes while it runs.

Rules
- The messages are a history that can be gone on with at any time, except while calls wait for an approval: whatever
  ends a run in the middle of a step answers the calls that did not run with an error result.
- Decisions and messages may come from other threads: each is one change of a dict or a deque.
"""

from __future__ import annotations

from collections import Counter, deque
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.errors import UsageError
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.run import Decision, RunRecord, Step
from interlingua.types.usage import add_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.client.call.values import CallTarget
    from interlingua.types.content import Part, TextPart
    from interlingua.types.response import Response
    from interlingua.types.run import StopReason
    from interlingua.types.usage import Usage

__all__ = ["CURRENT", "Call", "RunState", "calls_of", "unanswered"]

Call = ToolCall | BrokenToolCall
"""A call, whole or broken."""

CURRENT: ContextVar[RunState | None] = ContextVar("interlingua_run", default=None)
"""The run whose tool is at work, so that what a sub-agent uses up counts there, too."""

NOT_RUN = "this call was not run: {why}"


def calls_of(parts: Iterable[Part]) -> tuple[Call, ...]:
    """The calls among the parts, broken ones included, in order."""
    return tuple([part for part in parts if isinstance(part, ToolCall | BrokenToolCall)])


def unanswered(messages: Iterable[Message]) -> tuple[Call, ...]:
    """The calls of the last message, which wait for results; none where something else stands last."""
    last = tuple(messages)[-1:]
    return calls_of(last[0].parts) if last and last[0].role == "assistant" else ()


class RunState:
    """A run, while it changes."""

    def __init__(
        self,
        system: tuple[TextPart, ...],
        messages: tuple[Message, ...],
        clock: Callable[[], float],
        before: RunRecord | None = None,
    ) -> None:
        """A run that has not begun, or one that goes on where the record `before` left it."""
        before = before or RunRecord()
        self.system: tuple[TextPart, ...] = system
        """The system text."""
        self.messages: tuple[Message, ...] = messages
        """The conversation without it."""
        self.steps: list[Step] = list(before.steps)
        """Every answer with its results."""
        self.stop_reason: StopReason | None = None
        """Why the run ended; None while it runs."""
        self.why: str = ""
        """The detail of that."""
        self.pending: tuple[ToolCall, ...] = before.pending
        """The calls that wait for an approval."""
        self.decisions: dict[str, Decision] = dict(before.decisions)
        """The decisions, by call id."""
        self.injected: deque[Message] = deque(before.injected)
        """Messages for the next step."""
        self.tool_counts: Counter[str] = Counter(before.tool_counts)
        """How often each tool ran."""
        self.usage: Usage | None = before.usage
        """Tokens so far."""
        self.output: Any = None
        """The output of the run."""
        self.repairs: int = 0
        """How often an answer that was no value of the type went back."""
        self.context: object = None
        """The context for handlers that ask for it."""
        self.is_compacted: bool = False
        """Whether a compactor has given the messages, or some of them."""
        self.targets: tuple[CallTarget, ...] = ()
        """The targets that it asks."""
        self._lock = Lock()
        self._costs: float | None = before.cost_usd if before.steps else 0.0
        self._clock = clock
        self._began_s = clock() - before.elapsed_s
        self._took_s: float | None = None

    @property
    def elapsed_s(self) -> float:
        """Seconds so far."""
        return self._clock() - self._began_s if self._took_s is None else self._took_s

    @property
    def cost_usd(self) -> float | None:
        """Price so far; None when that of one answer is unknown."""
        return self._costs if self.steps else None

    @property
    def record(self) -> RunRecord:
        """All of it, written down."""
        head = (Message("system", self.system),) if self.system else ()
        return RunRecord(
            messages=(*head, *self.messages),
            steps=tuple(self.steps),
            stop_reason=self.stop_reason,
            pending=self.pending,
            decisions=dict(self.decisions),
            injected=tuple(self.injected),
            tool_counts=dict(self.tool_counts),
            usage=self.usage,
            cost_usd=self.cost_usd,
            elapsed_s=self.elapsed_s,
        )

    def take(self, response: Response[Any]) -> Response[Any]:
        """The answer, every call of it with an id of its own; it is the run's next turn."""
        response = msgspec.structs.replace(response, parts=self._own_ids(response.parts))
        self.steps.append(Step(msgspec.structs.replace(response, request=None)))
        self.charge(response.usage, response.cost_usd)
        if response.parts:
            self.messages = (*self.messages, response.message)
        return response

    def _own_ids(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts, calls renamed whose id an earlier one has: some providers count anew in every turn."""
        ids = {call.id for message in self.messages for call in calls_of(message.parts)}
        if not calls_of(parts):
            return parts
        number, renamed = len(ids), list[Any](parts)
        for place, part in enumerate(renamed):
            if not isinstance(part, ToolCall | BrokenToolCall):
                continue
            name = part.id
            while not name or name in ids:
                name, number = f"call_{number}", number + 1
            ids.add(name)
            renamed[place] = part if name == part.id else msgspec.structs.replace(part, id=name)
        return tuple(renamed)

    def charge(self, usage: Usage | None, cost_usd: float | None) -> None:
        """Add to what was used up."""
        with self._lock:  # sub-agents add from the threads of their calls
            self.usage = add_usage(self.usage, usage)
            self._costs = None if self._costs is None or cost_usd is None else self._costs + cost_usd

    def answer(self, results: tuple[ToolResult, ...]) -> None:
        """The results of a step, in one message."""
        self.messages = (*self.messages, Message("tool", results))
        self.pending = ()
        self.decisions.clear()
        if self.steps:
            self.steps[-1] = Step(self.steps[-1].response, results)

    def say(self, message: Message) -> None:
        """One more message."""
        self.messages = (*self.messages, message)

    def take_injected(self) -> None:
        """Put in what others have said in the meantime."""
        while self.injected:
            self.say(self.injected.popleft())

    def stop(self, reason: StopReason, why: str = "") -> None:
        """The run has ended; the first reason counts. Calls without results get error results, unless they wait."""
        if self.stop_reason is not None:
            return
        if reason == "cancelled" and self.pending:
            reason = "approval"
        self.stop_reason, self.why, self._took_s = reason, why, self.elapsed_s
        if reason == "approval":
            return
        if calls := unanswered(self.messages):
            text = NOT_RUN.format(why=f"the run ended ({reason})")
            self.answer(tuple([ToolResult(call.id, call.name, text, is_error=True) for call in calls]))

    def decide(self, call: Call | str, decision: Decision) -> None:
        """Record a decision about a call.

        Raises: UsageError for a call that does not wait.
        """
        call_id = call if isinstance(call, str) else call.id
        if all(call_id != waiting.id for waiting in self.pending):
            names = ", ".join([f"{waiting.id} ({waiting.name})" for waiting in self.pending]) or "none"
            raise UsageError(f"no call {call_id} waits for an approval; there wait: {names}")
        self.decisions[call_id] = decision
