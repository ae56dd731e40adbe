"""`python draw.py FILE`: charts that stdin describes in JSON (`bench.plot.Chart`), drawn into a PNG by matplotlib."""

from __future__ import annotations

import json
import sys
from typing import Any

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

COLUMNS = 2
WIDTH_IN, HEIGHT_IN, DOTS_PER_IN = 5.5, 3.2, 80


def draw(charts: list[dict[str, Any]], path: str) -> None:
    """Draw two charts a row, one under the other where there are few."""
    columns = 1 if len(charts) <= COLUMNS + 1 else COLUMNS
    rows = -(-len(charts) // columns)
    figure, places = plt.subplots(rows, columns, figsize=(WIDTH_IN * columns, HEIGHT_IN * rows), squeeze=False)
    for place in places.flat[len(charts) :]:
        place.set_visible(False)
    for chart, place in zip(charts, places.flat, strict=False):
        _one(chart, place)
    figure.tight_layout()
    figure.savefig(path, dpi=DOTS_PER_IN)


def _one(chart: dict[str, Any], place: Any) -> None:
    for name, points in chart["lines"]:
        place.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    if chart["is_logarithmic"]:
        place.set_xscale("log")
        place.set_yscale("log")
    else:
        place.set_ylim(bottom=0)
    place.set_title(chart["title"], fontsize=10)
    place.set_xlabel(chart["x"], fontsize=8)
    place.set_ylabel(chart["y"], fontsize=8)
    place.tick_params(labelsize=7)
    place.grid(visible=True, linewidth=0.3)
    if len(chart["lines"]) > 1:
        place.legend(fontsize=7)


if __name__ == "__main__":
    draw(json.load(sys.stdin), sys.argv[1])
