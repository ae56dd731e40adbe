"""The JSON of an answer: bare, fenced, or with words around it."""

from __future__ import annotations

import json

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
        'Not {"b": 2}, but:\n```json\n{"a": 1}\n```',
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


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '```json\n{"a": 1, "a": 2}\n```',
        'Here: {"a": 1, "a": 2}.',
        '{"b": [{"a": ":", "\\u0061": 1}]}',
    ],
)
def test_arg_09_of_two_values_under_one_key_none_is_chosen(text: str) -> None:
    """As in the arguments of a call; words around it do not hide it."""
    with pytest.raises(DecodeError):
        parse_answer(text)


def test_a_key_that_stands_twice_is_named() -> None:
    """With a code of its own."""
    with pytest.raises(DecodeError) as caught:
        parse_answer('[{"ä": {"x": 1}, "y": ":", "ä": 2}]')
    assert (caught.value.message, caught.value.code) == ('the key "ä" stands twice in one object', "duplicate_key")


@pytest.mark.parametrize(
    "text", ['{"a": ":::", "b": {"a": 1}}', '["a:b", ":"]', '[{"a": 1}, {"a": 2}]', '"a:b"', '{"\\u003a": 1}']
)
def test_one_key_in_several_objects_is_no_repetition(text: str) -> None:
    """Nor are colons in strings."""
    assert parse_answer(text) == json.loads(text)
