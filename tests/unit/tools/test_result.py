from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic
import pytest

from interlingua.errors import Error
from interlingua.tools.result import content_of
from interlingua.types.content import ImagePart, Json, TextPart
from tests.support.cells import cells


@dataclass
class Weather:
    city: str
    celsius: float


class Row(msgspec.Struct, rename="camel"):
    first_name: str


class Model(pydantic.BaseModel):
    at: dt.date


class Colour(enum.Enum):
    RED = "red"


IMAGE = ImagePart(b"x", "image/png")


@cells(
    ("value", "content"),
    [
        ("text", "text"),
        ("", ""),
        (None, Json(None)),
        (0, Json(0)),
        (10**30, Json(10**30)),
        ({"a": [1, None]}, Json({"a": [1, None]})),
        ([], Json([])),
        (["a", "b"], Json(["a", "b"])),
        ((1, 2), Json([1, 2])),
        ({1: "a"}, Json({"1": "a"})),
        (Weather("Oslo", 4.5), Json({"city": "Oslo", "celsius": 4.5})),
        ([Weather("Oslo", 4.5)], Json([{"city": "Oslo", "celsius": 4.5}])),
        (Row("Ada"), Json({"firstName": "Ada"})),
        (Model(at=dt.date(2026, 1, 31)), Json({"at": "2026-01-31"})),
        ({"inner": Model(at=dt.date(2026, 1, 31))}, Json({"inner": {"at": "2026-01-31"}})),
        (dt.date(2026, 1, 31), Json("2026-01-31")),
        (decimal.Decimal("1.50"), Json("1.50")),
        (uuid.UUID(int=0), Json("00000000-0000-0000-0000-000000000000")),
        (Colour.RED, Json("red")),
        ({3}, Json([3])),
        (IMAGE, (IMAGE,)),
        (TextPart("a"), (TextPart("a"),)),
        ([IMAGE, "seen"], (IMAGE, TextPart("seen"))),
        (Json({"a": 1}), Json({"a": 1})),
        (Json("a"), Json("a")),
        (Json(Weather("Oslo", 4.5)), Json({"city": "Oslo", "celsius": 4.5})),
        ([IMAGE, Json([1])], (IMAGE, Json([1]))),
    ],
    ids=repr,
)
def test_r10_r34_results_take_their_form(value: object, content: object) -> None:
    """Text stays text, parts stay parts, anything else is JSON."""
    assert content_of(value) == content


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (float("nan"), "not finite"),
        ({"a": [float("inf")]}, "the number at /a/0 is not finite"),
        (b"raw", "bytes are not JSON; give them as an ImagePart"),
        ({"a": [b"raw"]}, "bytes are not JSON"),
        pytest.param(object(), "an object is not JSON", id="object"),
        ([IMAGE, 1], "a list of parts holds an int"),
        (Json(b"raw"), "bytes are not JSON"),
        ("\ud800", "half of a surrogate pair"),
    ],
    ids=repr,
)
def test_arg_19_what_is_not_json_is_an_error(value: Any, sentence: str) -> None:
    """Non-finite numbers, bytes and foreign objects are refused here, not when the next request is encoded."""
    with pytest.raises(Error, match=sentence):
        content_of(value)


def test_a_value_that_holds_itself_is_an_error() -> None:
    """No endless recursion."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(Error):
        content_of(value)
