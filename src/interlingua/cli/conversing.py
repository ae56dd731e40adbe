"""One turn with a model: streamed or whole, with the tools that it calls, told to the terminal as it goes.

Rules
- The answer goes to stdout; thinking, calls, changes and counts go to stderr.
- Tools run for at most `MAX_STEPS` answers of the model; a model that still calls then has failed.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from interlingua.cli.markdown import markdown_blocks
from interlingua.cli.outcome import debugging
from interlingua.cli.spinner import Spinner
from interlingua.cli.terminal import note, think, write
from interlingua.client.call.report import ChangeWarning
from interlingua.errors import Error
from interlingua.tools.outcome import error_result
from interlingua.types.content import Json, RefusalPart, TextPart
from interlingua.types.event import TextDelta, ThinkingDelta
from interlingua.types.message import Message
from interlingua.types.usage import COUNTS, add_usage
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Generator

    from interlingua.cli.asking import Question
    from interlingua.client.model import Model
    from interlingua.types.content import ToolCall, ToolResult
    from interlingua.types.event import Event
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = [
    "MAX_STEPS",
    "Manner",
    "Page",
    "ask_approval",
    "call_told",
    "converse",
    "counts_told",
    "failover_notes",
    "failures_told",
    "manner_arguments",
    "manner_of",
    "result_told",
    "shortened",
]

MAX_STEPS = 10
"""How many answers one question may take."""
LONGEST_SHOWN = 200


_ENDS = {
    "length": "the answer was cut by the length limit; a higher --max-tokens lets it continue",
    "content_filter": "the provider's filter ended the answer",
}
"""Notes on answers that did not end by themselves."""


class Manner(NamedTuple):
    """How a turn is told."""

    stream: bool = True
    """Whether text is written as it comes."""
    silent: bool = False
    """Whether the text is not written here at all."""
    thinking: bool = False
    """Whether thinking is shown."""
    quiet: bool = False
    """Whether calls and changes are left out."""
    usage: bool = False
    """Whether token counts are shown."""
    plain: bool = False
    """Whether text is written as it came where a terminal would show Markdown."""
    failovers: bool = True
    """Whether it is said that a chain goes on to another target."""
    approve: str = "auto"
    """Which calls may run: `auto` all, `ask` those that somebody at the terminal lets, `never` none."""


def manner_arguments(parser: ArgumentParser, *, whole: bool = True) -> None:
    """Say how the answer may be told; `whole`: also all at once."""
    parser.set_defaults(no_stream=False)
    if whole:
        parser.add_argument("--no-stream", action="store_true", help="wait for the whole answer")
    parser.add_argument("--thinking", action="store_true", help="show the model's thinking on stderr")
    parser.add_argument("--usage", action="store_true", help="show token counts on stderr")
    parser.add_argument("--plain", action="store_true", help="plain text, without Markdown formatting")
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes on tool calls and changes")


def manner_of(options: Namespace, *, silent: bool = False) -> Manner:
    """How the options want an answer told."""
    approve = getattr(options, "approve", "auto")
    return Manner(
        stream=not options.no_stream,
        silent=silent,
        thinking=options.thinking,
        quiet=options.quiet,
        usage=options.usage,
        plain=options.plain,
        failovers=not (options.quiet or getattr(options, "fault", None)),  # a drill tells every try itself
        approve=approve,
    )


def converse(model: Model, question: Question, history: Response[Any] | None, manner: Manner) -> Response[Any]:
    """The model's last answer to a question, shown as it came; the tools that it called have run.

    Raises: what `generate` and `stream` raise; Error when the model still calls tools after `MAX_STEPS` answers.
    """
    with warnings.catch_warnings(), failover_notes(model, active=manner.failovers):
        warnings.simplefilter("ignore", ChangeWarning)  # told below, one line each
        return _Turn(model, question, manner).run(history)


class _Turn:
    """One question and the answers that it takes."""

    def __init__(self, model: Model, question: Question, manner: Manner) -> None:
        self._model = model if question.toolbox is None else model.with_options(tools=question.toolbox)
        self._question = question
        self._manner = manner
        self._usage: Usage | None = None
        self._cost_usd: float | None = 0.0
        self._notices: set[str] = set()

    def run(self, history: Response[Any] | None) -> Response[Any]:
        prompt: Any = self._question.prompt
        for _ in range(MAX_STEPS):
            reply = self._answer(prompt, history)
            for change in reply.changes:
                text = str(change)
                if text not in self._notices:
                    self._notices.add(text)
                    self._say(text, head="il: ")
            self._usage = add_usage(self._usage, reply.usage)
            cost = reply.cost_usd
            self._cost_usd = None if cost is None or self._cost_usd is None else self._cost_usd + cost
            if self._question.toolbox is None or not reply.tool_calls:
                if reply.finish_reason in _ENDS:
                    note(_ENDS[reply.finish_reason])
                for part in reply.parts:
                    if isinstance(part, RefusalPart):
                        note(f"the model refused: {shortened(part.text)}")
                if self._manner.usage:
                    note(f"{counts_told(self._usage, self._cost_usd)}; {reply.model}", head="usage: ")
                return reply
            prompt, history = self._run_tools(reply), reply
        raise Error(f"{self._model.spec} still calls tools after {MAX_STEPS} answers; nothing more was run")

    def _answer(self, prompt: Any, history: Response[Any] | None) -> Response[Any]:
        manner, output = self._manner, self._question.output
        if manner.stream and not manner.silent and output is None:
            page = Page(manner, waits_for=self._model.spec)
            try:
                with self._model.stream(prompt, history=history) as stream:
                    for event in stream:
                        page.show(event)
                    return stream.finish()
            finally:
                page.end()
        spinner = Spinner(self._model.spec)
        try:
            reply: Response[Any] = self._model.generate(prompt, history=history, output=output)
        finally:
            spinner.stop()
        if manner.thinking and reply.thinking:
            think(f"{reply.thinking}\n")
        if not manner.silent and output is None and reply.text:
            page = Page(manner)
            page.add(reply.text)
            page.end()
        return reply

    def _run_tools(self, reply: Response[Any]) -> Any:
        toolbox = self._question.toolbox
        assert toolbox is not None, "calls are only run where there are tools"  # noqa: S101 - an invariant
        refused = {call.id: refusal for call in reply.tool_calls if (refusal := self._refusal(call)) is not None}
        for call in reply.tool_calls:
            if call.id not in refused:
                self._say(f"→ {call_told(call)}")
        with failures_told():
            message = toolbox.execute([call for call in reply.tool_calls if call.id not in refused])
        results = refused | {result.call_id: result for result in message.tool_results}
        for result in results.values():
            self._say(f"← {result.name}{' failed' if result.is_error else ''}: {shortened(result_told(result))}")
        return Message("tool", tuple([results[call.id] for call in reply.tool_calls]))

    def _refusal(self, call: ToolCall) -> ToolResult | None:
        """The result of a call that may not run; None for one that may."""
        match self._manner.approve:
            case "auto":
                return None
            case "ask":
                decision = ask_approval(call)
            case _:
                decision = ""
        if decision is True:
            return None
        return error_result(call, f"the call of {call.name} was not approved{f': {decision}' if decision else ''}")

    def _say(self, text: str, *, head: str = "") -> None:
        if not self._manner.quiet:
            note(text, head=head, faint=True)


class Page:
    """A streamed answer on the terminal: text on stdout, thinking on stderr, each on lines of its own."""

    def __init__(self, manner: Manner, *, waits_for: str = "") -> None:
        """An empty page; a sign turns until something comes of what it waits for."""
        self._shows_thinking = manner.thinking
        self._thought = self._text = "\n"
        self._blocks = None if manner.plain else markdown_blocks()
        self._spinner = Spinner(waits_for) if waits_for else None

    def show(self, event: Event) -> None:
        """Show what an event adds."""
        match event:
            case TextDelta(text=text, choice=0) if text:
                self.add(text)
            case ThinkingDelta(text=text, choice=0) if text and self._shows_thinking:
                self._stop_spinner()
                self._thought = text
                think(text)
            case _:
                pass

    def add(self, text: str) -> None:
        """Add text of the answer."""
        self._stop_spinner()
        self._end_thought()
        if self._blocks is not None:
            self._blocks.add(text)
            return
        self._text = text
        write(text)

    def end(self) -> None:
        """End the line or the block that was begun."""
        self._stop_spinner()
        self._end_thought()
        if self._blocks is not None:
            self._blocks.end()
        if not self._text.endswith("\n"):
            self._text = "\n"
            write("\n")

    def _stop_spinner(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _end_thought(self) -> None:
        if not self._thought.endswith("\n"):
            self._thought = "\n"
            think("\n")


def ask_approval(call: ToolCall) -> Literal[True] | str | None:
    """The decision of the user at the terminal on a call: True, or a reason, perhaps empty; None if nobody is there."""
    if not sys.stdin.isatty():
        note(f"{call_told(call)} needs an approval, but there is no terminal to ask at; --approve auto lets it run")
        return None
    sys.stderr.write(f"run {call_told(call)}? [y/N, or why not] ")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip()
    if answer.lower() in ("y", "yes"):
        return True
    return "" if answer.lower() in ("n", "no") else answer


def call_told(call: ToolCall) -> str:
    """A call on one line."""
    return shortened(f"{call.name}({call.arguments_json})")


def shortened(text: str) -> str:
    """A text on one line, and no longer than a line may be."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN]}…"


