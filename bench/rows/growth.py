"""How cost grows, and what a second worker costs."""

from __future__ import annotations

import os
from functools import partial

from bench.growth import AXES, FACTOR, Axis, factors, workers
from bench.measure import NotRun
from bench.rows import Row

CORES = 4


def _throughput() -> float:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < CORES:
        raise NotRun(f"two workers, load and upstream need {CORES} cores, and here are {cores}")
    return workers()[1]


def _what(axis: Axis) -> str:
    middle = axis.points[len(axis.points) // 2]
    return f"one {axis.unit} at {axis.points[-1]:,} {axis.x} / at {middle:,}"


ROWS = (
    *[
        Row(
            f"growth/{name}", _what(axis), FACTOR, "x", partial(factors, name), only_full=True,
        )
        for name, axis in AXES.items()
    ],
    Row("growth/workers", "a request with 2 workers / with 1", 1.1, "x", lambda: workers()[0], only_full=True),
    Row("growth/workers-time", "time of a load with 2 workers / with 1", 1 / 1.8, "x", _throughput, only_full=True),
)  # fmt: skip
