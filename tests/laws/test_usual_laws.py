"""Laws of usual answers: what is read or written at once is what the general road says, or is left to it."""

from __future__ import annotations

import json
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given

from bench.canned import answers
from bench.rows.pairs import load
from interlingua.types.response import Response
from tests.support.strategies import responses
from tests.support.usual import ANSWERS, SHORT, Usual, disturbed, general

USUAL = {name: Usual(name) for name in SHORT}
CANNED = {
    "openai-chat": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/",
    "ollama": "/api/chat",
}


@pytest.mark.parametrize("name", SHORT)
def test_usual_answers_take_the_usual_road(name: str) -> None:
    """Those of each vendor, and those that the bench measures; in both directions."""
    told = [load(name).reply, *[json.dumps(body).encode() for body in ANSWERS[name]]]
    told += [answers()[CANNED[name]][0]] if name in CANNED else []
    for body in told:
        response = USUAL[name].check_reading(body)
        assert response is not None, body
        for usual in USUAL.values():
            assert usual.name == name or usual.check_writing(response) >= 4, (usual.name, body)


@pytest.mark.parametrize("name", SHORT)
def test_whatever_is_changed_in_a_usual_answer_the_roads_agree(name: str) -> None:
    """One place at a time: another value, another type, left out, told twice, a member that nobody knows."""
    usual, writers = USUAL[name], cycle(USUAL.values())
    for answer in ANSWERS[name]:
        for body in disturbed(answer):
            usual.check_reading(body, every=False)
            response = general(usual, body)
            if response is not None:
                next(writers).check_writing(response, every=False)


@given(responses)
def test_any_response_is_written_alike(response: Response[Any]) -> None:
    """Whatever it holds, in every dialect; and what was written is read alike."""
    for usual in USUAL.values():
        usual.check_writing(response, every=False)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("depth", [110, 111, 112, 113, 122, 124, 125, 126, 127, 128, 129])
def test_arguments_may_nest_as_deep_as_the_general_road_takes_them(name: str, depth: int) -> None:
    """The bound counts from the top of the body where arguments are an object, from their own where they are text."""
    body = json.dumps(ANSWERS[name][-1]).replace('"12:30"', "[" * depth + "]" * depth)
    USUAL[name].check_reading(body.replace(r"\"12:30\"", "[" * depth + "]" * depth).encode(), every=False)
