"""The numbers and words in the table of schema subsets: what is sent as it is, at the edge, and what is not beyond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlingua.dialects._subsets import (
    ANTHROPIC_OUTPUT,
    ANTHROPIC_STRICT,
    GOOGLE_OPENAPI,
    GOOGLE_OUTPUT,
    GOOGLE_TOOL,
    OPENAI_STRICT,
)
from interlingua.errors import SchemaError
from interlingua.schema.fit import fit
from interlingua.schema.subset import Subset
from tests.support.cells import cells

FORMATS = ("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid")


def _object(**properties: Any) -> dict[str, Any]:
    """A strict object."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = _object(a=schema)
    return schema


def _wide(properties: int) -> dict[str, Any]:
    return _object(**{f"p{number}": {"type": "string"} for number in range(properties)})


def _choices(values: int) -> dict[str, Any]:
    return _object(a={"type": "integer", "enum": [*range(values)]})


def _long_choices(chars: int) -> dict[str, Any]:
    """251 texts, from which on the length of an enumeration counts."""
    texts = [f"{number:04}" for number in range(251)]
    return _object(a={"type": "string", "enum": [*texts[:-1], texts[-1].ljust(chars - 4 * 250, "x")]})


def _long_names(chars: int) -> dict[str, Any]:
    return _object(**{"a" * chars: {"type": "string"}})


@pytest.mark.parametrize(
    ("build", "most", "what"),
    [
        (_nested, 10, "levels"),
        (_wide, 5_000, "properties"),
        (_choices, 1_000, "enumerated values"),
        (_long_choices, 15_000, "characters in one long enumeration"),
        (_long_names, 120_000, "characters in names and enumerations"),
    ],
)
def test_the_bounds_of_openai_s_strict_schemas(build: Callable[[int], dict[str, Any]], most: int, what: str) -> None:
    """At the bound a schema is sent as it is; beyond it the error names bound and number."""
    assert fit(build(most), OPENAI_STRICT) is None
    with pytest.raises(SchemaError) as caught:
        fit(build(most + 1), OPENAI_STRICT)
    assert f"{most:,}" in str(caught.value)
    assert f"{most + 1:,}" in str(caught.value)
    assert what in str(caught.value)


def test_250_texts_are_no_long_enumeration() -> None:
    """However long they are."""
    assert fit(_object(a={"type": "string", "enum": ["x" * 15_000, *map(str, range(249))]}), OPENAI_STRICT) is None


@cells("subset", [OPENAI_STRICT, ANTHROPIC_OUTPUT, ANTHROPIC_STRICT], ids=lambda subset: subset.name)
@cells("name", FORMATS)
def test_formats_are_sent(subset: Subset, name: str) -> None:
    """Those that the vendor lists; `uri` is Anthropic's alone, and any other one is told in words."""
    assert fit(_object(a={"type": "string", "format": name}), subset) is None
    assert (fit(_object(a={"type": "string", "format": "uri"}), subset) is None) == (subset is not OPENAI_STRICT)
    assert fit(_object(a={"type": "string", "format": f"{name}x"}), subset) is not None


@pytest.mark.parametrize("subset", [ANTHROPIC_OUTPUT, ANTHROPIC_STRICT], ids=lambda subset: subset.name)
def test_anthropic_takes_one_item_at_least(subset: Subset) -> None:
    """`minItems` of 0 and 1 are sent, a higher one becomes 1."""
    items: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    for least in (0, 1):
        assert fit(_object(a={**items, "minItems": least}), subset) is None
    fitted = fit(_object(a={**items, "minItems": 2}), subset)
    assert fitted is not None
    assert fitted.schema["properties"]["a"]["minItems"] == 1


NUMBERS = {"minimum": 1, "maximum": 2}
TEXTS = {"minLength": 1, "maxLength": 2, "pattern": "a"}
LISTS = {"minItems": 1, "maxItems": 2}
SHARED: list[dict[str, Any]] = [
    {"type": "string", "title": "T", "description": "D", "enum": ["x"]},
    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    {"type": "integer", **NUMBERS},
    {"type": "array", "items": {"type": "string"}, **LISTS},
]
TAKEN: list[tuple[Subset, dict[str, Any]]] = [
    *[(subset, one) for subset in (OPENAI_STRICT, GOOGLE_TOOL, GOOGLE_OUTPUT, GOOGLE_OPENAPI) for one in SHARED],
    *[(subset, {"type": "string", **TEXTS}) for subset in (OPENAI_STRICT, GOOGLE_TOOL, GOOGLE_OPENAPI)],
    *[(subset, {"type": "string", "const": "x"}) for subset in (OPENAI_STRICT, ANTHROPIC_OUTPUT, ANTHROPIC_STRICT)],
    (OPENAI_STRICT, {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2, "multipleOf": 0.5}),
    (GOOGLE_TOOL, {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (GOOGLE_OUTPUT, {"type": "array", "prefixItems": [{"type": "string"}]}),
    (GOOGLE_OPENAPI, {"type": "string", "example": "x"}),
]


@cells(("subset", "schema"), TAKEN, ids=lambda value: getattr(value, "name", ""))
def test_what_a_vendor_lists_is_sent_as_it_is(subset: Subset, schema: dict[str, Any]) -> None:
    """No keyword of these is told in words, or left out."""
    whole = _object(a=schema)
    if subset is GOOGLE_OPENAPI:
        del whole["additionalProperties"]
    assert fit(whole, subset) is None
