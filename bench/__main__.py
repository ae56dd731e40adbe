"""`python -m bench [--full] [--strict] [row…]`: every row with its bar; kept in `bench/results/local/latest.json`."""

from __future__ import annotations

import argparse
import json
import platform
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
    """The number, or None."""
    verdict: str
    """met, missed, not run, or `-` where there is no bar."""
    reason: str = ""
    """Why it was not run."""


def measure(row: Row, *, full: bool) -> Outcome:
    """What comes of one row."""
    if row.needs_peer and not full:
        return Outcome(row, None, "not run", "needs a peer: --full")
    try:
        measured = row.measure()
    except NotRun as reason:
        return Outcome(row, None, "not run", str(reason))
    if row.bar is None:
        return Outcome(row, measured, "-")
    return Outcome(row, measured, "met" if measured <= row.bar else "missed")


def line(outcome: Outcome) -> str:
    """A line of the table."""
    row = outcome.row
    bar = "" if row.bar is None else f"<= {row.bar:g}"
    measured = "" if outcome.measured is None else f"{outcome.measured:.3g} {row.unit}"
    told = f"{outcome.verdict} ({outcome.reason})" if outcome.reason else outcome.verdict
    return f"{row.name:24} {bar:>10} {measured:>14}  {told:10} {row.what}"


def store(outcomes: list[Outcome]) -> None:
    """Keep the run beside the machine that it is about; it is not for the repository."""
    rows = [
        {**outcome.row._asdict(), "measure": None, "measured": outcome.measured, "verdict": outcome.verdict}
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
