"""The list of failures is complete, and every test that it names exists."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.contract.source import ROOT, named_tests

LIST = ROOT / "tests" / "failures.toml"
GIVEN = os.environ.get("INTERLINGUA_FAILURES")
"""Read here, since no test sees the variables of the machine."""
ROWS: dict[str, dict[str, Any]] = tomllib.loads(LIST.read_text(encoding="utf-8"))
COUNT = 257
"""How many rows the failure list has."""
TOPICS = (
    "anthropic dialect", "responses dialect", "google dialect", "ollama dialect", "gateway", "chains", "schema subsets",
    "money", "media", "bedrock", "typed output",
)  # fmt: skip
"""What rows may wait for."""
OURS = ("STR", "SSE", "ID", "ARG", "USE")
"""Topics of which every row that concerns Chat Completions is backed by its bytes."""


def test_the_list_has_every_row() -> None:
    """As many as the failure list, each with an id of a topic and a number."""
    assert len(ROWS) == COUNT
    assert all(re.fullmatch(r"[A-Z]{2,3}-\d\d", row) for row in ROWS)


def test_the_list_is_that_of_the_failure_list() -> None:
    """Compared where the failure list is at hand."""
    source = Path(GIVEN) if GIVEN else ROOT.parent / "shared" / "FAILURES.md"
    if not source.is_file():
        pytest.skip("the failure list is not here; INTERLINGUA_FAILURES names it")
    assert list(ROWS) == re.findall(r"^\| ([A-Z]+-\d+) ", source.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_where_it_stands(row: str) -> None:
    """Tests that exist, a decision record that exists, or a topic that it waits for."""
    entry = ROWS[row]
    assert entry.keys() <= {"tests", "adr", "later"}
    assert entry
    for test in entry.get("tests", ()):
        path, _, name = test.partition("::")
        assert name in named_tests(path), f"{row}: no {test}"
    if "adr" in entry:
        assert list((ROOT / "docs" / "decisions").glob(f"{entry['adr']}-*.md")), f"{row}: no ADR {entry['adr']}"
    if "later" in entry:
        assert any(topic in entry["later"] for topic in TOPICS), f"{row}: {entry['later']}"


def test_rows_of_chat_completions_are_backed() -> None:
    """Calls, framing, ids, arguments, usage: only rows of another dialect, of the gateway or of money wait."""
    waiting = {
        row: entry["later"]
        for row, entry in ROWS.items()
        if row.startswith(OURS) and "tests" not in entry and "adr" not in entry
    }
    topics = ("responses dialect", "gateway", "money", "bedrock")
    assert [row for row, later in waiting.items() if not any(topic in later for topic in topics)] == []
