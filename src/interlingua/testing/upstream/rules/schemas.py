"""Which JSON Schemas every service takes: for tools, for answers, in strict mode.

Source: section "Schema subset" of our notes on each service; the rows SCH of our list of failures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from interlingua.testing.upstream.verdict import Finding
from interlingua.testing.wirefacts.values import items, members, word
from interlingua.wire.model_table import OPENAI_STRICT_BOUNDS

__all__ = [
    "anthropic_root",
    "anthropic_strict",
    "google_json_schema",
    "google_schema",
    "openai_root",
    "openai_strict",
]

Step: TypeAlias = "str | int"
Steps: TypeAlias = "tuple[Step, ...]"
Node: TypeAlias = dict[str, Any]

_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "$defs", "definitions", "defs", "patternProperties", "dependentSchemas")


def _nodes(schema: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Node]]:
    """Every schema in a schema, itself first, with its place."""
    if not isinstance(schema, dict):
        return
    node = members(schema)
    yield steps, node
    for name in _ONE:
        yield from _nodes(node.get(name), (*steps, name))
    for name in _LISTS:
        for place, item in enumerate(items(node.get(name))):
            yield from _nodes(item, (*steps, name, place))
    for name in _MAPS:
        for key, item in members(node.get(name)).items():
            yield from _nodes(item, (*steps, name, key))


def _each(schema: Any, steps: Steps, check: Callable[[Node], Iterator[str]]) -> Iterator[Finding]:
    for place, node in _nodes(schema):
        for sentence in check(node):
            yield (*steps, *place), sentence


def _types(node: Node) -> set[str]:
    kind = node.get("type")
    return {kind} if isinstance(kind, str) else {word(item) for item in items(kind)}


# OpenAI

OPENAI_REFUSED = frozenset(
    {
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
    }
)
"""Keywords that strict mode refuses."""


def openai_root(schema: Any, steps: Steps) -> Iterator[Finding]:
    """The findings on a function's parameters, strict or not: a root that is no plain object, arrays without items."""
    root = members(schema)
    if root.get("type") != "object":
        yield steps, "schema must be a JSON Schema of type object"
    elif not {"allOf", "anyOf", "const", "enum", "not", "oneOf"}.isdisjoint(root):
        yield steps, "schema must not have a choice, a constant or a negation at the top level"
    elif not isinstance(root.get("properties"), dict):
        yield steps, "object schema missing properties"
    yield from _each(schema, steps, _array_without_items)


def _array_without_items(node: Node) -> Iterator[str]:
    if "array" in _types(node) and "items" not in node and "prefixItems" not in node:
        yield "array schema missing items"


def openai_strict(schema: Any, steps: Steps) -> Iterator[Finding]:
    """Where a schema is beyond strict mode."""
    root = members(schema)
    if _types(root) != {"object"} and "$ref" not in root:
        yield steps, "the root must be of type object"
    if "anyOf" in root:
        yield (*steps, "anyOf"), "the root may not be a choice"
    yield from _each(schema, steps, _openai_strict_node)
    nodes = list(_nodes(schema))
    depth = max((sum(step in ("properties", "items") for step in place) for place, _ in nodes), default=0)
    most = OPENAI_STRICT_BOUNDS
    if depth > most.levels:
        yield steps, f"{depth} levels; {most.levels} is the most"
    if sum(len(members(node.get("properties"))) for _, node in nodes) > most.properties:
        yield steps, f"more than {most.properties} properties"
    if sum(len(items(node.get("enum"))) for _, node in nodes) > most.enum_values:
        yield steps, f"more than {most.enum_values} enum values"


def _openai_strict_node(node: Node) -> Iterator[str]:
    for keyword in sorted(OPENAI_REFUSED & set(node)):
        yield f"{keyword!r} is not permitted"
    if "object" in _types(node) or "properties" in node:
        if node.get("additionalProperties") is not False:
            yield "'additionalProperties' is required to be supplied and to be false"
        missing = sorted(set(members(node.get("properties"))) - {word(name) for name in items(node.get("required"))})
        if missing:
            yield f"'required' is required to include every key in properties. Missing {', '.join(missing)}"
    if any(sign in word(node.get("pattern")) for sign in ("(?=", "(?!", "(?<")):
        yield "look-around in a pattern is not permitted"


# Anthropic

ANTHROPIC_REFUSED = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "not",
        "oneOf",
        "patternProperties",
    }
)
"""Keywords that structured output and strict tools refuse."""
ANTHROPIC_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)


def anthropic_root(schema: Any, steps: Steps) -> Iterator[Finding]:
    """The findings on a tool's schema, strict or not."""
    root = members(schema)
    if root.get("type") != "object":
        yield (*steps, "type"), "must be 'object'"
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in root:
            yield (*steps, keyword), f"input_schema does not support {keyword} at the top level"


def anthropic_strict(schema: Any, steps: Steps) -> Iterator[Finding]:
    """Where a schema is beyond structured output and strict tools."""
    yield from _each(schema, steps, _anthropic_node)


def _anthropic_node(node: Node) -> Iterator[str]:
    for keyword in sorted(ANTHROPIC_REFUSED & set(node)):
        yield f"property '{keyword}' is not supported"
    if "object" in _types(node) and node.get("additionalProperties") is not False:
        yield "for 'object' type, 'additionalProperties' must be explicitly set to false"
    if node.get("minItems", 0) not in (0, 1):
        yield "for 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if "format" in node and "string" in _types(node) and node["format"] not in ANTHROPIC_FORMATS:
        yield f"format {node['format']!r} is not supported"
    reference = node.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        yield "external $ref is not supported"


# Google

GOOGLE_JSON_SIBLINGS = "$"
"""How the names begin that may stand beside `$ref`."""


def google_schema(schema: Any, steps: Steps) -> Iterator[Finding]:
    """Where an OpenAPI-style schema contradicts itself; its members are checked with the body."""
    yield from _each(schema, steps, _google_node)


def _google_node(node: Node) -> Iterator[str]:
    kind = word(node.get("type")).upper()
    if "enum" in node and kind != "STRING":
        yield "enum: only allowed for STRING type"
    if kind == "ARRAY" and "items" not in node:
        yield "items: missing field"
    if kind != "ARRAY" and {"items", "minItems", "maxItems"} & set(node):
        yield "items: only allowed for ARRAY type"
    unknown = [name for name in items(node.get("required")) if name not in members(node.get("properties"))]
    if unknown and kind == "OBJECT":
        yield f"required: property is not defined: {', '.join(map(str, unknown))}"


def google_json_schema(schema: Any, steps: Steps) -> Iterator[Finding]:
    """Where a JSON Schema is refused; what is merely ignored is no fault."""
    yield from _each(schema, steps, _google_json_node)


def _google_json_node(node: Node) -> Iterator[str]:
    if "$ref" in node:
        beside = sorted(name for name in node if not name.startswith(GOOGLE_JSON_SIBLINGS))
        if beside:
            yield f"$ref may not stand beside {', '.join(beside)}"
