"""What tests of local models share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.local_model import weights_or_skip


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of tests that run a real model."""
    config.addinivalue_line("markers", "local_model: needs the engine and the tiny weights")


@pytest.fixture
def tiny() -> Path:
    """The tiny weights; skips where they or the engine are not there."""
    return weights_or_skip("tiny")
