"""Values for schemas: fixed ones first, then the smallest that the bounds allow."""

from __future__ import annotations

from typing import Any

from interlingua.providers.example import example_of
from tests.support.cells import cells

TREE: dict[str, Any] = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"$ref": "#/$defs/node"},
            },
            "required": ["name"],
        }
    },
    "$ref": "#/$defs/node",
}


@cells(
    ("schema", "value"),
    [
        ({}, "text"),
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"type": "string", "pattern": r"^[+-]?\d+(\.\d+)?$"}, "1"),
        ({"type": "string", "pattern": r"^\d{4,5}$"}, "1234"),
        ({"type": "string", "pattern": "^[A-Z]+$", "minLength": 3}, "ABC"),
        ({"type": "string", "pattern": "x"}, "text"),
        ({"type": "string", "pattern": "never"}, "text"),
        ({"type": "string", "pattern": "("}, "text"),
        ({"const": 7}, 7),
        ({"enum": ["b", "a"]}, "b"),
        ({"type": "string", "default": "x"}, "x"),
        ({"type": "integer", "examples": [3]}, 3),
        ({"type": "integer"}, 0),
        ({"type": "integer", "minimum": 3, "maximum": 9}, 3),
        ({"type": "integer", "exclusiveMinimum": 3}, 4),
        ({"type": "integer", "maximum": -2}, -3),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["null", "integer"]}, 0),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 0),
        ({"oneOf": [{"type": "null"}]}, None),
        ({"allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 2}}}]}, {"a": 1, "b": 2}),
        ({"type": "array", "items": {"type": "integer"}}, [0]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"items": {"const": 1}}, [1]),
        ({"type": "object"}, {}),
        ({"properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}, {"a": "text", "b": True}),
        ({"$ref": "#/nowhere"}, "text"),
    ],
)
def test_values(schema: dict[str, Any], value: Any) -> None:
    """Each kind of schema has its one value."""
    assert example_of(schema) == value


def test_recursion_ends() -> None:
    """A schema that holds itself is filled to the depth bound, then with what it requires."""
    value, depth = example_of(TREE), 0
    while "next" in value:
        value, depth = value["next"], depth + 1
    assert depth == 8
    assert value == {"name": "text"}
