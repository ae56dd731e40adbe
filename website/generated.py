"""Texts that stand in pages in the place of `<!-- generated: NAME -->`, each made from the code."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import interlingua.errors
from interlingua.cli.main import CHAPTERS, main
from interlingua.types.change import CODES
from website import api

ROOT = Path(__file__).resolve().parents[1]
REMEDIES: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "remedies.toml").read_text(encoding="utf-8")
)
"""The cause and the remedy of each class of error."""


def commands() -> str:
    """The help of every command of `il`."""
    pieces: list[str] = []
    for title, names in CHAPTERS.items():
        pieces.append(f"## {title.capitalize()}\n")
        for name, line in names.items():
            pieces.append(f"### `il {name}` {{ #{name} }}\n\n{line[0].upper()}{line[1:]}.\n")
            pieces.append(f"```text\n{_help(name)}\n```\n")
    return "\n".join(pieces)


def _help(name: str) -> str:
    """The help of a command as a terminal of 100 columns shows it."""
    columns, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "100"
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
            main([name, "--help"])
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return text.getvalue().strip()


def errors() -> str:
    """Every class of error: its cause, its remedy, its base classes, and whether it is retried."""
    pieces: list[str] = []
    for name in interlingua.errors.__all__:
        kind = getattr(interlingua.errors, name)
        if not (isinstance(kind, type) and issubclass(kind, interlingua.errors.Error)):
            continue
        entry = REMEDIES[name]
        parents = [base.__name__ for base in kind.__mro__[1:] if issubclass(base, interlingua.errors.Error)]
        bases = f"- **Base classes:** {', '.join([f'`{parent}`' for parent in parents])}.\n" if parents else ""
        again = "yes" if kind.retryable else "no"
        pieces.append(
            f"## `{name}` {{ #{name} }}\n\n"
            f"- **Cause:** {entry['cause']}\n- **Remedy:** {entry['remedy']}\n{bases}"
            f"- **Automatic retries:** {again}. **HTTP status at the gateway:** {kind.http_status}.\n"
        )
    return "\n".join(pieces)


def changes() -> str:
    """The table of change codes."""
    lines = ["| code | action | meaning |", "|---|---|---|"]
    lines += [f"| `{code}` | {row.action} | {row.meaning} |" for code, row in sorted(CODES.items())]
    return "\n".join(lines)


def compare_gateways() -> str:
    """The summary of the scoreboard, with its day."""
    text = (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8")
    day = re.search(r"Run on ([^,]+),", text)
    table = re.search(r"^## Summary\n\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert day is not None
    assert table is not None
    return f"Measured on {day[1]}. Each figure is the number of passed checks, of all that were made.\n\n{table[1]}"


GENERATED: dict[str, Callable[[], str]] = {
    "api-models": lambda: api.chapter("models"),
    "api-tools": lambda: api.chapter("tools"),
    "api-scale": lambda: api.chapter("scale"),
    "api-values": lambda: api.chapter("values"),
    "commands": commands,
    "errors": errors,
    "changes": changes,
    "compare-gateways": compare_gateways,
}
"""The maker of each text."""
