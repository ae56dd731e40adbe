"""Schemas rewritten into what a target takes: the law for all of them, and the corners."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._subsets import (
    ANTHROPIC_OUTPUT,
    ANTHROPIC_STRICT,
    ANTHROPIC_TOOL,
    GOOGLE_OPENAPI,
    GOOGLE_OUTPUT,
    GOOGLE_TOOL,
    OLLAMA_TOOL,
    OPENAI_OUTPUT,
    OPENAI_STRICT,
    OPENAI_TOOL,
    SUBSETS,
)
from interlingua.dialects.google.schemas import UPPER, from_json_schema
from interlingua.errors import SchemaError
from interlingua.schema.fit import fit
from interlingua.schema.merge import merged
from interlingua.schema.subset import Subset
from interlingua.schema.validate import check_schema, validate
from tests.support.allow_lists import violations
from tests.support.sample_values import sample
from tests.support.strategies import json_objects, names

TARGETS = {
    OPENAI_TOOL.name: "openai-tool",
    OPENAI_OUTPUT.name: "openai-tool",
    OPENAI_STRICT.name: "openai-strict",
    ANTHROPIC_STRICT.name: "anthropic-strict",
    ANTHROPIC_OUTPUT.name: "anthropic-strict",
    ANTHROPIC_TOOL.name: "anthropic-tool",
    GOOGLE_TOOL.name: "google-json",
    GOOGLE_OUTPUT.name: "google-json",
    GOOGLE_OPENAPI.name: "google-openapi",
    OLLAMA_TOOL.name: "ollama-tool",
}


def _object(properties: dict[str, Any], free: Any, required: int) -> dict[str, Any]:
    members = {} if free is None else {"additionalProperties": free}
    return {"type": "object", "properties": properties, "required": list(properties)[:required], **members}


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.dictionaries(names, inner, max_size=3)
    return st.builds(_object, some, st.none() | st.booleans() | inner, st.integers(0, 3))


schemas: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([
        {},
        {"type": "string", "minLength": 1, "format": "uri-reference"},
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": ["string", "null"]},
        {"type": ["integer", "array"], "items": {"type": "string"}},
        {"enum": [1, "1", True, None]},
        {"const": 5},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "number"}},
        {"$ref": "#/$defs/Node"},
        {"$ref": "#/$defs/Leaf", "description": "D"},
    ]),
    lambda inner: (
        _objects(inner)
        | inner.map(lambda item: {"type": "array", "items": item, "minItems": 2})
        | st.lists(inner, min_size=1, max_size=2).map(lambda items: {"type": "array", "prefixItems": items})
        | st.lists(inner, min_size=1, max_size=3).map(lambda forms: {"anyOf": forms})
        | st.lists(inner, min_size=1, max_size=3).map(lambda forms: {"oneOf": forms, "description": "One."})
    ),
    max_leaves=8,
)  # fmt: skip
DEFINITIONS = {
    "Node": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}},
    "Leaf": {"type": "string", "enum": ["a", "b"]},
}
roots = _objects(schemas).map(lambda root: {**root, "$defs": DEFINITIONS})


def _sent(schema: dict[str, Any], subset: Subset) -> Any:
    return from_json_schema(schema, UPPER) if subset is GOOGLE_OPENAPI else schema


@pytest.mark.parametrize("subset", SUBSETS, ids=lambda subset: subset.name)
@settings(max_examples=25)
@given(schema=roots)
def test_what_is_sent_is_valid_and_taken(subset: Subset, schema: dict[str, Any]) -> None:
    """A second look finds nothing more to rewrite; the caller's schema is not touched."""
    before = json.dumps(schema)
    fitted = fit(schema, subset)
    told = schema if fitted is None else fitted.schema
    check_schema(told, where="sent")
    place = _sent(told, subset)
    if not (subset is GOOGLE_OPENAPI and not told.get("properties")):  # no parameters are no member
        assert violations(place, TARGETS[subset.name], output=subset is ANTHROPIC_OUTPUT) == []
    assert json.dumps(schema) == before
    assert fitted is None or fitted.rewrites


