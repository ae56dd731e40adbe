"""What each target takes of JSON Schema, written from the vendors' references and by nobody who rewrites schemas.

`violations` looks at a finished schema as a server would: keyword by keyword, type by type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlingua.dialects._members import is_object

__all__ = ["violations"]

KEYWORDS: dict[str, str] = {
    "openai-strict": "type properties required additionalProperties items enum const anyOf $ref $defs "
    "description title default format pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum "
    "minItems maxItems minLength maxLength $schema",
    "anthropic-strict": "type properties required items enum const anyOf $ref $defs description title default format "
    "minItems additionalProperties",
    "google-json": "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems "
    "minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering default $schema minLength "
    "maxLength pattern uniqueItems",
    "google-openapi": "type format title description nullable enum items minItems maxItems properties required "
    "propertyOrdering anyOf minimum maximum minLength maxLength pattern minProperties maxProperties default example",
}
TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
Place = tuple[str, dict[str, Any]]


def _nodes(schema: Any, path: str = "") -> Iterator[Place]:
    """Every schema in a schema, with its place."""
    if not is_object(schema):
        return
    yield path, schema
    for keyword in ("properties", "$defs", "patternProperties"):
        children: dict[str, Any] = schema.get(keyword) or {}
        for name, child in children.items():
            yield from _nodes(child, f"{path}/{keyword}/{name}")
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, child in enumerate(schema.get(keyword) or ()):
            yield from _nodes(child, f"{path}/{keyword}/{number}")
    for keyword in ("items", "additionalProperties", "not"):
        yield from _nodes(schema.get(keyword), f"{path}/{keyword}")


def _is_object(node: dict[str, Any]) -> bool:
    return node.get("type") == "object" or (isinstance(node.get("type"), list) and "object" in node["type"])


def _closed(node: dict[str, Any]) -> str | None:
    if _is_object(node) and node.get("additionalProperties") is not False:
        return "an object that is not closed"
    return None


def _all_required(node: dict[str, Any]) -> str | None:
    if "properties" in node and set(node.get("required", ())) != set(node["properties"]):
        return "a property that is not required"
    return None


def _typed(node: dict[str, Any]) -> str | None:
    return None if node.keys() & {"type", "anyOf", "$ref"} else "no type"


def _lone_reference(node: dict[str, Any]) -> str | None:
    beside = [name for name in node if not name.startswith("$")]
    return "something beside a reference" if "$ref" in node and beside else None


def _openapi(node: dict[str, Any]) -> str | None:
    if not isinstance(node.get("type", "STRING"), str):
        return "a list of types"
    if "type" in node and node["type"].lower() not in TYPES:
        return "an unknown type"
    if not node.keys() & {"type", "anyOf"}:
        return "no type"
    if any(not isinstance(value, str) for value in node.get("enum", ())):
        return "an enumerated value that is no string"
    if node.get("type") == "ARRAY" and "items" not in node:
        return "an array without items"
    return "an object without properties" if node.get("type") == "OBJECT" and not node.get("properties") else None


def _formats(node: dict[str, Any]) -> str | None:
    return "an unknown format" if "format" in node and node["format"] not in FORMATS else None


def _few_items(node: dict[str, Any]) -> str | None:
    return "minItems beyond 1" if node.get("minItems", 0) > 1 else None


def _single_type(node: dict[str, Any]) -> str | None:
    if "type" in node and not isinstance(node["type"], str):
        return "a list of types"
    untaken = node.keys() & {"$ref", "oneOf", "allOf", "const"}
    return f"{untaken} is dropped in silence" if untaken else None


def _types(node: dict[str, Any]) -> str | None:
    said = node.get("type", [])
    return None if set([said] if isinstance(said, str) else said) <= TYPES else "an unknown type"


CHECKS: dict[str, tuple[Callable[[dict[str, Any]], str | None], ...]] = {
    "openai-tool": (),
    "openai-strict": (_closed, _all_required, _typed, _lone_reference, _formats, _types),
    "anthropic-strict": (_closed, _typed, _lone_reference, _formats, _few_items, _types),
    "anthropic-tool": (_types,),
    "google-json": (_lone_reference, _types),
    "google-openapi": (_openapi,),
    "ollama-tool": (_single_type, _types),
}
OBJECT_ROOTS = {"openai-tool", "openai-strict", "anthropic-strict", "anthropic-tool", "google-openapi", "ollama-tool"}


def violations(schema: Any, target: str, *, output: bool = False) -> list[str]:
    """What the target would refuse about a schema, each with its place."""
    found: list[str] = []
    allowed = set(KEYWORDS[target].split()) if target in KEYWORDS else None
    for path, node in _nodes(schema):
        unknown = [] if allowed is None else sorted(set(node) - allowed)
        found += [f"{path}: the keyword {name}" for name in unknown]
        found += [f"{path}: {said}" for check in CHECKS[target] if (said := check(node)) is not None]
    if target in OBJECT_ROOTS and not output:
        if str(schema.get("type")).lower() != "object":
            found.append("the root is no object")
        barred = ("anyOf", "oneOf", "allOf", *(("enum", "not", "const") if target == "openai-tool" else ()))
        found += [f"the root is {name}" for name in barred if name in schema]
    return found
