"""`python -m bench [--full] [--strict] [row…]`: every row with its bar; kept in `bench/results/local/latest.json`."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bench.measure import NotRun
from bench.rows import Row, all_rows

RESULTS = Path(__file__).parent / "results" / "local" / "latest.json"


class Outcome(NamedTuple):
    """One row and what came of it."""

    row: Row
    """The row."""
    measured: float | None
    """The number, or None; of several cells the highest."""
    verdict: str
    """met, missed, not run, or `-` where there is no bar."""
    reason: str = ""
    """Why it was not run."""
    cells: dict[str, float] | None = None
    """The numbers of a row that has several."""


def measure(row: Row, *, full: bool) -> Outcome:
    """What comes of one row."""
    if row.needs_peer and not full:
        return Outcome(row, None, "not run", "needs a peer: --full")
    try:
        found = row.measure()
    except NotRun as reason:
        return Outcome(row, None, "not run", str(reason))
    cells = found if isinstance(found, dict) else None
    measured = max(found.values()) if isinstance(found, dict) else found
    return Outcome(row, measured, verdict(row, measured), cells=cells)


def verdict(row: Row, measured: float) -> str:
    """met, missed, or `-` where there is no bar."""
    if row.bar is None:
        return "-"
    return "met" if measured <= row.bar else "missed"


def spread(row: Row, cells: dict[str, float]) -> str:
    """The best, the median and the worst of several cells, and how many meet the bar."""
    ranked = sorted(cells, key=cells.__getitem__)
    met = sum(verdict(row, measured) == "met" for measured in cells.values())
    told = [f"{word} {cells[name]:.3g} ({name})" for word, name in (("best", ranked[0]), ("worst", ranked[-1]))]
    return f"{told[0]}, median {statistics.median(cells.values()):.3g}, {told[1]}; {met} of {len(cells)} met"


def line(outcome: Outcome) -> str:
    """A line of the table."""
    row = outcome.row
    bar = "" if row.bar is None else f"<= {row.bar:g}"
    measured = "" if outcome.measured is None else f"{outcome.measured:.3g} {row.unit}"
    told = f"{outcome.verdict} ({outcome.reason})" if outcome.reason else outcome.verdict
    head = f"{row.name:24} {bar:>10} {measured:>14}  {told:10} {row.what}"
    if outcome.cells is None:
        return head
    cells = [
        f"    {name:32} {number:>16.3g} {row.unit}  {verdict(row, number)}" for name, number in outcome.cells.items()
    ]
    return "\n".join([head, *cells, f"    {spread(row, outcome.cells)}"])


def store(outcomes: list[Outcome]) -> None:
    """Keep the run beside the machine that it is about; it is not for the repository."""
    rows = [
        {
            **outcome.row._asdict(),
            "measure": None,
            "measured": outcome.measured,
            "verdict": outcome.verdict,
            **({"cells": _judged(outcome)} if outcome.cells else {}),
        }
        for outcome in outcomes
    ]
    for row in rows:
        del row["measure"]
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(
        json.dumps(
            {"measured_at": datetime.now(UTC).isoformat(), **machine, "rows": rows}, indent=2, ensure_ascii=False
        ),
        encoding="utf-8",
    )


def _judged(outcome: Outcome) -> dict[str, dict[str, object]]:
    return {
        name: {"measured": measured, "verdict": verdict(outcome.row, measured)}
        for name, measured in (outcome.cells or {}).items()
    }


def main() -> int:
    """Measure the rows asked for; with `--strict`, status 1 when one missed its bar."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="the numbers to reach, side by side")
    parser.add_argument("--full", action="store_true", help="rows that need other software, too")
    parser.add_argument("--strict", action="store_true", help="fail when a bar is missed")
    parser.add_argument("rows", nargs="*", metavar="row", help="names or beginnings of names (default: all)")
    options = parser.parse_args()
    wanted = tuple(options.rows) or ("",)
    outcomes: list[Outcome] = []
    for row in all_rows():
        if row.name.startswith(wanted):
            outcomes.append(measure(row, full=options.full))
            print(line(outcomes[-1]), flush=True)
    store(outcomes)
    missed = sum(outcome.verdict == "missed" for outcome in outcomes)
    print(f"{len(outcomes)} rows, {missed} missed; kept in bench/results/local/latest.json")
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
