"""One step's calls: which may run, what they come to, and what that says about the run.

Rules
- Every call gets exactly one result, and all results of a step go back in one message, in call order.
- What never runs gets an error result that says why: a broken call, an unknown tool, a denial, a bound.
- Nothing of a step runs while a call of it waits for an approval.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from interlingua.agent.effects import Begin, Finished, Invoke, Next
from interlingua.agent.events import ApprovalNeeded, LoopEvent, ToolFinished, ToolProgress, ToolStarted
from interlingua.errors import UsageError
from interlingua.tools.outcome import error_result
from interlingua.types.content import Json, ToolCall, ToolResult
from interlingua.types.run import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.agent.effects import LoopSteps, Notice
    from interlingua.agent.limits import Limits
    from interlingua.agent.state import Call, RunState
    from interlingua.types.run import Step, StopReason

__all__ = ["ApprovalPolicy", "answer_calls", "decision_of"]


class ApprovalPolicy(NamedTuple):
    """The approval policy of a run's calls."""

    names: frozenset[str]
    """The tools there are."""
    approve: Callable[[ToolCall], object] | str
    """The approver: `auto`, `ask`, `never`, or a function."""
    own_approvals: Mapping[str, Callable[[ToolCall], object] | str]
    """The approvers of tools that have their own."""
    limits: Limits
    """The bounds."""
    final_tool: str | None
    """The tool whose result is the run's output."""


def answer_calls(policy: ApprovalPolicy, state: RunState, calls: Sequence[Call]) -> LoopSteps[None]:
    """The steps that give every call its result; the run stops where one waits or a bound is hit."""
    step = len(state.steps)
    results, over = _beyond_bounds(policy, state, calls)
    to_approve = [
        call for call in calls if call.id not in results and isinstance(call, ToolCall) and call.name in policy.names
    ]
    for call in to_approve:
        yield from _decide(policy, state, call)
    if waiting := [call for call in to_approve if call.id not in state.decisions]:
        state.pending = tuple(waiting)
        yield [ApprovalNeeded(call, step) for call in waiting]
        if any(call.id not in state.decisions for call in waiting):
            state.stop("approval", ", ".join([call.name for call in waiting]))
            return
    for call in to_approve:
        decision = state.decisions[call.id]
        if not decision.approved:
            why = f": {decision.why}" if decision.why else ""
            results[call.id] = error_result(call, f"the call of {call.name} was not approved{why}")
    if results:
        yield [ToolFinished(call, results[call.id], step) for call in calls if call.id in results]
    in_time = yield from _run(policy, state, [call for call in calls if call.id not in results], results)
    state.answer(tuple([results[call.id] for call in calls]))
    _conclude(policy, state, over="max_tool_calls" if over else None if in_time else "max_time_s")


def _beyond_bounds(
    policy: ApprovalPolicy, state: RunState, calls: Sequence[Call]
) -> tuple[dict[str, ToolResult], bool]:
    """The error results of calls beyond a bound, and whether that of all tools together is hit."""
    counts = Counter(state.tool_counts)
    results: dict[str, ToolResult] = {}
    over = False
    for call in calls:
        most = policy.limits.tool_limits.get(call.name)
        if not _may_run(policy, call):
            continue
        if policy.limits.max_tool_calls is not None and counts.total() >= policy.limits.max_tool_calls:
            over = True
            results[call.id] = error_result(call, "this call was not run: the run may make no more calls")
        elif most is not None and counts[call.name] >= most:
            results[call.id] = error_result(
                call, f"{call.name} was called as often as it may be ({most}); go on without it"
            )
        else:
            counts[call.name] += 1
    return results, over


def _may_run(policy: ApprovalPolicy, call: Call) -> bool:
    return isinstance(call, ToolCall) and call.name in policy.names


def _decide(policy: ApprovalPolicy, state: RunState, call: ToolCall) -> LoopSteps[None]:
    """Decide what can be decided without asking anybody who is not there."""
    if call.id in state.decisions:
        return
    approve = policy.own_approvals.get(call.name, policy.approve)
    verdict: object
    if callable(approve):
        verdict = yield Invoke(approve, call)
    else:
        verdict = {"auto": True, "never": False}.get(approve)
    if verdict is not None:
        state.decisions[call.id] = decision_of(verdict, f"approve of {call.name}")


def decision_of(verdict: object, who: str) -> Decision:
    """The decision that a verdict is: a text denies with that reason, whatever words it has.

    Raises: UsageError for what is neither True, False nor a text; `who` gave it.
    """
    if isinstance(verdict, bool):
        return Decision(approved=verdict)
    if isinstance(verdict, str):
        return Decision(approved=False, why=verdict)
    raise UsageError(f"{who}: True, False or a text that denies, not {verdict!r:.60}")


def _run(
    policy: ApprovalPolicy, state: RunState, calls: Sequence[Call], results: dict[str, ToolResult]
) -> LoopSteps[bool]:
    """Run calls and put their results down; whether all of them came in time."""
    if not calls:
        return True
    step = len(state.steps)
    if started := [ToolStarted(call, step) for call in calls if isinstance(call, ToolCall) and _may_run(policy, call)]:
        state.tool_counts.update(event.call.name for event in started)
        yield list[LoopEvent](started)
    yield Begin(tuple(calls))
    open_calls = {call.id: call for call in calls}
    most = policy.limits.max_time_s
    while open_calls:
        left = None if most is None else max(0.0, most - state.elapsed_s)
        notice: Notice | None = yield Next(left)
        if notice is None:
            break
        if isinstance(notice, Finished):
            del open_calls[notice.call.id]
            results[notice.call.id] = notice.result
            yield [ToolFinished(notice.call, notice.result, step)]
        else:
            yield [ToolProgress(notice.call, notice.text, step)]
    late = {
        call.id: error_result(call, f"{call.name} did not finish in the time of the run")
        for call in open_calls.values()
    }
    if late:
        results.update(late)
        yield [ToolFinished(call, late[call.id], step) for call in open_calls.values()]
    return not late


def _conclude(policy: ApprovalPolicy, state: RunState, over: StopReason | None) -> None:
    """Stop the run where its last results say so."""
    results = state.steps[-1].results if state.steps else ()
    for result in results:
        if result.name == policy.final_tool and not result.is_error:
            state.output = result.content.value if isinstance(result.content, Json) else result.content
            state.stop("done")
    if over is not None:
        state.stop(over)
    most = policy.limits.max_repeated_errors
    for result in results:
        if most is not None and result.is_error and _in_a_row(state.steps, result) >= most:
            state.stop("repeated_error", f"{result.name}: {result.content}")


def _in_a_row(steps: Sequence[Step], error: ToolResult) -> int:
    """In how many of the last steps, one after the other, the tool gave this very error."""
    number = 0
    for step in reversed(steps):
        if not any(one.is_error and (one.name, one.content) == (error.name, error.content) for one in step.results):
            break
        number += 1
    return number
