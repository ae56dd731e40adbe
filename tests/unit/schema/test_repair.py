"""Answers repaired where what they mean is beyond doubt: each step by name, nothing invented."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from typing import Any, Literal

import pytest

from interlingua.errors import DecodeError
from interlingua.schema.repair import RepairStep, mend, repair_output
from interlingua.types.change import CODES


class Colour(enum.Enum):
    """A closed set."""

    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Line:
    """One line."""

    name: str
    count: int = 1


@dataclasses.dataclass
class Invoice:
    """What is to be paid."""

    number: str
    total: float
    paid: bool | None = None
    lines: list[Line] = dataclasses.field(default_factory=list[Line])


def steps(kind: Any, text: str) -> tuple[Any, list[tuple[str, str]]]:
    """The value of a text, and code and path of every step."""
    value, repairs = repair_output(text, kind)
    assert all(CODES[repair.code].action == "repaired" for repair in repairs)
    return value, [(repair.code, repair.path) for repair in repairs]


def test_an_answer_that_fits_is_not_touched() -> None:
    """No step, and text that looks like a number stays text where text is wanted."""
    assert steps(Invoice, '{"number": "12", "total": 9}') == (Invoice("12", 9.0), [])


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('{"number": "A", "total": 9, "lines": [],}', ["output_commas"]),
        ("{'number': 'A', 'total': 9}", ["output_quotes"]),
        ('{"number": "A", "total": 9, "paid": None}', ["output_literals"]),
        ("```python\n{'number': 'A', 'total': 9, 'paid': None,}\n```",
         ["output_commas", "output_quotes", "output_literals"]),
    ],
)  # fmt: skip
def test_text_that_is_nearly_json(text: str, codes: list[str]) -> None:
    """What other languages write as an object."""
    assert steps(Invoice, text) == (Invoice("A", 9.0), [(code, "") for code in codes])


def test_arg_17_raw_line_breaks_of_a_string_stay() -> None:
    """ARG-17: a raw line break in a string is one."""
    assert steps(Line, '{"name": "a\nb", "count": 2}') == (Line("a\nb", 2), [("output_controls", "")])


@pytest.mark.parametrize(
    ("kind", "text", "value", "found"),
    [
        (Invoice, '{"number": "A", "total": "9.5"}', Invoice("A", 9.5), [("output_scalar_text", "/total")]),
        (Invoice, '{"number": "A", "total": 1, "paid": "True"}', Invoice("A", 1.0, True),
         [("output_scalar_text", "/paid")]),
        (Invoice, '{"number": "A", "total": 1, "lines": "[{\\"name\\": \\"x\\", \\"count\\": \\"2\\"}]"}',
         Invoice("A", 1.0, None, [Line("x", 2)]),
         [("output_json_text", "/lines"), ("output_scalar_text", "/lines/0/count")]),
        (Line, '"{\\"name\\": \\"x\\"}"', Line("x"), [("output_json_text", "")]),
        (Colour, '{"value": "RED "}', Colour.RED, [("output_case", "/value")]),
        (Literal["Yes", "No"], '{"value": "yes"}', "Yes", [("output_case", "/value")]),
        (Literal[1, 2], '{"value": "2"}', 2, [("output_scalar_text", "/value")]),
        (list[int], '["1", 2]', [1, 2], [("output_scalar_text", "/0")]),
        (int | None, '{"value": "12"}', 12, [("output_scalar_text", "/value")]),
        (dict[str, int], '{"a": "1"}', {"a": 1}, [("output_scalar_text", "/a")]),
        (tuple[int, str], '{"value": ["1", "2"]}', (1, "2"), [("output_scalar_text", "/value/0")]),
        (list[Line | int], '{"value": [{"name": "x", "count": "3"}]}', [Line("x", 3)],
         [("output_scalar_text", "/value/0/count")]),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": "7"}', {"a": 7},
         [("output_scalar_text", "/a")]),
    ],
)  # fmt: skip
def test_values_that_nearly_fit(kind: Any, text: str, value: Any, found: list[tuple[str, str]]) -> None:
    """Stringified objects and lists, numbers and truth values as text, choices in other capitals."""
    assert steps(kind, text) == (value, found)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, '{"value": "1,000"}'),
        (int, '{"value": "12.5"}'),
        (int, '{"value": " 12"}'),
        (int, '{"value": "0x10"}'),
        (float, '{"value": "1e999"}'),
        (Literal["a", "A"], '{"value": "á"}'),
        (Colour, '{"value": "green"}'),
        (list[int], '{"value": 1}'),
        (Line, '{"name": 1}'),
        (dt.date, '{"value": "2026-1-2"}'),
        (Line, '{"name": "a"} {"name": "b"}'),
        (Line, "{'name': 'a'} or {'name': 'b'}"),
        (Line, "{name: a}"),
    ],
)
def test_what_is_in_doubt_is_an_error(kind: Any, text: str) -> None:
    """The error speaks of the answer as it came."""
    with pytest.raises(DecodeError):
        repair_output(text, kind)


def test_a_union_that_could_be_repaired_in_two_ways_is_not() -> None:
    """Which form is meant is in doubt."""
    with pytest.raises(DecodeError):
        repair_output('{"value": "a"}', Literal["A", "a "])
    choices = {"anyOf": [{"enum": ["A"]}, {"enum": ["a "]}]}
    assert mend("a", choices) == ("a", ())
    assert mend("1", {"anyOf": [{"type": "integer"}, {"type": "number"}]})[0] == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"number": "A", "total": 1, "paid": null, "lines": [{"name": "a", "count": 1}, {"name": "b", "c',
         Invoice("A", 1.0, None, [Line("a", 1)])),
        ('```json\n{"number": "A", "total": 1, "paid": null, "lines": [{"name": "a", "count": 1}',
         Invoice("A", 1.0, None, [Line("a", 1)])),
        ('{"number": "A", "total": 1, "paid": null, "lines": [', Invoice("A", 1.0)),
        ('{"number": "A", "total": 1, "paid": null, "lines": []', Invoice("A", 1.0)),
    ],
)  # fmt: skip
def test_what_was_cut_is_closed_after_its_last_whole_value(text: str, value: Any) -> None:
    """A list loses the item that is not whole."""
    assert steps(Invoice, text) == (value, [("output_cut", "")])


@pytest.mark.parametrize(
    "text",
    ["{", '{"number": "A"', '{"number": "A", "total": 12', '{"number": "A", "total": 12, "paid": null',
     '{"number": "A", "total": 12, "paid": null, "lines": nul'],
)  # fmt: skip
def test_what_was_cut_is_never_completed(text: str) -> None:
    """Defaults do not stand in for what was never said: half an object is an error, whatever may be left out."""
    with pytest.raises(DecodeError, match="ends in the middle"):
        repair_output(text, Invoice)


@pytest.mark.parametrize("text", ['{"a": "1", "a": "2"}', "{'a': '1', 'a': '2',}", '{"a": "1", "a": "2'])
def test_arg_09_a_key_that_stands_twice_is_not_repaired(text: str) -> None:
    """It has two meanings, in whatever text it stands."""
    with pytest.raises(DecodeError):
        repair_output(text, dict[str, int])
    assert mend(text, {"type": "object"}) == (text, ())


def test_mending_leaves_its_input_alone() -> None:
    """A new value is made."""
    value = {"a": "1", "b": ["2"]}
    schema = {"properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "integer"}}}}
    assert mend(value, schema)[0] == {"a": 1, "b": [2]}
    assert value == {"a": "1", "b": ["2"]}


def test_a_step_says_what_was_done() -> None:
    """In one clause, cut where it gets long."""
    schema = {"enum": ["a" * 100]}
    assert mend("A" * 100, schema)[1] == (RepairStep("output_case", "", f"read {'A' * 74}…"),)


def test_recursive_types_are_repaired_too() -> None:
    """References lead to the same definition again."""
    text = '{"name": "a", "below": [{"name": "b", "below": "[]"}]}'
    assert steps(Node, text) == (Node("a", [Node("b", [])]), [("output_json_text", "/below/0/below")])


@dataclasses.dataclass
class Node:
    """A tree."""

    name: str
    below: list[Node]
