"""Ten thousand inputs, random faults, and a process that is killed twice in the middle of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from interlingua.client.journal import read_known

INPUTS = 10_000
CONCURRENCY = 16
PROGRAM = """
import asyncio, os, random, sys
from dataclasses import dataclass

import interlingua as il
from interlingua import aio
from interlingua.testing import FakeModel, use

face, journal, calls, faults, retry = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5] == "retry"
asked = os.open(calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

@dataclass
class Square:
    of: int
    is_: int

def answer(request):
    text = request.messages[0].text
    os.write(asked, f"{text}\\n".encode())
    if random.random() < faults:
        match random.randrange(5):
            case 0: return il.RateLimitError("slow down", status=429)
            case 1: return il.InternalServerError("broken", status=500)
            case 2: raise il.APIConnectionError("cut")
            case 3: raise ZeroDivisionError("a bug")
            case _: return "no json"
    number = int(text.split()[-1])
    return '{"of": %d, "is_": %d}' % (number, number * number)

inputs = (f"square of {number}" for number in range(INPUTS))
options = dict(output=Square, concurrency=CONCURRENCY, journal=journal, ordered=False, retry_failed=retry)

async def awaited():
    return [item async for item in aio.model("fake/x").map(inputs, **options)]

with use(FakeModel(answer)):
    items = list(il.model("fake/x").map(inputs, **options)) if face == "blocking" else asyncio.run(awaited())
right = sum(item.output == Square(number := int(item.key.split()[-1]), number * number) for item in items)
print(len(items), right, sum(item.error is not None for item in items), sum(item.recorded for item in items))
""".replace("INPUTS", str(INPUTS)).replace("CONCURRENCY", str(CONCURRENCY))


def _started(face: str, folder: Path, *, faults: float = 0.1, retry: str = "no") -> subprocess.Popen[str]:
    arguments = [face, str(folder / "journal.jsonl"), str(folder / "calls"), str(faults), retry]
    return subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)


def _killed_beyond(lines: int, process: subprocess.Popen[str], journal: Path) -> int:
    """Kill a process once its journal has more than so many lines; how many there are then."""
    until = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") <= lines:
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert process.returncode == -9
    return journal.read_bytes().count(b"\n")


def _finished(process: subprocess.Popen[str]) -> list[int]:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return [int(word) for word in out.split()]


def _lines(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text().splitlines()]


def test_every_input_is_once_in_the_journal(tmp_path: Path) -> None:
    """Killed in either face, gone on with in the other: none is lost, none is written twice, few are asked twice."""
    journal = tmp_path / "journal.jsonl"
    first = _killed_beyond(2_000, _started("blocking", tmp_path), journal)
    second = _killed_beyond(max(5_000, first), _started("awaited", tmp_path), journal)
    assert INPUTS > second > first
    items, right, failed, recorded = _finished(_started("blocking", tmp_path))
    assert (items, right + failed) == (INPUTS, INPUTS)
    assert second <= recorded < INPUTS

    names = {f"square of {number}" for number in range(INPUTS)}
    lines = _lines(journal)
    assert Counter(line["key"] for line in lines) == Counter(names)
    assert len({line["id"] for line in lines}) == INPUTS
    assert sum("error" in line for line in lines) == failed > 0

    asked = Counter((tmp_path / "calls").read_text().splitlines())
    assert asked.keys() == names
    assert INPUTS <= asked.total() <= INPUTS + 2 * CONCURRENCY  # what was under way when it was killed
    assert max(asked.values()) <= 3

    assert _finished(_started("awaited", tmp_path, faults=0, retry="retry")) == [INPUTS, INPUTS, 0, INPUTS - failed]
    assert not any(known.failed for known in read_known(journal).values())
    done = Counter(line["key"] for line in _lines(journal) if "error" not in line)
    assert done == Counter(names)
