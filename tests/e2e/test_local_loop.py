"""The loop and typed answers with a real model: what comes is valid every time; whether it is right is printed.

`make test-local-tools` asks the larger model, which has to be right.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

import interlingua as il
from tests.support.local_model import QUESTIONS, TOOLS, asked, weights_or_skip


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


@pytest.fixture
def tiny() -> il.Model:
    """The tiny model, which says the same each time."""
    weights_or_skip("tiny")
    return il.model("local/tiny", temperature=0, max_tokens=120, seed=1)


def _tell(capsys: pytest.CaptureFixture[str], what: str, right: int) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\ntiny {what}: {right} of 10\n")


def test_r38_a_real_model_works_with_two_tools(tiny: il.Model, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten runs end by themselves, with calls of tools that are there and arguments that fit."""
    agent = il.Agent(tiny, tools=list(TOOLS), system="Use a tool, then answer in one short sentence.")
    right = 0
    for prompt, name, arguments in QUESTIONS:
        run = agent.run(prompt)
        assert run.stop_reason == "done"
        assert isinstance(run.output, str)
        calls = asked(run)
        assert calls
        right += calls == [(name, arguments)]
    _tell(capsys, "called the right tool with the right arguments", right)


def test_r36_a_real_model_gives_values(tiny: il.Model, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten extractions are values of the type."""
    right = 0
    for person in PEOPLE:
        prompt = f"{person.name} is {person.age} years old. Who is it, and how old?"
        reply = tiny.generate(prompt, output=Person)
        assert reply.finish_reason == "stop"
        assert type(reply.output) is Person
        assert (type(reply.output.name), type(reply.output.age)) == (str, int)
        right += reply.output == person
    _tell(capsys, "read the right values", right)
