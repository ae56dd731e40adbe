"""The commands of `il models`: list, pull and path, as plain functions.

Rules
- Results go to `out`, progress to `notes`; a terminal sees one line that moves, everything else plain lines.
- Errors are raised; whoever calls turns them into one line.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import IO, NamedTuple

from interlingua.local import weights
from interlingua.local.pull import pull
from interlingua.local.weights import MODELS

__all__ = ["ModelStatus", "ProgressLine", "list_models", "models", "path_of", "pull_model"]


class ModelStatus(NamedTuple):
    """One model that can be pulled, and whether it was."""

    name: str
    """The name behind `local/`."""
    pulled: bool
    """Whether its weights are there."""
    size_bytes: int
    """Size of its weights."""
    licence: str
    """Licence of its weights."""
    description: str
    """The description."""


def models() -> tuple[ModelStatus, ...]:
    """Every model that can be pulled."""
    statuses: list[ModelStatus] = []
    for row in MODELS.values():
        file = weights.path(row.name)
        is_there = file.exists() and file.stat().st_size == row.size_bytes
        statuses.append(ModelStatus(row.name, is_there, row.size_bytes, row.licence, row.description))
    return tuple(statuses)


def list_models(*, out: IO[str] | None = None) -> None:
    """Print one line for each model."""
    for row in models():
        state = "here" if row.pulled else "not pulled"
        size = f"{row.size_bytes / 1e6:,.0f} MB"
        print(f"local/{row.name:<7} {state:<11} {size:>9}  {row.licence}  {row.description}", file=out or sys.stdout)


def pull_model(name: str, *, out: IO[str] | None = None, notes: IO[str] | None = None) -> Path:
    """Fetch a model's weights, show how far it is, print where they lie.

    Raises: ConfigError, as `pull`.
    """
    line = ProgressLine(notes or sys.stderr)
    try:
        file = pull(name, progress=line)
    finally:
        line.end()
    print(file, file=out or sys.stdout)
    return file


def path_of(name: str, *, out: IO[str] | None = None) -> Path:
    """Print where the weights lie that a model name stands for.

    Raises: ConfigError, when there is no such model or its weights are not there.
    """
    _, file = weights.find(name)
    print(file, file=out or sys.stdout)
    return file


class ProgressLine:
    """Shows how far a download is: one moving line on a terminal, a line for each tenth elsewhere."""

    def __init__(self, stream: IO[str]) -> None:
        """A line that has not been written."""
        self._stream = stream
        self._moves = stream.isatty()
        self._shown = ""
        self._drawn_at = 0.0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Show that `done` bytes of `total` are there."""
        share = f"{100 * done // total:>3} %" if total else ""
        text = f"pulling {what}  {done / 1e6:,.1f} MB {share}".rstrip()
        if self._moves:
            if time.monotonic() - self._drawn_at >= 0.1 or done == total:
                self._drawn_at = time.monotonic()
                self._write(f"\r{text:<60}")
        elif total and (step := f"{what} {10 * done // total}") != self._shown:
            self._shown = step
            self._write(f"{text}\n")

    def end(self) -> None:
        """Leave the moving line behind."""
        if self._moves and self._drawn_at:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
