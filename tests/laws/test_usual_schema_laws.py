"""The quick looks at schemas, held to the walks that they save.

Whatever the compiled look calls usual is valid; whatever is fitted at a glance is what the whole walk makes of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from interlingua.dialects._members import is_object
from interlingua.dialects._subsets import ANTHROPIC_TOOL, SUBSETS
from interlingua.dialects.cohere.schemas import TOOL as COHERE_TOOL
from interlingua.errors import SchemaError
from interlingua.schema._fit_glance import Glance
from interlingua.schema.fit import fit
from interlingua.schema.loose import are_untouched
from interlingua.schema.subset import Subset
from interlingua.schema.tool_rules import undescribed
from interlingua.schema.usual import MAX_USUAL_BYTES, bare_parameters, is_usual
from interlingua.schema.validate import _validator, check_bounds
from interlingua.wire.json import encode

LEVELS = 3
NAMES = ("city", "days", "a b", "$ref", "type", "properties", "ü", "x.y", "~0", "/", "default", "required", "")
TEXTS = ("", "Ångström", "date", "date-time", "uri", "int32", "binary", "a")
ODD: tuple[Any, ...] = (
    None, True, -1, 1.5, "", "object", "null", [], [None], {}, {"type": "null"}, ["string", "null"],
    {"$ref": "#"}, {"anyOf": [{"type": "string"}]}, ["a", "a"], "not(", 10**30,
)  # fmt: skip
KEYWORDS = (
    "type", "enum", "const", "default", "format", "pattern", "minLength", "minimum", "items", "properties", "required",
    "additionalProperties", "anyOf", "allOf", "not", "$ref", "$defs", "title", "description", "examples", "nullable",
    "uniqueItems", "maxItems", "minItems", "$id", "exclusiveMinimum", "propertyOrdering", "$schema",
)  # fmt: skip


def _said(draw: random.Random, members: dict[str, Any]) -> dict[str, Any]:
    """Some of the members, in any order."""
    names = [name for name in members if name in ("type", "items", "properties") or draw.random() < 0.4]
    draw.shuffle(names)
    return {name: members[name] for name in names}


def _schema(draw: random.Random, levels: int) -> dict[str, Any]:
    """A usual schema of one type."""
    words: dict[str, Any] = {"description": draw.choice(TEXTS), "title": draw.choice(TEXTS)}
    low, high = draw.randint(0, 3), draw.randint(3, 9)
    kind = draw.choice(("string", "integer", "number", "boolean", *("array", "object") * (levels > 0)))
    if kind == "string":
        given = draw.choice(TEXTS)
        default = draw.choice((given, None))
        members = {"enum": [given, "b"], "default": default, "format": given, "minLength": low, "maxLength": high}
    elif kind in ("integer", "number"):
        members = {"default": draw.choice((low, None)), "minimum": draw.choice((-1, 0.5, low)), "maximum": high}
        members |= {"enum": [low, high]} if kind == "integer" else {}
    elif kind == "boolean":
        members = {"default": draw.choice((True, None))}
    elif kind == "array":
        members = {"minItems": low, "maxItems": high, "uniqueItems": bool(low), "default": draw.choice(([], ["a"]))}
        members |= {"items": _schema(draw, levels - 1)} if low else {}
    else:
        return _object(draw, levels)
    return _said(draw, {"type": kind, **words, **members})


def _object(draw: random.Random, levels: int) -> dict[str, Any]:
    names = draw.sample(NAMES, draw.randint(0, 4))
    make = _schema if levels < LEVELS else _parameter
    properties = {name: make(draw, levels - 1) for name in names}
    more = draw.choice((True, False, _schema(draw, 0)))
    members = {"required": names[: draw.randint(0, 4)], "additionalProperties": more}
    return _said(draw, {"type": "object", "properties": properties, **members})


def _parameter(draw: random.Random, levels: int) -> dict[str, Any]:
    """What a usual schema says of a parameter: one type, or a union."""
    if draw.random() < 0.7:
        return _schema(draw, levels)
    forms = [_schema(draw, levels), {"type": "null"}]
    draw.shuffle(forms)
    told = _said(draw, {"default": draw.choice((None, "a", 1, True)), "description": "A.", "title": "B"})
    return {"anyOf": forms, **told}


def _referring(draw: random.Random) -> dict[str, Any]:
    """A usual schema with definitions, to which parameters, items and members of unions lead."""
    names = draw.sample(("Unit", "a.b", "x_1", "Point-2"), draw.randint(1, 3))
    definitions: dict[str, Any] = {}
    for name in names:
        definitions[name] = _schema(draw, 2)
        if definitions and draw.random() < 0.5:
            members = {"to": _reference(draw, list(definitions)[:-1] or ["none"])} if len(definitions) > 1 else {}
            definitions[name] = {"type": "object", "properties": members}
    root = _object(draw, LEVELS)
    for place in range(draw.randint(1, 3)):
        root["properties"][f"ref{place}"] = _leading(draw, names)
    return {"$defs": definitions, **root}


def _reference(draw: random.Random, names: Sequence[str]) -> dict[str, Any]:
    beside = {"default": draw.choice((None, "a", 1)), "description": "A.", "title": "B"} if draw.random() < 0.5 else {}
    return {"$ref": f"#/$defs/{draw.choice(names)}", **_said(draw, beside)}


def _leading(draw: random.Random, names: Sequence[str]) -> dict[str, Any]:
    led = _reference(draw, names)
    inside = {"type": "object", "properties": {"a": _reference(draw, names), "b": {"type": "string"}}}
    return draw.choice(
        [led, {"type": "array", "items": led}, {"anyOf": [led, {"type": "null"}]}, {"type": "array", "items": inside}]
    )


def _changed(draw: random.Random, schema: Any) -> Any:
    """The same with one odd thing somewhere in it."""
    if not is_object(schema):
        return draw.choice(ODD)
    if not schema or draw.random() < 0.3:
        return {**schema, draw.choice(KEYWORDS): draw.choice(ODD)}
    name = draw.choice(list(schema))
    if draw.random() < 0.1:
        return {key: value for key, value in schema.items() if key != name}
    return {**schema, name: _changed(draw, schema[name])}


def _check_validity(schema: dict[str, Any], text: bytes) -> None:
    """Nothing, if nobody has anything to say against a schema.

    Raises: SchemaError for one that is no JSON Schema within the bounds.
    """
    check_bounds(schema, where="")
    _validator(text, naive_times=False)


def _fitted(schema: dict[str, Any], subset: Subset) -> object:
    try:
        return fit(schema, subset)
    except SchemaError as error:
        return error.message


def test_what_is_usual_is_valid() -> None:
    """Drawn schemas are told to be usual, and are found faultless."""
    draw = random.Random(7)
    for _ in range(150):
        schema = _object(draw, LEVELS)
        text = encode(schema)
        assert is_usual(text), text
        _check_validity(schema, text)
        assert bare_parameters(text) == undescribed(schema), text


def test_usual_references_are_valid() -> None:
    """Those beside keywords, and those alone; a parameter is described by what it leads to, too."""
    draw = random.Random(9)
    for _ in range(300):
        schema = _referring(draw)
        text = encode(schema)
        assert is_usual(text), text
        _check_validity(schema, text)
        assert bare_parameters(text) == undescribed(schema), text


def _plain(draw: random.Random) -> dict[str, Any]:
    """A usual schema without references."""
    return _object(draw, LEVELS)


@pytest.mark.parametrize("make", [_referring, _plain])
def test_what_is_changed_is_unusual_or_valid(make: Callable[[random.Random], dict[str, Any]]) -> None:
    """A definition that is missing, one that leads to itself, and whatever else may stand somewhere."""
    draw = random.Random(10)
    usual = 0
    for _ in range(1_500):
        schema = _changed(draw, make(draw))
        text = encode(schema)
        if is_usual(text):
            usual += 1
            _check_validity(schema, text)
            bare = bare_parameters(text)
            assert bare is None or bare == undescribed(schema), text
    assert 20 < usual < 1_300


@pytest.mark.parametrize("subset", SUBSETS, ids=lambda subset: subset.name)
def test_what_is_fitted_at_a_glance_is_what_the_whole_walk_makes(
    subset: Subset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schema, entries, conversion and errors, for usual schemas, changed ones and those with references."""
    draw = random.Random(subset.name)
    drawn = [make(draw) for _ in range(400) for make in (_plain, _referring)]
    schemas = drawn + [_changed(draw, schema) for schema in drawn]
    fitted = [_fitted(schema, subset) for schema in schemas]
    monkeypatch.setattr(Glance, "whole", _nothing)
    monkeypatch.setattr(Glance, "sent", _nothing)
    for schema, found in zip(schemas, fitted, strict=True):
        assert _comparable(found) == _comparable(_fitted(schema, subset)), encode(schema)


