"""Thinking at the beginning of a text: apart from the answer, whole, and cut off."""

from __future__ import annotations

import pytest

from interlingua.wire.thoughts import split_thought


@pytest.mark.parametrize(
    ("text", "thought", "rest"),
    [
        ("Hi", "", "Hi"),
        ("", "", ""),
        ("<think>hm {x}</think>{}", "hm {x}", "{}"),
        (" \n<think>\nHm.\n</think>\n\nHi ", "Hm.", "Hi "),
        ("<thinking>Hm.</thinking>Hi", "Hm.", "Hi"),
        ("<think>A</think><think>B</think>Hi", "A\n\nB", "Hi"),
        ("<think></think>Hi", "", "Hi"),
        ("<think>Hm.</thinking>Hi", "", "<think>Hm.</thinking>Hi"),
        ("Hi <think>Hm.</think>", "", "Hi <think>Hm.</think>"),
        ("<think>Hm", "", "<think>Hm"),
    ],
)
def test_what_is_thinking_and_what_is_not(text: str, thought: str, rest: str) -> None:
    """Blocks at the beginning alone, each with its own end."""
    assert split_thought(text) == (thought, rest)


def test_thinking_that_was_cut_off() -> None:
    """Only who asks for it gets a block without an end."""
    assert split_thought("<think>A</think><think>Hm, l", may_be_cut=True) == ("A\n\nHm, l", "")


def test_many_blocks_cost_linear_time() -> None:
    """A hundred thousand blocks and beginnings: a slice for each would copy a hundred gigabytes."""
    assert split_thought("<think>a</think>" * 100_000 + "Hi")[1] == "Hi"
    assert split_thought("<think>" * 100_000)[0] == ""
