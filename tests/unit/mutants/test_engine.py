from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mutants import report
from mutants.engine import BODIES, MAX_TESTS_S, Outcome, plan
from mutants.operators import Mutant
from mutants.reach import Reach

ROOT = Path(__file__).parents[3]
FILE = "src/interlingua/dialects/openai_chat/parts.py"


def mutant(*, line: int = 1, at_import: bool = False) -> Mutant:
    """A mutant in that line."""
    return Mutant("m", "f", "constant", "1 -> 2", line, line, at_import=at_import, apply=lambda: None)


REACH = Reach(
    tests=[
        "tests/laws/test_chat_laws.py::a",
        "tests/unit/dialects/openai_chat/test_a.py::slow",
        "tests/unit/dialects/openai_chat/test_a.py::fast",
        f"{BODIES}[openai-chat-text]",
        "tests/laws/test_chat_laws.py::endless",
    ],
    seconds=[0.5, 0.4, 0.1, 0.2, MAX_TESTS_S],
    lines={FILE: {1: [0, 1, 2], 2: [3, 4], 3: [1, 2, 3]}, "src/interlingua/dialects/openai_chat/other.py": {9: [1]}},
)


def test_the_nearest_tests_come_first() -> None:
    """Goldens of the dialect, then its folder and other goldens, then the rest; of each the fastest first."""
    room = [REACH.tests[2], REACH.tests[1]]
    assert plan(mutant(line=1), FILE, REACH) == ([room, [REACH.tests[0]]], 1.0)
    assert plan(mutant(line=3), FILE, REACH).stages == [[REACH.tests[3]], room]


def test_what_takes_too_long_is_not_tried() -> None:
    """Tests are tried up to a bound of time."""
    assert plan(mutant(line=2), FILE, REACH) == ([[REACH.tests[3]]], 0.2)


def test_what_runs_at_import_is_tried_by_all_tests_of_the_module() -> None:
    """A table has no line that a test runs; its module has, or else its package."""
    stages = plan(mutant(line=7, at_import=True), FILE, REACH).stages
    assert stages == [[REACH.tests[3]], [REACH.tests[2], REACH.tests[1]], [REACH.tests[0]]]
    elsewhere = FILE.replace("parts", "wire")
    assert plan(mutant(line=7, at_import=True), elsewhere, REACH).stages == stages
    assert plan(mutant(line=7), FILE, REACH).stages == []


def test_outside_the_dialects_the_mirrored_folder_is_nearest() -> None:
    """Goldens say little of framing."""
    file = "src/interlingua/wire/sse.py"
    tests = [f"{BODIES}[google-text]", "tests/unit/wire/test_sse.py::b"]
    reach = Reach(tests, [0.1, 0.2], {file: {1: [0, 1]}})
    assert plan(mutant(line=1), file, reach).stages == [[tests[1]], [tests[0]]]


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    """Lines are numbers again."""
    REACH.save(tmp_path / "reach.json")
    assert Reach.load(tmp_path / "reach.json") == REACH


def test_the_share(capsys: pytest.CaptureFixture[str]) -> None:
    """An endless loop is noticed; a mutant that no test runs is not."""
    outcomes = [Outcome(mutant(), verdict, "") for verdict in ("killed", "timeout", "survived", "unreached")]
    for outcome in outcomes:
        report.tell(outcome, {"m": FILE})
    assert report.show(outcomes, [mutant()]) == 0.5
    printed = capsys.readouterr().out
    assert f"survived  {FILE}:1  f: constant: 1 -> 2\n" in printed
    assert printed.endswith("killed 2 of 4: 50.0%; 1 equivalent ones not counted\n")


PROGRAM = """
import sys
sys.path[:0] = [{root!r}, "."]
from mutants import engine
from mutants.operators import find_mutants
engine.warm_up()
engine.GRACE_S = 1.5
tree, found = find_mutants(open("thing.py").read(), "thing")
tests = ["test_thing.py::test_more", "test_thing.py::test_steps"]
plans = [engine.Plan([tests], 0.1) for mutant in found]
outcomes = engine.run(found, plans, {{"thing": ("thing.py", tree)}}, workers=2)
for outcome in sorted(outcomes, key=lambda outcome: found.index(outcome.mutant)):
    print(outcome.verdict, outcome.test, "|", outcome.mutant.text)
"""
THING = """
def more(number):
    return number + 1
def steps(number):
    while number < 3:
        number = number + 1
    return number
def unused():
    return 7
"""
TESTS = """
from thing import more, steps
def test_steps():
    assert steps(0) == 3
def test_more():
    assert more(1) == 2
"""


def test_mutants_run_in_memory(tmp_path: Path) -> None:
    """Each process sees its own fault, an endless loop is stopped, and no file changes."""
    (tmp_path / "thing.py").write_text(THING, encoding="utf-8")
    (tmp_path / "test_thing.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    program = PROGRAM.format(root=str(ROOT))
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # each mutant would find all plugins anew
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        "killed test_thing.py::test_more | return number + 1",
        "killed test_thing.py::test_more | number + 1 -> Sub",
        "killed test_thing.py::test_more | 1 -> 2",
        "killed test_thing.py::test_steps | number < 3 -> LtE",
        "killed test_thing.py::test_steps | 3 -> 4",
        "killed test_thing.py::test_steps | number < 3",
        "timeout  | number + 1 -> Sub",
        "killed test_thing.py::test_steps | 1 -> 2",
        "killed test_thing.py::test_steps | return number",
        "survived  | return 7",
        "survived  | 7 -> 8",
    ]
    assert (tmp_path / "thing.py").read_text(encoding="utf-8") == THING
