"""Charts, as text and as a picture: the same points in both.

A picture is SVG, made of its points and words alone, with linear axes that begin at zero; no library draws it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import count
from typing import NamedTuple

__all__ = ["Bar", "Chart", "Group", "Line", "bars", "lines", "text"]

INK, FAINT, GRID, PAPER = "#0d1f1a", "#5a6b66", "#dfe9e5", "#f6faf8"
COLOURS = ("#0b5d4b", "#c2621b", "#3b6fb0", "#7a4fa3")
"""Of the lines of a chart, in order; the first is the green of the site and of the console."""
PANEL_W, PANEL_H, GAP = 470, 300, 14
LEFT, RIGHT, TOP, BOTTOM = 62, 28, 88, 46
"""Around the plane of a panel."""
BAR_W, BAR_H, NAME_W = 430, 22, 150
STYLE = "<style>text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}</style>"


class Line(NamedTuple):
    """One line of a chart."""

    name: str
    """What it shows."""
    points: tuple[tuple[float, float], ...]
    """Pairs of x and y."""


class Chart(NamedTuple):
    """Lines over one axis."""

    title: str
    """The name of its row."""
    x: str
    """The name of the axis below, with its unit."""
    y: str
    """The name of the axis beside it, with its unit."""
    lines: tuple[Line, ...]
    """What is drawn."""
    sentence: str = ""
    """What one sees, for the head of the picture; else the title."""


class Bar(NamedTuple):
    """One bar of a group."""

    name: str
    """Whose value it is."""
    value: float
    """How long it is."""
    label: str
    """The value in words, at its end."""


class Group(NamedTuple):
    """Bars below a title and a sentence; the first one is ours."""

    title: str
    """The thing that is measured."""
    sentence: str
    """What one sees."""
    bars: tuple[Bar, ...]
    """From ours on."""


def text(chart: Chart, width: int = 50) -> str:
    """The chart as bars, each as wide as its share of the largest value."""
    most = max((y for line in chart.lines for _, y in line.points), default=0.0) or 1.0
    rows = [f"{chart.title}: {chart.y} by {chart.x}"]
    for line in chart.lines:
        rows.append(f"  {line.name}")
        rows += [f"  {x:>12,.6g} {'#' * round(y / most * width)} {_short(y)}" for x, y in line.points]
    return "\n".join(rows)


def lines(charts: Sequence[Chart]) -> str:
    """The charts as one SVG, two a row."""
    columns = min(2, len(charts))
    rows = -(-len(charts) // 2)
    pieces = [piece for number, chart in enumerate(charts) for piece in _panel(chart, *divmod(number, 2))]
    width, height = columns * (PANEL_W + GAP) - GAP, rows * (PANEL_H + GAP) - GAP
    return _picture(width, height, charts[0].sentence or charts[0].title, pieces)


def bars(groups: Sequence[Group]) -> str:
    """Groups of bars as one SVG, two a row; the bars of a group share a scale."""
    height = 76 + max(len(group.bars) for group in groups) * (BAR_H + 8)
    pieces = [piece for number, group in enumerate(groups) for piece in _group(group, *divmod(number, 2), height)]
    width = min(2, len(groups)) * (BAR_W + GAP) - GAP
    return _picture(width, -(-len(groups) // 2) * (height + GAP) - GAP, groups[0].title, pieces)


def _picture(width: float, height: float, title: str, pieces: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img"'
    name = escape(title)
    return "\n".join([f'{head} aria-label="{name}">', f"<title>{name}</title>", STYLE, *pieces, "</svg>", ""])


def _group(group: Group, row: int, column: int, height: float) -> Iterator[str]:
    left, top = column * (BAR_W + GAP), row * (height + GAP)
    yield _sheet(left, top, BAR_W, height)
    yield _words(left + 16, top + 26, group.title, size=15, weight=600)
    yield _words(left + 16, top + 46, group.sentence, size=12, colour=FAINT)
    longest, room = max(bar.value for bar in group.bars), BAR_W - NAME_W - 16 - 74
    for number, bar in enumerate(group.bars):
        y = top + 62 + number * (BAR_H + 8)
        wide, colour = max(2.0, bar.value / longest * room), COLOURS[0] if number == 0 else "#a9bcb5"
        yield _words(left + NAME_W, y + 16, bar.name, anchor="end", weight=600 if number == 0 else 400)
        yield f'<rect x="{left + NAME_W + 10:g}" y="{y:g}" width="{wide:.1f}" height="{BAR_H}" rx="3" fill="{colour}"/>'
        yield _words(left + NAME_W + 18 + wide, y + 16, bar.label, colour=FAINT)


def _panel(chart: Chart, row: int, column: int) -> Iterator[str]:
    left, top = column * (PANEL_W + GAP), row * (PANEL_H + GAP)
    yield _sheet(left, top, PANEL_W, PANEL_H)
    yield _words(left + 16, top + 26, chart.sentence or chart.title, size=15, weight=600)
    points = [point for line in chart.lines for point in line.points]
    xs, ys = _ticks(max(x for x, _ in points)), _ticks(max(y for _, y in points))
    across, up = (PANEL_W - LEFT - RIGHT) / xs[-1], (PANEL_H - TOP - BOTTOM) / ys[-1]
    ground = top + PANEL_H - BOTTOM
    for y in ys:
        high = ground - y * up
        yield f'<path d="M{left + LEFT:g} {high:.1f}H{left + PANEL_W - RIGHT:g}" stroke="{GRID}"/>'
        yield _words(left + LEFT - 8, high + 4, _short(y), anchor="end", size=11, colour=FAINT)
    for x in xs:
        yield _words(left + LEFT + x * across, ground + 17, _short(x), anchor="middle", size=11, colour=FAINT)
    yield _words(left + PANEL_W - RIGHT, ground + 36, chart.x, anchor="end", size=12, colour=FAINT)
    yield _words(left + 16, top + 72, chart.y, size=12, colour=FAINT)
    beside = left + 16.0
    for line, colour in zip(chart.lines, COLOURS, strict=False):
        yield from _line([(left + LEFT + x * across, ground - y * up) for x, y in line.points], colour)
        yield _words(beside, top + 49, f"● {line.name}", size=12, colour=colour)
        beside += 28 + len(line.name) * 6.6  # about as wide as its letters


def _line(places: Sequence[tuple[float, float]], colour: str) -> Iterator[str]:
    path = " ".join([f"{x:.1f},{y:.1f}" for x, y in places])
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-linejoin="round"/>'
    yield from [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]


def _ticks(most: float) -> list[float]:
    """Four to eight round numbers from 0 to the first that is not less than the largest value."""
    power = 10.0 ** next(n for n in count(-9) if 10.0 ** (n + 1) >= most)
    step = next(step * power for step in (0.2, 0.5, 1, 2) if most / (step * power) <= 7)
    ends = next(n for n in count(1) if n * step >= most * 0.999)
    return [round(n * step, 9) for n in range(ends + 1)]


def _sheet(left: float, top: float, width: float, height: float) -> str:
    return f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="10" fill="{PAPER}"/>'


def _words(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, weight: int = 400, colour: str = INK
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(words)}</text>'


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"
