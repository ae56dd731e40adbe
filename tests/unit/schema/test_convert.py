"""Values that are not as expected stay as they are, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.schema.convert import (
    Branch,
    Choice,
    Conversion,
    Items,
    JsonText,
    Members,
    Pairs,
    Reference,
    Step,
    Union,
    Wrapped,
)

NUMBER = {"type": "integer"}
TEXT = {"type": "string"}


CASES: list[tuple[Step, Any, Any]] = [
    (JsonText(), {"a": [1]}, '{"a":[1]}'),
    (JsonText(), "x", '"x"'),
    (Choice((("1", 1), ("true", True))), True, "true"),
    (Choice((("1", 1),)), "other", "other"),
    (Pairs(JsonText()), {"a": 1}, [{"key": "a", "value": "1"}]),
    (Wrapped("value", Choice((("1", 1),))), 1, {"value": "1"}),
    (Members({"a": JsonText()}, None, frozenset({"b"})), {"a": 1}, {"a": "1", "b": None}),
    (Members({}, JsonText()), {"z": 1}, {"z": "1"}),
    (Items((JsonText(),), Choice((("1", 1),))), [[], 1, 1], ["[]", "1", "1"]),
    (Union((Branch(NUMBER, TEXT, Choice((("1", 1),))), Branch({"type": "null"}, {"type": "null"}))), 1, "1"),
    (Reference("gone"), 1, 1),
]


@pytest.mark.parametrize(("step", "own", "wire"), CASES)
def test_there_and_back(step: Step, own: Any, wire: Any) -> None:
    """What one direction does the other undoes."""
    conversion = Conversion(step)
    assert conversion.to_wire(own) == wire
    assert conversion.to_own(wire) == own


def test_recursive_values() -> None:
    """A definition may refer to itself."""
    node = Members({"text": JsonText(), "next": Reference("node")})
    conversion = Conversion(Reference("node"), {"node": node})
    own = {"text": 1, "next": {"text": [2]}}
    assert conversion.to_wire(own) == {"text": "1", "next": {"text": "[2]"}}
    assert conversion.to_own(conversion.to_wire(own)) == own


@pytest.mark.parametrize(
    "step", [Pairs(), Members(), Items(), Union((Branch({"$ref": "#/gone"}, {"$ref": "#/gone"}),))]
)
@pytest.mark.parametrize("value", [5, "text", None])
def test_what_is_of_another_kind_stays(step: Step, value: Any) -> None:
    """The caller's schema is still there to judge it."""
    assert Conversion(step).to_wire(value) == value
    assert Conversion(step).to_own(value) == value


@pytest.mark.parametrize(
    ("step", "wire", "own"),
    [
        (JsonText(), "plain words", "plain words"),
        (JsonText(), 5, 5),
        (Pairs(), [{"k": 1}], [{"k": 1}]),
        (Pairs(), [5], [5]),
        (Wrapped("value"), {"other": 1}, {"other": 1}),
        (Wrapped("value"), [1], [1]),
    ],
)
def test_what_a_model_says_otherwise_stays(step: Step, wire: Any, own: Any) -> None:
    """A plain string where JSON text was asked for, pairs that are none, an object without the member."""
    assert Conversion(step).to_own(wire) == own


def test_text_that_is_no_json_stays() -> None:
    """Also text in which nothing changes, with its spaces."""
    conversion = Conversion(Members({"a": JsonText()}))
    assert conversion.text_to_own('{"a": "[1]"}') == '{"a":[1]}'
    assert conversion.text_to_wire('{"a":[1]}') == '{"a":"[1]"}'
    for text in ("{", '{ "b" : 1 }', ""):
        assert conversion.text_to_own(text) == text
