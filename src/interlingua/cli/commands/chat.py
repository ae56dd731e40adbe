"""`il chat`: a conversation, line by line."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from interlingua.cli.asking import (
    EXIT_CODES,
    Question,
    continue_argument,
    model_arguments,
    model_of,
    tool_argument,
    toolbox_of,
)
from interlingua.cli.conversing import converse, manner_arguments, manner_of
from interlingua.cli.state import load_last, save_last
from interlingua.cli.terminal import note, write
from interlingua.errors import Error

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.client.model import Model
    from interlingua.types.response import Response

__all__ = ["EXAMPLES", "arguments", "run"]

HELP = "/new forgets the conversation, /model SPEC asks another one, /quit or Ctrl-D ends; Ctrl-C stops an answer"
EXAMPLES = f"""\
{HELP}.

examples:
  il chat -m local/tiny
  il chat -c                                 goes on with the last conversation, also one of `il ask`
  il chat --tool mytools.py:get_weather -s "You are terse."

{EXIT_CODES}"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    model_arguments(parser)
    tool_argument(parser)
    continue_argument(parser)
    manner_arguments(parser)


def run(options: Namespace) -> int:
    """Talk until the input ends."""
    _Chat(options).run()
    return 0


class _Chat:
    """A conversation and whom it is held with."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._history: Response[Any] | None = load_last() if options.goes_on else None
        self._model: Model = model_of(options, self._history.model if self._history else "")
        self._toolbox = toolbox_of(options.tool)
        self._asks = sys.stdin.isatty() and sys.stdout.isatty()

    def run(self) -> None:
        if self._asks:
            with suppress(ImportError):
                import readline  # noqa: F401 - makes the line editable  # pyright: ignore[reportUnusedImport]
            note(f"{self._model.spec}; {HELP}")
        while (line := self._line()) is not None and line not in ("/quit", "/exit"):
            if line:
                self._take(line)

    def _line(self) -> str | None:
        """The next line without white space at its ends; None at the end of the input."""
        try:
            return input("> " if self._asks else "").strip()
        except EOFError:
            write("\n" if self._asks else "")
            return None

    def _take(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        match command:
            case "/help":
                note(HELP)
            case "/new":
                self._history = None
            case "/model":
                self._change_model(rest.strip())
            case _ if command.startswith("/") and command[1:].isalpha():
                note(f"no command {command}; {HELP}")
            case _:
                self._ask(line)

    def _change_model(self, spec: str) -> None:
        self._options.model = spec or self._options.model
        self._model = model_of(self._options)
        note(self._model.spec)

    def _ask(self, line: str) -> None:
        """Ask; what fails is told, and the conversation stays as it was."""
        question = Question([line], None, self._toolbox)
        try:
            self._history = converse(self._model, question, self._history, manner_of(self._options))
            save_last(self._history)
        except Error as error:
            note(error.message)
        except KeyboardInterrupt:
            if not self._asks:
                raise
            note("stopped")
