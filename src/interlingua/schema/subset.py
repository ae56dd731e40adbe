"""The keywords of JSON Schema that a target takes, as data: one `Subset` for each place where a schema can stand.

A subset lists what is taken; whatever is not listed is not taken, so that a keyword which nobody has heard of yet is
never sent to a server that refuses it. `fit` rewrites a schema into a subset.

Rules
- Keywords are only looked for where a keyword can stand: a property may be called `not` or `default`.
- An empty list of what is not taken does not exist: there is no deny-list.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ANNOTATIONS", "BY_TYPE", "NOT_AT_ROOT", "STRUCTURE", "TYPES", "Subset", "Untouched", "have_lists",
    "have_plain_roots", "types_of_keyword", "untouched_keywords",
]  # fmt: skip

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
"""The types of JSON Schema."""
ANNOTATIONS = frozenset({
    "$anchor", "$comment", "$id", "$schema", "contentEncoding", "contentMediaType", "default", "deprecated",
    "description", "example", "examples", "propertyOrdering", "readOnly", "title", "writeOnly",
})  # fmt: skip
"""Keywords that allow and forbid nothing."""
STRUCTURE = frozenset({"$defs", "$ref", "allOf", "anyOf", "const", "definitions", "enum", "oneOf", "type"})
"""Keywords that say what a value is, whatever its type."""
BY_TYPE: dict[str, frozenset[str]] = {
    "array": frozenset({
        "additionalItems", "contains", "items", "maxContains", "maxItems", "minContains", "minItems", "prefixItems",
        "unevaluatedItems", "uniqueItems",
    }),
    "object": frozenset({
        "additionalProperties", "dependencies", "dependentRequired", "dependentSchemas", "maxProperties",
        "minProperties", "patternProperties", "properties", "propertyNames", "required", "unevaluatedProperties",
    }),
    "string": frozenset({"contentSchema", "format", "maxLength", "minLength", "pattern"}),
    "number": frozenset({"exclusiveMaximum", "exclusiveMinimum", "format", "maximum", "minimum", "multipleOf"}),
}  # fmt: skip
"""Keywords that only say something about values of one type."""


_ABOUT: dict[str, frozenset[str]] = {}
for _kind, _keywords in BY_TYPE.items():
    for _keyword in _keywords:
        _types = {_kind, "integer"} if _kind == "number" else {_kind}
        _ABOUT[_keyword] = _ABOUT.get(_keyword, frozenset()) | _types
_NO_TYPES = frozenset[str]()


def types_of_keyword(keyword: str) -> frozenset[str]:
    """The types about which a keyword says something; empty when it is about all of them."""
    return _ABOUT.get(keyword, _NO_TYPES)


class Subset(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The keywords that one target takes in one place."""

    name: str
    """Its name in reports, such as `Gemini parameters`."""
    keywords: frozenset[str]
    """The keywords that are taken."""
    formats: frozenset[str] | None = None
    """The formats of strings that are taken; None for all."""
    type_lists: Literal["any", "nullable", "none"] = "any"
    """Which lists of types are taken: all, only one type or null, or none."""
    references: Literal["any", "bare", "none"] = "any"
    """Whether `$ref` is taken: with keywords beside it, only without, or not at all."""
    recursive: bool = True
    """Whether a schema may refer to itself."""
    root: Literal["any", "fold", "wrap"] = "any"
    """The treatment of a root that is no plain object: taken, folded into one, or put into one as its only member."""
    typed: bool = False
    """Whether each schema must say its type; what may be anything then travels as JSON text."""
    typed_enums: bool = False
    """Whether an enumeration must say its type."""
    string_enums: bool = False
    """Whether only strings can be enumerated."""
    additional: Literal["any", "forbidden", "unsaid"] = "any"
    """The statement on other properties: anything, always that there are none, or nothing."""
    all_required: bool = False
    """Whether every property must be required; what may be left out then may be null."""
    lone_unions: bool = False
    """Whether nothing but annotations may stand beside a union."""
    own_keywords: bool = False
    """Whether a keyword about another type is refused."""
    least_items: int | None = None
    """The highest `minItems` that is taken."""
    unknown: bool = False
    """Whether keywords are taken that JSON Schema does not know."""
    any_inside: bool = False
    """Whether every schema is taken that has its lists (`have_lists`), and whose root is a plain object
    (`have_plain_roots`)."""
    loose: bool = False
    """Whether it takes every keyword in any form, so that `are_untouched` tells of most schemas that they are taken."""
    look_around: bool = True
    """Whether patterns may look around."""
    max_levels: int | None = None
    """How deep objects and arrays may nest."""
    max_properties: int | None = None
    """How many properties a schema may have in all."""
    max_enum_values: int | None = None
    """How many values may be enumerated in all."""
    max_long_enum_chars: int | None = None
    """How many characters an enumeration of more than 250 strings may have."""
    max_name_chars: int | None = None
    """How many characters names, enumerations and constants may have in all."""


NOT_AT_ROOT = ("const", "enum", "not")
"""Keywords that no root may have that has to be a plain object, besides alternatives."""
_NOT_PLAIN = frozenset({"$ref", "allOf", "anyOf", "oneOf", *NOT_AT_ROOT})


def have_lists(text: bytes) -> bool:
    """Whether no list of required members is null in the JSON of schemas, as some languages write an empty one."""
    return b'"required":null' not in text


def have_plain_roots(schemas: Iterable[dict[str, Any]]) -> bool:
    """Whether each root says that it is an object, with which properties, and nothing of which object it is."""
    return all(
        [
            schema.get("type") == "object"
            and isinstance(schema.get("properties"), dict)
            and isinstance(schema.get("required", []), list)
            and _NOT_PLAIN.isdisjoint(schema)
            for schema in schemas
        ]
    )


_NOT_AT_A_GLANCE = frozenset({
    "additionalItems", "contains", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties",
    "prefixItems", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
"""Keywords about one type that only the whole walk of `fit` looks at."""


class Untouched(NamedTuple):
    """By the type that a schema names, the keywords with which it needs no rewriting unless a schema below it does.

    A type that is missing needs the whole walk.
    """

    leaves: dict[str, frozenset[str]]
    """Of types whose values hold no others."""
    holders: dict[str | None, frozenset[str]]
    """Of arrays, objects, and schemas that name no type."""


@cache
def untouched_keywords(subset: Subset) -> Untouched:
    """The keywords that need no rewriting for a subset."""
    always = (ANNOTATIONS - {"$anchor", "$id"}) & subset.keywords
    barred = set(_NOT_AT_A_GLANCE)
    if subset.formats is not None:
        barred.add("format")
    if not subset.look_around:
        barred.add("pattern")
    if subset.least_items is not None:
        barred.add("minItems")
    values = frozenset[str]() if subset.string_enums else frozenset({"const", "enum"}) & subset.keywords
    own = {kind: always | values | (BY_TYPE[kind] & subset.keywords - barred) | {"type"} for kind in BY_TYPE}
    plain = always | values | {"type"}
    leaves = {"string": own["string"], "number": own["number"], "integer": own["number"]}
    leaves |= {"boolean": plain, "null": plain}
    holders: dict[str | None, frozenset[str]] = {
        None: always | ({"anyOf"} & subset.keywords),
        "array": own["array"],
        "object": own["object"],
    }
    if subset.additional != "any" or subset.all_required:
        del holders["object"]
    elif "definitions" in subset.keywords:  # they stay where they are
        holders["object"] |= {"$defs", "definitions"} & subset.keywords
    return Untouched(leaves, holders)
