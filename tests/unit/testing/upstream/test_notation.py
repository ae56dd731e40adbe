"""The language of the tables, and what values are held against it."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.testing.upstream.notation import parse
from interlingua.testing.upstream.shapes import Named, Reading, faults
from tests.support.cells import cells

GRAMMAR = parse(r"""
# a comment
Bag {kind "bag"; name text(1..3 /[a-z]+/); left, right? number(0..2); many? [integer](1..2); free? {flag}(..1);
  inner? Bag | Box | null; seal? base64; more? any; thing? object}
Box {kind "box"; deep? Bag; ...}
Word = "on" | "off" | text(2..2)
""")


def _found(value: Any, name: str = "Bag", **options: Any) -> list[tuple[str, str]]:
    return [(fault.kind, fault.pointer) for fault in faults(Reading(grammar=GRAMMAR, **options), Named(name), value)]


BAG: dict[str, Any] = {"kind": "bag", "name": "abc"}


@cells(
    ("more", "expected"),
    [
        ({}, []),
        ({"left": 0, "right": 2.0, "many": [1, 2.0], "free": {"x": True}, "more": None, "thing": {}}, []),
        ({"inner": {"kind": "box", "anything": 1, "deep": BAG}}, []),
        ({"inner": None, "seal": "aGk="}, []),
        ({"kind": "box"}, [("unknown_value", "/kind")]),
        ({"name": ""}, [("bad_length", "/name"), ("bad_pattern", "/name")]),
        ({"name": "abcd"}, [("bad_length", "/name")]),
        ({"name": 1}, [("wrong_type", "/name")]),
        ({"left": -1, "right": 2.5}, [("out_of_range", "/left"), ("out_of_range", "/right")]),
        ({"left": True}, [("wrong_type", "/left")]),
        ({"many": []}, [("bad_length", "/many")]),
        ({"many": [1, 1.5]}, [("wrong_type", "/many/1")]),
        ({"many": {}}, [("wrong_type", "/many")]),
        ({"free": {"x": True, "y": 1}}, [("bad_length", "/free"), ("wrong_type", "/free/y")]),
        ({"inner": {"kind": "bin"}}, [("unknown_value", "/inner/kind")]),
        ({"inner": {}}, [("missing_member", "/inner/kind")]),
        ({"inner": 3}, [("wrong_type", "/inner")]),
        ({"inner": {"kind": "bag"}}, [("missing_member", "/inner/name")]),
        ({"seal": "data:,"}, [("bad_base64", "/seal")]),
        ({"thing": []}, [("wrong_type", "/thing")]),
        ({"what": 1}, [("unknown_member", "/what")]),
    ],
    ids=str,
)
def test_every_fault_is_found_at_its_place(more: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """Kinds, words, bounds, patterns, unknown and missing members."""
    assert _found({**BAG, **more}) == expected


def test_all_faults_are_found() -> None:
    """Not only the first."""
    assert len(_found({"name": 1, "left": 9, "what": 1})) == 4


@pytest.mark.parametrize(("value", "count"), [("on", 0), ("xy", 0), ("long", 1), (1, 1)])
def test_a_choice_of_words_and_text(value: Any, count: int) -> None:
    """A word that is listed, or text that fits."""
    assert len(_found(value, "Word")) == count


def test_lenient_readings() -> None:
    """What proto JSON and Go take all the same: null, other cases, numbers for words, one for many, unknown members."""
    assert _found({**BAG, "left": None}, null_is_absent=True) == []
    assert _found({**BAG, "kind": "BAG"}, words_any_case=True) == []
    assert _found({**BAG, "left": "1.5"}, numbers_as_text=True) == []
    assert _found({**BAG, "left": "x"}, numbers_as_text=True) == [("wrong_type", "/left")]
    assert _found({**BAG, "many": 1}, one_for_many=True) == []
    assert _found({**BAG, "what": 1}, ignores_unknown=True) == []
    assert _found({"KIND": "bag", "name": "abc"}, spell=str.lower) == []


@pytest.mark.parametrize("text", ["A {a text", "A {a text b}", "A = Missing", "A = text A = text", "A = §"])
def test_what_is_not_in_the_language_is_an_error(text: str) -> None:
    """A table with a slip is found when it is read."""
    with pytest.raises(ValueError, match=r"."):
        parse(text)
