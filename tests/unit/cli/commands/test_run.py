"""`il run`: steps are sent as they happen, and how it ends is the exit code."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import FakeModel, tool_call, use

Capture = pytest.CaptureFixture[str]

TOOLS = '''
def get_weather(city: str) -> dict:
    """Weather for a city."""
    return {"city": city, "celsius": 4}

def fail(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)
'''

TYPES = """
from dataclasses import dataclass

@dataclass
class Plan:
    city: str
    days: int
"""

OSLO = tool_call("get_weather", city="Oslo")


class Terminal(io.StringIO):
    """A terminal at which lines are typed."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """`il run` with a model, in a folder with tools and types."""
    (tmp_path / "mytools.py").write_text(TOOLS, encoding="utf-8")
    (tmp_path / "models.py").write_text(TYPES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: main(["run", "-m", "fake/x", "--tool", "mytools.py", *arguments])


def test_steps_are_told_as_they_happen(run: Callable[..., int], capsys: Capture) -> None:
    """Text goes to stdout, one line for each step's; calls and results go to stderr."""
    with use(FakeModel([["Let me see.", OSLO], "It is 4 degrees."])):
        assert run("Weather", "in", "Oslo?", "--usage") == 0
    told = capsys.readouterr()
    assert told.out == "Let me see.\nIt is 4 degrees.\n"
    assert '→ get_weather({"city":"Oslo"})\n← get_weather: {"city":"Oslo","celsius":4}\n' in told.err
    assert told.err.splitlines()[-1].startswith("usage: ")
    assert told.err.endswith("; 2 steps\n")


def test_quiet_tells_nothing_but_the_answer(run: Callable[..., int], capsys: Capture) -> None:
    """`-q` leaves calls out, and what a handler raised is told all the same."""
    with use(FakeModel([tool_call("fail", reason="no disk"), "Sorry."])):
        assert run("Hi", "-q") == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("Sorry.\n", "il: tool fail failed: ValueError: no disk\n")


def test_a_bound_fails_and_says_which(run: Callable[..., int], capsys: Capture) -> None:
    """A run that stops before it is done is a failure."""
    with use(FakeModel([OSLO, OSLO])):
        assert run("Hi", "--max-steps", "1") == 1
    assert capsys.readouterr().err.endswith("it took all of its steps (max_steps)\n")
    with use(FakeModel([OSLO, OSLO])):
        assert run("Hi", "--max-cost", "0.5") == 1
    assert "max_cost_usd or max_tokens cannot hold" in capsys.readouterr().err


def test_never_runs_no_tool(run: Callable[..., int], capsys: Capture) -> None:
    """The model is told, and answers without."""
    with use(FakeModel([OSLO, "I cannot know."])):
        assert run("Hi", "--approve", "never") == 0
    assert "← get_weather failed: the call of get_weather was not approved" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("y\n", '← get_weather: {"city":"Oslo","celsius":4}'),
        ("n\n", "← get_weather failed: the call of get_weather was not approved"),
        ("\n", "← get_weather failed: the call of get_weather was not approved"),
        ("too cold\n", "← get_weather failed: the call of get_weather was not approved: too cold"),
    ],
)
def test_asking_at_the_terminal(
    run: Callable[..., int], capsys: Capture, monkeypatch: pytest.MonkeyPatch, typed: str, line: str
) -> None:
    """Yes lets the call run; anything else denies it, with the words that were typed."""
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    with use(FakeModel([OSLO, "Done."])):
        assert run("Hi", "--approve", "ask") == 0
    told = capsys.readouterr()
    assert 'run get_weather({"city":"Oslo"})? [y/N, or why not] ' in told.err
    assert line in told.err


def test_nobody_to_ask(run: Callable[..., int], capsys: Capture) -> None:
    """Without a terminal the run stops, and nothing has run."""
    with use(FakeModel([OSLO, "never asked"])) as fake:
        assert run("Hi", "--approve", "ask") == 1
    assert fake.left == 1
    assert "there is no terminal to ask at; --approve auto lets it run" in capsys.readouterr().err


def test_a_typed_answer(run: Callable[..., int], capsys: Capture) -> None:
    """`--schema` gives JSON on stdout, and nothing else there."""
    with use(FakeModel([OSLO, '{"city":"Oslo","days":2}'])):
        assert run("Hi", "--schema", "models:Plan") == 0
    assert json.loads(capsys.readouterr().out) == {"city": "Oslo", "days": 2}


def test_the_whole_run_as_json(run: Callable[..., int], capsys: Capture) -> None:
    """`--json` writes what `il.load` reads, also of a run that stopped."""
    with use(FakeModel([OSLO, "Done."])):
        assert run("Hi", "--json") == 0
    record = il.load(capsys.readouterr().out)
    assert isinstance(record, il.RunRecord)
    assert (record.stop_reason, len(record.steps), record.messages[-1].text) == ("done", 2, "Done.")
    with use(FakeModel([OSLO])):
        assert run("Hi", "--json", "--max-steps", "1") == 1
    assert il.load(capsys.readouterr().out).stop_reason == "max_steps"
