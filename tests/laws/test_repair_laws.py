"""The laws of typed answers: what fits is untouched, what is given fits, nothing is invented, partials never raise."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import DecodeError
from interlingua.schema.partials import PartialReader
from interlingua.schema.reflect import decode_output, schema_of
from interlingua.schema.repair import mend, repair_output
from interlingua.schema.validate import validate


class Size(Enum):
    """A closed set."""

    SMALL = "small"
    LARGE = "Large"


@dataclass
class Part:
    """One of several."""

    name: str
    count: int
    size: Size
    price: float | None = None
    tags: list[str] = field(default_factory=list[str])


@dataclass
class Whole:
    """A tree with everything in it."""

    parts: list[Part]
    mode: Literal["on", "off"]
    flags: dict[str, bool]
    below: list[Whole] = field(default_factory=list["Whole"])


PARTS = st.builds(
    Part,
    st.text(max_size=4),
    st.integers(-99, 99),
    st.sampled_from(Size),
    st.none() | st.floats(-9, 9),
    st.lists(st.text(max_size=3), max_size=2),
)
LEAVES = st.builds(
    Whole,
    st.lists(PARTS, max_size=2),
    st.sampled_from(["on", "off"]),
    st.dictionaries(st.text(max_size=2), st.booleans()),
)
WHOLES = LEAVES | st.builds(Whole, st.just([]), st.just("on"), st.just({}), st.lists(LEAVES, max_size=2))


def told(whole: Whole, *, indent: int | None = None) -> str:
    """A value as a model says it."""
    return json.dumps(asdict(whole), default=lambda size: size.value, indent=indent)


@given(whole=WHOLES, indent=st.sampled_from([None, 2]))
def test_what_fits_is_never_changed(whole: Whole, indent: int | None) -> None:
    """A valid document is its own repair."""
    text = told(whole, indent=indent)
    assert repair_output(text, Whole) == (whole, ())
    value = json.loads(text)
    assert mend(value, schema_of(Whole)) == (value, ())


def spoiled(value: Any, draw: st.DrawFn) -> Any:
    """A value with faults that models make, and with some that cannot be repaired."""
    match value:
        case dict():
            spoilt: Any = {name: spoiled(member, draw) for name, member in value.items()}  # pyright: ignore[reportUnknownVariableType]  # JSON
        case list():
            spoilt = [spoiled(item, draw) for item in value]  # pyright: ignore[reportUnknownVariableType]  # JSON
        case str():
            return draw(st.sampled_from([value, value, value.upper(), value.title(), f"{value} "]))
        case _:
            return draw(st.sampled_from([value, value, json.dumps(value), str(value), None]))
    return draw(st.sampled_from([spoilt, spoilt, spoilt, json.dumps(spoilt)]))


@st.composite
def spoiled_texts(draw: st.DrawFn) -> str:
    """Documents with faults in values and in the text."""
    value = spoiled(json.loads(told(draw(WHOLES))), draw)
    text = draw(st.sampled_from([json.dumps(value), repr(value), json.dumps(value).replace("}", ",}")]))
    start, end = draw(st.sampled_from([("", ""), ("```json\n", "\n```"), ("Sure: ", ""), ("```json\n", "")]))
    return f"{start}{text[: draw(st.sampled_from([None, None, 3, 20, 40]))]}{end}"


@given(text=spoiled_texts())
def test_what_is_given_fits(text: str) -> None:
    """A value of the type that its schema takes, or an error; and with steps only where there was a fault."""
    try:
        value, steps = repair_output(text, Whole)
    except DecodeError:
        return
    assert validate(schema_of(Whole), json.loads(told(value))) == []
    assert decode_output(told(value), Whole) == value
    if not steps:
        assert decode_output(text, Whole) == value


@given(whole=WHOLES, data=st.data())
def test_a_cut_answer_loses_only_what_is_not_whole(whole: Whole, data: st.DataObject) -> None:
    """Whatever is given of it is said in it: mode and flags are as they were, lists are beginnings of lists."""
    text = told(whole)
    cut = data.draw(st.integers(0, len(text) - 1))
    try:
        value, steps = repair_output(text[:cut], Whole)
    except DecodeError:
        return
    assert [step.code for step in steps] == ["output_cut"]
    assert (value.mode, value.flags, value.parts) == (whole.mode, whole.flags, whole.parts)
    for got, given_one in zip(value.below, whole.below, strict=False):
        assert (got.mode, got.flags, got.parts) == (given_one.mode, given_one.flags, given_one.parts)


@given(whole=WHOLES, size=st.integers(1, 20))
def test_partials_of_a_valid_document_never_raise(whole: Whole, size: int) -> None:
    """Every prefix has one, and the last one holds the fields of the value."""
    text = told(whole)
    reader, last = PartialReader(Whole), {}
    for start in range(0, len(text), size):
        found = reader.feed(text[start : start + size])
        last = found if isinstance(found, dict) else last  # pyright: ignore[reportUnknownVariableType]  # JSON
    assert last == {name: getattr(whole, name) for name in ("parts", "mode", "flags", "below")}


@given(text=st.text(alphabet="{}[]\",:'`\\njson partsmode0123 \ud83d", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but DecodeError, from repair; nothing at all from partials."""
    PartialReader(Whole, lenient=True).feed(text)
    with pytest.raises(DecodeError):
        repair_output(text, Whole)
