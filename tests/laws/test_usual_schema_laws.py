"""The compiled look at usual schemas, held to the walks that it saves: whatever it calls usual, they find faultless."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from interlingua.dialects._members import is_object
from interlingua.dialects._subsets import SUBSETS
from interlingua.schema.fit import fit
from interlingua.schema.tool_rules import undescribed
from interlingua.schema.usual import bare_parameters, is_usual
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


def _is_faultless(schema: dict[str, Any], text: bytes) -> bool:
    """Whether nobody has anything to say about a schema."""
    check_bounds(schema, where="")
    _validator(text, naive_times=False)
    taking = [subset for subset in SUBSETS if subset.usual and is_usual(text, subset.references)]
    return all(fit(schema, subset) is None for subset in taking)


def test_what_is_usual_is_valid_and_taken_as_it_is() -> None:
    """Drawn schemas are told to be usual, and are found faultless."""
    draw = random.Random(7)
    for _ in range(150):
        schema = _object(draw, LEVELS)
        text = encode(schema)
        assert is_usual(text), text
        assert _is_faultless(schema, text), text
        assert bare_parameters(text) == undescribed(schema), text


def test_usual_references_are_valid_and_taken_by_who_takes_them() -> None:
    """Those beside keywords by fewer targets than those alone."""
    draw = random.Random(9)
    bare = 0
    for _ in range(300):
        schema = _referring(draw)
        text = encode(schema)
        assert is_usual(text), text
        assert not is_usual(text, "none"), text
        assert _is_faultless(schema, text), text
        bare += is_usual(text, "bare")
    assert 30 < bare < 270


def test_changed_references_are_unusual_or_faultless() -> None:
    """A definition that is missing, one that leads to itself, and whatever else may stand somewhere."""
    draw = random.Random(10)
    usual = 0
    for _ in range(1_500):
        schema = _changed(draw, _referring(draw))
        text = encode(schema)
        if is_usual(text):
            usual += 1
            assert _is_faultless(schema, text), text
    assert 20 < usual < 1_200


def test_what_is_changed_is_unusual_or_faultless() -> None:
    """Of schemas with something odd in them none is told to be usual that has a fault."""
    draw = random.Random(8)
    usual = 0
    for _ in range(1_500):
        schema = _changed(draw, _object(draw, LEVELS))
        text = encode(schema)
        if is_usual(text):
            usual += 1
            assert _is_faultless(schema, text), text
    assert 20 < usual < 1_000
