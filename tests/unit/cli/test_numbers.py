"""Numbers on the command line: one out of range is a usage error that names the option, in every command."""

from __future__ import annotations

from argparse import SUPPRESS
from importlib import import_module
from typing import TYPE_CHECKING, cast

import pytest

from interlingua.cli.main import COMMANDS, main
from interlingua.cli.parse import parser_of
from interlingua.testing import use
from tests.support.cells import cells

if TYPE_CHECKING:
    from interlingua.cli.command import CommandModule

Capture = pytest.CaptureFixture[str]
COUNT, SECONDS, DOLLARS = "a whole number from 1 on", "seconds above 0", "US dollars from 0 on"
TEMPERATURE, PORT = "a number from 0 to 2", "a whole number from 0 to 65535"
CALLS = "a whole number from 1 to 1000"
OF_MODELS: list[tuple[str, str, tuple[str, ...]]] = [
    ("--max-tokens", COUNT, ("-5", "0", "1.5", "few")),
    ("--temperature", TEMPERATURE, ("-0.1", "2.1", "nan", "inf", "warm")),
    ("--timeout", SECONDS, ("0", "-1", "nan", "inf", "soon")),
]
WRONG = [
    (command, option, wanted, value)
    for command, options in {
        **dict.fromkeys(("ask", "chat", "explain"), OF_MODELS),
        "run": [
            *OF_MODELS,
            ("--max-steps", COUNT, ("0", "-1")),
            ("--max-cost", DOLLARS, ("-0.01", "nan")),
            ("--max-time", SECONDS, ("0",)),
        ],
        "extract": [*OF_MODELS, ("--concurrency", CALLS, ("0", "-1", "1001"))],
        "embed": [("--dimensions", COUNT, ("0",)), ("--timeout", SECONDS, ("0",))],
        "rerank": [("-n/--top", COUNT, ("0",)), ("--timeout", SECONDS, ("-1",))],
        "doctor": [("--timeout", SECONDS, ("0", "-1"))],
        "history": [("-l/--limit", COUNT, ("0", "-3"))],
        "batches": [("--limit", COUNT, ("0",))],
        "logs": [("-n", COUNT, ("0", "-1"))],
        "serve": [("--port", PORT, ("65536", "-1", "http")), ("--workers", COUNT, ("0", "-1"))],
    }.items()
    for option, wanted, values in options
    for value in values
]


@cells(("command", "option", "wanted", "value"), WRONG)
def test_a_number_out_of_range_is_a_usage_error(
    command: str, option: str, wanted: str, value: str, capsys: Capture
) -> None:
    """Exit code 2 and one line, whatever else the command line lacks; nothing is sent."""
    with use("Hi.") as fake:
        assert main([command, option.rpartition("/")[2], value]) == 2
    assert fake.requests == []
    assert capsys.readouterr() == (
        "",
        f"il: {command}: argument {option}: takes {wanted}, not {value}; `il {command} --help` lists the options\n",
    )


@cells(
    ("option", "value"),
    [
        ("--max-tokens", "1"),
        ("--temperature", "0"),
        ("--temperature", "2"),
        ("--temperature", "1e-3"),
        ("--timeout", ".5"),
    ],
)
def test_a_number_at_the_edge_is_taken(option: str, value: str, capsys: Capture) -> None:
    """The range holds its ends."""
    with use("Hi."):
        assert main(["ask", "-m", "fake/x", option, value, "Hi"]) == 0
    assert capsys.readouterr().out == "Hi.\n"


@cells("name", COMMANDS)
def test_every_number_has_a_range(name: str) -> None:
    """A bare `int` or `float` would let a number go on that means nothing."""
    command = cast("CommandModule", import_module(f"interlingua.cli.commands.{name}"))
    parser = parser_of(name, COMMANDS[name], command)
    shown = [action for action in parser._actions if action.help != SUPPRESS]
    assert [action.dest for action in shown if action.type in (int, float)] == []
