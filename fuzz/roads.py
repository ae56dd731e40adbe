"""The short roads of the dialects against the general ones: bodies and streams as they come, and conversations.

The bytes are a body of each kind by themselves, and they decide how a conversation of an agent grows and changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from random import Random

from bench.rows.pairs import load
from fuzz.target import Target
from interlingua.dialects.table import DIALECTS
from tests.support.roads import Roads, conversations, turns
from tests.support.usual import ANSWERS

__all__ = ["ROADS"]

MOST_TURNS = 8
"""So many bodies of a conversation are one input."""


def _target(name: str) -> Target:
    """Where mutation starts is one body of each kind."""
    given = load(name)
    answer = json.dumps(ANSWERS[name][-1]).encode()
    return Target(_run(name), (given.request[-2_000:], answer, b"".join(given.frames[:6] + given.frames[-3:])))


def _run(name: str) -> Callable[[bytes], None]:
    url, bodies = load(name).url, conversations(name)

    def run(data: bytes) -> None:
        random = Random(data)
        with Roads().built() as roads:
            roads.check_answer(name, data, random)
            roads.check_stream(name, data, random)
            roads.check_request(name, url, data, random)
            for body in islice(turns(name, random.choice(bodies), random), MOST_TURNS):
                roads.check_request(name, url, body, random)

    return run


ROADS: dict[str, Target] = {f"{name}-roads": _target(name) for name in DIALECTS if name in ANSWERS}
"""A target for each dialect; an input is a dozen bodies, and takes a hundred times as long as one of another target."""
