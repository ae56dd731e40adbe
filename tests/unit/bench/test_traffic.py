"""The requests of the gateway's rows: no two alike, grown ones go on with those before."""

from __future__ import annotations

import json
import statistics

import pytest

from bench.traffic import KINDS, SIDE_BY_SIDE, requests


@pytest.mark.parametrize("kind", KINDS)
def test_no_request_comes_twice(kind: str) -> None:
    """Neither in one call nor in two; each is JSON of about 10 kB that names the model."""
    bodies = [*requests(kind, "m", 400), *requests(kind, "m", 400)]
    assert len(set(bodies)) == 800
    assert {json.loads(body)["model"] for body in bodies} == {"m"}
    assert 8_000 < statistics.mean(map(len, bodies)) < 12_000


def test_a_grown_conversation_goes_on() -> None:
    """The next turn of a conversation comes after a turn of each other one, and begins with the messages before it."""
    bodies = [json.loads(body) for body in requests("grown", "m", 2 * SIDE_BY_SIDE)]
    for before, after in zip(bodies[:SIDE_BY_SIDE], bodies[SIDE_BY_SIDE:], strict=True):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert len(after["messages"]) == len(before["messages"]) + 5
        assert after["tools"] == before["tools"]


def test_new_requests_bring_new_tools() -> None:
    """While new texts come with the tools that everybody has."""
    tools = {kind: [json.loads(body)["tools"] for body in requests(kind, "m", 2)] for kind in ("new-text", "new")}
    assert tools["new-text"][0] == tools["new-text"][1]
    assert tools["new"][0] != tools["new"][1]