def result_told(result: ToolResult) -> str:
    """The text of a result."""
    match result.content:
        case str(text):
            return text
        case Json(value=value):
            return encode(value).decode()
        case parts:
            return ", ".join([part.text if isinstance(part, TextPart) else type(part).__name__ for part in parts])


def counts_told(usage: Usage | None, cost_usd: float | None) -> str:
    """Token counts and what they cost, in words; what is not known is not said."""
    pairs = [(name, getattr(usage, name, None)) for name in COUNTS]
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in pairs if count is not None]
    return ", ".join([*(counts or ["no counts given"]), *([] if cost_usd is None else [f"${cost_usd:.4g}"])])


@contextmanager
def failover_notes(model: Model, *, active: bool = True) -> Generator[None]:
    """Each time that a chain goes on to another target is told on one line, as long as the block lasts."""
    if not active:
        yield
        return
    from interlingua.registry.resolve import default_registry

    try:
        is_chain = len(default_registry().resolve(model.spec)) > 1
    except Error:
        is_chain = "," in model.spec  # what is wrong with the spec is said by the call
    if not is_chain:
        yield
        return
    from interlingua.client.narrate import Failovers  # who has one target has nothing to tell
    from interlingua.client.observe import Observation

    with Observation(Failovers(note), content=False).open():
        yield


@contextmanager
def failures_told() -> Generator[None]:
    """Write the exceptions of handlers, on one line each: for the user, since the model is not told."""
    import logging

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            cause = record.exc_info[1] if record.exc_info else None
            what = f": {type(cause).__name__}: {shortened(str(cause))}" if cause else ""
            note(f"{record.getMessage()}{what}")

    logger, handler = logging.getLogger("interlingua.tools"), Lines()
    propagate, logger.propagate = logger.propagate, debugging()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
