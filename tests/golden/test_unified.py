"""Our own HTTP format, byte for byte; how a case is made is told in tests/support/goldens.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from interlingua.dialects.unified import DIALECT
from tests.support.goldens import GoldenCase, compare

FOLDER = Path(__file__).parent / "unified"
CASES = sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", CASES)
def test_each_body_means_and_is_written_as_the_case_says(name: str, golden_update: bool) -> None:
    """Decoded exactly, encoded exactly, in both roles; the encoding of a stream ends as the stream did."""
    compare(GoldenCase(FOLDER / name, DIALECT), update=golden_update)


@pytest.mark.parametrize("name", CASES)
def test_each_case_says_where_it_comes_from(name: str) -> None:
    """Source and date, and what it shows."""
    meta = tomllib.loads((FOLDER / name / "META.toml").read_text(encoding="utf-8"))
    assert meta["source"] == "invented"
    assert meta["date"]
    assert meta["shows"]
