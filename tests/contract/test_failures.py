"""The list of failures is complete, and every test that it names exists."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.contract.source import ROOT, named_tests
from tests.support.cells import cells

LIST = ROOT / "tests" / "failures.toml"
GIVEN = os.environ.get("INTERLINGUA_FAILURES")
"""Read here, since no test sees the variables of the machine."""
ROWS: dict[str, dict[str, Any]] = tomllib.loads(LIST.read_text(encoding="utf-8"))
COUNT = 287
"""How many rows the failure list has."""
CLOSED = ("STR", "SSE", "ID", "RES", "THK", "CHO", "ARG", "USE", "SRV", "PAR", "OUT")
"""Topics of which every row is proven, as far as translation goes; a row waits only for what runs around it."""
REASONS = ("chains", "money", "gateway")
"""What a row of these topics may wait for: routing, prices, the running gateway."""
OTHERS = (*REASONS, "media", "schema subsets", "ends of answers", "surfaces", "capabilities")
"""What a row of the remaining topics may wait for."""


def test_the_list_has_every_row() -> None:
    """As many as the failure list, each with an id of a topic and a number."""
    assert len(ROWS) == COUNT
    assert all(re.fullmatch(r"[A-Z]{2,4}-\d\d", row) for row in ROWS)


def test_the_list_is_that_of_the_failure_list() -> None:
    """Compared where the failure list is at hand."""
    source = Path(GIVEN) if GIVEN else ROOT.parent / "shared" / "FAILURES.md"
    if not source.is_file():
        pytest.skip("the failure list is not here; INTERLINGUA_FAILURES names it")
    assert list(ROWS) == re.findall(r"^\| ([A-Z]+-\d+) ", source.read_text(encoding="utf-8"), re.MULTILINE)


@cells("row", ROWS)
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
        allowed = REASONS if row.startswith(CLOSED) else OTHERS
        assert entry["later"].startswith(allowed), f"{row}: {entry['later']}"


def test_rows_about_translation_are_backed() -> None:
    """None of them waits for its first test."""
    waiting = [row for row, entry in ROWS.items() if row.startswith(CLOSED) and not entry.keys() & {"tests", "adr"}]
    assert waiting == []
