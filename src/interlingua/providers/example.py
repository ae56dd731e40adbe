"""A value that a JSON Schema takes, the same one every time: what the deterministic fake fills its answers with.

Rules
- Fixed values come first (`const`, `default`, `examples`, `enum`), then the smallest value that the bounds allow.
- Every property is filled in, not only the required ones, as far as the depth bound lets it.
- Of a pattern the first of some plain texts is taken that it allows, such as a number for a Decimal.
- Keywords that need a solver (`not`, `if`, …) are not looked at: the fake promises a shape, not a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from interlingua.errors import SchemaError
from interlingua.types._base import JsonValue
from interlingua.wire.json import pointer_steps

__all__ = ["example_of"]

Schema: TypeAlias = dict[str, Any]

MAX_DEPTH = 8
"""How deep a value nests before only what is required is filled in."""

FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
"""A value for each format."""


PLAIN = ("text", "1", "12", "123", "1234", "12345", "123456", "12345678", "A", "AB", "ABC", "A1", "AB12", "a", "ab")
"""Texts that are tried for a pattern: words, numbers, postal codes, marks."""


def example_of(schema: Schema) -> JsonValue:
    """A value that `schema` takes."""
    return _value(schema, schema, 0)


def _value(schema: Schema, root: Schema, depth: int) -> Any:
    schema = _resolved(schema, root)
    fixed = [schema[name] for name in ("const", "default") if name in schema]
    fixed += [schema[name][0] for name in ("examples", "enum") if schema.get(name)]
    if fixed or depth > 2 * MAX_DEPTH:
        return fixed[0] if fixed else None
    match _kind(schema):
        case "object":
            properties: dict[str, Schema] = schema.get("properties", {})
            required = schema.get("required", [])
            names = [name for name in properties if depth < MAX_DEPTH or name in required]
            return {name: _value(properties[name], root, depth + 1) for name in names}
        case "array":
            length = schema.get("minItems", 1 if depth < MAX_DEPTH else 0)
            return [_value(schema.get("items") or {}, root, depth + 1) for _ in range(min(length, 100))]
        case kind:
            return SIMPLE.get(kind, _text)(schema)


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema behind references and alternatives."""
    for _ in range(MAX_DEPTH):
        if isinstance(target := schema.get("$ref"), str):
            schema = {**_at(root, target), **{name: value for name, value in schema.items() if name != "$ref"}}
        elif choices := schema.get("anyOf") or schema.get("oneOf"):
            rest = {name: value for name, value in schema.items() if name not in ("anyOf", "oneOf")}
            schema = {**rest, **next((choice for choice in choices if choice.get("type") != "null"), choices[0])}
        elif parts := schema.get("allOf"):
            rest = {name: value for name, value in schema.items() if name != "allOf"}
            schema = {}
            for part in (rest, *(_resolved(part, root) for part in parts)):
                properties = {**schema.get("properties", {}), **part.get("properties", {})}
                schema = {**schema, **part, **({"properties": properties} if properties else {})}
        else:
            break
    return schema


def _at(root: Schema, reference: str) -> Schema:
    """The schema that a local reference names; anything for one that leads nowhere."""
    node: Any = root
    for step in pointer_steps(reference):
        node = cast("Schema", node).get(step) if isinstance(node, dict) else None
    return cast("Schema", node) if isinstance(node, dict) else {}


def _kind(schema: Schema) -> str:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return str(next((kind for kind in cast("list[str]", kinds) if kind != "null"), "null"))
    if isinstance(kinds, str):
        return kinds
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _number(schema: Schema) -> int | float:
    step = schema.get("multipleOf", 1)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None:
        return 0 if high is None or high > 0 else high - step
    return low + step if "exclusiveMinimum" in schema else low


def _text(schema: Schema) -> str:
    fitting = [text for text in PLAIN if _takes(schema, text)] if "pattern" in schema else []
    if fitting:
        return fitting[0]
    text = FORMATS.get(schema.get("format", ""), "text")
    return text.ljust(min(schema.get("minLength", 0), 1000), "x")[: schema.get("maxLength", 1000)]


def _takes(schema: Schema, text: str) -> bool:
    from interlingua.schema.validate import validate  # only who meets a pattern pays for it

    try:
        return not validate({key: schema[key] for key in ("pattern", "minLength", "maxLength") if key in schema}, text)
    except SchemaError:
        return False


def _true(schema: Schema) -> bool:  # noqa: ARG001 - every kind is asked with its schema
    return True


def _null(schema: Schema) -> None:  # noqa: ARG001 - the same
    return None


SIMPLE: dict[str, Callable[[Schema], Any]] = {
    "integer": _number,
    "number": _number,
    "boolean": _true,
    "null": _null,
    "string": _text,
}
"""The maker of a value of each kind that holds no others."""
