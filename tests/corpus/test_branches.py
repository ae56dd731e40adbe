"""Law of the one codec on recorded traffic: said otherwise, a body means the same (`tests/support/branches.py`)."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.corpus.test_recorded import FILES, RECORDINGS
from tests.support.branches import check_answer, check_request, recorded_bodies

EACH = 8
"""One of so many bodies."""


@pytest.mark.parametrize("name", FILES)
def test_recorded_bodies_said_otherwise_are_the_same(name: str) -> None:
    """Requests and answers, each in other words of JSON and with a stranger in one of its places at a time."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    checked = sum([check_request(*body) for body in islice(recorded_bodies(path, "request"), 0, None, EACH)])
    for dialect, _, body in islice(recorded_bodies(path, "response"), 0, None, EACH):
        checked += check_answer(dialect, body)
    assert checked > 0
