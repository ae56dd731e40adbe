"""The reading of a command's arguments: argparse, with errors of one line and words of a prompt wherever they stand."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, NoReturn

from interlingua.errors import UsageError

if TYPE_CHECKING:
    from interlingua.cli.command import CommandModule

__all__ = ["parse", "parser_of"]


WIDEST = 120
# Our texts are English. Half of a sentence in another language helps nobody, and looking for one takes 2 ms.
setattr(argparse, "_", str)  # noqa: B010 - the stubs know no such name


class _Formatter(RawDescriptionHelpFormatter):
    """Help as wide as the terminal; told the width, argparse loads no module to find it for every single option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(_columns(), WIDEST) - 2)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or WIDEST
    except (OSError, ValueError):
        return WIDEST


class _Parser(ArgumentParser):
    """A parser whose errors are ours."""

    def error(self, message: str) -> NoReturn:
        """Raise the one line."""
        raise UsageError(f"{self.prog.removeprefix('il ')}: {message}; `{self.prog} --help` lists the options")

    @property
    def long_options(self) -> list[str]:
        """The options in the help that begin with two dashes."""
        actions = [action for action in self._actions if action.help != argparse.SUPPRESS]
        return [name for action in actions for name in action.option_strings if name.startswith("--")]


def parse(name: str, summary: str, command: CommandModule, arguments: list[str]) -> Namespace:
    """The options of one command line.

    Raises: UsageError for what the command does not take.
    """
    parser = parser_of(name, summary, command)
    options, strays = parser.parse_known_args(arguments)
    # The words that argparse left over belong to the prompt, too: it takes only one run of them.
    end = strays.index("--") if "--" in strays else len(strays)
    words = [*strays[:end], *strays[end + 1 :]]
    for place, word in enumerate(words):
        if not hasattr(options, "prompt") or (place < end and word.startswith("-") and word != "-"):
            from difflib import get_close_matches  # only who mistypes waits for it

            near = get_close_matches(word.partition("=")[0], parser.long_options, n=1)
            parser.error(f"{word} is not known here{f' (did you mean {near[0]}?)' if near else ''}")
    if words:
        options.prompt.extend(words)
    return options


def parser_of(name: str, summary: str, command: CommandModule) -> _Parser:
    """The parser of a command."""
    parser = _Parser(
        prog=f"il {name}",
        description=f"{summary[:1].upper()}{summary[1:]}.",
        epilog=command.EXAMPLES,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    return parser
