"""The function definitions of the bfcl-eval data set, where it is installed, with their types in JSON Schema's words.

`pip install --no-deps bfcl-eval==2026.3.23` brings them; the package itself is never imported.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from interlingua.dialects._members import is_object

__all__ = ["NOT_HERE", "definitions_by_request", "normalised", "values"]

NOT_HERE = "the definitions are not here: pip install --no-deps bfcl-eval==2026.3.23"
TYPES = {
    "dict": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "tuple": "array",
    "list": "array",
    "Array": "array",
    "ArrayList": "array",
    "String": "string",
    "char": "string",
    "Boolean": "boolean",
    "Bigint": "integer",
    "HashMap": "object",
    "Hashtable": "object",
    "Set": "array",
    "Stack": "array",
    "Queue": "array",
}
"""Their word -> JSON Schema's; `any`, and what nobody knows, says no type."""
JSON_TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}
EVERY_ENTRY = 4_696
EVERY_DEFINITION = 8_726


def definitions_by_request() -> list[list[dict[str, Any]]]:
    """The definitions of each entry that has some; empty where the data are not installed."""
    spec = find_spec("bfcl_eval")
    if spec is None or spec.origin is None:
        return []
    files = sorted((Path(spec.origin).parent / "data").glob("BFCL_v4_*.json"))
    lines = [line for file in files if "format_sensitivity" not in file.name for line in file.read_text().splitlines()]
    entries = [json.loads(line) for line in lines if line.strip()]
    assert len(entries) == EVERY_ENTRY
    requests = [entry["function"] for entry in entries if entry.get("function")]
    assert sum(map(len, requests)) == EVERY_DEFINITION
    return requests


def normalised(schema: Any) -> Any:
    """A schema with the types of JSON Schema; only schemas are looked at, never names or values."""
    if not is_object(schema):
        return schema
    found = dict(schema)
    kind = found.pop("type", None)
    kind = TYPES.get(kind, kind) if isinstance(kind, str) else kind
    if kind in JSON_TYPES:
        found["type"] = kind
    if is_object(properties := found.get("properties")):
        found["properties"] = {name: normalised(child) for name, child in properties.items()}
    for keyword in ("items", "additionalProperties"):
        if keyword in found:
            found[keyword] = normalised(found[keyword])
    if not isinstance(found.get("required", []), list):
        del found["required"]
    return found


def values(schema: Any) -> list[Any]:
    """Two values of a schema: everything said, and no more than is required."""
    return [_value(schema, whole=True), _value(schema, whole=False)]


def _value(schema: Any, *, whole: bool) -> Any:
    if not is_object(schema):
        return "anything"
    if schema.get("enum"):
        return schema["enum"][-1 if whole else 0]
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, whole=whole)
    if kind == "array":
        return [_value(schema.get("items", {}), whole=whole)] * (2 if whole else 1)
    plain = {"string": ("", "text"), "integer": (7, 7), "number": (2.5, 2.5), "boolean": (False, True)}
    return plain.get(kind or "", ("free", {"any": [1, None]}))[whole]


def _object(schema: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    properties: dict[str, Any] = schema.get("properties", {})
    names = [name for name in properties if whole or name in schema.get("required", ())]
    free = {} if properties or not whole else {"a key": 1}
    return {name: _value(properties[name], whole=whole) for name in names} | free
