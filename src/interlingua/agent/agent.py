"""An agent, blocking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, overload

from interlingua.agent.loop import run_loop
from interlingua.agent.run import Run
from interlingua.agent.setup import AgentOptions, Approvals, Setup, Stored, charged, task_output
from interlingua.agent.state import CURRENT
from interlingua.tools.cancellation import HALT
from interlingua.tools.tool import tool
from interlingua.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from typing_extensions import TypeForm  # what type checkers know it as before Python 3.15

    from interlingua.agent.loop import Work
    from interlingua.agent.run import Report
    from interlingua.agent.state import Call, RunState
    from interlingua.client.model import Model
    from interlingua.client.prompt import History, Prompt
    from interlingua.client.web.chat import WebChat
    from interlingua.types.content import ToolResult
    from interlingua.types.tool import Tool

__all__ = ["Agent"]

T = TypeVar("T")


class Agent(Setup[T]):
    """A model and tools in a loop, until the work is done or a bound says stop. It may be shared by threads."""

    @overload
    def __init__(
        self,
        model: Model | str | None = None,
        *,
        output: TypeForm[T],
        final_tool: None = None,
        **options: Unpack[AgentOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: Agent[str],
        model: Model | str | None = None,
        *,
        output: None = None,
        final_tool: None = None,
        **options: Unpack[AgentOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: Agent[Any],
        model: Model | str | None = None,
        *,
        output: object = None,
        final_tool: str | None = None,
        **options: Unpack[AgentOptions],
    ) -> None: ...

    def __init__(
        self,
        model: Model | str | None = None,
        *,
        output: object = None,
        final_tool: str | None = None,
        **options: Unpack[AgentOptions],
    ) -> None:
        """An agent of a model, by itself or its spec; None leaves it to `INTERLINGUA_MODEL`.

        `output` is the type of the answer; `final_tool` names the tool whose result is the answer instead.

        Raises: UsageError and its kinds for what cannot be.
        """
        super().__init__(model, output, final_tool, Toolbox, options)

    def with_options(self, **options: Unpack[AgentOptions]) -> Agent[T]:
        """A copy with some options changed.

        Raises: UsageError and its kinds for what cannot be.
        """
        changed: Any = {**self.options, **options}
        return cast(
            "Agent[T]", Agent(cast("Any", self.model), output=self.output, final_tool=self.final_tool, **changed)
        )

    def run(self, prompt: Prompt | WebChat, *, history: History | None = None, context: object = None) -> Run[T]:
        """The run of a prompt, at its end; `run.output` is its answer, `run.stop_reason` says why it ended.

        `context` goes to the handlers that ask for it. What `il.web_chat` read goes on where the page stands.

        Raises: whatever the model's call raises, with the run as `error.run`; not what a bound of the agent ends.
        """
        return self._run(*self.begin(prompt, history, live=False), context).finish()

    def stream(self, prompt: Prompt | WebChat, *, history: History | None = None, context: object = None) -> Run[T]:
        """The run of a prompt, live: a context manager and an iterator over events; nothing is sent before it is read.

        Raises: UsageError and its kinds.
        """
        return self._run(*self.begin(prompt, history, live=True), context)

    def resume(self, run: Stored, *, approvals: Approvals | None = None, context: object = None) -> Run[T]:
        """A run that goes on where another one stopped, at its end: with what was decided, or with other bounds.

        Raises: UsageError for a run that has ended with the model's answer; DecodeError; whatever `run` raises.
        """
        return self._run(*self.take_up(run, approvals, live=False), context).finish()

    def resume_stream(self, run: Stored, *, approvals: Approvals | None = None, context: object = None) -> Run[T]:
        """A stored run that goes on, live.

        Raises: UsageError for a run that has ended with the model's answer; DecodeError.
        """
        return self._run(*self.take_up(run, approvals, live=True), context)

    def as_tool(self, name: str, description: str) -> Tool:
        """A tool that runs this agent: its one argument is the task, its result the output.

        The agent sees nothing of the conversation but the task. What it uses up counts for the run that called it; a
        run that stops before it is done is an error result.
        """

        def work(task: str) -> object:
            """Work on a task.

            Args:
                task: What to do, with everything that one needs to know for it.
            """
            parent = CURRENT.get()
            run = self.stream(task, context=parent.context if parent else None)
            halt = HALT.get()
            try:
                for _ in run:
                    if halt is not None and halt.is_over:
                        run.close()
                return task_output(name, run)
            finally:
                charged(run)

        return tool(work, name=name, description=description)

    def _run(self, work: Work, state: RunState, context: object) -> Run[T]:
        state.context = context
        box = cast("Toolbox", self.box)

        def prepare(work: Work) -> Work:
            box.open()
            return self.equipped(work)

        def execute(call: Call, report: Report) -> ToolResult:
            return box.execute(call, context=context, on_progress=lambda _, text: report(text)).tool_results[0]

        here = not work.live and not self.observers and self.limits.max_time_s is None
        return Run(state, run_loop(work._replace(prepare=prepare), state), execute, self.observers, here=here)
