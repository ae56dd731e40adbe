"""`il health`: what is held against targets, told to people and scripts; suspend and resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.client.state import forget_state, health_store
from interlingua.routing.health import Failed

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that every command of the test shares."""
    path = tmp_path / "state.sqlite"
    monkeypatch.setenv("INTERLINGUA_STATE", f"file:{path}")
    return path


def run(*arguments: str) -> int:
    """A command as a process runs it: with nothing remembered."""
    forget_state()
    return main(["health", *arguments])


@pytest.mark.usefixtures("shared")
def test_what_is_held_against_targets_is_a_table(capsys: Capture) -> None:
    """One line for each target, with why and for how long."""
    health_store().apply([
        ("openai/a", Failed("billing", error="BillingError 429")),
        ("groq/b", Failed()),
    ])  # fmt: skip
    assert run() == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["target", "circuit", "for", "why", "failures", "last", "error"],
        ["groq/b", "closed", "-", "-", "1", "-"],
        ["openai/a", "open", "5", "min", "billing", "0", "BillingError", "429"],
    ]


@pytest.mark.usefixtures("shared")
def test_nothing_known_is_said(capsys: Capture) -> None:
    """An empty table is a sentence on stderr; for scripts it is an empty object."""
    assert run() == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "il: no target has failures\n")
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out) == {}


@pytest.mark.usefixtures("shared")
def test_suspended_and_resumed(capsys: Capture) -> None:
    """What one command says, another one finds."""
    assert run("suspend", "openai/a,groq/b", "--for", "2.5h") == 0
    assert capsys.readouterr().err == "il: openai/a is suspended for 2 h\nil: groq/b is suspended for 2 h\n"
    assert run("suspend", "groq/b") == 0
    assert capsys.readouterr().err == "il: groq/b is suspended until it is resumed\n"
    assert run("--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["groq/b"] == {
        "circuit": "suspended",
        "state": "suspended",
        "wait_s": None,
        "reason": "suspended",
        "failures": 0,
        "error": "",
        "lacks": [],
        "identity": "",
        "others": [],
    }
    assert 8_990 < told["openai/a"]["wait_s"] <= 9_000
    assert run("resume", "openai/a") == 0
    assert capsys.readouterr().err == "il: openai/a is asked again\n"
    assert run("--json") == 0
    assert list(json.loads(capsys.readouterr().out)) == ["groq/b"]


@pytest.mark.usefixtures("shared")
def test_other_commands_keep_to_it(capsys: Capture) -> None:
    """`il ask` passes over what `il health suspend` took out."""
    assert run("suspend", "fake/echo") == 0
    forget_state()
    assert main(["ask", "-m", "fake/echo,fake/other", "Hello", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "fake/other"
    forget_state()
    assert main(["ask", "-m", "fake/echo", "Hello"]) == 1
    assert "suspended" in capsys.readouterr().err


@pytest.mark.usefixtures("shared")
def test_explaining_knows_of_it(capsys: Capture) -> None:
    """`il explain` shows whom a call would reach now, and why not the first."""
    assert run("suspend", "fake/echo") == 0
    forget_state()
    assert main(["explain", "-m", "fake/echo,fake/other", "Hello"]) == 0
    out = capsys.readouterr().out
    assert "suspended by hand" in out
    plan = il.model("fake/echo,fake/other").explain("Hello")
    assert [(target.spec, target.chosen) for target in plan.targets] == [("fake/echo", False), ("fake/other", True)]


def test_memory_is_this_command_alone(capsys: Capture) -> None:
    """A table that can only be empty says why; a word that nobody would hear is refused."""
    assert run() == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("il: this command sees only its own health; INTERLINGUA_STATE=file")
    assert run("suspend", "openai/a") == 2
    assert capsys.readouterr().err.startswith("il: health suspend: nobody would know of it; set INTERLINGUA_STATE")


def test_a_place_can_be_named(capsys: Capture, tmp_path: Path) -> None:
    """`--state` looks somewhere else."""
    place = f"file:{tmp_path / 'other'}"
    assert run("suspend", "openai/a", "--state", place) == 0
    capsys.readouterr()
    assert run("--state", place) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("openai/a")
    assert run("--state", "nowhere") == 2


def test_a_place_that_is_gone_is_told(capsys: Capture, tmp_path: Path) -> None:
    """A table that is not everybody's is an exit code of its own, and so is a word that was not heard."""
    (tmp_path / "in-the-way").write_text("")
    place = f"file:{tmp_path / 'in-the-way' / 'state'}"
    assert run("--state", place) == 1
    assert "the shared state could not be read: " in capsys.readouterr().err
    assert run("suspend", "openai/a", "--state", place) == 1
    assert "only this process was changed: " in capsys.readouterr().err


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["suspend"], "health suspend: which target?"),
        (["suspend", "openai/a", "--for", "soon"], "--for takes 30s, 10m, 2h or 1d, not soon"),
        (["suspend", "openai/a", "--for", "0s"], "--for takes 30s, 10m, 2h or 1d, not 0s"),
        (["resume", "openai/a", "--for", "1m"], "health resume: --for belongs to suspend"),
        (["--for", "1m"], "health: a target needs `suspend` or `resume`"),
        (["suspend", "opnai/a"], "no provider 'opnai'"),
        (["suspend", "openai/*"], "openai/* is a pattern"),
    ],
)
def test_what_is_not_understood_is_one_line(capsys: Capture, arguments: list[str], sentence: str) -> None:
    """Exit code 2, and nothing is suspended."""
    assert run(*arguments) == 2
    assert sentence in capsys.readouterr().err
    assert il.health.snapshot() == {}
