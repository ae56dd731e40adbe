"""What every test of the command line stands on: a home of its own, a place for modules, and stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

Pipe = Callable[[bytes], None]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """State and weights of this test alone; the current directory; a search path that is put back."""
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"")))
    return tmp_path / "home"


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Pipe:
    """Puts bytes into stdin."""
    return lambda data: monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))
