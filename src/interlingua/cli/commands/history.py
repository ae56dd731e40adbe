"""`il history`: the prompts and answers of this user, listed, searched, shown and deleted."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from interlingua.cli.asking import clean
from interlingua.cli.conversing import shortened
from interlingua.cli.history import (
    HISTORY_VARIABLE,
    Turn,
    delete_conversation,
    delete_history,
    history_path,
    read_turns,
    recent_turns,
)
from interlingua.cli.numbers import COUNT
from interlingua.cli.terminal import bold, dim, note, write

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = f"""\
`il ask`, `il chat` and `il run` store every prompt and answer in one file that only you can read.
{HISTORY_VARIABLE}=0 stores nothing.

examples:
  il history                       the last 20 prompts and answers, the newest at the end
  il history oslo weather          those with both words
  il history --show 12             a conversation from its beginning, by its number or its name
  il ask --name work "And then?"   continues the conversation `work`
  il history --json -l 1000 | jq -r .prompt
  il history --delete work
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("words", nargs="*", metavar="WORD", help="search words in prompts and answers")
    parser.add_argument(
        "-l", "--limit", type=COUNT, default=20, metavar="N", help="maximum number of prompts (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with full texts")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--show", metavar="CONVERSATION", help="all of one conversation, by number or name")
    action.add_argument("--delete", metavar="CONVERSATION", help="delete one conversation, by number or name")
    action.add_argument("--clear", action="store_true", help="delete all of them")
    action.add_argument("--path", action="store_true", help="print the path of the history file")


def run(options: Namespace) -> int:
    """List, show or delete."""
    if options.path:
        write(f"{history_path()}\n")
    elif options.clear:
        delete_history()
    elif options.delete is not None:
        delete_conversation(clean(options.delete))
    elif options.show is not None:
        _show(read_turns(clean(options.show)), whole=True, as_json=options.json)
    else:
        turns = recent_turns([clean(word) for word in options.words], limit=options.limit)
        if not turns:
            note("nothing found" if options.words else "no prompts yet")
        _show(turns, whole=False, as_json=options.json)
    return 0


def _show(turns: list[Turn], *, whole: bool, as_json: bool) -> None:
    if as_json:
        import msgspec

        for turn in turns:
            write(f"{msgspec.json.encode(turn._asdict()).decode()}\n")
        return
    for turn in turns:
        if whole:
            write(f"{_time(turn)}  {turn.model}", dim)
            write("\n")
            write(turn.prompt, bold)
            write(f"\n\n{turn.answer}\n\n")
        else:
            name = f" {turn.name}" if turn.name else ""
            write(f"{turn.conversation}{name}  {_time(turn)}  {turn.model}", dim)
            write("\n  ")
            write(shortened(turn.prompt), bold)
            write(f"\n  {shortened(turn.answer)}\n")


def _time(turn: Turn) -> str:
    return datetime.fromtimestamp(turn.at).strftime("%Y-%m-%d %H:%M")  # noqa: DTZ006 - a person reads it, where they are
