"""The JSON of an answer: bare, fenced, or with words around it."""

from __future__ import annotations

import pytest

from interlingua.errors import DecodeError
from interlingua.schema.answer import parse_answer


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' \n{"a": 1}\n',
        '```json\n{"a": 1}\n```',
        'Here you are:\n```\n{"a": 1}\n```\nAnything else?',
        'Here you are: {"a": 1}',
        '{"a": 1}\nI hope that helps!',
        'The answer is {"a": 1}.',
    ],
)
def test_r37_fences_and_words_around_are_taken_off(text: str) -> None:
    """R37: one value is found wherever models put it."""
    assert parse_answer(text) == {"a": 1}


def test_a_list_with_words_around() -> None:
    """Arrays count as objects do."""
    assert parse_answer("Numbers: [1, 2]") == [1, 2]


@pytest.mark.parametrize("text", ['{"a": 1} or {"a": 2}', '{"a": 1', "no", "Perhaps {a}.", "A [1] and {"])
def test_of_several_none_is_chosen(text: str) -> None:
    """Two values, half a value and prose are errors."""
    with pytest.raises(DecodeError, match="not JSON"):
        parse_answer(text)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_r37_empty_text_is_an_error(text: str) -> None:
    """R37: nothing is no answer."""
    with pytest.raises(DecodeError, match="the answer is empty"):
        parse_answer(text)
