"""A map by batches whose process is killed at every step of it: its rerun pays for nothing twice, and loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from interlingua.testing.upstream import BatchPlan
from interlingua.testing.upstream.batches.desk import Refused
from interlingua.testing.upstream.batches.plan import Moment
from interlingua.testing.upstream.verdict import Asked
from tests.support.batches import live_calls, numbered, serving

INPUTS = 9
PROGRAM = """
import asyncio, os, sys
from dataclasses import dataclass

import interlingua as il
from interlingua import aio

face, spec, journal, suicide = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

@dataclass
class Square:
    of: int
    is_: int

inputs = [f"square of {number}" for number in range(INPUTS)]
options = dict(output=Square, journal=journal, batch=il.Batch(poll_s=0.02, max_requests=5), concurrency=2)

def right(item, count):
    if suicide and count == suicide:
        os.kill(os.getpid(), 9)
    number = int(item.key.split()[-1])
    return item.error is None and item.output == Square(number, number * number)

def blocking():
    return [right(item, count) for count, item in enumerate(il.model(spec).map(inputs, **options), 1)]

async def awaited():
    count, found = 0, []
    async for item in aio.model(spec).map(inputs, **options):
        count += 1
        found.append(right(item, count))
    return found

items = blocking() if face == "blocking" else asyncio.run(awaited())
print(len(items), sum(items))
""".replace("INPUTS", str(INPUTS))

State: TypeAlias = Literal["uploaded", "before", "submitted", "shown", "results", "items", "deleted"]
"""When the process is killed: when its file was taken, before its batch is taken, after that and before it knows, while
it waits, while it reads results, between the items of a batch, while it deletes what is left."""
FILES = ("openai-chat", "mistral")
"""The services whose batches are made of files."""


def _started(face: str, name: str, folder: Path, dsn: str, suicide: int) -> subprocess.Popen[str]:
    model = {"anthropic": "claude-sonnet-5", "google": "gemini-3-pro"}.get(name, "gpt-4.1")
    arguments = [face, f"work/{model}", str(folder / "run.jsonl"), str(suicide)]
    environment = {**os.environ, "LLM_WORK": dsn}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], env=environment, stdout=subprocess.PIPE, text=True
    )


class _Killer:
    """Kills a process when its service comes to a moment for the second time, once."""

    def __init__(self, state: State) -> None:
        """It does not know the process yet."""
        self.process: subprocess.Popen[str] | None = None
        """The process."""
        self._state, self._left = state, 2

    def on(self, moment: Moment) -> None:
        """Kill it at its moment; what it asked for then is answered to nobody."""
        if moment != self._state or self.process is None:
            return
        self._left -= 1
        if self._left:
            return
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if moment == "before":
            raise Refused(503, "nobody is there")


def _cases() -> list[tuple[str, str, State]]:
    faces = {"openai-chat": "blocking", "anthropic": "awaited", "google": "blocking", "mistral": "awaited"}
    states: list[State] = ["before", "submitted", "shown", "results", "items"]
    more: list[tuple[str, State]] = [("openai-chat", "uploaded"), ("openai-chat", "deleted"), ("anthropic", "deleted")]
    return [(name, faces[name], state) for name, state in [*product(faces, states), *more]]


@pytest.mark.parametrize(("name", "face", "state"), _cases())
def test_r68_killed_at_every_step(name: str, face: str, state: State, tmp_path: Path) -> None:
    """Two batches of five and four inputs: each is run once, its answer is there, and nothing stays at the provider."""
    runs: Counter[str] = Counter()

    def answer(asked: Asked) -> str:
        text = numbered(asked)
        runs[text] += 1
        return text

    killer = _Killer(state)
    with serving(name, BatchPlan(looks=2, answer=answer, on=killer.on)) as (upstream, dsn, desk):
        process = _started(face, name, tmp_path, dsn, 3 if state == "items" else 0)
        killer.process = process
        process.communicate(timeout=60)
        assert process.returncode == -9
        killer.process = None
        again = _started(face, name, tmp_path, dsn, 0)
        out, _ = again.communicate(timeout=60)
        assert (again.returncode, out.split()) == (0, [str(INPUTS), str(INPUTS)])
        assert live_calls(upstream) == []
        assert sorted(len(batch.requests) for batch in desk.batches.values()) == [4, 5]
        left = [name for name in (desk.files if name in FILES else desk.batches) if name not in desk.deleted]
        assert left == (["file-2"] if state == "uploaded" else [])  # whose id nobody was told
        outputs = [f"output-of-{batch}" for batch in desk.batches] if name in FILES else []
        assert set(outputs) <= set(desk.deleted)
    assert (len(runs), set(runs.values())) == (INPUTS, {1})
