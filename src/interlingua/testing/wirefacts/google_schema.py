"""The OpenAPI form of a schema as JSON Schema: types in small letters, `nullable` as a second type.

Source: wire/google.md §6.
"""

from __future__ import annotations

import re
from typing import Any

from interlingua.testing.wirefacts.values import items, members

__all__ = ["json_schema"]

RENAMED = {"defs": "$defs", "ref": "$ref"}
MAPS = ("properties", "$defs")
BELOW = ("items", "additionalProperties")
LISTS = ("anyOf", "prefixItems")
KINDS = ("type_unspecified", "string", "number", "integer", "boolean", "array", "object", "null")
"""The types in the order of their numbers in proto JSON."""
COUNTS = re.compile(r"(min|max)(Items|Length|Properties)")


def json_schema(schema: Any) -> Any:
    """A schema of Google's in JSON Schema's own words."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for name, value in members(schema).items():
        camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
        renamed = RENAMED.get(camel, camel)
        result[renamed] = _member(renamed, value)
    if result.get("type") == "type_unspecified":
        del result["type"]
    return _nullable(result)


def _member(name: str, value: Any) -> Any:
    if name in MAPS:
        return {key: json_schema(part) for key, part in members(value).items()}
    if name in BELOW:
        return json_schema(value)
    if name in LISTS:
        return [json_schema(part) for part in items(value)]
    if name == "type":
        return KINDS[value] if isinstance(value, int) else value.lower() if isinstance(value, str) else value
    return int(value) if COUNTS.fullmatch(name) and isinstance(value, str) and value.isdigit() else value


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if not schema.pop("nullable", False):
        return schema
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = [kind, "null"]
        if "enum" in schema:
            schema["enum"] = [*items(schema["enum"]), None]
    elif "anyOf" in schema:
        schema["anyOf"] = [*items(schema["anyOf"]), {"type": "null"}]
    return schema
