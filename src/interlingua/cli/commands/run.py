"""`il run`: a model and tools in a loop, told step by step."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from interlingua.cli.asking import (
    EXIT_CODES,
    model_arguments,
    model_of,
    question_of,
    repair_argument,
    request_arguments,
    server_arguments,
    servers_of,
)
from interlingua.cli.conversing import (
    Page,
    ask_approval,
    call_told,
    counts_told,
    failover_notes,
    failures_told,
    manner_arguments,
    manner_of,
    result_told,
    shortened,
)
from interlingua.cli.history import Conversation
from interlingua.cli.numbers import COUNT, DOLLARS, SECONDS
from interlingua.cli.outcome import FAILED
from interlingua.cli.terminal import note, write
from interlingua.client.call.report import ChangeWarning
from interlingua.errors import RunStoppedError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.agent.agent import Agent
    from interlingua.agent.events import RunEvent
    from interlingua.agent.run import Run
    from interlingua.cli.asking import Question
    from interlingua.cli.conversing import Manner

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = f"""\
The model works until it is done or a limit is reached; a run that stops early fails (1) and prints the reason.
By default every given tool may run. `--approve ask` asks at the terminal before each call, `--approve never` runs
none.

examples:
  il run "Weather in Oslo and Bergen?" --tool mytools.py:get_weather
  il run "Tidy this folder" --tool mytools --mcp .mcp.json --approve ask --max-cost 0.50
  il run "Plan a weekend" --tool mytools --schema models:Plan | jq .days
  il run "Look into it" --mcp "uvx some-server" --max-steps 20 --json > run.json    the whole run, for il.load

{EXIT_CODES}"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    request_arguments(parser)
    repair_argument(parser)
    server_arguments(parser)
    parser.add_argument(
        "--max-steps", type=COUNT, default=10, metavar="N", help="maximum number of model answers (default: 10)"
    )
    parser.add_argument("--max-cost", type=DOLLARS, metavar="USD", help="maximum cost of all answers")
    parser.add_argument("--max-time", type=SECONDS, metavar="SECONDS", help="maximum duration of the run")
    model_arguments(parser)
    parser.add_argument("--json", action="store_true", help="the whole run as canonical JSON on stdout")
    manner_arguments(parser, whole=False)


def run(options: Namespace) -> int:
    """Run."""
    question = question_of(options)
    silent = options.json or options.schema is not None
    with warnings.catch_warnings(), failures_told():
        warnings.simplefilter("ignore", ChangeWarning)  # told below, one line each
        manner = manner_of(options, silent=silent)
        work = _Work(options, question, manner)
        with failover_notes(work.model, active=manner.failovers):
            done = work.carried_out()
    if done.steps:
        Conversation().add(question.prompt, done.steps[-1].response)
    if options.json:
        from interlingua.types.dump import dump

        write(f"{dump(done)}\n")
    try:
        output = done.output
    except RunStoppedError as error:
        note(str(error), failed=True)
        return FAILED
    if silent and not options.json:
        import json

        from interlingua.tools.result import content_of
        from interlingua.types.content import Json

        content = content_of(output)
        value = content.value if isinstance(content, Json) else content
        write(f"{json.dumps(value, indent=2, ensure_ascii=False)}\n")
    return 0


class _Work:
    """One run, and how it is told."""

    def __init__(self, options: Namespace, question: Question, manner: Manner) -> None:
        from interlingua.agent.agent import Agent

        self._manner = manner
        self._prompt = question.prompt
        self._shown_changes: set[str] = set()
        model = self.model = model_of(options)
        self._page = Page(manner, waits_for=model.spec)
        tools: list[Any] = list(question.toolbox.tools) if question.toolbox else []
        self._agent: Agent[Any] = Agent(
            model,
            output=question.output,
            tools=[*tools, *servers_of(options.mcp)],
            approve=options.approve,
            max_steps=options.max_steps,
            max_cost_usd=options.max_cost,
            max_time_s=options.max_time,
        )

    def carried_out(self) -> Run[Any]:
        """The run at its end, shown as it went."""
        with self._agent.stream(self._prompt) as live:
            try:
                for event in live:
                    self._tell(live, event)
            finally:
                self._page.end()
        if self._manner.usage:
            note(f"{counts_told(live.usage, live.cost_usd)}; {len(live.steps)} steps", head="usage: ")
        return live

    def _tell(self, live: Run[Any], event: RunEvent) -> None:
        from interlingua.agent.events import ApprovalNeeded, StepFinished, ToolFinished, ToolProgress, ToolStarted

        match event:
            case StepFinished(response=response):
                self._page.end()
                for text in [str(change) for change in response.changes if str(change) not in self._shown_changes]:
                    self._shown_changes.add(text)
                    self._say(text, head="il: ")
            case ApprovalNeeded(call=call):
                decision = ask_approval(call)  # where there is no terminal, the call stays undecided and the run stops
                if decision is True:
                    live.approve(call)
                elif isinstance(decision, str):
                    live.deny(call, decision)
            case ToolStarted(call=call):
                self._say(f"→ {call_told(call)}")
            case ToolProgress(call=call, text=text):
                self._say(f"… {call.name}: {shortened(text)}")
            case ToolFinished(result=result):
                self._say(f"← {result.name}{' failed' if result.is_error else ''}: {shortened(result_told(result))}")
            case _ if not self._manner.silent:
                self._page.show(event)  # pyright: ignore[reportArgumentType]  # an event of the model
            case _:
                pass

    def _say(self, text: str, *, head: str = "") -> None:
        if not self._manner.quiet:
            note(text, head=head, faint=True)
