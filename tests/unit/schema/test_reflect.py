from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
    cast,
)

import annotated_types
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import DecodeError, SchemaError
from interlingua.schema.reflect import decode_output, reflect, schema_name_of, schema_of
from interlingua.schema.validate import check_schema, validate
from interlingua.schema.walk import parts_of_schema
from interlingua.wire.json import encode
from tests.support.cells import cells

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Line:
    """A line of an invoice."""

    text: str
    amount: float


@dataclass
class Invoice:
    """An invoice.

    Attributes:
        number: As printed.
        paid: Whether it is paid.
    """

    number: str
    lines: list[Line]
    due: dt.date | None = None
    paid: bool = False
    tags: list[str] = field(default_factory=list[str])


INVOICE = {
    "type": "object",
    "description": "An invoice.",
    "properties": {
        "number": {"type": "string", "description": "As printed."},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "description": "A line of an invoice.",
                "properties": {"text": {"type": "string"}, "amount": {"type": "number"}},
                "required": ["text", "amount"],
                "additionalProperties": False,
            },
        },
        "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "paid": {
            "description": "Whether it is paid; null means false.",
            "anyOf": [{"type": "boolean"}, {"type": "null"}],
        },
        "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
    },
    "required": ["number", "lines", "due", "paid", "tags"],
    "additionalProperties": False,
}


@dataclass
class Node:
    name: str
    kids: list[Node] = field(default_factory=list["Node"])


@dataclass
class Left:
    size: int
    note: str = "none"


@dataclass
class Right:
    size: int
    weight: int


class Point(NamedTuple):
    x: int
    y: int = 0


class Cat(msgspec.Struct, tag=True):
    lives: int


class Dog(msgspec.Struct, tag=True, rename="camel"):
    good_boy: bool


class Options(TypedDict, total=False):
    depth: Annotated[int, "How deep."]
    name: Required[str]


class Person(TypedDict):
    name: str
    age: NotRequired[int]


class Model(pydantic.BaseModel):
    """A model."""

    count: int = pydantic.Field(3, ge=1, description="How many.")
    name: str | None = None
    inner: list[Model] = []


@dataclass
class Holder:
    model: Model
    limit: Annotated[int, pydantic.Field(ge=2, description="At least two.")]


@dataclass
class Box(Generic[T]):
    content: T
    more: list[T]


@dataclass
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number <= 0:
            raise ValueError("the number must be positive")


UserId = NewType("UserId", int)

DECIMAL = {"type": "string", "pattern": r"^[+-]?\d+(\.\d+)?$"}
"""The schema of a Decimal."""
CENTS = Annotated[decimal.Decimal, annotated_types.Ge(0), annotated_types.MultipleOf(0.01)]
"""An amount of money."""
NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
"""A time with a zone."""


@dataclass
class Sale:
    price: decimal.Decimal
    weight: float
    steps: list[decimal.Decimal | None]
    rates: dict[str, decimal.Decimal | float]
    note: Any = None


