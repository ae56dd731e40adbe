"""The OpenAPI form of schemas, and back: types in capitals and `nullable` instead of JSON Schema's words.

Rules
- Reading: types in small letters (the numbers that stand for them, too), `nullable` as a second type `null`, counts as
  numbers, members in camel case.
- Writing: only what was read in this form, in the style in which it was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from interlingua.dialects._members import is_list, is_object
from interlingua.types._base import JsonValue

__all__ = ["NUMBERED", "PLAIN", "UPPER", "from_json_schema", "style_of", "to_json_schema"]

PLAIN = "plain"
"""A schema in the OpenAPI member that is already JSON Schema."""
UPPER = "upper"
"""A schema with types in capitals."""
NUMBERED = "numbered"
"""A schema with the numbers of proto JSON in the place of types."""

KINDS = ("type_unspecified", "string", "number", "integer", "boolean", "array", "object", "null")
"""The types in the order of their numbers."""

RENAMED = {"defs": "$defs", "ref": "$ref"}
WIRE_NAMES = {own: name for name, own in RENAMED.items()}
_COUNT = re.compile(r"(?:min|max)(?:Items|Length|Properties)")
_SNAKE = re.compile(r"_([a-z])")


def style_of(schema: dict[str, Any]) -> str:
    """Which style a schema is written in."""
    if isinstance(schema.get("type"), int):
        return NUMBERED
    return PLAIN if to_json_schema(schema) == schema else UPPER


def to_json_schema(schema: JsonValue) -> JsonValue:
    """A schema of the OpenAPI form as JSON Schema; anything else as it is."""
    if not is_object(schema):
        return schema
    camel = {_SNAKE.sub(lambda match: match[1].upper(), name): value for name, value in schema.items()}
    members = {RENAMED.get(name, name): _read(name, value) for name, value in camel.items()}
    if members.get("type") == "type_unspecified":
        del members["type"]
    if not members.pop("nullable", False):
        return members
    kind = members.get("type")
    if isinstance(kind, str):
        members["type"] = [kind, "null"]
        if is_list(members.get("enum")):
            members["enum"] = [*members["enum"], None]
    elif is_list(members.get("anyOf")):
        members["anyOf"] = [*members["anyOf"], {"type": "null"}]
    return members


def _read(name: str, value: Any) -> Any:
    if name == "type" and isinstance(value, str):
        return value.lower()
    if name == "type" and isinstance(value, int) and 0 <= value < len(KINDS):
        return KINDS[value]
    if isinstance(value, str) and _COUNT.fullmatch(name) and value.isdigit():
        return int(value)
    return _below(name, value, to_json_schema)


def _below(name: str, value: Any, turn: Callable[[Any], Any]) -> Any:
    """The schemas below a member, turned."""
    if name in ("properties", "defs", "$defs") and is_object(value):
        return {key: turn(part) for key, part in value.items()}
    if name in ("anyOf", "prefixItems") and is_list(value):
        return [turn(part) for part in value]
    return turn(value) if name in ("items", "additionalProperties") else value


def from_json_schema(schema: JsonValue, style: str) -> JsonValue:
    """A JSON Schema that was read from the OpenAPI form, in the style in which it was read."""
    if style == PLAIN or not is_object(schema):
        return schema
    members: dict[str, Any] = dict(schema)
    kind = members.get("type")
    if is_list(kind) and len(kind) == 2 and kind[1] == "null":
        members["type"] = kind[0]
        members["nullable"] = True
        if is_list(members.get("enum")):
            members["enum"] = [value for value in members["enum"] if value is not None]
    elif is_list(members.get("anyOf")) and {"type": "null"} in members["anyOf"]:
        members["anyOf"] = [part for part in members["anyOf"] if part != {"type": "null"}]
        members["nullable"] = True
    return {WIRE_NAMES.get(name, name): _write(name, value, style) for name, value in members.items()}


def _write(name: str, value: Any, style: str) -> Any:
    if name == "type" and isinstance(value, str):
        return KINDS.index(value) if style == NUMBERED and value in KINDS else value.upper()
    return _below(name, value, partial(from_json_schema, style=style))
