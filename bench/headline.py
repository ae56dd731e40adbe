"""The numbers of the README: some rows of the last whole run, ours beside those of others.

`make bench-full` writes them between `<!-- numbers -->` and `<!-- /numbers -->`, and their picture, together with
RESULTS.md. They are made of the JSON that the run keeps and of nothing else, misses included.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from bench.outcomes import shown
from bench.plot import Bar, Group, bars

__all__ = ["SPEED", "headline", "speed", "with_numbers"]

SPEED = Path("docs", "assets", "speed.svg")
"""The picture of the numbers, from the README."""

_PLACE = re.compile(r"(<!-- numbers -->\n).*?(<!-- /numbers -->)", re.DOTALL)


class Line(NamedTuple):
    """One line of a table."""

    what: str
    """What is measured, in words."""
    ours: str
    """The row, or the cell as `row#cell`, that holds our own number."""
    theirs: str
    """The row, or the cell, of a peer, whose name takes the place of `*`."""
    cells_are_numbers: bool = False
    """Whether a peer's value is a number of its own; else a ratio, ours over theirs."""


LIBRARIES = ("openai", "any-llm", "litellm", "pydantic-ai", "langchain-openai")
GATEWAYS = ("nginx", "ferrogw", "portkey", "llm-rosetta", "litellm")
LIBRARY_LINES = (
    Line("a call", "library/sync", "library/sync/*"),
    Line("a call, 64 at once on asyncio", "library/aio-64", "library/aio-64/*"),
    Line("an event of a stream", "library/stream", "library/stream/*"),
    Line("import, and a client", "library/import#interlingua", "library/import#*", cells_are_numbers=True),
)
GATEWAY_LINES = (
    Line("an event of a stream, translated", "gateway/burst", "gateway/burst-translated/*"),
    Line("start, until the first answer", "gateway/start", "gateways/start#*", cells_are_numbers=True),
    Line("memory after the first answer", "gateway/memory", "gateways/idle#*", cells_are_numbers=True),
)


def headline(run: dict[str, Any]) -> str:
    """What the README says of a run."""
    rows: dict[str, dict[str, Any]] = {row["name"]: row for row in run["rows"]}
    barred = [row for row in rows.values() if row["bar"] is not None]
    missed = [f"`{row['name']}`" for row in barred if row["verdict"] == "missed"]
    met = sum(row["verdict"] == "met" for row in barred)
    told = f"{met} of our own {len(barred)} bars are met" + (f"; missed: {', '.join(missed)}." if missed else ".")
    tables = (_table("library", LIBRARIES, LIBRARY_LINES, rows), _table("gateway", GATEWAYS, GATEWAY_LINES, rows))
    return "\n\n".join([*tables, f"Measured on {run['measured_at'][:10]}: {told}"])


def speed(run: dict[str, Any]) -> str:
    """The picture: ours beside others, a group of bars for each line that has peers."""
    rows: dict[str, dict[str, Any]] = {row["name"]: row for row in run["rows"]}
    shown_lines = [(LIBRARIES, line) for line in LIBRARY_LINES[:3:2]] + [(LIBRARIES, LIBRARY_LINES[3])]
    groups = [_bars(line, peers, rows) for peers, line in (*shown_lines, (GATEWAYS, GATEWAY_LINES[0]))]
    return bars([group for group in groups if group is not None])


def _bars(line: Line, peers: tuple[str, ...], rows: dict[str, dict[str, Any]]) -> Group | None:
    """Ours as 1, and each peer that was measured by how many times ours it takes."""
    ratios = {peer: ratio for peer in peers if (ratio := _ratio(line, peer, rows)) is not None}
    if not ratios:
        return None
    least, most = [f"{_rounded(value):,g}" for value in (min(ratios.values()), max(ratios.values()))]
    ours = Bar("interlingua", 1, _number(line.ours, rows))
    theirs = [Bar(peer, ratio, f"{_rounded(ratio):,g}×") for peer, ratio in ratios.items()]
    return Group(line.what.capitalize(), f"others take {least} to {most} times as much", (ours, *theirs))


def _ratio(line: Line, peer: str, rows: dict[str, dict[str, Any]]) -> float | None:
    name = line.theirs.replace("*", peer)
    if line.cells_are_numbers:
        ours, theirs = _measured(line.ours, rows), _measured(name, rows)
        return theirs / ours if ours and theirs else None
    measured = _measured(name, rows)
    return 1 / measured if measured else None


def with_numbers(document: str, run: dict[str, Any]) -> str:
    """The document with its numbers made anew."""
    return _PLACE.sub(lambda place: f"{place[1]}{headline(run)}\n{place[2]}", document)


def _table(title: str, peers: tuple[str, ...], lines: tuple[Line, ...], rows: dict[str, dict[str, Any]]) -> str:
    head = [f"| {title} | interlingua | {' | '.join(peers)} |", "|---|---|" + "---|" * len(peers)]
    return "\n".join([*head, *(_line(line, peers, rows) for line in lines)])


def _line(line: Line, peers: tuple[str, ...], rows: dict[str, dict[str, Any]]) -> str:
    cells = [_their(line, peer, rows) for peer in peers]
    return f"| {line.what} | {_number(line.ours, rows)} | {' | '.join(cells)} |"


def _their(line: Line, peer: str, rows: dict[str, dict[str, Any]]) -> str:
    """A peer's number, or how many times ours it takes."""
    name = line.theirs.replace("*", peer)
    if line.cells_are_numbers:
        return _number(name, rows)
    row = rows.get(name)
    if row is None or not row["measured"]:
        return "–"
    return f"{_rounded(1 / row['measured']):,g}×"


def _number(name: str, rows: dict[str, dict[str, Any]]) -> str:
    measured = _measured(name, rows)
    return "–" if measured is None else shown(_rounded(measured), rows[name.partition("#")[0]]["unit"])


def _measured(name: str, rows: dict[str, dict[str, Any]]) -> float | None:
    """What a row or its cell has, or None where it was not measured."""
    row_name, _, cell = name.partition("#")
    row: dict[str, Any] = rows.get(row_name, {})
    return row.get("cells", {}).get(cell, {}).get("measured") if cell else row.get("measured")


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")
