from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import bench.__main__ as program
from bench.measure import NotRun, cpu_us, ratio, run_child, start_ratio
from bench.rows import Row, all_rows


def row(measured: float | None, bar: float | None = 2.0, *, needs_peer: bool = False) -> Row:
    """A row that measures this, or cannot."""

    def measure() -> float:
        if measured is None:
            raise NotRun("no such thing here")
        return measured

    return Row("a/b", "this / that", bar, "x", measure, needs_peer)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (row(2.0), "met"),
        (row(2.01), "missed"),
        (row(9.0, None), "-"),
        (row(None), "not run"),
        (row(1.0, needs_peer=True), "not run"),
    ],
)
def test_verdicts(given: Row, verdict: str) -> None:
    """A bar is the last number that meets it; what was not measured is never met."""
    assert program.measure(given, full=False).verdict == verdict


def test_rows_have_names_of_their_own() -> None:
    """A name is how a row is asked for, and how two runs are compared."""
    names = [row.name for row in all_rows()]
    assert len(names) == len(set(names))
    assert "import/cpu" in names


def test_the_program_prints_and_keeps_its_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With --strict, a missed bar is status 1; the file says what the table says."""
    monkeypatch.setattr(program, "all_rows", lambda: [row(3.0)])
    monkeypatch.setattr(program, "RESULTS", tmp_path / "kept" / "latest.json")
    monkeypatch.setattr(sys, "argv", ["bench", "--strict"])
    assert program.main() == 1
    assert "missed" in capsys.readouterr().out
    kept = json.loads((tmp_path / "kept" / "latest.json").read_text())
    assert kept["rows"][0]["measured"] == 3.0
    assert kept["rows"][0]["verdict"] == "missed"


def test_a_ratio_sees_what_is_twice_the_work() -> None:
    """Within the noise of a busy machine."""
    assert 1.4 < ratio(lambda: sum(range(4_000)), lambda: sum(range(2_000)), turns=5) < 2.8
    assert cpu_us(lambda: sum(range(2_000)), turns=3) > 1


def test_processes_are_measured_from_start_to_end() -> None:
    """Their status counts: what fails is not measured."""
    python = [sys.executable, "-S", "-c"]
    assert run_child([*python, "pass"]).cpu_s > 0
    assert run_child([*python, "x = bytearray(50_000_000)"]).resident_mb > 50
    assert start_ratio([*python, "sum(range(5_000_000))"], [*python, "pass"], turns=3) > 1.5
    with pytest.raises(NotRun):
        start_ratio([*python, "1/0"], [*python, "pass"])
