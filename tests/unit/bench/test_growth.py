"""When cost grows in a line, and when it does not."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from bench import plot
from bench.growth import AXES, cliffs, factor
from bench.measure import NotRun
from bench.plot import Chart, Line, picture, text

FLAT = Line("flat", ((1, 300.0), (10, 30.0), (100, 5.0), (1_000, 6.0)))
STEEP = Line("steep", ((1, 1.0), (10, 1.0), (100, 2.0), (1_000, 20.0)))


def test_the_factor_is_that_of_the_largest_point_to_the_middle() -> None:
    """What a unit takes falls while what a request takes at least is shared by more, which is no cliff."""
    assert factor(FLAT) == 1.2
    assert factor(STEEP) == 10.0


def test_cliffs_are_named() -> None:
    """The line, the point and how many times as much as before it."""
    drawn = Chart("growth/size", "kB", "µs a kB", (FLAT, STEEP))
    assert cliffs(drawn) == ["growth/size: steep: 10.0 times as much a unit at 1,000 as at 100"]


def test_a_chart_as_text() -> None:
    """Each bar as wide as its share of the largest value of all lines."""
    assert text(
        Chart("cost", "kB", "µs", (Line("a", ((1, 2.0), (10, 4.0))), Line("b", ((1, 1.25),)))), 4
    ).splitlines() == [
        "cost: µs by kB",
        "  a",
        "             1 ## 2",
        "            10 #### 4",
        "  b",
        "             1 # 1.25",
    ]


def test_a_picture_that_cannot_be_drawn_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without matplotlib there is the text alone."""
    monkeypatch.setattr(plot, "program", Mock(side_effect=NotRun("plots is not installed")))
    monkeypatch.setattr(plot, "find_spec", Mock(return_value=None))
    assert picture([Chart("cost", "kB", "µs", (FLAT,))], tmp_path / "x.png") == "plots is not installed"
    monkeypatch.setattr(plot, "program", Mock(return_value=Path(shutil.which("false") or "false")))
    assert picture([Chart("cost", "kB", "µs", (FLAT,))], tmp_path / "x.png") == "drawing failed"


def test_every_axis_reaches_what_is_promised() -> None:
    """10 MB, 500 tools, 1,000 messages, 100,000 events, 2,000 streams."""
    assert {name: axis.points[-1] for name, axis in AXES.items()} == {
        "size": 10_000,
        "tools": 500,
        "messages": 1_000,
        "events": 100_000,
        "streams": 2_000,
    }
