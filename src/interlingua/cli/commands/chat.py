"""`il chat`: a conversation, line by line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from interlingua.cli.asking import (
    EXIT_CODES,
    Question,
    conversation_arguments,
    conversation_of,
    file_arguments,
    files_of,
    model_arguments,
    model_of,
    server_arguments,
    tool_argument,
    toolbox_of,
)
from interlingua.cli.conversing import converse, manner_arguments, manner_of
from interlingua.cli.history import Conversation
from interlingua.cli.lines import Lines
from interlingua.cli.outcome import exit_code
from interlingua.cli.terminal import note
from interlingua.errors import Error

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.client.model import Model
    from interlingua.types.response import Response

__all__ = ["EXAMPLES", "arguments", "run"]

HELP = """\
  /new           forgets the conversation
  /undo          removes its last turn
  /file PATH     adds a file to the next prompt
  /model SPEC    switches to another model
  /help          shows this
  /quit, Ctrl-D  ends
  A line that ends with \\ continues in the next one. Ctrl-C stops an answer."""
EXAMPLES = f"""\
in the conversation:
{HELP}

examples:
  il chat -m local/tiny
  il chat -c                                 continues the last conversation, also one of `il ask`
  il chat --name work --image plan.png       the image goes with the first prompt
  il chat --tool mytools.py:get_weather --mcp "uvx some-server" --approve ask

{EXIT_CODES}"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    model_arguments(parser)
    file_arguments(parser)
    tool_argument(parser)
    server_arguments(parser)
    conversation_arguments(parser)
    manner_arguments(parser)


def run(options: Namespace) -> int:
    """Talk until the input ends; in a pipe, the exit code is that of the last turn."""
    chat = _Chat(options)
    chat.run()
    return 0 if chat.asks else chat.code


class _Chat:
    """A conversation and whom it is held with."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._conversation = conversation_of(options)
        self._model: Model = model_of(options, self._conversation.model)
        self._toolbox = toolbox_of(options.tool, options.mcp)
        self._before: list[Response[Any] | None] = []
        self._files: list[Any] = list(files_of(options))
        self.asks: bool = sys.stdin.isatty() and sys.stdout.isatty()
        """Whether a person types, and reads what is said."""
        self.code: int = 0
        """The exit code that the last turn stands for."""
        self._lines = Lines(typed=self.asks)

    def run(self) -> None:
        if self.asks:
            note(f"{self._model.spec}; /help lists the commands")
        try:
            while (line := self._lines.next()) is not None and line not in ("/quit", "/exit"):
                if line:
                    self._take(line)
        finally:
            self._lines.close()
            if self._toolbox is not None:
                self._toolbox.close()

    def _take(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        match command:
            case "/help":
                for text in HELP.splitlines():
                    note(text, head="")
            case "/new":
                self._conversation, self._before, self._files = Conversation(), [], []
            case "/undo":
                if self._before:
                    self._conversation.take_back(self._before.pop())
                else:
                    note("nothing was said here yet")
            case "/file":
                from interlingua.media.parts import file  # who only talks needs none of it

                path = rest.strip()
                try:
                    self._files.append(file(path))
                except (Error, OSError) as error:
                    note(error.message if isinstance(error, Error) else f"{path}: {error.strerror}")
            case "/model":
                self._switch(rest.strip())
            case _ if command.startswith("/") and command[1:].isalpha():
                note(f"no command {command}; /help lists the commands")
            case _:
                self._ask(line)

    def _switch(self, spec: str) -> None:
        """Take another model, or stay with this one where nobody knows it; without a spec, show this one."""
        before = self._options.model
        try:
            self._options.model = spec or before
            self._model = model_of(self._options, self._model.spec)
            note(self._model.spec)
        except Error as error:
            self._options.model = before
            self.code = exit_code(error)

    def _ask(self, line: str) -> None:
        """Ask; what fails is told, and the conversation stays as it was."""
        question = Question([line, *self._files], None, self._toolbox)
        try:
            before = self._conversation.reply
            reply = converse(self._model, question, before, manner_of(self._options))
            self._before.append(before)
            self._files = []
            self._conversation.add(question.prompt, reply)
            self.code = 0
        except Error as error:
            self.code = exit_code(error)
        except KeyboardInterrupt:
            if not self.asks:
                raise
            note("stopped")
