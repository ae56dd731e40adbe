"""Recorded traffic of real providers, replayed: nothing fails but what is known, and next to nothing is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlingua.testing.corpus import run
from interlingua.testing.known import read_known

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
KNOWN = Path(__file__).with_name("known.toml")
"""What is known to fail, each with the topic of the work that mends it."""

FILES = (
    *("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"),
    *("groq", "mistral", "deepseek", "openrouter", "other", "bedrock"),
)


@pytest.mark.parametrize("name", FILES)
def test_recorded_exchanges_pass(name: str) -> None:
    """Every exchange survives the trip to every dialect, but for known faults; each entry of those is needed."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    known_faults = read_known([KNOWN])
    [file] = run([path], known_faults=known_faults).files
    assert [line for line in file.lines() if line.split(" ")[2] == "failed"] == []
    assert file.ok, file.summary()
    assert known_faults.needless(file.verdicts) == []
