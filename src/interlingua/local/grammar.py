"""One JSON schema for what a local model may say: a branch per tool, a reply, an output.

A small model breaks any tool format that it is only asked to keep. Here the format is a grammar, so what comes out is
always one of these objects:

- `{"name": "<tool>", "arguments": {…}}`, one branch per tool that may be called;
- `{"reply": "<text>"}`, when the model may also talk;
- `{"output": …}`, when there is an output schema.

Rules
- A schema goes in as the caller wrote it, minus what says nothing about shape; references are moved to where it stands.
- What the grammar engine cannot enforce is refused by name, with its place; it is never quietly ignored.
- Objects with known properties are closed and unbounded numbers get bounds (`MAX_NUMBER`): every answer still fits the
  caller's schema, and a small model does not run away in digits or invented members.

Not responsible for: finding out whether a schema is valid JSON Schema (`schema/`), and for checking the answers again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from interlingua.errors import SchemaError
from interlingua.wire.json import pointer

__all__ = [
    "MAX_NUMBER",
    "MAX_SCHEMA_DEPTH",
    "MAX_SCHEMA_NODES",
    "JsonSchema",
    "Schema",
    "ToolShape",
    "prepare",
    "union_schema",
]

Schema: TypeAlias = dict[str, Any]
JsonSchema: TypeAlias = Mapping[str, Any] | bool
"""A schema as a caller writes it."""

MAX_SCHEMA_DEPTH = 64
"""How deep a schema may nest."""
MAX_SCHEMA_NODES = 10_000
"""How many schemas one schema may hold."""
MAX_NUMBER = 10**15
"""Bound, both ways, of numbers for which the schema gives none."""

SPACING: Schema = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": ", "coerce_one_of": True}
"""How JSON texts are spaced: the way the weights saw most JSON, or they misread numbers (3 of 10 against 8)."""

_ENFORCED = frozenset(
    {
        "$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "definitions", "enum", "exclusiveMaximum",
        "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum",
        "multipleOf", "oneOf", "pattern", "patternProperties", "prefixItems", "properties", "required", "type",
    }
)  # fmt: skip
_REFUSED = frozenset(
    {
        "$dynamicRef", "$recursiveRef", "contains", "dependencies", "dependentRequired", "dependentSchemas", "else",
        "if", "maxContains", "maxProperties", "minContains", "minProperties", "not", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
    }
)  # fmt: skip
_FORMATS = frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"})
_ONE = frozenset({"additionalProperties", "items"})
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"$defs", "definitions", "patternProperties", "properties"})
_COMPOSED = frozenset({"$ref", "additionalProperties", "allOf", "anyOf", "oneOf", "patternProperties"})
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum", "const"})


class ToolShape(NamedTuple):
    """The parts of a tool that a grammar needs."""

    name: str
    """Its name on the wire."""
    description: str
    """The purpose; may be empty."""
    parameters: Mapping[str, Any]
    """The schema of its arguments."""


def union_schema(tools: Sequence[ToolShape], *, reply: bool = False, output: JsonSchema | None = None) -> Schema | None:
    """The schema of one answer, or None when the model may say anything.

    Raises: SchemaError, when a schema holds what the grammar engine cannot enforce.
    """
    branches: list[Schema] = []
    for place, tool in enumerate(tools):
        base = f"#/anyOf/{place}/properties/arguments"
        arguments = prepare(tool.parameters, base=base, where=f"tool {tool.name}")
        if not arguments.keys() & {"type", "$ref", "allOf", "anyOf", "oneOf"}:
            arguments["type"] = "object"
        branches.append(_object({"name": {"const": tool.name}, "arguments": arguments}))
    if output is not None:
        moved = f"#/anyOf/{len(branches)}/properties/output"
        branches.append(_object({"output": prepare(output, base=moved, where="the output schema")}))
    elif reply:
        branches.append(_object({"reply": {"type": "string"}}))
    return {"anyOf": branches, "x-guidance": SPACING} if branches else None


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def prepare(schema: JsonSchema, *, base: str = "#", where: str = "the schema") -> Schema:
    """`schema` as the grammar engine takes it, to stand at the place `base` of a larger one.

    Raises: SchemaError, for a keyword that cannot be enforced, a reference out of the document, or a bound.
    """
    return _Preparation(base, where, closing=not _composes(schema)).one(schema, "")


class _Preparation:
    """One walk over one schema; `closing` when its objects may be closed."""

    def __init__(self, base: str, where: str, *, closing: bool) -> None:
        self.base = base
        self.where = where
        self.closing = closing
        self.nodes = 0

    def one(self, schema: object, path: str) -> Schema:
        """The schema at `path`, prepared."""
        self.nodes += 1
        if self.nodes > MAX_SCHEMA_NODES or path.count("/") > 2 * MAX_SCHEMA_DEPTH:
            raise self.refuse(path, f"is beyond {MAX_SCHEMA_NODES} schemas or {MAX_SCHEMA_DEPTH} levels")
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            raise self.refuse(path, "allows nothing" if schema is False else "is not a schema")
        members = cast("Mapping[str, Any]", schema)
        for keyword in members:
            if keyword in _REFUSED:
                raise self.refuse(f"{path}/{keyword}", "is a keyword that the local model's grammar cannot enforce")
        prepared = {
            keyword: self._member(keyword, value, f"{path}/{keyword}")
            for keyword, value in members.items()
            if keyword in _ENFORCED and not (keyword == "format" and value not in _FORMATS)
        }
        if self.closing and "properties" in prepared and not prepared.keys() & _COMPOSED:
            prepared["additionalProperties"] = False
        types = prepared.get("type")
        numeric = not {"integer", "number"}.isdisjoint([types] if isinstance(types, str) else types or ())
        if numeric and not prepared.keys() & _BOUNDS:
            prepared |= {"minimum": -MAX_NUMBER, "maximum": MAX_NUMBER}
        return prepared

    def _member(self, keyword: str, value: Any, path: str) -> Any:
        """The value of one keyword, prepared."""
        if keyword == "$ref":
            return self.reference(value, path)
        if keyword in _ONE:
            return value if isinstance(value, bool) else self.one(value, path)
        if keyword in _MANY:
            items: list[Any] = self._typed(value, path, list)
            return [self.one(item, f"{path}/{place}") for place, item in enumerate(items)]
        if keyword in _NAMED:
            members: dict[str, Any] = self._typed(value, path, dict)
            return {name: self.one(item, f"{path}{pointer(name)}") for name, item in members.items()}
        return value

    def _typed(self, value: Any, path: str, kind: type[object]) -> Any:
        """`value`, which has to be a list or an object."""
        if not isinstance(value, kind):
            raise self.refuse(path, "has the wrong type")
        return value

    def reference(self, value: object, path: str) -> str:
        """A reference into the same document, moved to where the schema stands."""
        if not isinstance(value, str) or not (value == "#" or value.startswith("#/")):
            raise self.refuse(path, "refers to another document")
        return self.base + value[1:]

    def refuse(self, path: str, what: str) -> SchemaError:
        """The error for the place `path`."""
        return SchemaError(f"{self.where}: {path or 'its root'} {what}", code="unsupported_schema")


def _composes(schema: JsonSchema) -> bool:
    """Whether objects in it are put together of several schemas, so that none of them may be closed."""
    waiting: list[object] = [schema]
    visited = 0
    while waiting and visited < MAX_SCHEMA_NODES:
        value, visited = waiting.pop(), visited + 1
        if isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value)
            if "allOf" in members or ("properties" in members and members.keys() & {"$ref", "anyOf", "oneOf"}):
                return True
            waiting.extend(members.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[Any]", value))
    return False