@pytest.mark.parametrize("subset", SUBSETS, ids=lambda subset: subset.name)
@settings(max_examples=25)
@given(schema=roots, data=st.data())
def test_values_survive_the_way_there_and_back(subset: Subset, schema: dict[str, Any], data: st.DataObject) -> None:
    """A value of the caller's schema fits the rewritten one on the wire, and comes back as it was."""
    fitted = fit(schema, subset)
    value = data.draw(sample(schema))
    if fitted is None or fitted.conversion is None:
        return
    wire = fitted.conversion.to_wire(value)
    json.dumps(wire)
    assert fitted.conversion.to_own(wire) == value


@pytest.mark.parametrize("subset", SUBSETS, ids=lambda subset: subset.name)
@settings(max_examples=25)
@given(schema=json_objects | st.dictionaries(st.sampled_from(sorted(OPENAI_STRICT.keywords)), st.none(), max_size=3))
def test_anything_at_all_is_fitted_sent_or_refused(subset: Subset, schema: dict[str, Any]) -> None:
    """No object, however far from a schema, raises anything but a SchemaError."""
    with suppress(SchemaError):
        fit(schema, subset)


def test_bounds_are_named() -> None:
    """Depth, and each of the limits of strict mode."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(70):
        deep = {"type": "object", "properties": {"a": deep}}
    with pytest.raises(SchemaError, match="nested deeper than 64 levels"):
        fit(deep, GOOGLE_TOOL)
    many = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5_001)}}
    with pytest.raises(SchemaError, match="5,001 properties, and OpenAI strict takes 5,000"):
        fit(many, OPENAI_STRICT)
    values = {"type": "object", "properties": {"a": {"type": "string", "enum": [f"v{n}" for n in range(1_001)]}}}
    with pytest.raises(SchemaError, match="1,001 enumerated values"):
        fit(values, OPENAI_STRICT)
    long = {"type": "object", "properties": {"a": {"type": "string", "enum": [f"{n:0100d}" for n in range(251)]}}}
    with pytest.raises(SchemaError, match="25,100 characters in one long enumeration"):
        fit(long, OPENAI_STRICT)
    names_only = {"type": "object", "properties": {f"{n:0100d}": {"type": "string"} for n in range(1_201)}}
    with pytest.raises(SchemaError, match="120,100 characters in names"):
        fit(names_only, OPENAI_STRICT)


def _property(schema: dict[str, Any], subset: Subset) -> Any:
    fitted = fit({"type": "object", "properties": {"a": schema}, "required": ["a"]}, subset)
    assert fitted is not None
    return fitted.schema["properties"]["a"]


def test_several_demands_are_told_as_one() -> None:
    """`allOf` becomes one schema that demands what all of them do."""
    schema = {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "number", "minimum": 1}}, "required": ["a"]},
            {"properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "string"}}},
            {"allOf": [{"required": ["b"]}]},
        ]
    }
    assert _property(schema, GOOGLE_TOOL) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "string"}},
        "required": ["b", "a"],
    }


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ({"type": ["string", "null"]}, {"type": "string"}, {"type": "string"}),
        ({"type": "string"}, {"type": "integer"}, {"type": "integer"}),
        ({"enum": [1, 2]}, {"enum": [2, 3]}, {"enum": [2]}),
        ({"maximum": 5, "maxLength": 1}, {"maximum": 4}, {"maximum": 4, "maxLength": 1}),
        ({"additionalProperties": False}, {"additionalProperties": {}}, {"additionalProperties": False}),
        ({"items": {"minLength": 1}}, {"items": True}, {"items": {"minLength": 1}}),
        ({"items": {"minLength": 1}}, {"items": {"maxLength": 2}}, {"items": {"minLength": 1, "maxLength": 2}}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]},
            {"anyOf": [{"type": "string", "minLength": 1}]},
        ),
        ({"description": "a"}, {"description": "b"}, {"description": "b"}),
        ({"properties": {"a": {}}}, {"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 1}}}),
        ({"properties": []}, {"properties": {"a": {}}}, {"properties": {"a": {}}}),
        ({"allOf": [1]}, {"allOf": [2]}, {"allOf": [1, 2]}),
    ],
)  # fmt: skip
def test_two_schemas_as_one(first: Any, second: Any, both: Any) -> None:
    """Each keyword by its own rule."""
    assert merged(first, second) == both


def test_tuples_are_lists_with_a_word_about_their_order() -> None:
    """Where the target has no `prefixItems`; the older form of draft 7 is understood."""
    old = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    told = _property(old, ANTHROPIC_STRICT)
    assert told["items"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert "items in order" in told["description"]
    assert "maxItems 2" in told["description"]
    assert _property(old, GOOGLE_TOOL) == {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": False,
    }


def test_patterns_that_look_around_are_told() -> None:
    """Strict mode refuses them."""
    told = _property({"type": "string", "pattern": "^(?!x)"}, OPENAI_STRICT)
    assert told == {"type": "string", "description": 'Constraints: pattern "^(?!x)".'}


def test_flags_of_the_oldest_drafts_are_open_bounds() -> None:
    """`exclusiveMinimum: true` beside `minimum`."""
    told = _property({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, GOOGLE_TOOL)
    assert told == {"type": "integer", "minimum": 4}
    assert _property({"type": "integer", "maximum": 3, "exclusiveMaximum": False}, GOOGLE_TOOL) == {
        "type": "integer",
        "maximum": 3,
    }


def test_nullable_of_openapi_is_a_type() -> None:
    """Also of a union."""
    assert _property({"type": "string", "nullable": True}, OPENAI_STRICT) == {"type": ["string", "null"]}
    told = _property({"anyOf": [{"type": "string"}], "nullable": True}, OPENAI_STRICT)
    assert told == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_samples_fit_their_schemas() -> None:
    """The generator of sample values is itself right."""
    schema = {"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": 0}}, "required": ["a"]}
    value = {"a": 1}
    assert validate(schema, value) == []


def test_demands_stay_apart_where_they_are_taken() -> None:
    """Anthropic's tools take `allOf`; only a root has to be a plain object."""
    inner = {"allOf": [{"type": "object"}, {"required": ["a"]}]}
    schema = {"type": ["object", "null"], "properties": {"x": inner}, "patternProperties": {"^y": inner}}
    fitted = fit(schema, ANTHROPIC_TOOL)
    assert fitted is not None
    assert fitted.schema == {**schema, "type": "object"}


