"""Model ids and options reach the wire as they were given, and a call leaves nothing behind."""

from __future__ import annotations

from typing import get_args

import pytest

import interlingua as il
from interlingua.types.capability import Effort
from interlingua.wire.json import decode_any
from tests.support.client import chat, scripted


@pytest.mark.parametrize("name", ["gpt-5.6-high", "meta/llama-4:free", "a@b", "x:thinking"])
def test_r07_model_ids_are_verbatim(name: str) -> None:
    """No suffix of a model's name means anything to us."""
    with scripted(chat()) as script:
        reply = il.model(f"openrouter/{name}").generate("Hi")
    body = decode_any(script.requests[0].body)
    assert (body["model"], reply.model) == (name, f"openrouter/{name}")
    assert body.keys() == {"model", "messages"}


@pytest.mark.parametrize("effort", get_args(Effort))
def test_r07_effort_is_an_option(effort: Effort) -> None:
    """Each of the seven words is a member of the request, beside the model's plain name."""
    with scripted(chat()) as script:
        il.model("mistral/magistral-medium").generate("Hi", effort=effort)
    body = decode_any(script.requests[0].body)
    assert (body["model"], body["reasoning_effort"]) == ("magistral-medium", effort)


def test_r06_a_call_leaves_its_model_as_it_was() -> None:
    """A call's own options hold for that call alone, and the same model asks the same again."""
    model = il.model("openai-chat/gpt-4.1", temperature=0.5, stop=["END"])
    with scripted(chat(), chat(), chat()) as script:
        model.generate("Hi")
        model.generate("Hi", temperature=None, stop="X", seed=7, system="Be terse.")
        model.generate("Hi")
    first, second, third = [decode_any(sent.body) for sent in script.requests]
    assert first == third
    assert first["temperature"] == 0.5
    assert second.keys() == {"model", "messages", "stop", "seed"}
