"""The strict upstream against recorded traffic: what a provider took it takes, what a provider refused it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlingua.testing.upstream.recorded import HOSTS, main, settle

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""


def _recording(name: str) -> Path:
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    return path


@pytest.mark.parametrize("name", HOSTS)
def test_requests_are_settled_as_they_were(name: str) -> None:
    """Every request that was answered is taken; one that was refused with 400 is, unless no request could show why."""
    [service] = [one for one in settle([_recording(name)]) if one.dialect == name]
    assert (service.refused_here, service.taken_here) == ({}, {})
    assert service.answered > 30


def test_both_counts_are_printed() -> None:
    """One line for each service, and status 0 when everything is settled as it was."""
    written: list[str] = []
    assert main([str(_recording(name)) for name in HOSTS], written.append) == 0
    assert written == [
        f"{name}: {answered} answered, 0 of them refused here; {refused} refused with 400, 0 of them taken here"
        for name, answered, refused in (
            ("openai-chat", 696, 9),
            ("openai-responses", 679, 8),
            ("anthropic", 591, 2),
            ("google", 435, 0),
            ("cohere", 31, 0),
            ("ollama", 48, 0),
            ("bedrock", 102, 6),
        )
    ]
