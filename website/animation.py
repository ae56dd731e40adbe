"""Rows of a terminal over time as an animated SVG: CSS alone moves it, and it loops.

Each content of a row is a text that shows itself between two moments. Characters that were typed one by one are one
text behind a lid that moves aside. Without motion (`prefers-reduced-motion`) the last picture stands still. The panel
has colours of its own, so that it reads the same on a light page and on a dark one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from website.terminal import Content

__all__ = ["animation"]

CELL, LINE, MARGIN, HEAD, SIZE = 9.6, 22, 20, 36, 16
"""Width of a character, height of a row, the room around, the bar above, and the size of the letters, in pixels."""
INK, PAPER, FAINT, GREEN, EDGE = "#e7f3ef", "#0d1f1a", "#9fb5ae", "#5fc9ae", "#2c4a41"
DOTS = ("#c2621b", "#d9b44a", "#14806a")
FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"


class Piece(NamedTuple):
    """A content of a row, and how it was typed."""

    content: Content
    """The row when it was complete."""
    typed: int
    """How many of its last characters came one by one; 0 for an output."""
    typing_s: float
    """How long they took."""


def animation(contents: Sequence[Content], columns: int, rows: int, *, title: str, end_s: float) -> str:
    """The whole SVG; it begins anew after `end_s` seconds."""
    width, height = 2 * MARGIN + columns * CELL, HEAD + MARGIN + 6 + rows * LINE
    pieces = _pieces(contents)
    moves, last = _scrolling(contents, rows, end_s)
    texts = [_text(number, piece) for number, piece in enumerate(pieces)]
    rules = [rule for number, piece in enumerate(pieces) for rule in _rules(number, piece, end_s)]
    style = [
        f"text{{font:{SIZE}px {FONT};fill:{INK};white-space:pre}}",
        f".dim{{fill:{FAINT}}}.green{{fill:{GREEN}}}.past,.lid{{visibility:hidden}}.lid{{fill:{PAPER}}}",
        f"#rows{{transform:translateY({-last * LINE}px);animation:scroll {end_s:.2f}s step-end infinite}}",
        f"#rows text,#rows rect{{animation:none {end_s:.2f}s step-end infinite}}",
        "@media (prefers-reduced-motion:reduce){#rows,#rows text,#rows rect{animation:none!important}}",
        f"@keyframes scroll{{{moves}}}",
        *rules,
    ]
    dots = [f'<circle cx="{24 + 20 * place}" cy="19" r="6" fill="{colour}"/>' for place, colour in enumerate(DOTS)]
    name = escape(title)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img" aria-label="{name}">',
        f"<title>{name}</title>",
        "<style>",
        *style,
        "</style>",
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1}" rx="10" fill="{PAPER}" stroke="{EDGE}"/>',
        *dots,
        f'<svg x="0" y="{HEAD + MARGIN // 2}" width="{width:g}" height="{rows * LINE + 6}">',
        '<g id="rows">',
        *texts,
        "</g>",
        "</svg>",
        "</svg>",
        "",
    ])  # fmt: skip


def _pieces(contents: Sequence[Content]) -> list[Piece]:
    """Contents of rows, those that were typed put together."""
    pieces: list[Piece] = []
    for content in contents:
        last = pieces[-1] if pieces else None
        if last is not None and _goes_on(last.content, content):
            typing_s = last.typing_s + content.start_s - last.content.start_s
            pieces[-1] = Piece(content, last.typed + 1, typing_s)
        else:
            pieces.append(Piece(content, 0, 0.0))
    return pieces


def _goes_on(before: Content, after: Content) -> bool:
    """Whether one character came to the end of a row."""
    return before.row == after.row and before.cells == after.cells[:-1] and before.end_s == after.start_s


def _scrolling(contents: Sequence[Content], rows: int, end_s: float) -> tuple[str, int]:
    """The keyframes of the rows as a whole, and how many of them are above the window at the end."""
    above = 0
    moves = {"0%": "none"}
    for content in contents:
        if content.row - rows + 1 > above:
            above = content.row - rows + 1
            moves[_percent(content.start_s, end_s)] = f"translateY({-above * LINE}px)"
    return "".join([f"{moment}{{transform:{move}}}" for moment, move in moves.items()]), above


def _rules(number: int, piece: Piece, end_s: float) -> Iterator[str]:
    """The keyframes of one text, and of the lid over what is typed."""
    content, typed, typing_s = piece
    start_s = content.start_s - typing_s
    shown = f"{_percent(start_s, end_s)}{{visibility:visible}}"
    hidden = "" if content.end_s is None else f"{_percent(content.end_s, end_s)}{{visibility:hidden}}"
    yield f"@keyframes t{number}{{0%{{visibility:hidden}}{shown}{hidden}}}"
    if typed:
        begin = f"visibility:visible;transform:none;animation-timing-function:steps({typed})"
        end = f"visibility:hidden;transform:translateX({typed * CELL:g}px)"
        yield (
            f"@keyframes l{number}{{0%{{visibility:hidden}}{_percent(start_s, end_s)}{{{begin}}}"
            f"{_percent(content.start_s, end_s)},to{{{end}}}}}"
        )


def _text(number: int, piece: Piece) -> str:
    """A content of a row at its place, a text for each style, so that a grid of columns holds whatever the font."""
    content, typed, _ = piece
    y = content.row * LINE
    runs: list[str] = []
    column = 0
    for style, cells in groupby(content.cells, key=lambda cell: cell[1]):
        words = "".join([character for character, _ in cells])
        if words.strip():
            runs.append(_run(number, column, y + SIZE, words, f"{style} past" if content.end_s is not None else style))
        column += len(words)
    if typed:
        x = MARGIN + (column - typed) * CELL
        place = f'x="{x:g}" y="{y:g}" width="{typed * CELL + 1:g}" height="{LINE}"'
        runs.append(f'<rect class="lid" {place} style="animation-name:l{number}"/>')
    return "\n".join(runs)


def _run(number: int, column: int, y: float, words: str, style: str) -> str:
    start = column + len(words) - len(words.lstrip())
    shown = words.strip()
    kind = f' class="{style.strip()}"' if style.strip() else ""
    place = f'x="{MARGIN + start * CELL:g}" y="{y:g}" textLength="{len(shown) * CELL:g}"'
    return f'<text {place}{kind} style="animation-name:t{number}">{escape(shown)}</text>'


def _percent(time_s: float, end_s: float) -> str:
    return f"{100 * time_s / end_s:.2f}%"
