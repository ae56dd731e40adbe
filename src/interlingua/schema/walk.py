"""A JSON Schema as a tree: where its subschemas lie, and where its references lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

from interlingua.errors import SchemaError
from interlingua.wire.json import pointer_steps

__all__ = ["Schema", "follow", "map_children", "parts_of_schema", "resolve"]

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema."""

ONE = (
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
"""Keywords whose value is a schema."""
SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
"""Keywords whose value is a list of schemas."""
NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
"""Keywords whose value is an object of schemas; its names are not keywords."""

_HOLDING = frozenset((*ONE, *SEVERAL, *NAMED))
"""Every keyword that holds schemas."""


def map_children(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A copy of `schema` with every subschema directly below it changed; the order of members stays."""
    return {keyword: _changed(keyword, value, change) for keyword, value in schema.items()}


def _changed(keyword: str, value: object, change: Callable[[Schema], Schema]) -> object:
    def each(child: object) -> object:
        return change(cast("Schema", child)) if isinstance(child, dict) else child

    if keyword in ONE:
        return each(value)
    if keyword in SEVERAL and isinstance(value, list):
        return [each(child) for child in cast("list[object]", value)]
    if keyword in NAMED and isinstance(value, dict):
        return {name: each(child) for name, child in cast("Schema", value).items()}
    return value


def parts_of_schema(schema: Schema) -> Iterator[Schema]:
    """The schema and every subschema below it, outermost first; references are not followed."""
    waiting: list[object] = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        parent = cast("Schema", part)
        yield parent
        children: list[object] = []
        for keyword, value in parent.items():
            if keyword not in _HOLDING:
                continue
            if isinstance(value, dict):
                children += cast("Schema", value).values() if keyword in NAMED else [value]
            elif isinstance(value, list) and keyword in SEVERAL:
                children += cast("list[object]", value)
        waiting += reversed(children)


def follow(schema: Schema, root: Schema) -> Schema:
    """`schema`, or what its local `$ref` leads to; references to references are followed too.

    Raises: SchemaError, for a reference that leads nowhere, outside, or in a circle.
    """
    visited: set[str] = set()
    while "$ref" in schema:
        reference = str(schema["$ref"])
        if reference in visited:
            raise SchemaError(f"the reference {reference} leads back to itself")
        visited.add(reference)
        schema = resolve(reference, root)
    return schema


def resolve(reference: str, root: Schema) -> Schema:
    """The schema that a local reference leads to.

    Raises: SchemaError, for a reference that leads nowhere or outside.
    """
    node: Any = root
    if reference != "#" and not reference.startswith("#/"):
        raise SchemaError(f"the reference {reference} leads out of the schema")
    try:
        for step in pointer_steps(reference):
            node = node[int(step) if isinstance(node, list) else step]
    except (KeyError, IndexError, ValueError, TypeError):
        raise SchemaError(f"the reference {reference} leads nowhere") from None
    if isinstance(node, bool):
        return {} if node else {"not": {}}
    if not isinstance(node, dict):
        raise SchemaError(f"the reference {reference} leads to what is no schema")
    return cast("Schema", node)
