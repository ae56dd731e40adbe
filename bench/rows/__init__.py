"""The rows: each module here lists some in `ROWS`, and is found by being here."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Row", "all_rows"]


class Row(NamedTuple):
    """One number to reach."""

    name: str
    """Unique, short: `import/cpu`."""
    what: str
    """What is measured against what."""
    bar: float | None
    """At most this; None only informs."""
    unit: str
    """`x` for a ratio, else `MB`, `µs`, …"""
    measure: Callable[[], float | dict[str, float]]
    """Gives the number, or one for each of several cells; or raises `bench.measure.NotRun`."""
    only_full: bool = False
    """Whether it runs with `--full` alone: it asks other software, or takes long."""


def all_rows() -> list[Row]:
    """Every row of every module here, modules by name."""
    rows: list[Row] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        rows.extend(importlib.import_module(f"{__name__}.{module.name}").ROWS)
    return rows
