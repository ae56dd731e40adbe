"""What a run says of itself: lines, JSON and the page, made of canned results."""

from __future__ import annotations

from typing import Any

import pytest

from bench.measure import Measured, NotRun, beside
from bench.outcomes import Outcome, facts, line, measure, shown, summary
from bench.report import markdown
from bench.rows import Row


def row(name: str, bar: float | None = 2.0, unit: str = "x", measured: float | dict[str, float] = 1.0) -> Row:
    """A row that measures this."""
    return Row(name, f"what {name} is", bar, unit, lambda: measured)


def test_a_median_knows_how_far_its_runs_lie_apart() -> None:
    """The middle half as a share of the median; of a few runs, all of them; a part keeps it."""
    assert Measured.of([1.0, 2.0, 4.0]) == 2.0
    assert Measured.of([1.0, 2.0, 4.0]).spread == 1.5
    assert Measured.of([4.0] * 9 + [100.0]).spread == 0.0
    assert Measured.of([2.0, 4.0, 8.0]).over(2) == 2.0
    assert Measured.of([2.0, 4.0, 8.0]).over(2).spread == 1.5


def test_two_sides_are_told_in_turn() -> None:
    """The median of the ratios, not the ratio of the medians, and what each side took."""
    found = beside([(2.0, 1.0), (3.0, 1.0), (40.0, 10.0)])
    assert (float(found), found.note) == (3.0, "3 µs beside 1 µs")


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (0.05, "x", "1/20"),
        (1 / 15, "x", "1/15"),
        (0.5, "x", "0.5x"),
        (18.84, "x", "18.8x"),
        (3.456, "µs", "3.46 µs"),
        (12_345.6, "µs", "12,346 µs"),
        (999.7, "µs", "1,000 µs"),
    ],
)
def test_numbers_are_short(value: float, unit: str, told: str) -> None:
    """Three digits, small ratios as fractions."""
    assert shown(value, unit) == told


def test_whatever_breaks_is_a_row_that_was_not_run() -> None:
    """Its reason is kept, and nothing ends the run."""

    def broken() -> float:
        raise ConnectionResetError("gone")

    def missing() -> float:
        raise NotRun("no nginx")

    assert measure(Row("a", "b", 1.0, "x", broken), full=False).reason == "ConnectionResetError: gone"
    assert measure(Row("a", "b", 1.0, "x", missing), full=False).reason == "no nginx"
    assert measure(row("a", measured={}), full=False).reason == "nothing to measure is installed"


def test_a_line_tells_the_bar_the_number_and_what_lies_behind_it() -> None:
    """The note of a ratio stands in brackets."""
    outcome = Outcome(row("a/b", 5.0), beside([(90.0, 30.0)]), "met")
    assert " ".join(line(outcome).split()) == "a/b <= 5x 3x met what a/b is [90 µs beside 30 µs]"


def test_cells_without_a_bar_are_not_counted_as_met() -> None:
    """Their summary tells the best, the median and the worst alone."""
    assert summary(row("a", None), {"x": 1.0, "y": 3.0, "z": 2.0}) == "best 1 (x), median 2, worst 3 (y)"


RUN: dict[str, Any] = {
    "command": "make bench-full",
    "measured_at": "2026-11-22T09:30:00+00:00",
    "took_s": 90.0,
    "machine": "a machine, 2 cores",
    "software": "interlingua 0.1.0, Python 3.11.7",
    "load_before": 0.25,
    "noise": {"median_us": 200.0, "lowest_us": 190.0, "highest_us": 260.0, "spread": 0.021},
    "peers": {"nginx": "1.22.1", "smg": "not installed"},
    "settings": {"nginx": "one worker"},
    "picture": "growth.svg",
}
PAGE = """\
# Results

Written by `make bench-full`, never by hand. What a number leaves out is in [README.md](README.md).

**Of 3 bars 1 are met, 1 missed, 1 not run.** Missed: `codec/pairs`.

| condition | |
|---|---|
| when | 2026-11-22T09:30:00+00:00, for 1.5 minutes |
| machine | a machine, 2 cores |
| software | interlingua 0.1.0, Python 3.11.7 |
| others on the machine | load average before the run 0.25 |
| noise | the same loop before each row: median 200 µs, from 190 to 260, the middle half within 2.1% |

## Translation

| row | what | bar | measured | ± | verdict |
|---|---|---|---|---|---|
| codec/pairs | what codec/pairs is | ≤ 2x | 3x |  | **missed** |

<details><summary>codec/pairs: best 1 (a -> b), median 2, worst 3 (b -> a); 1 of 2 met</summary>

| cell | measured | |
|---|---|---|
| a -> b | 1x | met |
| b -> a | 3x | **missed** |

</details>

## The gateway, beside nginx and those of others

| row | what | bar | measured | ± | verdict |
|---|---|---|---|---|---|
| gateway/pass | what gateway/pass is (90 µs beside 30 µs) | ≤ 5x | 3x | 0% | met |
| gateway/pass/smg | what gateway/pass/smg is | ≤ 1/4 |  |  | not run (smg is not \\| installed) |

## Parts

| row | what | bar | measured | ± | verdict |
|---|---|---|---|---|---|
| sse/decode | what sse/decode is |  | 1.5 µs |  |  |

![How cost grows](growth.svg)

## Peers

| peer | version | settings |
|---|---|---|
| nginx | 1.22.1 | one worker |
| smg | not installed |  |
"""


def test_the_page_of_a_run() -> None:
    """Headings by the first word of a name, bars first, cells folded away, reasons of what was not run."""
    outcomes = [
        measure(row("codec/pairs", measured={"a -> b": 1.0, "b -> a": 3.0}), full=True),
        Outcome(row("gateway/pass", 5.0), beside([(90.0, 30.0)]), "met"),
        Outcome(row("gateway/pass/smg", 0.25), None, "not run", "smg is not | installed"),
        measure(row("sse/decode", None, "µs", 1.5), full=True),
    ]
    assert markdown({**RUN, "rows": [facts(outcome) for outcome in outcomes]}) == PAGE
