"""JSON read while it comes: at every cut, leniently, and never with an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.wire.json import MAX_DEPTH
from interlingua.wire.partial import JsonReader
from tests.support.cells import cells

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
).filter(lambda value: isinstance(value, dict | list))
"""Objects and arrays."""


def read(*pieces: str, lenient: bool = False) -> JsonReader:
    """A reader that has read the pieces."""
    reader = JsonReader(lenient=lenient)
    for piece in pieces:
        reader.feed(piece)
    return reader


@cells("code", ["d7ff", "d800", "dbff", "dc00", "dfff", "e000", "ffff"])
@cells("cut", range(2, 9))
def test_half_of_a_pair_is_replaced(code: str, cut: int) -> None:
    """By the character that stands for none, wherever the text is cut; its neighbours are themselves."""
    text = f'["\\u{code}"]'
    assert read(text[:cut], text[cut:]).root == ["\ufffd" if "d800" <= code <= "dfff" else chr(int(code, 16))]


@given(tree=TREES, ascii_only=st.booleans(), indent=st.sampled_from([None, 2]), data=st.data())
def test_a_text_in_two_pieces_is_the_text(tree: Any, ascii_only: bool, indent: int | None, data: st.DataObject) -> None:
    """Whatever the cut, in an escape or between the halves of a pair too; no prefix of valid JSON breaks the reader."""
    text = json.dumps(tree, ensure_ascii=ascii_only, indent=indent)
    cut = data.draw(st.integers(0, len(text)))
    before = read(text[:cut])
    assert not before.broken
    assert before.complete == (cut == len(text))
    before.feed(text[cut:])
    assert (before.complete, before.root, before.consumed) == (True, tree, len(text))


@given(tree=TREES)
def test_a_text_sign_by_sign_is_the_text(tree: Any) -> None:
    """Pieces of one sign add up; the value only ever grows."""
    text = json.dumps(tree)
    reader, growth = JsonReader(), 0
    for sign in text:
        reader.feed(sign)
        assert not reader.broken
        assert reader.growth >= growth
        growth = reader.growth
    assert reader.root == tree


@given(text=st.text(alphabet="{}[]\",:'\\u0aeTtrNn-1. \n\ud83d", max_size=40), lenient=st.booleans())
def test_nothing_is_raised_whatever_comes(text: str, lenient: bool) -> None:
    """Text that is no JSON breaks the reader, not its caller, and in pieces it comes to the same."""
    whole, pieces = read(text, lenient=lenient), read(*text, lenient=lenient)
    assert (whole.root, whole.broken, whole.complete) == (pieces.root, pieces.broken, pieces.complete)


def test_a_string_grows_and_a_number_waits() -> None:
    """Half a string is there, half a number or a half key is not."""
    reader = read('{"a": "hel')
    assert (reader.root, reader.edge) == ({}, "hel")
    reader.feed('lo", "n": 12')
    assert (reader.root, reader.edge) == ({"a": "hello"}, None)
    reader.feed('3, "hal')
    assert (reader.root, reader.edge) == ({"a": "hello", "n": 123}, None)


def test_what_is_open_is_a_path() -> None:
    """Outermost first, each with the name whose value is coming."""
    reader = read('{"a": [1, {"b": "x')
    assert [(place.container, place.key) for place in reader.path] == [
        ({"a": [1, {}]}, "a"),
        ([1, {}], None),
        ({}, "b"),
    ]


def test_words_around_are_passed_over() -> None:
    """Text in front is skipped, text behind is not read."""
    reader = read('Sure: {"a": 1} - done [2]')
    assert (reader.root, reader.complete, reader.consumed) == ({"a": 1}, True, 14)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d", "\ufffd"),
        (r"\ude00", "\ufffd"),
        (r"\ud83dx", "\ufffdx"),
        (r"\ud83d\n", "\ufffd\n"),
        (r"\u00e9\"\\\/\b\f\n\r\t", 'é"\\/\b\f\n\r\t'),
    ],
)
def test_escapes(text: str, escaped: str) -> None:
    """Every escape; half a pair is U+FFFD."""
    assert read(f'["{text}"]').root == [escaped]
    assert read('["', *text, '"]').root == [escaped]


@pytest.mark.parametrize(
    "text",
    ["[1 2]", "[1,]", '{"a" 1}', "{a: 1}", "[tru]", "[01]", "[1e999]", "[}", '{"a": 1]', '["\n"]', r'["\x"]', "[NaN]",
     "['a']", "[True]", r'["\'"]', "[:]"],
)  # fmt: skip
def test_what_is_no_json_breaks(text: str) -> None:
    """A strict reader takes JSON alone."""
    assert read(text).broken


@pytest.mark.parametrize(
    ("text", "value", "leniency"),
    [
        ('{"a": [1, ], }', {"a": [1]}, "commas"),
        ("{'a': 'say \"x\"'}", {"a": 'say "x"'}, "quotes"),
        ("[True, False, None]", [True, False, None], "literals"),
        ('["two\nlines\t"]', ["two\nlines\t"], "controls"),
    ],
)
def test_arg_17_a_lenient_reader_notes_what_it_takes(text: str, value: Any, leniency: str) -> None:
    """ARG-17: trailing commas, single quotes, Python's words and raw control characters, each by name."""
    reader = read(text, lenient=True)
    assert (reader.root, reader.leniencies, reader.complete) == (value, {leniency}, True)


def test_depth_is_bounded() -> None:
    """Deeper than our own bound is broken, not a crash."""
    assert not read("[" * MAX_DEPTH).broken
    assert read("[" * (MAX_DEPTH + 1)).broken


def test_the_work_is_linear() -> None:
    """A long string and a long list in small pieces are looked at once: signs consumed never go back."""
    text = json.dumps({"a": "x" * 50_000, "b": [{"k": "v"}] * 2_000})
    reader = JsonReader()
    for start in range(0, len(text), 7):
        reader.feed(text[start : start + 7])
        assert start + 7 - reader.consumed <= 14
    assert reader.complete


@pytest.mark.parametrize("lenient", [False, True])
def test_a_key_that_stands_twice_breaks_the_reader(lenient: bool) -> None:
    """What came first stays; an inner object may have the outer one's keys."""
    reader = read('{"a": {"a": 1}, "b": 2, "a"', ": 3}", lenient=lenient)
    assert (reader.broken, reader.root) == (True, {"a": {"a": 1}, "b": 2})
