"""The list of requirements is complete, and every test that it names exists."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.contract.source import ROOT, named_tests
from tests.support.cells import cells

LIST = ROOT / "tests" / "requirements.toml"
GIVEN = os.environ.get("INTERLINGUA_REQUIREMENTS")
"""Read here, since no test sees the variables of the machine."""
ROWS: dict[str, dict[str, Any]] = tomllib.loads(LIST.read_text(encoding="utf-8"))
IDS = [f"R{number:02}" for number in range(1, 73)]
"""The rows of the requirements."""
TOPICS = (
    "the other dialects", "responses dialect", "ollama dialect", "unified", "codec", "chains", "gateway", "agent",
    "media", "schema subsets", "typed output", "capabilities", "seams", "vendor variables", "ends of answers",
    "provider-run tools", "surfaces", "logins", "more dialects", "embeddings", "batches", "scale", "hooks",
    "UI messages", "site",
)  # fmt: skip
"""What the open half of a row may wait for."""
WAITING: list[str] = []
"""Rows of which nothing is there yet."""


def test_the_list_has_every_row() -> None:
    """In their order, none twice."""
    assert list(ROWS) == IDS


def test_the_list_is_that_of_the_requirements() -> None:
    """Compared where the requirements are at hand."""
    source = Path(GIVEN) if GIVEN else ROOT.parent / "shared" / "REQUIREMENTS.md"
    if not source.is_file():
        pytest.skip("the requirements are not here; INTERLINGUA_REQUIREMENTS names them")
    assert re.findall(r"^\| (R\d+) ", source.read_text(encoding="utf-8"), re.MULTILINE) == IDS


@cells("row", ROWS)
def test_a_row_says_where_it_stands(row: str) -> None:
    """Tests that exist, each named once, or the topic that the open half waits for."""
    entry = ROWS[row]
    assert entry
    assert entry.keys() <= {"tests", "later"}
    named = entry.get("tests", [])
    assert len(set(named)) == len(named)
    for test in named:
        path, _, name = test.partition("::")
        assert name in named_tests(path), f"{row}: no {test}"
    if "later" in entry:
        assert entry["later"].startswith(TOPICS), f"{row}: {entry['later']}"


def test_what_waits_as_a_whole_is_known() -> None:
    """Every other row has tests for what concerns the part that exists."""
    assert [row for row, entry in ROWS.items() if "tests" not in entry] == WAITING
