"""Values that fit a schema, for trips there and back; not every value that fits, but some of each form."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from interlingua.dialects._members import is_object
from interlingua.schema.validate import validate
from interlingua.schema.walk import follow

__all__ = ["sample"]

DEEPEST = 6


def sample(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema."""
    return _of(schema, schema, 0).filter(lambda value: not validate(schema, value))


def _of(schema: Any, root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    if not is_object(schema):
        return st.just("anything")
    schema = follow(schema, root)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    forms = schema.get("anyOf", schema.get("oneOf"))
    if forms:
        return st.one_of([_of(form, root, depth) for form in forms])
    kind = schema.get("type", "any")
    kinds = [kind] if isinstance(kind, str) else kind
    return st.one_of([_kind(one, schema, root, depth) for one in kinds])


def _kind(kind: str, schema: dict[str, Any], root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    match kind:
        case "object":
            return _object(schema, root, depth)
        case "array":
            return _array(schema, root, depth)
        case "string":
            return st.sampled_from(["a", "https://a.example/b", "2026-01-01"])
        case "integer":
            return st.integers(max(1, int(schema.get("minimum", 1))), max(9, int(schema.get("minimum", 1))))
        case "number":
            return st.sampled_from([1, 2.5])
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return st.sampled_from(["text", 1, None, {"k": [1]}, [True]])


def _array(schema: dict[str, Any], root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    first = [_of(item, root, depth + 1) for item in schema.get("prefixItems", ())]
    if first:
        return st.tuples(*first).map(list)
    least = schema.get("minItems", 0)
    most = least if depth >= DEEPEST else max(least, 2)
    return st.lists(st.deferred(lambda: _of(schema.get("items"), root, depth + 1)), min_size=least, max_size=most)


def _object(schema: dict[str, Any], root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    properties: dict[str, Any] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    always = {name: _of(child, root, depth + 1) for name, child in properties.items() if name in required}
    rest = {} if depth >= DEEPEST else {name: child for name, child in properties.items() if name not in required}
    perhaps = {name: st.deferred(lambda child=child: _of(child, root, depth + 1)) for name, child in rest.items()}
    known = st.fixed_dictionaries(always, optional=perhaps)
    free = schema.get("additionalProperties")
    if properties or not isinstance(free, dict) or depth >= DEEPEST:
        return known
    return st.dictionaries(st.sampled_from(["x", "y z"]), _of(free, root, depth + 1), max_size=2)
