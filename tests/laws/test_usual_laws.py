"""Laws of usual answers: what is read or written at once is what the general road says, or is left to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from bench.canned import answers
from bench.rows.pairs import load
from interlingua.types.response import Response
from tests.support.strategies import responses
from tests.support.usual import ANSWERS, Usual, disturbed, general

USUAL = {name: Usual(name) for name in ANSWERS}
CANNED = {
    "openai-chat": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/",
    "ollama": "/api/chat",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_usual_answers_take_the_usual_road(name: str) -> None:
    """Those of each vendor, and those that the bench measures; in both directions."""
    told = [load(name).reply, *[json.dumps(body).encode() for body in ANSWERS[name]]]
    told += [answers()[CANNED[name]][0]] if name in CANNED else []
    for body in told:
        response = USUAL[name].check_reading(body)
        assert response is not None, body
        for usual in USUAL.values():
            assert usual.name == name or usual.check_writing(response) >= 4, (usual.name, body)


@pytest.mark.parametrize("name", ANSWERS)
def test_whatever_is_changed_in_a_usual_answer_the_roads_agree(name: str) -> None:
    """One place at a time: another value, another type, left out, told twice, a member that nobody knows."""
    usual = USUAL[name]
    for answer in ANSWERS[name]:
        for body in disturbed(answer):
            usual.check_reading(body)
            response = general(usual, body)
            if response is not None:
                for writer in USUAL.values():
                    writer.check_writing(response)


@given(responses)
def test_any_response_is_written_alike(response: Response[Any]) -> None:
    """Whatever it holds, in every dialect; and what was written is read alike."""
    for usual in USUAL.values():
        usual.check_writing(response)
