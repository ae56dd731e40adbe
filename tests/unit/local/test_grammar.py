"""Schemas for what a local model may say."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import SchemaError
from interlingua.local.grammar import MAX_NUMBER, SPACING, ToolShape, prepare, union_schema

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolShape("get_weather", "Weather.", CITY)
CLOSED_CITY = {**CITY, "additionalProperties": False}


def branch(**properties: Any) -> dict[str, Any]:
    """A closed object that must have all of `properties`."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def test_a_tool_and_a_reply_are_two_branches() -> None:
    """Automatic choice is a call of the tool or a text."""
    assert union_schema([WEATHER], reply=True) == {
        "anyOf": [branch(name={"const": "get_weather"}, arguments=CLOSED_CITY), branch(reply={"type": "string"})],
        "x-guidance": SPACING,
    }


def test_a_forced_call_leaves_no_reply() -> None:
    """Without a reply every branch is a call."""
    schema = union_schema([WEATHER])
    assert schema is not None
    assert [list(option["properties"]) for option in schema["anyOf"]] == [["name", "arguments"]]


def test_an_output_takes_the_place_of_a_reply() -> None:
    """With tools and an output schema the model calls or gives the output."""
    schema = union_schema([WEATHER], reply=True, output={"type": "boolean"})
    assert schema is not None
    assert schema["anyOf"][1] == branch(output={"type": "boolean"})


def test_nothing_to_choose_is_no_grammar() -> None:
    """Free text needs no schema."""
    assert union_schema([]) is None


def test_references_are_moved_to_where_their_schema_stands() -> None:
    """`#/$defs/…` of the second tool points into the second branch."""
    tree = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    schema = union_schema([WEATHER, ToolShape("walk", "", tree)])
    assert schema is not None
    arguments = schema["anyOf"][1]["properties"]["arguments"]
    moved = "#/anyOf/1/properties/arguments/$defs/node"
    assert arguments["properties"]["root"] == {"$ref": moved}
    assert arguments["$defs"]["node"]["properties"]["next"] == {"$ref": moved}


def test_annotations_say_nothing_about_shape() -> None:
    """Titles, defaults, examples and unknown formats are left out."""
    assert prepare({"type": "string", "title": "T", "default": "x", "format": "color", "examples": ["y"]}) == {
        "type": "string"
    }
    assert prepare({"type": "string", "format": "date"}) == {"type": "string", "format": "date"}


def test_numbers_without_bounds_get_some() -> None:
    """A small model cannot run away in digits; given bounds are kept."""
    bounds = {"minimum": -MAX_NUMBER, "maximum": MAX_NUMBER}
    assert prepare({"type": "integer"}) == {"type": "integer", **bounds}
    assert prepare({"type": ["number", "null"]}) == {"type": ["number", "null"], **bounds}
    assert prepare({"type": "integer", "minimum": 3}) == {"type": "integer", "minimum": 3}
    assert prepare({"type": "integer", "enum": [10**20]}) == {"type": "integer", "enum": [10**20]}


OPEN: list[dict[str, Any]] = [
    {"properties": {"a": {}}, "additionalProperties": {"type": "string"}},
    {"properties": {"a": {}}, "patternProperties": {"^b": {}}},
    {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
    {"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}]},
]


@pytest.mark.parametrize("schema", OPEN)
def test_objects_that_may_have_more_members_stay_open(schema: dict[str, Any]) -> None:
    """Closing is done only where no other schema speaks about the same object."""
    assert prepare(schema) == schema


@pytest.mark.parametrize(
    "keyword", ["not", "if", "uniqueItems", "contains", "propertyNames", "dependentRequired", "minProperties"]
)
def test_what_cannot_be_enforced_is_refused_by_name(keyword: str) -> None:
    """The error names the tool, the place and the keyword."""
    tool = ToolShape("t", "", {"type": "object", "properties": {"a/b": {keyword: True}}})
    with pytest.raises(SchemaError, match=rf"tool t: /properties/a~1b/{keyword} is a keyword") as caught:
        union_schema([tool])
    assert caught.value.code == "unsupported_schema"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "https://example.com/s"}, r"/\$ref refers to another document"),
        ({"$ref": "#anchor"}, r"/\$ref refers to another document"),
        ({"items": [1]}, "/items is not a schema"),
        ({"properties": {"a": False}}, "/properties/a allows nothing"),
        ({"anyOf": {"type": "string"}}, "/anyOf has the wrong type"),
    ],
)
def test_a_schema_that_says_something_else_is_refused(schema: dict[str, Any], reason: str) -> None:
    """Foreign references and broken schemas are named with their place."""
    with pytest.raises(SchemaError, match=reason):
        prepare(schema)


def test_schemas_are_bounded() -> None:
    """A schema too deep or too wide is refused at the edge."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(64):
        deep = {"items": deep}
    assert prepare(deep)
    for _ in range(65):
        deep = {"items": deep}
    with pytest.raises(SchemaError, match="64 levels"):
        prepare(deep)
    with pytest.raises(SchemaError, match="10000 schemas"):
        prepare({"anyOf": [{}] * 10_000})


def test_every_value_is_allowed_by_true() -> None:
    """The schema `true` becomes the schema that says nothing."""
    assert prepare({"anyOf": [True, {"type": "null"}]}) == {"anyOf": [{}, {"type": "null"}]}
