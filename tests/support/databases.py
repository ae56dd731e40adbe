"""Databases that nobody closes, told on every Python as 3.13 tells them: a test fails whose connection is forgotten."""

from __future__ import annotations

import os
import sqlite3
import warnings
from typing import Any

__all__ = ["watch"]

_connect = sqlite3.connect


class _Connection(sqlite3.Connection):
    """A connection that warns where it is dropped before it is closed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._opened_in = os.environ.get("PYTEST_CURRENT_TEST", "no test")
        self._is_open = True
        super().__init__(*args, **options)

    def close(self) -> None:
        self._is_open = False
        super().close()

    def __del__(self) -> None:
        if self._is_open:
            warnings.warn(f"a database is never closed, opened in {self._opened_in}", ResourceWarning, stacklevel=1)


def watch() -> None:
    """From now on, every connection of this process is watched."""
    sqlite3.connect = _watched


def _watched(*args: Any, **options: Any) -> sqlite3.Connection:
    return _connect(*args, factory=_Connection, **options)
