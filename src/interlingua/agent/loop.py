"""The loop, without I/O: what is asked of the model, of the tools and of the caller, written once.

Strategy: a run is a generator that yields effects and is sent their results, as one call is in `client.call.core`,
whose generator it goes through for every step. Drivers are `run` and `aio.run`; a yielded list of events is what the
stream of a run gives.

Rules
- A step is one answer of the model and the results of the tools that it called. The run is done when an answer calls
  no tool, or the final tool gave its result.
- Broken calls are answered with an error result; a call that was cut by the length limit never runs. The calls of an
  answer that was held back or failed do not run either.
- An answer that is no value of the type goes back to the model with its problems, where the model's `repair` is `ask`.
- An empty answer is asked for again, in words, a bounded number of times.
- Whatever ends the run is its `stop_reason`; only errors of the model and of the caller's own functions are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from interlingua.agent.calls import ApprovalPolicy, answer_calls
from interlingua.agent.effects import Invoke
from interlingua.agent.events import LoopEvent, RunFinished, StepFinished
from interlingua.agent.limits import reached
from interlingua.agent.state import calls_of, unanswered
from interlingua.client.call.core import Outcome, call_steps, stream_steps
from interlingua.errors import (
    APITimeoutError,
    ChainExhaustedError,
    Error,
    HistoryError,
    MalformedArgumentsError,
    OutputError,
    UsageError,
)
from interlingua.types.content import OpaquePart, RefusalPart, ServerToolPart, TextPart, ThinkingPart
from interlingua.types.message import Message, user
from interlingua.types.response import cut_advice

if TYPE_CHECKING:
    from interlingua.agent.effects import LoopSteps
    from interlingua.agent.state import RunState
    from interlingua.client.call.values import Call
    from interlingua.errors import OutputFault
    from interlingua.types.response import Response
    from interlingua.types.run import StopReason

__all__ = ["BLANK", "Compactor", "Work", "run_loop"]

BLANK = "Your last answer was empty. Go on with the task: call a tool, or say what the answer is."
"""The text for a model that stops without a word."""

Compactor = Callable[[tuple[Message, ...]], Any]
"""Makes a long conversation shorter: given the messages, it gives those to go on with, or None to leave them."""

_HELD_BACK: dict[str, StopReason] = {"content_filter": "refused", "refusal": "refused", "error": "error"}
"""Finish reasons of answers whose calls must not run, and how the run ends."""
_WORDLESS = (TextPart, ThinkingPart, ServerToolPart, OpaquePart)
"""Parts that say nothing to the caller, blank texts among them."""
_FAULTS: dict[OutputFault, StopReason] = {"invalid": "invalid_output", "truncated": "length", "refused": "refused"}


class Work(NamedTuple):
    """One run: what is asked, of whom, and within which bounds."""

    call: Call
    """The call of the model, without the messages of the steps."""
    policy: ApprovalPolicy
    """The approval policy of its calls."""
    output: object = None
    """The type of the answer; None for its text."""
    compact: Compactor | None = None
    """Makes the conversation shorter before a step."""
    live: bool = False
    """Whether the model's answers are streamed."""
    prepare: Callable[[Work], Any] | None = None
    """Gives the work with its tools, once they are there."""


def run_loop(work: Work, state: RunState) -> LoopSteps[None]:
    """The steps of a run.

    Raises: whatever the model's call raises, but not what can be told to the model or is a bound of the run.
    """
    try:
        if work.prepare is not None:
            work = yield Invoke(work.prepare, work)
        yield from _rounds(work, state)
    except Exception as error:
        state.stop("error", str(error) if isinstance(error, Error) else repr(error))
        raise
    except BaseException:
        state.stop("cancelled")
        raise
    assert state.stop_reason is not None, "a run ends for a reason"  # noqa: S101 - an invariant
    yield [RunFinished(state.stop_reason, len(state.steps))]


def _rounds(work: Work, state: RunState) -> LoopSteps[None]:
    """Step after step, those calls first that an earlier part of the run left open."""
    if open_calls := unanswered(state.messages):
        yield from answer_calls(work.policy, state, open_calls)
    while state.stop_reason is None:
        if reason := reached(work.policy.limits, state.record):
            state.stop(reason)
            return
        state.take_injected()
        yield from _compacted(work, state)
        answer = yield from _model_answer(work, state)
        if answer is None:
            return
        answer = state.take(answer)
        yield list[LoopEvent]([StepFinished(answer, len(state.steps))])
        calls = calls_of(answer.parts)
        if calls and answer.finish_reason not in _HELD_BACK:
            yield from answer_calls(work.policy, state, calls)
        else:
            _judge(work, state, answer)


