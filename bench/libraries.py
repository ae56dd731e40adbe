"""Our library and those of others, each in a process of its own, asked in turn: what one call takes of the processor.

All of them ask the same mock upstream. The processes run on the first core, the upstream on the last one.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bench.canned import EVENTS
from bench.measure import Measured, NotRun, beside, once
from bench.peers import program
from bench.peers.worker import AT_ONCE
from bench.stage import alone, folder, upstream

__all__ = ["DIALECTS", "LIBRARIES", "Library", "compare", "imported_ms", "library", "own"]

TURNS = 5
TURN_S = 0.15
ANSWER_S = 60.0
DIALECTS = {"anthropic": "anthropic", "google-genai": "google", "ollama": "ollama"}
"""What a peer speaks that does not speak Chat."""
LIBRARIES = (
    "openai",
    "anthropic",
    "google-genai",
    "ollama",
    "litellm",
    "any-llm",
    "aisuite",
    "pydantic-ai",
    "langchain-openai",
    "aimux",
    "llm-rosetta",
)
"""The peers, by the names of their environments."""


class Library(NamedTuple):
    """A process that holds one library."""

    name: str
    """Which one."""
    process: subprocess.Popen[str]
    """Where it runs."""
    errors: Path
    """What it says beside its answers."""

    def cpu_us(self, kind: str, times: int) -> float:
        """Processor microseconds of one call.

        Raises: NotRun where the library cannot do it, or does not answer in time.
        """
        assert self.process.stdin is not None
        try:
            print(kind, times, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            raise NotRun(f"{self.name} has ended") from None
        told = _answer(self)
        if "error" in told:
            raise NotRun(f"{self.name}: {told['error']}")
        return told["cpu_us"]


def _answer(asked: Library) -> dict[str, Any]:
    process = asked.process
    assert process.stdout is not None
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        if not waiting.select(ANSWER_S):
            process.kill()
            raise NotRun(f"{asked.name} did not answer within {ANSWER_S:.0f} s")
    line = process.stdout.readline()
    if not line:
        words = asked.errors.read_text(errors="replace").strip().splitlines() or ["without a word"]
        raise NotRun(f"{asked.name} ended: {words[-1][:160]}")
    return json.loads(line)


@once
def library(name: str) -> Library:
    """A library that is ready to be asked: a peer by its name, ours as `ours/DIALECT`.

    Raises: NotRun where it is not installed or cannot be imported.
    """
    python = sys.executable if name.startswith("ours/") else str(program(name))
    errors = folder() / f"{name.replace('/', '-')}-errors"
    with errors.open("w") as place:
        process = subprocess.Popen(
            [python, "-m", "bench.peers.worker", name, str(upstream())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=place,
            text=True,
            env=_environ(),
            preexec_fn=alone,  # noqa: PLW1509 - nothing here runs in threads
        )
    atexit.register(process.kill)
    made = Library(name, process, errors)
    _IMPORTED[name] = _answer(made)
    return made


_IMPORTED: dict[str, dict[str, float]] = {}


def _environ() -> dict[str, str]:
    """Ours without anybody's own settings and proxies, and with the way to this package."""
    kept = {word: value for word, value in os.environ.items() if not word.startswith(("LLM_", "INTERLINGUA_"))}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "OPENAI_API_KEY": "k",
    }


def imported_ms(name: str) -> float:
    """Processor milliseconds that importing a library takes, and making its clients."""
    library(name)
    return _IMPORTED[name]["import_ms"]


def own(kind: str, dialect: str = "openai-chat", turns: int = TURNS) -> Measured:
    """What one of our calls takes."""
    ours = library(f"ours/{dialect}")
    times = _times(ours, kind)
    return Measured.of([ours.cpu_us(kind, times) for _ in range(turns)])


@once
def compare(peer: str, kind: str, turns: int = TURNS) -> Measured:
    """How many times what a peer takes for the same call, both in turn."""
    theirs, ours = library(peer), library(f"ours/{DIALECTS.get(peer, 'openai-chat')}")
    our_times, their_times = _times(ours, kind), _times(theirs, kind)
    return beside([(ours.cpu_us(kind, our_times), theirs.cpu_us(kind, their_times)) for _ in range(turns)])


def _times(asked: Library, kind: str) -> int:
    """How often to call in one turn, once the first calls have made what is made late."""
    asked.cpu_us(kind, 1)
    units = {"stream": EVENTS, "aio-64": AT_ONCE}.get(kind, 1)
    return max(1, round(TURN_S * 1e6 / (asked.cpu_us(kind, 1) * units)))
