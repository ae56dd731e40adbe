"""Losses planted in the codec: the judge of recorded exchanges notices them; `make sabotage` tries every one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from interlingua.dialects.table import DIALECTS
from sabotage.__main__ import known_reasons
from sabotage.run import Outcome, Plant, Sample, every_plant, try_plants

INVENTED = Path(__file__).with_name("invented.jsonl")
PLANTS = {"request": 66, "response": 48, "stream": 24, "error": 12}
"""How many of each kind are tried here."""


@pytest.fixture(scope="module")
def sample() -> Sample:
    """The invented exchanges."""
    return Sample([INVENTED], 0, 1)


def _open(outcomes: list[Outcome]) -> list[str]:
    reasons = known_reasons()
    return [one.plant.name for one in outcomes if not one.noticed and one.plant.name not in reasons]


def test_there_are_enough_of_them() -> None:
    """At least eighty losses, each in every dialect, and every reason is that of a plant."""
    plants = list(every_plant())
    assert len({(plant.value, plant.loss) for plant in plants}) >= 80
    assert {plant.dialect for plant in plants} == set(DIALECTS)
    assert set(known_reasons()) <= {plant.name for plant in plants}


def test_a_sample_is_noticed(sample: Sample) -> None:
    """Losses of every kind, on what is invented: each is noticed, or its reason is written."""
    plants = list(every_plant())
    random.Random("a sample of losses").shuffle(plants)
    tried = [plant for kind, count in PLANTS.items() for plant in [one for one in plants if one.value == kind][:count]]
    outcomes = try_plants(tried, sample, lambda outcome: None)
    assert {outcome.plant.value for outcome in outcomes} == {*PLANTS}
    assert len(outcomes) > sum(PLANTS.values()) // 3
    assert _open(outcomes) == []


@pytest.mark.parametrize(
    "words",
    [
        "request: temperature lost / anthropic encode_request other",
        "request: second system text lost / openai-chat encode_request other",
        "request: arguments of parallel calls swapped / google encode_request other",
        "request: last member inside of an argument lost / anthropic encode_request other",
        "request: last member inside of an argument lost / openai-responses encode_request other",
        "request: everything refused as server_tools at /tools/0 / ollama encode_request other",
        "response: length sent as stop / anthropic encode_response other",
        "stream: last piece of text lost / openai-responses stream_encoder other",
        "stream: empty stream with a clean end / openai-chat stream_encoder other",
        "error: message lost / google encode_error other",
        "error: time to come back lost / anthropic encode_error other",
    ],
)
def test_losses_that_once_passed_are_noticed(words: str, sample: Sample) -> None:
    """Each is one that an earlier judge could not see, or that must never pass."""
    plants: list[Plant] = [plant for plant in every_plant() if plant.name == words]
    [outcome] = try_plants(plants, sample, lambda outcome: None)
    assert outcome.noticed
