"""What tests of local models share."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.local import weights


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of tests that run a real model."""
    config.addinivalue_line("markers", "local_model: needs the engine and the tiny weights")


@pytest.fixture
def tiny() -> Path:
    """The tiny weights; skips where they or the engine are not there."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the engine is not installed: pip install 'interlingua[local]'")
    try:
        return weights.find("tiny")[1]
    except ConfigError as problem:
        pytest.skip(str(problem))
