from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import SchemaError
from interlingua.schema.strict import allows_null, relax, strictened
from interlingua.schema.validate import validate
from interlingua.schema.walk import follow, map_children, parts_of_schema

LOOSE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "description": "How many.", "default": 1},
        "unit": {"enum": ["c", "f"]},
        "place": {"$ref": "#/$defs/place", "description": "Where."},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 5},
        "union": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/place"}]},
    },
    "required": ["city", "place"],
    "$defs": {"place": {"type": "object", "properties": {"x": {"type": "number"}}}},
}
STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"description": "How many; null means 1.", "anyOf": [{"type": "integer"}, {"type": "null"}]},
        "unit": {"anyOf": [{"enum": ["c", "f"]}, {"type": "null"}]},
        "place": {"description": "Where.", "anyOf": [{"$ref": "#/$defs/place"}]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "union": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/place"}, {"type": "null"}]},
    },
    "required": ["city", "days", "unit", "place", "maybe", "union"],
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"x": {"anyOf": [{"type": "number"}, {"type": "null"}]}},
            "required": ["x"],
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}


def test_sch_18_required_nullable_and_closed_go_together() -> None:
    """Every property is required, optional ones take null, others are forbidden, defaults move to the description."""
    before = repr(LOOSE)
    assert strictened(LOOSE) == STRICT
    assert repr(LOOSE) == before


def test_strict_twice_is_strict_once() -> None:
    """A strict schema is left as it is."""
    assert strictened(STRICT) == STRICT


def test_relaxed_values_are_valid_again() -> None:
    """Nulls that stand for what is left out go, at every depth; nulls that are values stay."""
    value = {"city": "a", "days": None, "unit": None, "place": {"x": None}, "maybe": None, "union": {"x": None}}
    assert validate(STRICT, value) == []
    relaxed = relax(value, LOOSE)
    assert relaxed == {"city": "a", "place": {}, "maybe": None, "union": {}}
    assert validate(LOOSE, relaxed) == []


RELAXED: list[tuple[dict[str, Any], Any, Any]] = [
    ({"items": {"properties": {"a": {"type": "string"}}}}, [{"a": None}, {}], [{}, {}]),
    ({"prefixItems": [{"properties": {"a": {"type": "string"}}}]}, [{"a": None}, None], [{}, None]),
    ({"additionalProperties": {"properties": {"a": {"type": "string"}}}}, {"b": {"a": None}}, {"b": {}}),
    ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": None}, {"a": None}),
    ({"properties": {"a": {}}}, {"a": None, "b": None}, {"a": None, "b": None}),
    ({"properties": {"a": True}}, {"a": None}, {"a": None}),
    ({"$ref": "#elsewhere"}, {"a": None}, {"a": None}),
    ({"type": "integer"}, 1, 1),
    ({"properties": {"a": {"const": 1}}}, {"a": None}, {}),
    ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": None}, {"a": None}),
    ({"anyOf": [{"type": "array", "items": {"properties": {"a": {"type": "string"}}}}]}, [{"a": None}], [{}]),
]


@pytest.mark.parametrize(("schema", "value", "relaxed"), RELAXED)
def test_relaxing_touches_only_such_nulls(schema: dict[str, Any], value: object, relaxed: object) -> None:
    """Required members, members that take null, unknown ones and whatever no schema speaks of stay."""
    assert relax(value, schema) == relaxed


def test_union_members_are_told_apart_by_their_tag() -> None:
    """A null is judged by the member of the union that the value belongs to."""

    def member(tag: str, form: dict[str, Any]) -> dict[str, Any]:
        properties = {"kind": {"const": tag}, "note": form}
        return {"type": "object", "properties": properties, "required": ["kind"]}

    schema = {"oneOf": [member("a", {"type": "null"}), member("b", {"type": "string"})]}
    assert relax({"kind": "a", "note": None}, schema) == {"kind": "a", "note": None}
    assert relax({"kind": "b", "note": None}, schema) == {"kind": "b"}


def test_whether_null_is_allowed() -> None:
    """Types, choices, constants, unions and references are asked; what says nothing allows it."""
    root = {"$defs": {"a": {"type": "null"}, "loop": {"$ref": "#/$defs/loop"}}}
    allowing = [{}, {"type": "null"}, {"enum": [1, None]}, {"const": None}, {"$ref": "#/$defs/a"}]
    refusing = [{"type": "string"}, {"enum": [1]}, {"const": 1}, {"anyOf": [{"type": "string"}, {"const": 2}]}]
    assert all(allows_null(schema, root) for schema in allowing)
    assert not any(allows_null(schema, root) for schema in refusing)


def test_walking_tells_keywords_from_names() -> None:
    """A property that is called like a keyword is a property (SCH-14)."""
    schema: dict[str, Any] = {
        "properties": {"items": {"type": "string"}, "not": {"anyOf": [{}, True]}},
        "items": {"title": "x"},
        "enum": [{}],
    }
    assert [*parts_of_schema(schema)][1:] == [{"type": "string"}, {"anyOf": [{}, True]}, {}, {"title": "x"}]
    assert map_children(schema, lambda _: {"seen": True}) == {
        "properties": {"items": {"seen": True}, "not": {"seen": True}},
        "items": {"seen": True},
        "enum": [{}],
    }


def test_references_are_followed() -> None:
    """Local pointers are followed through each other, escapes included; others are errors that say why."""
    root: dict[str, Any] = {
        "$defs": {"a": {"$ref": "#/$defs/b~1c"}, "b/c": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}},
        "anyOf": [{"const": 1}],
    }
    assert follow({"$ref": "#/$defs/a"}, root) == {"type": "string"}
    assert follow({"$ref": "#/anyOf/0"}, root) == {"const": 1}
    assert follow({"$ref": "#"}, root) is root
    for reference, sentence in (
        ("#/$defs/loop", "leads back to itself"),
        ("#/$defs/none", "leads nowhere"),
        ("#/anyOf/7", "leads nowhere"),
        ("http://example.com/a", "leads out of the schema"),
    ):
        with pytest.raises(SchemaError, match=sentence):
            follow({"$ref": reference}, root)
