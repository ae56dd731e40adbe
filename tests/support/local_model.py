"""What tests of a real model share: where its weights are, two tools, and ten questions for them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import interlingua as il
from interlingua.errors import ConfigError
from interlingua.local import weights

__all__ = ["QUESTIONS", "TOOLS", "Question", "asked", "weights_or_skip"]


def weights_or_skip(name: str) -> Path:
    """The weights of a local model; skips where they or the engine are not there."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the engine is not installed: pip install 'interlingua[local]'")
    try:
        return weights.find(name)[1]
    except ConfigError as problem:
        pytest.skip(str(problem))


class Question(NamedTuple):
    """What is asked, and the call that is right."""

    prompt: str
    """The question."""
    name: str
    """The right tool."""
    arguments: dict[str, Any]
    """Its right arguments."""


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: First number.
        b: Second number.
    """
    return a + b


def get_weather(city: str) -> str:
    """Weather of a city.

    Args:
        city: City name.
    """
    return f"4 degrees in {city}"


TOOLS = (add, get_weather)
CITIES = ("Oslo", "Bergen", "Paris", "Rome", "Tokyo")
SUMS = ((17, 25), (3, 4), (100, 1), (12, 30), (8, 9))
QUESTIONS = (
    *[Question(f"What is the weather in {city}?", "get_weather", {"city": city}) for city in CITIES],
    *[Question(f"Add {a} and {b}.", "add", {"a": a, "b": b}) for a, b in SUMS],
)


def asked(run: il.Run[Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a run, each of a tool that is there, with arguments that fit and that it ran with."""
    assert not any(result.is_error for step in run.steps for result in step.results)
    return [(call.name, call.arguments) for step in run.steps for call in step.response.tool_calls]
