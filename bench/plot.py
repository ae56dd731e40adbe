"""Charts, as text and as a picture: the same points in both.

A picture needs matplotlib, which is no package for development: `python -m bench.peers plots` puts it into an
environment of its own, and the drawing happens there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bench.measure import NotRun
from bench.peers import program

__all__ = ["Chart", "Line", "picture", "text"]

DRAW_S = 120


class Line(NamedTuple):
    """One line of a chart."""

    name: str
    """What it shows."""
    points: tuple[tuple[float, float], ...]
    """Pairs of x and y."""


class Chart(NamedTuple):
    """Lines over one axis."""

    title: str
    """What it is about."""
    x: str
    """The name of the axis below, with its unit."""
    y: str
    """The name of the axis beside it, with its unit."""
    lines: tuple[Line, ...]
    """What is drawn."""
    is_logarithmic: bool = False
    """Whether both axes count in powers of ten; else the one beside begins at zero."""


def text(chart: Chart, width: int = 50) -> str:
    """The chart as bars, each as wide as its share of the largest value."""
    most = max((y for line in chart.lines for _, y in line.points), default=0.0) or 1.0
    told = [f"{chart.title}: {chart.y} by {chart.x}"]
    for line in chart.lines:
        told.append(f"  {line.name}")
        told += [f"  {x:>12,.6g} {'#' * round(y / most * width)} {_short(y)}" for x, y in line.points]
    return "\n".join(told)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"


def picture(charts: list[Chart], path: Path) -> str | None:
    """Write a PNG of the charts, one below the other; the reason where that is not possible."""
    try:
        python = sys.executable if find_spec("matplotlib") else str(program("plots"))
    except NotRun as reason:
        return str(reason)
    command = [python, str(Path(__file__).with_name("draw.py")), str(path)]
    given = json.dumps([chart._asdict() for chart in charts])
    try:
        done = subprocess.run(command, input=given, check=False, capture_output=True, text=True, timeout=DRAW_S)
    except subprocess.TimeoutExpired:
        return f"drawing took more than {DRAW_S} s"
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["drawing failed"])[-1]
