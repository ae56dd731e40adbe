"""Recorded traffic of real providers, replayed: nothing fails, and next to nothing is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlingua.testing.corpus import run

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""

FILES = (
    *("openai-chat", "openai-responses", "anthropic", "google", "ollama"),
    *("groq", "mistral", "deepseek", "openrouter", "other"),
)


@pytest.mark.parametrize("name", FILES)
def test_recorded_exchanges_pass(name: str) -> None:
    """Every exchange of the file survives the trip through its own dialect and every other; at most 2 % are refused."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    report = run([path])
    [file] = report.files
    failed = [line for line in report.lines() if line.split(" ")[2:3] == ["failed"]]
    assert failed == []
    assert file.ok, file.summary()
