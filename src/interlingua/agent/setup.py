"""The setup of an agent: its options, read strictly, and the work that they make of a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, TypeVar, cast

import msgspec

from interlingua.agent.calls import ApprovalPolicy, decision_of
from interlingua.agent.events import RunEvent
from interlingua.agent.limits import Limits, limits_of
from interlingua.agent.loop import Compactor, Work
from interlingua.agent.state import CURRENT, RunState, unanswered
from interlingua.client.face import Face, call_of
from interlingua.client.prompt import History, Prompt
from interlingua.client.web.chat import WebChat
from interlingua.errors import ToolError, UsageError, kind_of
from interlingua.tools.tool import APPROVALS, Approve, Handler
from interlingua.types.content import ToolCall
from interlingua.types.dump import load
from interlingua.types.request import Request
from interlingua.types.run import Recorded, RunRecord
from interlingua.types.tool import Tool

if TYPE_CHECKING:
    from interlingua.agent.face import RunFace
    from interlingua.client.options import SystemText
    from interlingua.tools.face import BoxItem
    from interlingua.tools.toolbox import AsyncToolbox, Toolbox

__all__ = ["AgentOptions", "Approvals", "Approve", "Setup", "Stored", "charged", "task_output"]

T = TypeVar("T")

Approvals: TypeAlias = bool | Mapping[str, bool | str]
"""Decisions: of all calls that wait, or by call id; a text denies with that reason."""
Stored: TypeAlias = Recorded | RunRecord | str | bytes
"""A run, its record, or the text that `il.dump` wrote of it."""

_ENDED_BY_THE_MODEL = ("done", "refused", "length", "invalid_output")


class AgentOptions(TypedDict, total=False):
    """The keyword options of `il.Agent` and `with_options` beside the model and the type of the answer."""

    tools: Iterable[BoxItem]
    """Tools that the model may call: an `il.Toolbox`, or a list of tools, functions, classes, schemas, MCP servers."""
    system: SystemText | None
    """The system text; None leaves it to the model and the history."""
    max_steps: int | None
    """Answers of the model, 10 by default."""
    max_tokens: int | None
    """Tokens of all answers together, read and written; `max_tokens` of the model bounds each answer."""
    max_time_s: float | None
    """Seconds, those in which tools run included."""
    max_cost_usd: float | None
    """Price of all answers together, in US dollars."""
    max_tool_calls: int | None
    """Calls that run, of all tools together."""
    tool_limits: Mapping[str, int]
    """Calls that run, by tool."""
    max_repeated_errors: int | None
    """Steps in a row in which a tool gives the same error, 3 by default."""
    max_blank_answers: int
    """Empty answers in a row that are asked for again, 2 by default."""
    approve: Approve
    """Approves calls: `auto` (by default, every call runs), `ask`, `never`, or a function; a tool's own word goes
    before."""
    compact: Compactor | None
    """Makes a long conversation shorter before a step: given the messages, it gives those to go on with, or None."""
    observers: Iterable[Callable[[RunEvent], object]]
    """Functions that are told every event; what they raise is logged."""


def charged(run: RunFace[Any]) -> None:
    """Count what a sub-agent's run used up as its parent's, too."""
    parent = CURRENT.get()
    if parent is not None and run.steps:
        parent.charge(run.usage, run.cost_usd)


def task_output(name: str, run: RunFace[Any]) -> object:
    """The output of a sub-agent's run, as its parent's model reads it.

    Raises: ToolError for a run that stopped before it was done.
    """
    if run.stop_reason != "done":
        partial_text = f"; it had said: {run.text}" if run.text else ""
        raise ToolError(f"{name} stopped before it was done ({run.stop_reason}){partial_text}")
    return run.output


class Setup(Generic[T]):
    """The shared half of the blocking and the awaited agent: everything but the running."""

    def __init__(
        self,
        model: Face | str | None,
        output: object,
        final_tool: str | None,
        box: Callable[[Iterable[Any]], Toolbox | AsyncToolbox],
        options: Mapping[str, Any],
    ) -> None:
        """An agent's options, read.

        Raises: UsageError and its kinds for what cannot be.
        """
        fields = AgentOptions.__annotations__
        for name in options:
            if name in _ELSEWHERE:
                raise UsageError(f"an agent has no option {name!r}: {_ELSEWHERE[name]}")
            if name not in fields:
                from difflib import get_close_matches

                near = get_close_matches(name, fields, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise UsageError(f"an agent has no option {name!r}{hint}; options of the model go to il.model(…)")
        self.model: Face = model if isinstance(model, Face) else Face(model)
        """The model that it asks."""
        self.output: object = output
        """The type of the answer."""
        self.options: Mapping[str, Any] = options
        """The options as they came."""
        self.limits: Limits = limits_of(options)
        """Its bounds."""
        self.observers: tuple[Callable[[RunEvent], object], ...] = tuple(options.get("observers", ()))
        """The observers of its events."""
        tools = options.get("tools", self.model.settings.request.tools)
        self.box: Toolbox | AsyncToolbox = tools if hasattr(tools, "execute") else box(tools)
        """Its tools."""
        approve: object = options.get("approve", "auto")
        if not callable(approve) and approve not in APPROVALS:
            raise UsageError(f"approve takes {', '.join(APPROVALS)} or a function, not {approve!r:.60}")
        self._approve = cast("Callable[[ToolCall], object] | str", approve)
        self.final_tool: str | None = final_tool
        """The tool whose result is its answer."""
        if final_tool is not None and output is not None:
            raise UsageError("an agent ends with a tool (final_tool) or a value of a type (output), not with both")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {self.box!r})"

    def begin(
        self, prompt: Prompt | WebChat, history: History | None, *, live: bool, before: RunRecord | None = None
    ) -> tuple[Work, RunState]:
        """The work that a prompt makes, or what a web page sent, and where it stands.

        Raises: UsageError and its kinds for what cannot be asked.
        """
        if isinstance(prompt, WebChat):
            if history is not None:
                raise UsageError("the request of a web page includes the history; pass one or the other")
            return self.take_up(prompt, None, live=live)
        for source in (prompt, history):
            if isinstance(source, Request) and source.tools:
                raise UsageError("an agent runs its own tools, and this request brings others: il.Agent(…, tools=[…])")
        system = self.options.get("system")
        call = call_of(self.model, prompt, history, {} if system is None else {"system": system}, self.output)
        policy = ApprovalPolicy(frozenset(), self._approve, {}, self.limits, self.final_tool)
        state = RunState(call.request.system, call.request.messages, call.clock, before)
        state.targets = call.targets
        return Work(call, policy, self.output, self.options.get("compact"), live), state

    def equipped(self, work: Work) -> Work:
        """The work with the tools, which are there by now.

        Raises: UsageError for a tool that nothing handles, and for a final tool that is none of them.
        """
        tools = self.box.tools
        names = {tool.name: tool for tool in tools if isinstance(tool, Tool)}
        for name, tool in names.items():
            if tool.handler is None:
                raise UsageError(f"tool {name} has no handler, so an agent cannot run it; give it one")
        if self.final_tool is not None and self.final_tool not in names:
            raise UsageError(f"there is no tool {self.final_tool} to end with; there are: {', '.join(names) or 'none'}")
        call = msgspec.structs.replace(work.call, request=msgspec.structs.replace(work.call.request, tools=tools))
        own = {name: tool.handler.approve for name, tool in names.items() if isinstance(tool.handler, Handler)}
        approvals = {name: approve for name, approve in own.items() if approve is not None}
        return work._replace(call=call, policy=work.policy._replace(names=frozenset(names), own_approvals=approvals))

    def take_up(self, stored: Stored, approvals: Approvals | None, *, live: bool) -> tuple[Work, RunState]:
        """The work that a stored run left, and where it stands.

        Raises: UsageError for a run that has ended with the model's own answer, and for approvals that it does not
        wait for; DecodeError for a text that is none of a run.
        """
        value = load(stored) if isinstance(stored, str | bytes) else stored
        record: object = getattr(value, "record", value)
        if not isinstance(record, RunRecord):
            raise UsageError(f"resume takes a run or what il.dump wrote of one, not {kind_of(record)}")
        if record.stop_reason in _ENDED_BY_THE_MODEL or not record.messages:
            raise UsageError(
                f"this run has ended with the model's answer ({record.stop_reason}); "
                "run(prompt, history=run) continues it"
            )
        work, state = self.begin((), record, live=live, before=record)
        state.pending = tuple([call for call in unanswered(state.messages) if isinstance(call, ToolCall)])
        if approvals is None:
            approvals = {}
        elif isinstance(approvals, bool):
            approvals = dict.fromkeys([call.id for call in state.pending], approvals)
        for call_id, verdict in approvals.items():
            state.decide(call_id, decision_of(verdict, f"approvals of {call_id}"))
        return work, state


_ELSEWHERE = {
    "context": "run(prompt, context=…) takes what the tools are to have",
    "deps": "run(prompt, context=…) takes what the tools are to have",
    "deps_type": "a tool's parameter annotated il.Context[T] takes the context of the run",
    "functions": "tools=[…] takes functions",
    "history": "run(prompt, history=…) takes it",
    "instructions": "the system text is system",
    "max_iterations": "it is called max_steps",
    "max_turns": "it is called max_steps",
    "mcp_servers": "il.mcp(…) stands among the tools",
    "output_type": "it is called output",
    "result_type": "it is called output",
    "system_prompt": "the system text is system",
}
"""Names that other libraries taught, and what stands for them here."""
