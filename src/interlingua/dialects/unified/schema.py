"""The JSON Schema of the format, made from its wire structs: one document for requests, answers, errors and events.

Shape: JSON Schema 2020-12; `$defs` has `Request`, `Response`, `Error` and `Event`, and what they consist of. The root
takes any of these four. It is committed as docs/dialects/unified.schema.json.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from interlingua.dialects.unified.wire import ErrorBodyWire, EventWire, RequestWire, ResponseWire
from interlingua.types._base import JsonObject
from interlingua.wire._shape import EXTRA

__all__ = ["ID", "json_schema"]

ID = "https://interlingua.dev/unified/v1/schema.json"
"""The schema's own name; nothing is there to be fetched."""
ROOTS: dict[str, Any] = {"Request": RequestWire, "Response": ResponseWire, "Error": ErrorBodyWire, "Event": EventWire}
TOOL_FORMS: JsonObject = {
    "anyOf": [
        {"required": ["name", "description", "parameters"]},
        {"required": ["name", "description", "freeform"]},
        {"required": ["type", "dialect", "kind", "raw"], "properties": {"type": {"const": "opaque_tool"}}},
    ]
}
"""The required members of an entry of `tools`, by its kind."""


def json_schema() -> JsonObject:
    """The schema document, made anew."""
    refs, components = msgspec.json.schema_components(
        ROOTS.values(), schema_hook=lambda _: {"type": "object"}, ref_template="#/$defs/{name}"
    )
    defs = {_named(name): _tidied(schema) for name, schema in components.items()}
    defs["Tool"] |= TOOL_FORMS
    for (name, _), ref in zip(ROOTS.items(), refs, strict=True):
        root = _tidied(ref)
        if root != {"$ref": f"#/$defs/{name}"}:
            defs[name] = defs.pop(_last(root), root) if "$ref" in root else root
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "interlingua, the unified HTTP format",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in ROOTS],
        "$defs": dict(sorted(defs.items())),
    }


def _last(ref: JsonObject) -> str:
    return cast("str", ref["$ref"]).rpartition("/")[2]


def _named(name: str) -> str:
    """The outer name of a struct: `TextWire` is `Text`."""
    return {"ErrorWire": "ErrorFacts", "ErrorBodyWire": "Error"}.get(name, name.removesuffix("Wire"))


def _tidied(schema: Any) -> Any:
    """Without what only we need: our member for unknown ones, nulls as defaults, hints of other standards."""
    if isinstance(schema, list):
        return [_tidied(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        name: _tidied(value)
        for name, value in cast("JsonObject", schema).items()
        if name not in (EXTRA, "discriminator") and (name != "default" or value is not None)
    }
    if isinstance(tidy.get("$ref"), str):
        tidy["$ref"] = f"#/$defs/{_named(_last(tidy))}"
    if "title" in tidy and isinstance(tidy["title"], str):
        tidy["title"] = _named(tidy["title"])
    if "contentEncoding" in tidy:
        tidy["format"] = "byte"
    return tidy
