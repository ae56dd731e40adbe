"""The larger local model picks tools, and has to be right; `make test-local-tools` runs it, `make test` does not."""

from __future__ import annotations

import sys

import pytest

import interlingua as il
from tests.support.local_model import QUESTIONS, TOOLS, asked, weights_or_skip

ENOUGH = 9
"""How many of the ten calls have to be right."""


def test_r38_a_larger_model_picks_the_right_tool(capsys: pytest.CaptureFixture[str]) -> None:
    """One step for each question, the choice left to the model: the right tool, once, with the right arguments."""
    weights_or_skip("coder")
    model = il.model("local/coder", temperature=0, max_tokens=120, seed=1)
    agent = il.Agent(model, tools=list(TOOLS), max_steps=1)
    calls = [asked(agent.run(prompt)) for prompt, _, _ in QUESTIONS]
    right = sum(made == [(name, arguments)] for made, (_, name, arguments) in zip(calls, QUESTIONS, strict=True))
    with capsys.disabled():
        sys.stdout.write(f"\ncoder called the right tool with the right arguments: {right} of {len(QUESTIONS)}\n")
    assert right >= ENOUGH, calls
