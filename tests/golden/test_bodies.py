"""Every dialect, byte for byte; how a case is made is told in tests/support/goldens.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from interlingua.dialects.table import DIALECTS, get_dialect
from tests.support.cells import cells
from tests.support.goldens import GoldenCase, compare

HERE = Path(__file__).parent
CASES = [(name, folder) for name in DIALECTS for folder in sorted((HERE / name).iterdir())]
IDS = [f"{name}-{folder.name}" for name, folder in CASES]


@pytest.mark.parametrize(("name", "folder"), CASES, ids=IDS)
def test_each_body_means_and_is_written_as_the_case_says(name: str, folder: Path, golden_update: bool) -> None:
    """Decoded exactly, encoded exactly, in both roles; the encoding of a stream ends as the stream did."""
    compare(GoldenCase(folder, get_dialect(name)), update=golden_update)


@cells("folder", [folder for _, folder in CASES], ids=IDS)
def test_each_case_says_where_it_comes_from(folder: Path) -> None:
    """Source and date, and what it shows."""
    meta = tomllib.loads((folder / "META.toml").read_text(encoding="utf-8"))
    assert meta["source"] == "invented"
    assert meta["date"]
    assert meta["shows"]