def test_r36_a_dataclass_becomes_a_strict_schema() -> None:
    """All properties required, no others, optional ones nullable, descriptions from the docstring, no titles."""
    assert schema_of(Invoice) == INVOICE


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (Point, {"x": {"type": "integer"}, "y": {"description": "Null means 0.", "anyOf": "integer"}}),
        (Dog, {"type": {"type": "string", "enum": ["Dog"]}, "goodBoy": {"type": "boolean"}}),
        (Options, {"depth": {"description": "How deep.", "anyOf": "integer"}, "name": {"type": "string"}}),
        (Person, {"name": {"type": "string"}, "age": {"anyOf": "integer"}}),
        (Box[str], {"content": {"type": "string"}, "more": {"type": "array", "items": {"type": "string"}}}),
    ],
    ids=lambda kind: getattr(kind, "__name__", ""),
)
def test_every_kind_of_class_is_an_object(kind: Any, schema: dict[str, dict[str, Any]]) -> None:
    """NamedTuples, structs, TypedDicts and generic classes look like dataclasses."""
    properties = {
        name: {**form, "anyOf": [{"type": form["anyOf"]}, {"type": "null"}]} if "anyOf" in form else form
        for name, form in schema.items()
    }
    assert schema_of(kind) == {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@cells(
    ("kind", "schema"),
    [
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": False,
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (Sequence[bool], {"type": "array", "items": {"type": "boolean"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "a"], {"enum": [1, "a"]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (dt.date, {"type": "string", "format": "date"}),
        (dt.time, {"type": "string", "format": "time"}),
        (dt.timedelta, {"type": "string", "format": "duration"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (decimal.Decimal, DECIMAL),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (UserId, {"type": "integer"}),
        (Any, {}),
        (Annotated[int, msgspec.Meta(ge=1, lt=9)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
        (Annotated[str, msgspec.Meta(min_length=2, pattern="^a")], {"type": "string", "minLength": 2, "pattern": "^a"}),
        (
            Annotated[list[int], msgspec.Meta(max_length=2)],
            {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        ),
        (Annotated[int, "A number."], {"type": "integer", "description": "A number."}),
        (Annotated[int, ["not hashable"]], {"type": "integer"}),
        (Annotated[int | None, msgspec.Meta(ge=1)], {"anyOf": [{"type": "integer"}, {"type": "null"}], "minimum": 1}),
        (Annotated[int, msgspec.Meta(extra_json_schema={"examples": [1]})], {"type": "integer", "examples": [1]}),
        (
            Annotated[decimal.Decimal, annotated_types.Gt(decimal.Decimal("0.5")), annotated_types.MultipleOf(0.01)],
            {**DECIMAL, "description": "More than 0.5, a multiple of 0.01."},
        ),
        (
            Annotated[dt.date | None, annotated_types.Interval(ge=dt.date(2026, 1, 1), lt=dt.date(2027, 1, 1)), "Due."],
            {
                "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                "description": "Due; at least 2026-01-01, less than 2027-01-01.",
            },
        ),
    ],
    ids=str,
)
def test_what_is_no_object_stands_in_one(kind: Any, schema: dict[str, Any]) -> None:
    """Roots that strict modes refuse are the only property of an object."""
    assert schema_of(kind) == {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
    }


def test_maps_stay_maps() -> None:
    """Free names are said with `additionalProperties`, closed sets of names with `propertyNames` too."""
    assert schema_of(dict[str, int]) == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert schema_of(Mapping[Literal["a", "b"], Any]) == {
        "type": "object",
        "additionalProperties": True,
        "propertyNames": {"enum": ["a", "b"]},
    }


def test_recursive_types_refer_to_themselves() -> None:
    """A type that holds itself is defined once; the root stays an object."""
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kids": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Node"}}, {"type": "null"}]},
        },
        "required": ["name", "kids"],
        "additionalProperties": False,
    }
    assert schema_of(Node) == {**node, "$defs": {"Node": node}}
    text = '{"name": "a", "kids": [{"name": "b", "kids": null}]}'
    assert decode_output(text, Node) == Node("a", [Node("b")])


def test_what_is_used_twice_is_defined_once() -> None:
    """A class stands where it is used, unless it is used twice."""

    @dataclass
    class Pair:
        first: Line
        second: Line

    @dataclass
    class Single:
        line: Line

    Pair.__annotations__.update(first=Line, second=Line)
    Single.__annotations__.update(line=Line)
    assert schema_of(Pair)["properties"] == {"first": {"$ref": "#/$defs/Line"}, "second": {"$ref": "#/$defs/Line"}}
    assert list(schema_of(Pair)["$defs"]) == ["Line"]
    assert "$defs" not in schema_of(Single)


def test_pydantic_models_bring_their_own_schema() -> None:
    """Constraints, descriptions and recursion of a model are kept; titles go; the whole is made strict."""
    schema = schema_of(Model)
    assert schema["properties"]["count"] == {
        "description": "How many; null means 3.",
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
    }
    assert schema["required"] == ["count", "name", "inner"]
    assert schema["additionalProperties"] is False
    assert not any("title" in part for part in parts_of_schema(schema))
    assert decode_output(
        '{"count": null, "name": null, "inner": [{"count": 1, "name": "a", "inner": null}]}', Model
    ) == (Model(count=3, inner=[Model(count=1, name="a")]))


ITEM, COUNT = "What it is, in words.", "How many; null means 1."
DOCSTRINGS = {
    "google": """A line.

    Attributes:
        item (str): What it is,
            in words.
        number: How many.
    """,
    "numpy": """A line.

    Attributes
    ----------
    item : str
        What it is,
        in words.
    number
        How many.
    """,
    "sphinx": """A line.

    :param str item: What it is,
        in words.
    :ivar number: How many.
    """,
}


@cells("style", DOCSTRINGS)
@cells("made_with", ["dataclass", "struct", "typed dict", "named tuple", "pydantic"])
@cells("nested", [False, True])
def test_r31_docstrings_describe_the_fields_of_any_class(style: str, made_with: str, nested: bool) -> None:
    """In each style, of a class by itself and of one inside another; the summary is what is left of the docstring."""

    class Written:
        item: str
        number: int = 1

    class WrittenStruct(msgspec.Struct):
        item: str
        number: int = 1

    class WrittenModel(pydantic.BaseModel):
        item: str
        number: int = 1

    class WrittenDict(TypedDict):
        item: str
        number: NotRequired[int]

    class WrittenTuple(NamedTuple):
        item: str
        number: int = 1

    kinds: dict[str, Any] = {
        "dataclass": Written,
        "struct": WrittenStruct,
        "typed dict": WrittenDict,
        "named tuple": WrittenTuple,
        "pydantic": WrittenModel,
    }
    kind = kinds[made_with]
    kind.__doc__ = DOCSTRINGS[style]
    if made_with == "dataclass":
        dataclass(kind)
    schema = schema_of(list[kind])["properties"]["value"]["items"] if nested else schema_of(kind)
    told = {name: form.get("description") for name, form in schema["properties"].items()}
    assert schema["description"] == "A line."
    assert told == {"item": ITEM, "number": "How many." if made_with == "typed dict" else COUNT}


class Base(pydantic.BaseModel):
    """A base.

    Attributes:
        first: The first.
        internal: Never seen.
    """

    first: int = pydantic.Field(description="First of all.")


class Documented(pydantic.BaseModel):
    """A model.

    Attributes:
        first: The first.
        second: The second.
    """

    first: int = pydantic.Field(description="First of all.")
    second: int
    others: list[Base]


def test_a_field_s_own_description_wins_over_the_docstring_of_its_model() -> None:
    """And a docstring that speaks of what is no property is left as it is: nothing of it may get lost."""
    schema = schema_of(Documented)
    assert schema["description"] == "A model."
    assert schema["properties"]["first"] == {"description": "First of all.", "type": "integer"}
    assert schema["properties"]["second"] == {"description": "The second.", "type": "integer"}
    base = schema["properties"]["others"]["items"]
    assert "internal: Never seen." in base["description"]
    assert base["properties"]["first"]["description"] == "First of all."


@dataclass
class Parent:
    """A parent.

    Args:
        first: The first.
        second: The second.
    """

    first: int
    second: int


@dataclass
class Child(Parent):
    """A child.

    Args:
        second: The second, again.
    """

    third: int


def test_fields_that_are_inherited_keep_their_descriptions() -> None:
    """The words of the class itself win; its summary is its own."""
    schema = schema_of(Child)
    assert schema["description"] == "A child."
    told = {name: form.get("description") for name, form in schema["properties"].items()}
    assert told == {"first": "The first.", "second": "The second, again.", "third": None}


def test_pydantic_inside_a_dataclass() -> None:
    """A model may be a field, and pydantic's Field may annotate one."""
    held = schema_of(Holder)
    assert held["properties"]["limit"] == {"type": "integer", "description": "At least two.", "minimum": 2}
    assert decode_output('{"model": {"count": 4}, "limit": 2}', Holder) == Holder(Model(count=4, name=None), 2)
    with pytest.raises(DecodeError, match=r"field model\.count: 0 is less than 1; field limit: 1 is less than 2"):
        decode_output('{"model": {"count": 0}, "limit": 1}', Holder)


DIGITS = "0.1234567890123456789012345"
"""More than a float keeps."""
SALE = (
    f'{{"price": 1.10, "weight": {DIGITS}, "steps": [{DIGITS}, null, 12345678901234567890123],'
    f' "rates": {{"a": {DIGITS}}}, "note": [1.5, 2, {{"b": 0.25}}]}}'
)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (f'{{"value": {DIGITS}}}', decimal.Decimal, decimal.Decimal(DIGITS)),
        (DIGITS, decimal.Decimal, decimal.Decimal(DIGITS)),
        ('Here it is: {"value": 1.10}.', decimal.Decimal | None, decimal.Decimal("1.10")),
        (
            SALE,
            Sale,
            Sale(
                decimal.Decimal("1.10"),
                0.12345678901234568,
                [decimal.Decimal(DIGITS), None, decimal.Decimal(12345678901234567890123)],
                {"a": decimal.Decimal(DIGITS)},
                [1.5, 2, {"b": 0.25}],
            ),
        ),
    ],
)
def test_a_decimal_keeps_the_digits_of_a_number(text: str, kind: Any, value: object) -> None:
    """It is asked for as text; where a number came all the same, it goes through no float, and floats stay floats."""
    assert repr(decode_output(text, kind)) == repr(value)


def test_a_number_beyond_a_float_is_refused_beside_a_decimal_too() -> None:
    """The bound is the same for every type."""
    with pytest.raises(DecodeError, match="number out of range, at /value"):
        decode_output('{"value": 1e400}', decimal.Decimal)


@cells(
    ("text", "kind", "value"),
    [
        ('{"value": "1.01"}', CENTS, decimal.Decimal("1.01")),
        ('{"value": null}', Annotated[decimal.Decimal | None, annotated_types.Ge(0)], None),
        ('{"value": "2026-01-31T13:00:00Z"}', Annotated[dt.datetime, annotated_types.Ge(NOON)], NOON.replace(hour=13)),
        ('{"value": "PT1H"}', Annotated[dt.timedelta, annotated_types.Le(dt.timedelta(1))], dt.timedelta(hours=1)),
        (
            '{"value": "2026-01-31"}',
            Annotated[decimal.Decimal | dt.date, annotated_types.Ge(0.5)],
            dt.date(2026, 1, 31),
        ),
        ('{"value": 0.1}', Annotated[float, annotated_types.Le(decimal.Decimal("0.1"))], 0.1),
        ('{"value": 0.5}', Annotated[float, annotated_types.MultipleOf(decimal.Decimal("0.1"))], 0.5),
        ('{"value": 5}', Annotated[int | dt.date, annotated_types.Ge(dt.date(2026, 1, 1))], 5),
        ('{"value": [1, 2]}', list[int], [1, 2]),
        ("[1, 2]", list[int], [1, 2]),
        ('{"value": 1.0}', int, 1),
        ('{"value": 3}', float | int, 3),
        ('{"value": 3.5}', int | float, 3.5),
        ('{"value": [1, 1]}', set[int], {1}),
        ('{"value": [1, "a"]}', tuple[int, str], (1, "a")),
        ('{"value": "red"}', Colour, Colour.RED),
        ('{"value": 2}', Level, Level.HIGH),
        ('{"value": "b"}', Literal["a", "b"], "b"),
        ('{"value": "2026-01-31"}', str | dt.date, dt.date(2026, 1, 31)),
        ('{"value": "soon"}', str | dt.date, "soon"),
        ('{"value": "2026-01-31T12:00:00"}', dt.datetime, dt.datetime(2026, 1, 31, 12)),  # noqa: DTZ001 - no offset given
        ('{"value": "1.50"}', decimal.Decimal, decimal.Decimal("1.50")),
        ('{"value": "aGk="}', bytes, b"hi"),
        ('{"value": 123456789012345678901234567890}', int, 123456789012345678901234567890),
        ('{"1": "a"}', dict[int, str], {1: "a"}),
        ('{"a": 1}', dict[Literal["a"], int], {"a": 1}),
        ('{"value": {"size": 1, "weight": 2}}', Left | Right, Right(1, 2)),
        ('{"value": {"size": 1, "note": null}}', Left | Right, Left(1)),
        ('{"value": {"size": 1}}', Right | Left, Left(1)),
        ('{"value": {"type": "Dog", "goodBoy": true}}', Cat | Dog, Dog(good_boy=True)),
        ('{"type": "Cat", "lives": 9}', Cat | Dog, Cat(9)),
        ('{"value": null}', Invoice | None, None),
        ('{"x": 1, "y": null}', Point, Point(1)),
        ('{"depth": null, "name": "a"}', Options, {"name": "a"}),
        ('{"content": 1, "more": [2]}', Box[int], Box(1, [2])),
        ('{"value": {"any": [null]}}', Any, {"any": [None]}),
        ('```json\n{"value": 1}\n```', int, 1),
        ('```\n{"value": 1}```', int, 1),
        ('Here it is:\n\n```json\n{"value": 1}\n```\nDone.', int, 1),
        ('  {"value": "```json\\n1\\n```"}\n', str, "```json\n1\n```"),
    ],
)
def test_r37_answers_become_values(text: str, kind: Any, value: object) -> None:
    """The value has the type asked for; fences, wrappers and nulls that stand for defaults are taken off."""
    decoded: object = decode_output(text, kind)
    assert decoded == value
    assert type(decoded) is type(value)


def test_defaults_come_from_nulls_and_from_what_is_missing() -> None:
    """Null and left out both mean the default, where None is not a value of its own."""
    line = Line("a", 1.5)
    text = '{"number": "1", "lines": [{"text": "a", "amount": 1.5}], "due": "2026-01-31", "paid": null, "tags": null}'
    assert decode_output(text, Invoice) == Invoice("1", [line], dt.date(2026, 1, 31))
    assert decode_output('{"number": "1", "lines": []}', Invoice) == Invoice("1", [])


@cells(
    ("text", "kind", "path", "sentence"),
    [
        ("", int, "", "the answer is empty"),
        (" \n", {"type": "object"}, "", "the answer is empty"),
        ("I cannot.", int, "", "the text is not JSON"),
        ('{"value": "x"}', int, "/value", 'field value: "x" is not an integer'),
        ('{"value": true}', int, "/value", "field value: true is not an integer"),
        ('{"value": true}', Literal[1], "/value", "field value: true is not 1"),
        ('{"value": 1.5}', int, "/value", "field value: 1.5 is not an integer"),
        ('{"value": [1, "x"]}', list[int], "/value/1", 'field value[1]: "x" is not an integer'),
        ('{"value": "red"}', Literal["a", "b", "c"], "/value", 'field value: "red" is none of "a", "b", "c"'),
        ('{"value": {"type": "Cow"}}', Cat | Dog, "/value/type", 'field value.type: "Cow" is not "Cat" or "Dog"'),
        ('{"x": 1}', dict[int, str], "/x", "field x: 1 is not a string"),
        ('{"x": "a"}', dict[int, str], "/x", 'field x: the name "x" does not fit'),
        ("[1]", Invoice, "", "[1] is not an object"),
        ('{"value": "x"}', bytes, "/value", 'field value: "x" is not base64'),
        ('{"number": 0}', Positive, "", "the number must be positive"),
        (
            '{"value": {"size": "x", "weight": 1}}',
            Left | Right,
            "/value/size",
            'field value.size: "x" is not an integer',
        ),
        ('{"value": {"a": 1}}', list[int] | None, "/value", "field value: "),
        ('{"value": [{}]}', set[dict[str, int]], "/value", "field value: unhashable type"),
        ('{"value": "x"}', float, "/value", 'field value: "x" is not a number'),
        ('{"value": [1]}', tuple[int, int], "/value", "field value: 1 item, fewer than 2"),
        ('{"value": "x"}', int | float | None, "/value", 'field value: "x" is not an integer, a number or null'),
        ('{"a": 1}', {"type": "object", "properties": {"a": {"type": "string"}}}, "/a", "field a: 1 is not a string"),
        ('{"value": 9}', Annotated[int, msgspec.Meta(le=7)], "/value", "field value: 9 is more than 7"),
        ('{"value": "b"}', Annotated[str, msgspec.Meta(pattern="^a")], "/value", 'field value: "b" does not match ^a'),
        ('{"value": "-0.01"}', CENTS, "/value", "field value: -0.01 is less than 0"),
        ('{"value": 1.001}', CENTS, "/value", "field value: 1.001 is no multiple of 0.01"),
        ('{"value": "NaN"}', CENTS, "/value", 'field value: "NaN" does not match'),
        ('{"value": "1e40"}', CENTS, "/value", 'field value: "1e40" does not match'),
        (
            '{"value": "2026-01-31T11:00:00Z"}',
            Annotated[dt.datetime, annotated_types.Ge(NOON)],
            "/value",
            "field value: 2026-01-31T11:00:00Z is less than 2026-01-31T12:00:00Z",
        ),
        (
            '{"value": "2026-01-31T13:00:00"}',
            Annotated[dt.datetime, annotated_types.Ge(NOON)],
            "/value",
            "field value: 2026-01-31T13:00:00 cannot be compared with 2026-01-31T12:00:00Z: one has no time zone",
        ),
    ],
)
def test_answers_that_do_not_fit_name_the_place(text: str, kind: Any, path: str, sentence: str) -> None:
    """The error has the first bad place as its path and says what is wrong there."""
    with pytest.raises(DecodeError) as caught:
        decode_output(text, kind)
    assert caught.value.path == path
    assert sentence in caught.value.message


def test_every_problem_of_an_answer_is_told() -> None:
    """One sentence tells them all, so that the model can mend them at once."""
    with pytest.raises(DecodeError) as caught:
        decode_output('{"number": 1, "lines": [{"text": "a"}], "due": "soon"}', Invoice)
    assert caught.value.message == (
        "the answer does not fit: field number: 1 is not a string; field lines[0].amount: is missing;"
        ' field due: "soon" is not a date such as 2026-01-31'
    )


def test_own_schemas_are_sent_as_they_are() -> None:
    """A dict is the schema, and the answer is the parsed JSON; what is no schema is refused."""
    own = {"title": "My list!", "type": "array", "items": {"type": "integer"}}
    assert schema_of(own) is own
    assert schema_name_of(own) == "My_list"
    assert decode_output("[1, 2]", own) == [1, 2]
    with pytest.raises(SchemaError, match="output: no valid JSON Schema"):
        schema_of({"type": "arry"})


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Invoice, "Invoice"), (Box[int], "Box"), (list[Invoice], "response"), (int, "response"), ({}, "response")],
)
def test_schemas_are_named_after_their_class(kind: Any, name: str) -> None:
    """What has no name of its own is called `response`."""
    assert schema_name_of(kind) == name


