"""A run as a page: `bench/RESULTS.md`, made of the JSON that the run keeps and of nothing else."""

from __future__ import annotations

from typing import Any

from bench.outcomes import shown

__all__ = ["markdown"]

ROOMS = {
    "import": "The package",
    "codec": "Translation",
    "library": "The library, beside those of others",
    "gateway": "The gateway, beside nginx and those of others",
    "gateways": "Gateways: start and memory",
    "growth": "How cost grows",
}
"""Headings by the first word of a row's name; every other row is a part."""
PARTS = "Parts"
MARKS = {"met": "met", "missed": "**missed**"}


def markdown(run: dict[str, Any]) -> str:
    """The page of a run."""
    rows: list[dict[str, Any]] = run["rows"]
    barred = [row for row in rows if row["bar"] is not None]
    counts = {verdict: sum(row["verdict"] == verdict for row in barred) for verdict in ("met", "missed", "not run")}
    parts = [
        "# Results",
        f"Written by `{run['command']}`, never by hand. What a number leaves out is in [README.md](README.md).",
        f"**Of {len(barred)} bars {counts['met']} are met, {counts['missed']} missed, {counts['not run']} not run.**"
        + _missed(barred),
        _conditions(run),
        *[text for name in [*ROOMS.values(), PARTS] if (text := _room(name, rows))],
        _plots(run),
        _peers(run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _missed(barred: list[dict[str, Any]]) -> str:
    """The rows that missed their bar, by name."""
    names = [f"`{row['name']}`" for row in barred if row["verdict"] == "missed"]
    return f" Missed: {', '.join(names)}." if names else ""


def _conditions(run: dict[str, Any]) -> str:
    noise = run["noise"]
    lines = {
        "when": f"{run['measured_at']}, for {run['took_s'] / 60:.1f} minutes",
        "machine": run["machine"],
        "software": run["software"],
        "others on the machine": f"load average before the run {run['load_before']:.2f}",
        "noise": (
            f"the same loop before each row: median {noise['median_us']:.0f} µs, "
            f"from {noise['lowest_us']:.0f} to {noise['highest_us']:.0f}, the middle half within {noise['spread']:.1%}"
        ),
    }
    told = [f"| {name} | {value} |" for name, value in lines.items()]
    return "\n".join(["| condition | |", "|---|---|", *told])


def _room(name: str, rows: list[dict[str, Any]]) -> str:
    """The rows below one heading: those with a bar first."""
    here = [row for row in rows if ROOMS.get(row["name"].partition("/")[0], PARTS) == name]
    if not here:
        return ""
    ordered = sorted(here, key=lambda row: row["bar"] is None)
    head = ["| row | what | bar | measured | ± | verdict |", "|---|---|---|---|---|---|"]
    cells = [_cells(row) for row in ordered if row.get("cells")]
    return "\n\n".join([f"## {name}", "\n".join([*head, *map(_row, ordered)]), *cells])


def _row(row: dict[str, Any]) -> str:
    bar = "" if row["bar"] is None else f"≤ {shown(row['bar'], row['unit'])}"
    measured = "" if row["measured"] is None else shown(row["measured"], row["unit"])
    spread = f"{row['spread']:.0%}" if "spread" in row else ""
    what = f"{row['what']} ({row['note']})" if row.get("note") else row["what"]
    return f"| {row['name']} | {_cell(what)} | {bar} | {measured} | {spread} | {_verdict(row)} |"


def _verdict(row: dict[str, Any]) -> str:
    if row["verdict"] == "not run":
        return f"not run ({_cell(row['reason'])})"
    return MARKS.get(row["verdict"], "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _cells(row: dict[str, Any]) -> str:
    """Every cell of a row, folded away."""
    told = [
        f"| {name} | {shown(cell['measured'], row['unit'])} | {MARKS.get(cell['verdict'], '')} |"
        for name, cell in row["cells"].items()
    ]
    head = f"<details><summary>{row['name']}: {row['summary']}</summary>"
    return "\n".join([head, "", "| cell | measured | |", "|---|---|---|", *told, "", "</details>"])


def _plots(run: dict[str, Any]) -> str:
    return f"![How cost grows]({run['picture']})" if run.get("picture") else ""


def _peers(run: dict[str, Any]) -> str:
    """Versions and settings of everybody else."""
    told = [
        f"| {name} | {version} | {_cell(run['settings'].get(name, ''))} |" for name, version in run["peers"].items()
    ]
    return "\n".join(["## Peers", "", "| peer | version | settings |", "|---|---|---|", *told]) if told else ""
