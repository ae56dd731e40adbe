"""The loop and typed answers with a real model: what comes is valid every time; whether it is right is printed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import interlingua as il

pytestmark = pytest.mark.local_model

CITIES = ("Oslo", "Bergen", "Paris", "Rome", "Tokyo")
SUMS = ((17, 25), (3, 4), (100, 1), (12, 30), (8, 9))


@dataclass
class Person:
    """A person in a sentence."""

    name: str
    age: int


PEOPLE = (
    Person("Ada", 36),
    Person("Bjarne", 52),
    Person("Chen", 19),
    Person("Dora", 70),
    Person("Emil", 8),
    Person("Fatima", 41),
    Person("Grete", 63),
    Person("Hans", 25),
    Person("Ingrid", 30),
    Person("Jonas", 12),
)


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


def _model() -> il.Model:
    return il.model("local/tiny", temperature=0, max_tokens=120, seed=1)


def test_r38_a_real_model_works_with_two_tools(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten prompts end by themselves, with calls of tools that are there and arguments that fit."""
    assert tiny.is_file()
    agent = il.Agent(_model(), tools=[add, get_weather], system="Use a tool, then answer in one short sentence.")
    asked: list[tuple[str, str, dict[str, Any]]] = [
        *[(f"What is the weather in {city}?", "get_weather", {"city": city}) for city in CITIES],
        *[(f"Add {a} and {b}.", "add", {"a": a, "b": b}) for a, b in SUMS],
    ]
    right = 0
    for prompt, name, arguments in asked:
        run = agent.run(prompt)
        assert run.stop_reason == "done"
        calls = [call for step in run.steps for call in step.response.tool_calls]
        assert calls
        assert not any(result.is_error for step in run.steps for result in step.results)
        right += [(call.name, call.arguments) for call in calls] == [(name, arguments)]
    with capsys.disabled():
        sys.stdout.write(f"\ntiny called the right tool with the right arguments in {right} of {len(asked)} runs\n")


def test_r36_a_real_model_gives_values(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten extractions are values of the type."""
    assert tiny.is_file()
    right = 0
    for person in PEOPLE:
        prompt = f"{person.name} is {person.age} years old. Who is it, and how old?"
        found = _model().generate(prompt, output=Person).output
        assert isinstance(found, Person)
        right += found == person
    with capsys.disabled():
        sys.stdout.write(f"\ntiny read the right values in {right} of {len(PEOPLE)} sentences\n")
