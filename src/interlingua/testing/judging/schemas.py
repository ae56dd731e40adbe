"""The parts of a schema that a rewriting must keep: properties, which are required, choices, descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from interlingua.testing.wirefacts.values import items, members, word

__all__ = ["lost_of_schema"]


def lost_of_schema(expected: Any, actual: Any) -> list[str]:
    """The parts that the wanted schema has and the other one lacks, wherever in it."""
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return [] if expected == actual else ["the schema"]
    names, required = set(_properties(actual)), set(_required(actual))
    text = json.dumps(actual, ensure_ascii=False, sort_keys=True)
    lost = [f"property {name}" for name in dict.fromkeys(_properties(expected)) if name not in names]
    lost += [f"required {name}" for name in dict.fromkeys(_required(expected)) if name not in required]
    lost += [f"choice {value}" for value in dict.fromkeys(_choices(expected)) if _plain(value) not in text]
    nullable = set(_nullable(actual)) - set(_nullable(expected))
    lost += [f"a value of {name}" for name in dict.fromkeys(_required(expected)) if name in nullable]
    return lost + [f"description {one!r}" for one in dict.fromkeys(_descriptions(expected)) if _plain(one) not in text]


def _plain(text: str) -> str:
    """A text as it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema that may be a schema."""
    if isinstance(value, dict):
        schema = members(value)
        yield schema
        for name, inner in schema.items():
            if name not in ("enum", "const", "default", "example", "examples"):
                yield from _schemas(inner)
    for item in items(value):
        yield from _schemas(item)


def _properties(schema: Any) -> Iterator[str]:
    """The names of the properties of which anything is said."""
    for one in _schemas(schema):
        yield from [name for name, property_schema in members(one.get("properties")).items() if property_schema]


def _required(schema: Any) -> Iterator[str]:
    for one in _schemas(schema):
        yield from [word(name) for name in items(one.get("required"))]


def _nullable(schema: Any) -> Iterator[str]:
    """The names of the properties that may be null."""
    for one in _schemas(schema):
        for name, property_schema in members(one.get("properties")).items():
            kind = members(property_schema)
            if "null" in items(kind.get("type")) or kind.get("nullable") is True:
                yield name


def _choices(schema: Any) -> Iterator[str]:
    for one in _schemas(schema):
        yield from [str(value) for value in items(one.get("enum")) if isinstance(value, str | int)]


def _descriptions(schema: Any) -> Iterator[str]:
    """Every description but those of definitions, which yield to one beside a reference."""
    defined = [id(one) for name in ("$defs", "definitions") for one in members(members(schema).get(name)).values()]
    for one in _schemas(schema):
        if isinstance(one.get("description"), str) and id(one) not in defined:
            yield one["description"]