def _compacted(work: Work, state: RunState) -> LoopSteps[None]:
    """Let the caller make the conversation shorter."""
    if work.compact is None:
        return
    shorter: object = yield Invoke(work.compact, state.messages)
    if shorter is None:
        return
    messages = tuple(cast("Iterable[object]", shorter)) if isinstance(shorter, Iterable) else (shorter,)
    if not messages or not all(isinstance(message, Message) for message in messages):
        raise UsageError("a compactor gives the messages to go on with, or None to leave them")
    state.messages, state.is_compacted = cast("tuple[Message, ...]", messages), True


# One answer of the model


def _model_answer(work: Work, state: RunState) -> LoopSteps[Response[Any] | None]:
    """The model's answer to the conversation; None where the run's time ended before it came."""
    call = _timed(work, state)
    call = msgspec.structs.replace(
        call, request=msgspec.structs.replace(call.request, messages=state.messages, system=state.system)
    )
    outcome = Outcome()
    try:
        if not work.live:
            return (yield from call_steps(call))
        yield from stream_steps(call, outcome)
        return outcome.whole(ended=True)
    except APITimeoutError as error:
        most = work.policy.limits.max_time_s
        is_late = most is not None and state.elapsed_s >= most
        if error.phase != "total" or not is_late:
            raise
        state.stop("max_time_s", error.message)
        return None
    except HistoryError as error:
        if state.is_compacted:
            error.args = (f"{error.message}; these are messages that the compactor gave: calls go with their results",)
        raise
    except Error as error:
        # A broken call may also be the error of the last target of a chain.
        broken = error.__cause__ if isinstance(error, ChainExhaustedError) else error
        if not isinstance(broken, MalformedArgumentsError) or broken.response is None:
            raise
        return msgspec.structs.replace(broken.response, attempts=error.attempts)


def _timed(work: Work, state: RunState) -> Call:
    """The call, with no more time than the run has."""
    most, settings = work.policy.limits.max_time_s, work.call.settings
    if most is None:
        return work.call
    left = max(0.001, most - state.elapsed_s)
    total = settings.timeouts.total_s
    timeouts = msgspec.structs.replace(settings.timeouts, total_s=left if total is None else min(left, total))
    return msgspec.structs.replace(work.call, settings=msgspec.structs.replace(settings, timeouts=timeouts))


# The end


def _judge(work: Work, state: RunState, answer: Response[Any]) -> None:
    """Whether an answer without calls to run ends the run."""
    reason = answer.finish_reason
    if reason in _HELD_BACK:
        state.stop(_HELD_BACK[reason], answer.finish_reason_raw or "")
    elif reason == "pause":
        return
    elif not answer.text.strip() and any(isinstance(part, RefusalPart) for part in answer.parts):
        state.stop("refused")
    elif reason == "length" and (work.output is None or not answer.text.strip()):
        state.stop("length", cut_advice(answer))
    elif _is_blank(answer):
        # A model that stopped without a word is told that it has to go on.
        blank = 0
        for step in reversed(state.steps):
            if not _is_blank(step.response):
                break
            blank += 1
        if blank > work.policy.limits.max_blank_answers:
            state.stop("blank")
        else:
            state.say(user(BLANK))
    elif not state.injected:
        _settle(work, state, answer)


def _is_blank(answer: Response[Any]) -> bool:
    """Whether an answer says nothing: no text, no picture, no call."""
    return not answer.text.strip() and all(isinstance(part, _WORDLESS) for part in answer.parts)


def _settle(work: Work, state: RunState, answer: Response[Any]) -> None:
    """The run's output is what its last answer holds."""
    if work.output is None:
        state.output = answer.text
        state.stop("done")
        return
    from interlingua.client.typed.output import problems_told, with_output  # only typed answers need schemas

    settings = work.call.settings
    try:
        typed: Response[Any] = with_output(answer, work.output, settings.repair)
    except OutputError as error:
        if settings.repair == "ask" and error.fault == "invalid" and state.repairs < settings.max_repairs:
            state.repairs += 1
            state.say(problems_told(error))
        else:
            state.stop(_FAULTS[error.fault], cut_advice(answer) if error.fault == "truncated" else error.message)
    else:
        state.output = typed.output
        state.stop("done")
