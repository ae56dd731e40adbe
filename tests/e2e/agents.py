"""Coding agents behind `il launch`, to strict upstreams of other dialects: `make test-agents` runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from msgspec.structs import replace

from interlingua.cli.agents import AGENTS, Place, environment, flags
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.testing.upstream.answers.glance import glance
from interlingua.testing.upstream.judge import asked_of
from tests.support.alone import VARIABLE
from tests.support.gateway import gateway, provider, serving
from tests.support.node import installed, node

if TYPE_CHECKING:
    from collections.abc import Generator

    from interlingua.transport.replay import Line
    from interlingua.wire.http import HttpRequest

pytestmark = pytest.mark.skipif(
    VARIABLE not in os.environ, reason="no network of its own: `make test-agents` makes one"
)

FOLDER = Path(__file__).parents[1] / "agents"
COMMAND = "expr 6000 + 42"
MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-opus-4-5",
    "google": "gemini-2.5-pro",
}
"""A model for each kind of upstream."""


class Play(NamedTuple):
    """How one agent is asked to run a command, and by which tool it does."""

    tool: str
    arguments: dict[str, Any]
    words: tuple[str, ...]
    upstreams: tuple[str, ...]
    agent: str = ""
    """The agent, where it is not the name of the play."""
    model: str = ""
    """A model that the agent knows, which here stands for another."""


SCRIPT = f'const told = await tools.exec_command({{cmd: "{COMMAND}"}}); text(told.output ?? JSON.stringify(told));'
PLAYS = {
    "claude": Play(
        "Bash",
        {"command": COMMAND, "description": "Add two numbers"},
        ("-p", "Add the numbers.", "--allowedTools", "Bash"),
        ("openai-chat", "openai-responses", "google"),
    ),
    "codex": Play(
        "exec_command",
        {"cmd": COMMAND},
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Add the numbers."),
        ("anthropic", "google", "openai-chat"),
    ),
    "codex-scripts": Play(
        "functions__exec",
        {"input": SCRIPT},
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Add the numbers."),
        ("anthropic", "openai-chat"),
        agent="codex",
        model="gpt-6-sol",  # its tools come in an item of the conversation, in namespaces, and run as JavaScript
    ),
    "gemini": Play(
        "run_shell_command",
        {"command": COMMAND},
        ("--skip-trust", "--yolo", "--prompt", "Add the numbers."),
        ("anthropic", "openai-responses"),
    ),
    "qwen": Play(
        "run_shell_command",
        {"command": f"{COMMAND}; sleep 1", "is_background": False},  # it loses what comes just before the end
        ("--yolo", "--prompt", "Add the numbers."),
        ("anthropic", "google"),
    ),
    "opencode": Play(
        "bash",
        {"command": COMMAND, "description": "Add two numbers"},
        ("run", "Add the numbers."),
        ("anthropic", "google"),
    ),
}
RUNS = [(name, dialect) for name, play in PLAYS.items() for dialect in play.upstreams]


class Model(Upstream):
    """A model that has the command run when it can, and tells what the tool gave."""

    def __init__(self, dialect: str, play: Play, *, thinks: bool = False) -> None:
        """A model of that dialect, which may think before each answer."""
        super().__init__(dialect)
        self.play = play
        self.thinks = thinks
        self.results: list[str] = []

    def _answered(self, request: HttpRequest) -> Line:
        seen = glance(self.dialect, asked_of(self.dialect, request))
        self.results += seen.results
        if seen.results:
            given = Say(text=f"The tool gave: {seen.results[-1]}")
        elif self.play.tool in seen.tools:
            given = Say(text="I shall add.", calls=(Call(self.play.tool, self.play.arguments),))
        else:
            given = Say(text="A sum")
        if self.thinks:
            given = replace(given, thinking=f"Thought {len(self.requests)}.")
        self._answers = [given]
        return super()._answered(request)


@pytest.fixture
def home(name: str) -> Generator[Path]:
    """A home; Gemini CLI reads no settings where others can write to one of its folders."""
    root = installed(FOLDER) / "node_modules"
    for folder in (root, *root.parents):
        if name == "gemini" and folder.stat().st_mode & 0o022:
            pytest.skip(f"others can write to {folder}: the repository wants a folder that is yours alone")
    with TemporaryDirectory(prefix=".home-", dir=root) as made:
        yield Path(made)


@pytest.mark.parametrize(("name", "dialect"), RUNS, ids=[f"{name}-{dialect}" for name, dialect in RUNS])
def test_an_agent(name: str, dialect: str, home: Path) -> None:
    """It calls its tool, hands the result back and tells the final text; the upstream refuses nothing of it."""
    play = PLAYS[name]
    model = Model(dialect, play)
    work = home / "work"
    work.mkdir()
    with model.serving() as url:
        spec = f"up/{MODELS[dialect]}"
        asked = play.model or spec
        config = home / "aliases.toml"
        config.write_text(f'[aliases]\n"{play.model or "unused"}" = "{spec}"\n', encoding="utf-8")
        launch = [sys.executable, "-m", "interlingua", "launch", play.agent or name, "-m", asked, "--config", config]
        done = subprocess.run(
            [*launch, "--", *play.words],
            cwd=work,
            env={
                "HOME": str(home),
                "LLM_UP": provider(dialect, url),
                "PATH": os.pathsep.join((str(FOLDER / "node_modules" / ".bin"), node().path)),
                "TERM": "xterm-256color",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
    told = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, told
    assert [str(verdict) for verdict in model.verdicts if not verdict.ok] == []
    assert any("6042" in result for result in model.results), told
    assert "The tool gave:" in done.stdout, told
    assert f"of {spec}" in done.stderr.splitlines()[-2 if "changed on the way" in done.stderr else -1], told


GOES_ON = {
    "claude": (("--append-system-prompt",), ("--continue", "--append-system-prompt")),
    "codex": (("exec",), ("exec", "resume", "--last")),
}
"""What begins a conversation, and what goes on with the last one."""
TWICE = [("claude", "google"), ("claude", "openai-responses"), ("codex", "anthropic"), ("codex", "google")]


def _command(name: str, place: Place, number: int, work: Path) -> list[str]:
    """A turn of an agent whose instructions tell the time: the second one goes on with the first."""
    clock = f"It is {number} o'clock."
    if name == "claude":
        return [*PLAYS[name].words, *GOES_ON[name][number - 1], clock]
    (work / "clock.md").write_text(clock, encoding="utf-8")
    *options, prompt = PLAYS[name].words[1:]
    instructions = ("-c", f'model_instructions_file="{work}/clock.md"')
    return [*flags(AGENTS[name], place, {}), *GOES_ON[name][number - 1], *options, *instructions, prompt]


@pytest.mark.parametrize(("name", "dialect"), TWICE, ids=[f"{name}-{dialect}" for name, dialect in TWICE])
def test_an_agent_goes_on_after_its_instructions_have_moved(name: str, dialect: str, home: Path) -> None:
    """Two turns of a model that thinks, the upstream strict: nothing is refused, and what is lost is told.

    Codex tells new instructions in their place, so that the reasoning before them is missing. Claude Code keeps those
    of the conversation's begin, and loses nothing.
    """
    model, records = Model(dialect, PLAYS[name], thinks=True), list[Any]()
    work = home / "work"
    work.mkdir()
    with model.serving() as url:
        spec = f"up/{MODELS[dialect]}"
        made = gateway({"LLM_UP": provider(dialect, url)}, {"*": spec}, allow=frozenset({"server_tools"}))
        made.recorder.sinks = (records.append,)
        with serving(made) as at:
            place = Place(at, "any", spec, spec)
            for number in (1, 2):
                done = _run(name, place, _command(name, place, number, work), home)
                assert done.returncode == 0, done.stderr
                assert "The tool gave:" in done.stdout
    assert [str(verdict) for verdict in model.verdicts] == ["taken"] * 4
    assert [any("6042" in result for result in model.results[place:]) for place in (0, 1)] == [True, True]
    codes = [[code.split()[1] for code in record.changed if " reasoning_" in code] for record in records]
    restored, missing = ["reasoning_restored"], ["reasoning_missing"]
    if name == "codex":
        assert codes == [[], restored, missing, restored + missing]
    else:
        assert [code for code in codes if code] == [restored, restored, restored]


def _run(name: str, place: Place, command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    programs = FOLDER / "node_modules" / ".bin"
    around = {"HOME": str(home), "PATH": os.pathsep.join((str(programs), node().path)), "TERM": "xterm-256color"}
    return subprocess.run(
        [str(programs / name), *command],
        cwd=home / "work",
        env=environment(AGENTS[name], place, around, {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
