"""Typed answers as they grow: plain where they are open, of their types where they have ended."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from typing import Any, Literal, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.schema.partials import PartialReader
from interlingua.schema.reflect import decode_output, schema_of
from interlingua.wire.partial import NOTHING


@dataclasses.dataclass
class Line:
    """One line."""

    name: str
    count: int = 1


@dataclasses.dataclass
class Invoice:
    """What is to be paid."""

    number: str
    due: dt.date
    kind: Literal["paid", "open"] = "open"
    lines: list[Line] = dataclasses.field(default_factory=list[Line])
    by_name: dict[str, Line] | None = None


class Plan(TypedDict):
    """A dict of its own."""

    title: str
    days: list[dt.date]


class Renamed(msgspec.Struct):
    """Told in another case."""

    first_day: dt.date = msgspec.field(name="firstDay")


class Model(pydantic.BaseModel):
    """With an alias."""

    lines: list[Line]
    first_day: dt.date = pydantic.Field(alias="firstDay")


def partials(kind: Any, *pieces: str, lenient: bool = False) -> list[Any]:
    """What each piece brought that was new."""
    reader = PartialReader(kind, lenient=lenient)
    return [found for piece in pieces if (found := reader.feed(piece)) is not NOTHING]


def test_a_class_is_a_dict_that_grows() -> None:
    """Text grows, a date is one once it has ended, a nested object is an instance once it has ended."""
    pieces = ('{"number": "A', '17", "due": "2026-01', '-02", "ki', 'nd": null, "lines": [{"name": "x", "count": 2}',
              ', {"name": "y', '", "count": 3}], "by_name": {"k": {"name": "z"}}}')  # fmt: skip
    day = {"number": "A17", "due": dt.date(2026, 1, 2)}
    assert partials(Invoice, *pieces) == [
        {"number": "A"},
        {"number": "A17", "due": "2026-01"},
        day,
        {**day, "lines": [Line("x", 2)]},
        {**day, "lines": [Line("x", 2), {"name": "y"}]},
        {**day, "lines": [Line("x", 2), Line("y", 3)], "by_name": {"k": Line("z")}},
    ]


def test_each_partial_is_a_value_of_its_own() -> None:
    """What came before does not change when more comes."""
    first, second = partials(list[Line], '{"value": [{"name": "x"', ', "count": 2}')
    assert (first, second) == ([{"name": "x"}], [Line("x", 2)])


@pytest.mark.parametrize(
    ("kind", "pieces", "found"),
    [
        (list[int], ('{"value": [1', ", 2]", "}"), [[], [1, 2]]),
        (list[int], ("[1, ", "2]"), [[1], [1, 2]]),
        (str, ('{"value": "a', 'b"}'), ["a", "ab"]),
        (Literal["ab"], ('{"value": "a', 'b"}'), ["a", "ab"]),
        (tuple[int, dt.date], ('{"value": [1, "2026-', '01-02"]}'), [[1, "2026-"], (1, dt.date(2026, 1, 2))]),
        (dict[str, dt.date], ('{"a": "2026-01-02",', ' "b": "20'),
         [{"a": dt.date(2026, 1, 2)}, {"a": dt.date(2026, 1, 2), "b": "20"}]),
        (Line | Invoice, ('{"value": {"name": "x", ', '"count": 1}}'), [{"name": "x"}, Line("x", 1)]),
        (Plan, ('{"title": "t", "days": ["2026-01-02"', "]}"), [{"title": "t", "days": [dt.date(2026, 1, 2)]}]),
        (Renamed, ('{"firstDay": "2026-01-02"}',), [{"first_day": dt.date(2026, 1, 2)}]),
        (Model, ('{"firstDay": "2026-01-02", "lines": [{"name": "x", "count": 1}',),
         [{"first_day": dt.date(2026, 1, 2), "lines": [Line("x", 1)]}]),
        ({"type": "object"}, ('{"a": [1, ', '{"b": "c'), [{"a": [1]}, {"a": [1, {"b": "c"}]}]),
        (dict[str, Any], ('Sure: {"a": [1, ', '{"b": "c"}'), [{"a": [1]}, {"a": [1, {"b": "c"}]}]),
    ],
)  # fmt: skip
def test_every_kind_of_type(kind: Any, pieces: tuple[str, ...], found: list[Any]) -> None:
    """Lists, choices, tuples, maps, unions (plain until they end), structs, models and schemas."""
    assert partials(kind, *pieces) == found


def test_what_does_not_fit_stays_as_it_is_told() -> None:
    """The end of the answer says what is wrong; partials never do."""
    assert partials(Invoice, '{"due": "soon", "lines": [{"title": 1}], "other": 2,') == [
        {"due": "soon", "lines": [{"title": 1}], "other": 2}
    ]


def test_a_piece_that_says_nothing_new_gives_nothing() -> None:
    """Blanks, signs between values and half a key are no news, and broken text ends the news."""
    reader = PartialReader(Invoice)
    assert reader.feed("Here: ") is NOTHING
    assert reader.feed("{") == {}
    assert reader.feed(' "num') is NOTHING
    assert reader.feed('ber": ') is NOTHING
    assert reader.feed("oops") is NOTHING
    assert reader.feed(', "number": "A"}') is NOTHING


def test_single_quotes_where_they_are_repaired() -> None:
    """A stream whose answer will be repaired is read as leniently."""
    assert partials(Line, "{'name': 'x'", lenient=True) == [{"name": "x"}]
    assert partials(Line, "{'name': 'x'") == [{}]


INVOICES = st.builds(
    Invoice,
    st.text(max_size=5),
    st.dates(),
    st.sampled_from(["paid", "open"]),
    st.lists(st.builds(Line, st.text(max_size=3), st.integers(0, 9)), max_size=3),
    st.none() | st.dictionaries(st.text(max_size=2), st.builds(Line, st.text(max_size=3)), max_size=2),
)


@given(invoices=st.lists(INVOICES, max_size=3), size=st.integers(1, 9))
def test_the_last_partial_of_a_list_is_the_list(invoices: list[Invoice], size: int) -> None:
    """Whatever the pieces: nothing raises, and what has ended is what the answer comes to."""
    told = {"value": [{**dataclasses.asdict(invoice), "due": invoice.due.isoformat()} for invoice in invoices]}
    text = json.dumps(told)
    found = partials(list[Invoice], *[text[start : start + size] for start in range(0, len(text), size)])
    assert found[-1] == invoices == decode_output(text, list[Invoice])
    assert schema_of(list[Invoice])["type"] == "object"