RARE = (
    "prefixItems", "additionalItems", "unevaluatedItems", "contains", "patternProperties", "propertyNames",
    "unevaluatedProperties", "dependencies", "dependentSchemas", "contentSchema", "not", "if", "then", "else",
)  # fmt: skip
"""Keywords that hold schemas, and of which few tools know."""


@pytest.mark.parametrize("subset", [ANTHROPIC_TOOL, COHERE_TOOL], ids=lambda subset: subset.name)
def test_what_a_loose_subset_takes_untouched_the_walk_leaves_alone(subset: Subset) -> None:
    """Whatever one compiled look says is taken as it is, `fit` gives nothing for; most drawn schemas are."""
    draw = random.Random(subset.name)
    drawn = [make(draw) for _ in range(300) for make in (_plain, _referring)]
    changed = [_changed(draw, schema) for schema in drawn for _ in range(3)]
    inner = {"items": [{"type": "string"}]}
    rare = [{**schema, "properties": {"a": {keyword: inner}}} for keyword in RARE for schema in drawn[:3]]
    assert sum([are_untouched(encode([schema])) for schema in drawn]) > 500
    for schema in [*drawn, *changed, *rare]:
        if are_untouched(encode([schema])):
            assert _fitted(schema, subset) is None, encode(schema)
    assert not any([are_untouched(encode([schema])) for schema in rare])


def test_many_schemas_are_told_together() -> None:
    """However long their list is; one that is too long, or for the walk, is noticed among them."""
    plain = {"type": "object", "properties": {"a": {"type": "string", "description": "A" * 100}}}
    assert are_untouched(encode([plain] * 500))
    assert not are_untouched(encode([plain] * 500 + [{**plain, "title": "B" * MAX_USUAL_BYTES}]))
    assert not are_untouched(encode([plain] * 500 + [{"type": "string"}]))


def test_a_deep_schema_is_for_the_walk() -> None:
    """Beyond the depth that schemas may have nothing is said at a look, so that the bounds are kept."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(70):
        schema = {"type": "object", "properties": {"a": schema}}
    assert not are_untouched(encode([schema]))
    assert isinstance(_fitted(schema, ANTHROPIC_TOOL), str)


def _nothing(*_: object) -> None:
    """What a glance tells where only the whole walk can tell."""


def _comparable(fitted: Any) -> object:
    """What fitting came to; the order of members counts."""
    return fitted if fitted is None or isinstance(fitted, str) else (encode(fitted.schema), *fitted[1:])
