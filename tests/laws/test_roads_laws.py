"""Law of the short roads: whatever came before, a body is read and written as it is by the general road."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest

from bench.rows.pairs import load
from interlingua.testing.framed import BINARY, stream_bytes, stream_text
from tests.support.imitated import IMITATED
from tests.support.roads import Roads, changed, conversations, marked_turns, turns
from tests.support.usual import ANSWERS


@pytest.fixture(scope="module")
def roads() -> Iterator[Roads]:
    """Both roads, for all tests of this file: what one leaves behind, the next one meets."""
    with Roads().built() as built:
        yield built


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", IMITATED)
def test_requests_of_conversations_that_grow_and_change(roads: Roads, name: str, seed: int) -> None:
    """An agent's turns, and whatever else a client may send in between them."""
    random, bodies = Random(seed), conversations(name)
    for body in turns(name, bodies[seed % len(bodies)], random):
        roads.check_request(name, load(name).url, body, random)


@pytest.mark.parametrize("seed", range(40))
def test_agents_that_mark_what_is_to_be_cached(roads: Roads, seed: int) -> None:
    """What an agent marks moves from turn to turn; each turn goes to the same target."""
    for body in marked_turns(Random(seed)):
        roads.check_request("anthropic", load("anthropic").url, body, Random(seed))


@pytest.mark.parametrize("name", IMITATED)
def test_answers_that_were_changed(roads: Roads, name: str) -> None:
    """Usual ones, with one thing or two in them that are not."""
    random = Random(name)
    for answer in ANSWERS[name] * 12:
        roads.check_answer(name, changed(answer, random, random.randrange(1, 3)), random)


@pytest.mark.parametrize("name", IMITATED)
def test_streams_that_were_changed(roads: Roads, name: str) -> None:
    """Their frames repeated, left out, moved and said otherwise."""
    random, frames = Random(name), [stream_text(name, frame).encode() for frame in load(name).frames]
    for _ in range(12):
        told = [*frames[:9], *frames[-5:]]
        place = random.randrange(len(told))
        head, brace, rest = told[place].partition(b"{")
        payload, end, tail = rest.rpartition(b"}")
        if brace and b"\n" not in payload:
            told[place] = head + changed(json.loads(brace + payload + end), random).replace(b"\n", b" ") + tail
        told.insert(random.randrange(len(told)), random.choice(told))
        del told[random.randrange(len(told))]
        body = b"".join(told)
        if name in BINARY:
            body = stream_bytes(name, body.decode(errors="replace"))
        roads.check_stream(name, body, random)