Small = TypeVar("Small", bound=int)


class Alias:
    """What `type Endless = list[Endless]` gives from Python 3.12 on."""

    @property
    def __value__(self) -> Any:
        return list[self]


ENDLESS = Alias()


def _other_model() -> type[pydantic.BaseModel]:
    return pydantic.create_model("Model", other=(int, ...))


@dataclass
class SameTwice:
    """Two pydantic models of one name."""

    one: Model
    two: Any


SameTwice.__annotations__.update(one=Model, two=_other_model())


class Plain:
    pass


@dataclass
class MutableLoose:
    """Its values cannot be hashed."""

    a: list[int]


@dataclass
class Unresolved:
    other: Nowhere  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Plain, "has no JSON form"),
        (Box[Plain], "content: .*has no JSON form"),
        (object(), r"<object object at 0x[0-9a-f]+> is no type, and has no JSON form"),
        ([int], r"^\[<class 'int'>\] is no type, and has no JSON form"),
        (MutableLoose([1]), r"^MutableLoose\(a=\[1\]\) is no type, and has no JSON form"),
        (Unresolved, "name 'Nowhere' is not defined; types must be known at the top of the module"),
        (ENDLESS, "holds itself; put a class in between"),
        (SameTwice, "two types are named Model; rename one of them"),
        (Literal[b"x"], "choices must be text, numbers, booleans or None"),
    ],
)
def test_types_that_json_cannot_say_are_refused(kind: Any, sentence: str) -> None:
    """The error names the field and what can be used instead."""
    with pytest.raises(SchemaError, match=sentence):
        schema_of(kind)


