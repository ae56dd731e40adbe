"""When cost grows in a line, and when it does not."""

from __future__ import annotations

import re

from bench.growth import AXES, cliffs, drawn, factor
from bench.plot import Bar, Chart, Group, Line, bars, lines, text

FLAT = Line("flat", ((1, 300.0), (10, 30.0), (100, 5.0), (1_000, 6.0)))
STEEP = Line("steep", ((1, 1.0), (10, 1.0), (100, 2.0), (1_000, 20.0)))


def test_the_factor_is_that_of_the_largest_point_to_the_middle() -> None:
    """What a unit takes falls while what a request takes at least is shared by more, which is no cliff."""
    assert factor(FLAT) == 1.2
    assert factor(STEEP) == 10.0


def test_cliffs_are_named() -> None:
    """The line, the point and how many times as much as before it."""
    chart = Chart("growth/size", "kB", "µs a kB", (FLAT, STEEP))
    assert cliffs(chart) == ["growth/size: steep: 10.0 times as much a unit at 1,000 as at 100"]


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


def test_a_picture_has_linear_axes_from_zero() -> None:
    """A point lies at its share of the last tick; ticks are round numbers."""
    drawing = lines([Chart("cost", "kB", "ms", (Line("a", ((0, 0.0), (50, 30.0), (100, 60.0))),), "A kB takes 0.6 ms")])
    assert '<polyline points="62.0,254.0 252.0,171.0 442.0,88.0"' in drawing
    assert re.findall(r'text-anchor="(?:end|middle)" font-size="11"[^>]*>([^<]+)', drawing) == [
        *("0", "10", "20", "30", "40", "50", "60"),
        *("0", "20", "40", "60", "80", "100"),
    ]
    assert "<title>A kB takes 0.6 ms</title>" in drawing


def test_a_request_is_drawn_whole() -> None:
    """What a unit takes becomes what all of them take, in ms, and the sentence has the last point."""
    points = ((1, 300.0), (10, 30.0), (1_000, 5.0))
    drawing = drawn([Chart("growth/size", "kB of a request", "µs a kB", (Line("gateway, translated", points),))])
    assert "A request of 1,000 kB takes up to 5 ms" in drawing
    assert ">ms a request<" in drawing


def test_bars_share_a_scale() -> None:
    """Ours is green and first, and each bar is as long as its share of the longest."""
    drawing = bars(
        [Group("A call", "others take 2 to 4 times", (Bar("il", 1, "9 µs"), Bar("a", 2, "2×"), Bar("b", 4, "4×")))]
    )
    widths = re.findall(r'width="([\d.]+)" height="22" rx="3" fill="(#\w+)"', drawing)
    assert widths == [("47.5", "#0b5d4b"), ("95.0", "#a9bcb5"), ("190.0", "#a9bcb5")]


def test_every_axis_reaches_what_is_promised() -> None:
    """10 MB, 500 tools, 1,000 messages, 100,000 events, 2,000 streams."""
    assert {name: axis.points[-1] for name, axis in AXES.items()} == {
        "size": 10_000,
        "tools": 500,
        "messages": 1_000,
        "events": 100_000,
        "streams": 2_000,
    }
