"""Measurements that a busy machine does not spoil: processor time, interleaved, medians.

Two things are compared by running them in turn, a few milliseconds each, many times; each turn gives one ratio, and the
median of the ratios is the result. What disturbs the machine disturbs both sides of a turn. Many pairs of things take
turns with each other, too, so that a disturbance of some seconds takes a turn or two of each, and not all of one.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

__all__ = [
    "Batches",
    "Child",
    "Measured",
    "NotRun",
    "batch_ratios",
    "beside",
    "cpu_us",
    "once",
    "ratio",
    "run_child",
    "short",
    "start_ratio",
]

TURNS = 15
TURN_S = 0.02
BATCH_TURNS = 24
WARM_PARTS = 8
"""One of so many parts of a batch is done before the clock runs."""
WARM_CALLS = 3


class NotRun(Exception):  # noqa: N818 - an outcome, not a fault
    """Raised by a row that cannot be measured here, with the reason."""


P = ParamSpec("P")
T = TypeVar("T")


def once(make: Callable[P, T]) -> Callable[P, T]:
    """What is made once a run for the same arguments; that it cannot be made is remembered, too, and found out once."""
    kept: dict[Any, T | NotRun] = {}
    form = signature(make)

    @wraps(make)
    def remembered(*arguments: P.args, **options: P.kwargs) -> T:
        bound = form.bind(*arguments, **options)
        bound.apply_defaults()
        key = tuple(bound.arguments.values())
        if key not in kept:
            try:
                kept[key] = make(*arguments, **options)
            except NotRun as reason:
                kept[key] = reason
        found = kept[key]
        if isinstance(found, NotRun):
            raise NotRun(*found.args)
        return found

    return remembered


class Measured(float):
    """The median of several runs, which knows how far the middle half of them lies apart."""

    spread = 0.0
    """That distance, as a share of the median."""
    note = ""
    """What else was seen: the absolute figures behind a ratio."""

    @classmethod
    def of(cls, runs: list[float], note: str = "") -> Measured:
        """What these runs come to."""
        middle = statistics.median(runs)
        ends = statistics.quantiles(runs, n=4) if len(runs) >= 4 else [min(runs), middle, max(runs)]
        made = cls(middle)
        made.spread = (ends[2] - ends[0]) / middle if middle else 0.0
        made.note = note
        return made

    def over(self, parts: float) -> Measured:
        """The share of one of so many parts."""
        made = Measured(self / parts)
        made.spread, made.note = self.spread, self.note
        return made


class Child(NamedTuple):
    """What a finished process used."""

    cpu_s: float
    """Processor seconds, user and system."""
    resident_mb: float
    """Most memory that it held, in MB of 1,000,000 bytes."""
    status: int
    """Its exit status."""


class Batches(NamedTuple):
    """Two things that are each done with a batch, which is made anew for each turn, before the clock runs."""

    make: Callable[[], list[Any]]
    """Makes the batch."""
    ours: Callable[[list[Any]], Any]
    """What is measured."""
    theirs: Callable[[list[Any]], Any]
    """What it is compared with."""


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any], *, turns: int = TURNS) -> Measured:
    """The processor time of `ours` for each unit of that of `theirs`."""
    our_loops, their_loops = _loops(ours), _loops(theirs)
    gc.collect()
    return beside(
        [
            (_cpu_s(ours, our_loops) / our_loops * 1e6, _cpu_s(theirs, their_loops) / their_loops * 1e6)
            for _ in range(turns)
        ]
    )


def short(value: float) -> str:
    """A number in three digits, or all of those before the point."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def beside(turns: list[tuple[float, float]], unit: str = "µs") -> Measured:
    """The ratio of two sides that were measured in turn."""
    ours, theirs = (statistics.median(side) for side in zip(*turns, strict=True))
    return Measured.of([one / other for one, other in turns], f"{short(ours)} {unit} beside {short(theirs)} {unit}")


def batch_ratios(pairs: Mapping[str, Batches], *, turns: int = BATCH_TURNS) -> dict[str, float]:
    """The same of one call each for a batch, of many pairs by name, which take turns."""
    ratios: dict[str, list[float]] = {name: [] for name in pairs}
    with _own_heap():
        for turn in range(turns + 1):
            for name, pair in pairs.items():
                ratios[name].append(_batch_ratio(pair, ours_first=turn % 2 == 0))
    return {name: Measured.of(found[1:]) for name, found in ratios.items()}  # the first turn loads what is loaded late


def _batch_ratio(pair: Batches, *, ours_first: bool) -> float:
    batch = pair.make()
    gc.collect(0)
    if ours_first:
        return _warm_s(pair.ours, batch) / _warm_s(pair.theirs, batch)
    theirs_s = _warm_s(pair.theirs, batch)
    return _warm_s(pair.ours, batch) / theirs_s


def _warm_s(run: Callable[[list[Any]], Any], batch: list[Any]) -> float:
    """What all of a batch but its beginning takes; the beginning fetches again what the other side drove out."""
    begins = max(1, len(batch) // WARM_PARTS)
    run(batch[:begins])
    return _cpu_s(partial(run, batch[begins:]), 1)


@contextmanager
def _own_heap() -> Generator[None]:
    """The collector of garbage goes through what is made from now on, not through what earlier rows have left."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def cpu_us(run: Callable[[], Any], *, turns: int = TURNS) -> Measured:
    """Processor microseconds of one call: what this machine takes, to inform."""
    loops = _loops(run)
    gc.collect()
    return Measured.of([_cpu_s(run, loops) / loops * 1e6 for _ in range(turns)])


def start_ratio(ours: list[str], theirs: list[str], *, turns: int = 9) -> Measured:
    """The processor time of a whole process for each unit of that of another."""
    for command in (ours, theirs):
        if run_child(command).status != 0:
            raise NotRun(f"`{' '.join(command[1:])}` fails")
    return beside([(run_child(ours).cpu_s * 1e3, run_child(theirs).cpu_s * 1e3) for _ in range(turns)], "ms")


def run_child(command: list[str]) -> Child:
    """What one process uses from start to end, its output thrown away."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return Child(used.ru_utime + used.ru_stime, used.ru_maxrss * unit_bytes / 1e6, process.returncode)


def _loops(run: Callable[[], Any]) -> int:
    """How often to call `run` in one turn, once what is loaded late is there and what is remembered is known."""
    for _ in range(WARM_CALLS):
        run()
    loops = 1
    while (took_s := _cpu_s(run, loops)) < TURN_S / 4:
        loops *= 4 if took_s < TURN_S / 40 else 2
    return max(1, round(loops * TURN_S / took_s))


def _cpu_s(run: Callable[[], Any], loops: int) -> float:
    begin_s = time.process_time()
    for _ in range(loops):
        run()
    return time.process_time() - begin_s