def test_defaults_that_json_cannot_say_are_left_out() -> None:
    """A default without a JSON form is Python's alone: it is not told, and it still holds."""
    kind = msgspec.defstruct("Odd", [("size", float, float("inf")), ("name", str, "a")])
    assert reflect(kind).loose["properties"] == {
        "size": {"type": "number"},
        "name": {"type": "string", "default": "a"},
    }
    odd: Any = decode_output("{}", kind)
    assert odd.size == float("inf")


def test_generic_leftovers_are_what_they_are_bound_to() -> None:
    """A type variable without an argument is its bound, or anything; a bare tuple holds anything."""
    assert reflect(Box).loose["properties"] == {"content": {}, "more": {"type": "array", "items": {}}}
    assert reflect(Small).loose == {"type": "integer"}
    assert reflect(tuple).loose == {"type": "array", "items": {}}


def test_two_classes_of_one_name_get_two_definitions() -> None:
    """A class never takes another's definition."""

    def make(kind: type) -> Any:
        return msgspec.defstruct("Same", [("a", kind)])

    one, two = make(int), make(str)
    both = msgspec.defstruct("Both", [("x", one), ("y", two), ("z", list[one]), ("w", list[two])])
    assert list(schema_of(both)["$defs"]) == ["Same", "Same_2"]