@pytest.mark.parametrize("keyword", ["not", "enum", "const"])
def test_what_the_root_of_a_function_cannot_say_is_told(keyword: str) -> None:
    """OpenAI refuses them at the top level, as it does a union; inside they stay."""
    inside = {"a": {"type": "string", "not": {"enum": ["x"]}}}
    own = {"type": "object", "properties": inside, "required": ["a"], keyword: [{"a": None}]}
    fitted = fit(own, OPENAI_TOOL)
    assert fitted is not None
    assert fitted.schema == {
        "type": "object",
        "properties": inside,
        "required": ["a"],
        "description": f'{keyword}: [{{"a":null}}]',
    }


def test_unions_of_references_are_told_apart() -> None:
    """What stands beside a union is merged with what its references lead to; circles end."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "object", "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/Gone"}]}},
        "$defs": {"A": {"properties": {"next": {"type": "object", "anyOf": [{"$ref": "#/$defs/A"}]}}}},
    }
    fitted = fit(schema, GOOGLE_TOOL)
    assert fitted is not None
    first = fitted.schema["properties"]["a"]["anyOf"][0]
    assert first["properties"]["next"] == {"anyOf": [{"type": "object"}]}
    assert fitted.schema["properties"]["a"]["anyOf"][1] == {"type": "object"}


def test_maps_of_patterns_are_pairs_with_a_word() -> None:
    """One pattern gives the values, several give a union of them."""
    one = {"type": ["object", "null"], "patternProperties": {"^x": {"type": "integer"}}, "minProperties": 1}
    told = _property(one, ANTHROPIC_STRICT)
    assert told["type"] == ["array", "null"]
    assert told["items"]["properties"]["value"] == {"type": "integer"}
    assert 'names ["^x"]' in told["description"]
    assert "minProperties 1" in told["description"]
    two = {"type": "object", "patternProperties": {"^x": {"type": "integer"}, "^y": {"type": "boolean"}}}
    assert _property(two, OPENAI_STRICT)["items"]["properties"]["value"] == {
        "anyOf": [{"type": "integer"}, {"type": "boolean"}]
    }


def test_what_is_required_and_not_described_may_be_anything() -> None:
    """Strict mode describes every property."""
    told = _property({"type": "object", "properties": {}, "required": ["x"]}, GOOGLE_OPENAPI)
    assert told["type"] == "string"
    told = _property({"type": "object", "properties": {"y": {"type": "null"}}, "required": ["x"]}, OPENAI_STRICT)
    assert told["properties"]["x"] == {"type": "string", "description": "Any JSON value, as JSON text."}
    assert told["required"] == ["x", "y"]
