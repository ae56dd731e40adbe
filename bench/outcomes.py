"""What comes of a row: a number, its verdict, and how both are written."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from bench.measure import Measured, NotRun, short
from bench.rows import Row

__all__ = ["Outcome", "facts", "line", "measure", "shown", "summary", "verdict"]


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
    """What comes of one row; whatever it raises, the next row is measured."""
    if row.only_full and not full:
        return Outcome(row, None, "not run", "only with --full")
    try:
        found = row.measure()
    except NotRun as reason:
        return Outcome(row, None, "not run", str(reason))
    except Exception as error:  # noqa: BLE001 - one peer that breaks must not end the run of all others
        return Outcome(row, None, "not run", f"{type(error).__name__}: {error}"[:200])
    if not isinstance(found, dict):
        return Outcome(row, found, verdict(row, found))
    if not found:
        return Outcome(row, None, "not run", "nothing to measure is installed")
    highest = max(found.values())
    return Outcome(row, highest, verdict(row, highest), cells=found)


def verdict(row: Row, measured: float) -> str:
    """met, missed, or `-` where there is no bar."""
    if row.bar is None:
        return "-"
    return "met" if measured <= row.bar else "missed"


def shown(value: float, unit: str) -> str:
    """A number with its unit; a small ratio as a fraction."""
    if unit == "x":
        return f"1/{1 / value:.3g}" if 0 < value < 0.3 else f"{value:.3g}x"
    return f"{short(value)} {unit}"


def summary(row: Row, cells: dict[str, float]) -> str:
    """The best, the median and the worst of several cells, and how many meet the bar."""
    ranked = sorted(cells, key=cells.__getitem__)
    told = [f"{word} {short(cells[name])} ({name})" for word, name in (("best", ranked[0]), ("worst", ranked[-1]))]
    text = f"{told[0]}, median {short(statistics.median(cells.values()))}, {told[1]}"
    if row.bar is None:
        return text
    met = sum(verdict(row, measured) == "met" for measured in cells.values())
    return f"{text}; {met} of {len(cells)} met"


def line(outcome: Outcome) -> str:
    """A line of the table, and one for each cell."""
    row = outcome.row
    bar = "" if row.bar is None else f"<= {shown(row.bar, row.unit)}"
    measured = "" if outcome.measured is None else shown(outcome.measured, row.unit)
    told = f"{outcome.verdict} ({outcome.reason})" if outcome.reason else outcome.verdict
    note = _note(outcome.measured)
    head = f"{row.name:32} {bar:>10} {measured:>10}  {told:8} {row.what}{f' [{note}]' if note else ''}"
    if outcome.cells is None:
        return head
    cells = [
        f"    {name:32} {shown(number, row.unit):>12}  {verdict(row, number)}" for name, number in outcome.cells.items()
    ]
    return "\n".join([head, *cells, f"    {summary(row, outcome.cells)}"])


def _note(measured: float | None) -> str:
    return measured.note if isinstance(measured, Measured) else ""


def facts(outcome: Outcome) -> dict[str, object]:
    """The outcome as JSON keeps it."""
    row, measured = outcome.row, outcome.measured
    told: dict[str, object] = {"name": row.name, "what": row.what, "bar": row.bar, "unit": row.unit}
    told |= {"measured": measured, "verdict": outcome.verdict, "reason": outcome.reason}
    if isinstance(measured, Measured):
        told |= {"spread": round(measured.spread, 4), "note": measured.note}
    if outcome.cells:
        told["cells"] = {
            name: {"measured": number, "verdict": verdict(row, number)} for name, number in outcome.cells.items()
        }
        told["summary"] = summary(row, outcome.cells)
    return told