KINDS = [Invoice, Node, Point, Options, Person, Cat | Dog, Model, Holder, Box[int], list[Line], Left | Right | None]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_strict_schemas_are_strict_everywhere(kind: Any) -> None:
    """No object at any depth has an optional or a free property, a default, or anything beside a reference."""
    schema = schema_of(kind)
    check_schema(schema, where="output")
    for part in parts_of_schema(schema):
        assert "default" not in part
        assert "$ref" not in part or set(part) == {"$ref"}
        if "properties" in part:
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False


LINES = st.builds(Line, st.text(), st.floats(allow_nan=False, allow_infinity=False))
INVOICES = st.builds(
    Invoice,
    st.text(),
    st.lists(LINES, max_size=3),
    st.none() | st.dates(),
    st.booleans(),
    st.lists(st.text(), max_size=2),
)
NODES = st.recursive(st.builds(Node, st.text()), lambda kids: st.builds(Node, st.text(), st.lists(kids, max_size=2)))


@given(
    st.one_of(
        INVOICES, NODES, st.builds(Left, st.integers(), st.text()), st.builds(Right, st.integers(), st.integers())
    )
)
def test_values_survive_the_trip(value: Any) -> None:
    """What is written as JSON is valid by both schemas and comes back as it was."""
    text, kind = encode(value).decode(), cast("Any", type(value))
    assert validate(schema_of(kind), msgspec.to_builtins(value)) == []
    assert validate(reflect(kind).loose, msgspec.to_builtins(value)) == []
    assert decode_output(text, kind) == value
