"""Schemas that strict modes take, and their values turned back.

A strict mode wants every property required and no other allowed. So a property that may be left out becomes one that
may be null, and null says what leaving it out said: `relax` takes such nulls out of a value again.

Loss: `default` and `discriminator` go, since strict modes refuse them; a default is told in the description. Maps with
free names stay as they are: no strict mode can say them.
"""

from __future__ import annotations

from typing import Any, cast

from interlingua.errors import SchemaError
from interlingua.schema.problem import brief
from interlingua.schema.walk import Schema, follow, map_children
from interlingua.types._base import JsonValue

__all__ = ["allows_null", "form_of", "item_of", "led", "relax", "strictened"]


def strictened(schema: Schema) -> Schema:
    """`schema` with all properties required, others forbidden, optional ones nullable."""
    return _strictened(schema, schema)


def _strictened(schema: Schema, root: Schema) -> Schema:
    changed = map_children(schema, lambda child: _strictened(child, root))
    changed.pop("default", None)
    changed.pop("discriminator", None)
    if "$ref" in changed and len(changed) > 1 and "$defs" not in changed:
        # Strict modes refuse a reference with anything beside it.
        changed["anyOf"] = [{"$ref": changed.pop("$ref")}]
    if "properties" in schema:
        required: list[str] = schema.get("required", [])
        properties: dict[str, Any] = changed["properties"]
        for name, child in schema["properties"].items():
            if name not in required and isinstance(child, dict):
                properties[name] = _nullable(cast("Schema", child), properties[name], root)
        changed |= {"required": list(properties), "additionalProperties": False}
    return changed


def _nullable(loose: Schema, strict: Schema, root: Schema) -> Schema:
    """`strict` that takes null too, with a word about what null means where there is a default."""
    if allows_null(loose, root):
        return strict
    if loose.get("default") is not None:
        default, own = brief(loose["default"]), strict.get("description")
        means = f"Null means {default}." if own is None else f"{own.removesuffix('.')}; null means {default}."
        strict = {**strict, "description": means}
    aside = {name: value for name, value in strict.items() if name in {"title", "description"}}
    form = {name: value for name, value in strict.items() if name not in aside}
    forms: list[Schema] = form["anyOf"] if set(form) == {"anyOf"} else [form]
    return {**aside, "anyOf": [*forms, {"type": "null"}]}


def allows_null(schema: Schema, root: Schema) -> bool:
    """Whether null is valid, as far as type, enum, const and unions say."""
    schema = led(schema, root)
    kind = schema.get("type")
    if kind is not None and kind != "null" and not (isinstance(kind, list) and "null" in kind):
        return False
    if "enum" in schema:
        return None in schema["enum"]
    if "const" in schema:
        return schema["const"] is None
    forms: list[Schema] | None = schema.get("anyOf", schema.get("oneOf"))
    return forms is None or any(allows_null(form, root) for form in forms)


def relax(value: JsonValue, schema: Schema) -> JsonValue:
    """`value` without the nulls that stand for properties left out; `schema` is the one before it was strictened."""
    return _relaxed(value, schema, schema)


def _relaxed(value: Any, schema: Schema, root: Schema) -> Any:
    schema = form_of(value, led(schema, root), root)
    if isinstance(value, list):
        return [_relaxed(item, item_of(schema, index), root) for index, item in enumerate(cast("list[Any]", value))]
    if not isinstance(value, dict):
        return value
    properties: dict[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties")
    relaxed: dict[str, Any] = {}
    for name, member in cast("dict[str, Any]", value).items():
        child = properties.get(name, others)
        if not isinstance(child, dict):
            relaxed[name] = member
        elif (
            member is not None
            or name not in properties
            or name in schema.get("required", ())
            or allows_null(cast("Schema", child), root)
        ):
            relaxed[name] = _relaxed(member, cast("Schema", child), root)
    return relaxed


def item_of(schema: Schema, index: int) -> Schema:
    """The schema of the item at `index`; one that allows everything where nothing is said of it."""
    places: list[Schema] = schema.get("prefixItems", [])
    child = places[index] if index < len(places) else schema.get("items")
    return cast("Schema", child) if isinstance(child, dict) else {}


def form_of(value: JsonValue, schema: Schema, root: Schema) -> Schema:
    """The member of a union that `value` looks like; the schema itself where it is no union."""
    forms: list[Schema] | None = schema.get("anyOf", schema.get("oneOf"))
    if forms is None:
        return schema
    targets = [led(form, root) for form in forms]
    chosen = next((form for form in targets if _looks_like(value, form)), None)
    return {} if chosen is None else form_of(value, chosen, root)


def _looks_like(value: Any, schema: Schema) -> bool:
    if isinstance(value, list):
        return schema.get("type") == "array"
    if not isinstance(value, dict) or schema.get("type", "object") != "object":
        return False
    properties: dict[str, Any] = schema.get("properties", {})
    members = cast("dict[str, Any]", value)
    return (
        members.keys() >= set(schema.get("required", ()))
        and (members.keys() <= properties.keys() or isinstance(schema.get("additionalProperties"), dict))
        and all(_fits_tag(members[name], properties.get(name)) for name in members)
    )


def _fits_tag(value: object, schema: object) -> bool:
    """Whether a member that tells union members apart has this member's word."""
    child = cast("Schema", schema) if isinstance(schema, dict) else {}
    return value in child.get("enum", [value]) and value == child.get("const", value)


def led(schema: Schema, root: Schema) -> Schema:
    """Where the references lead; a schema that allows everything where that cannot be told."""
    try:
        return follow(schema, root)
    except SchemaError:
        return {}
