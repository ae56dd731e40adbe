"""The subset of JSON Schema that each dialect takes, and where: one row for each place in which a schema stands.

A place without a row takes any JSON Schema, as Ollama's `format` does.

Source: the sections on schemas of the vendors' references and SDKs, November 2026; keywords that recorded exchanges
of status 200 hold although no list names them are taken, too.
"""

from __future__ import annotations

from interlingua.schema.subset import ANNOTATIONS, BY_TYPE, STRUCTURE, Subset
from interlingua.wire.model_table import OPENAI_STRICT_BOUNDS

__all__ = [
    "ANTHROPIC_OUTPUT",
    "ANTHROPIC_STRICT",
    "ANTHROPIC_TOOL",
    "GOOGLE_OPENAPI",
    "GOOGLE_OUTPUT",
    "GOOGLE_TOOL",
    "OLLAMA_TOOL",
    "OPENAI_OUTPUT",
    "OPENAI_STRICT",
    "OPENAI_TOOL",
    "SUBSETS",
]

_ALL = (ANNOTATIONS | STRUCTURE | {"if", "then", "else", "not"}).union(*BY_TYPE.values())
_FORMATS = frozenset({
    "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid",
})  # fmt: skip
_SHARED = frozenset({
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "format", "items",
    "minItems", "properties", "required", "title", "type",
})  # fmt: skip

OPENAI_STRICT = Subset(
    name="OpenAI strict",
    keywords=_SHARED
    | {"$schema", "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maximum", "minLength", "minimum"}
    | {"multipleOf", "pattern"},
    formats=_FORMATS,
    references="bare",
    root="wrap",
    typed=True,
    additional="forbidden",
    all_required=True,
    lone_unions=True,
    look_around=False,
    max_levels=OPENAI_STRICT_BOUNDS.levels,
    max_properties=OPENAI_STRICT_BOUNDS.properties,
    max_enum_values=OPENAI_STRICT_BOUNDS.enum_values,
    max_long_enum_chars=OPENAI_STRICT_BOUNDS.long_enum_chars,
    max_name_chars=OPENAI_STRICT_BOUNDS.name_chars,
)
"""Strict functions and strict response formats of both OpenAI dialects."""

OPENAI_TOOL = Subset(name="OpenAI tools", keywords=_ALL | {"nullable"}, unknown=True, root="fold", any_inside=True)
"""`parameters` of functions that are not strict: any schema whose root is a plain object."""
OPENAI_OUTPUT = Subset(name="OpenAI output", keywords=_ALL | {"nullable"}, unknown=True, root="wrap", any_inside=True)
"""Response formats that are not strict, whose root says no object: it is made one, or put into one."""

ANTHROPIC_TOOL = Subset(name="Anthropic tools", keywords=_ALL, unknown=True, root="fold", loose=True)
"""`input_schema` of tools that are not strict: any schema whose root is a plain object."""
ANTHROPIC_OUTPUT = Subset(
    name="Anthropic output",
    keywords=_SHARED,
    formats=_FORMATS | {"uri"},
    references="bare",
    recursive=False,
    typed=True,
    additional="forbidden",
    lone_unions=True,
    least_items=1,
)
"""`output_config.format`, which always binds."""
ANTHROPIC_STRICT = Subset(
    name="Anthropic strict",
    keywords=_SHARED,
    formats=_FORMATS | {"uri"},
    references="bare",
    recursive=False,
    root="wrap",
    typed=True,
    additional="forbidden",
    lone_unions=True,
    least_items=1,
)
"""`input_schema` of strict tools: the same, with an object as its root."""

_GOOGLE_OUTPUT = frozenset({
    "$anchor", "$defs", "$id", "$ref", "additionalProperties", "anyOf", "default", "description", "enum", "format",
    "items", "maxItems", "maximum", "minItems", "minimum", "oneOf", "prefixItems", "properties", "propertyOrdering",
    "required", "title", "type",
})  # fmt: skip
GOOGLE_OUTPUT = Subset(
    name="Gemini output",
    keywords=_GOOGLE_OUTPUT,
    references="bare",
    typed_enums=True,
    lone_unions=True,
    own_keywords=True,
)
"""`responseJsonSchema`."""
GOOGLE_TOOL = Subset(
    name="Gemini tools",
    keywords=_GOOGLE_OUTPUT | {"$schema", "maxLength", "minLength", "pattern", "uniqueItems"},
    references="bare",
    typed_enums=True,
    lone_unions=True,
    own_keywords=True,
    root="fold",
)
"""`parametersJsonSchema`, whose root is a plain object."""
_OPENAPI = frozenset({
    "anyOf", "default", "description", "enum", "example", "format", "items", "maxItems", "maxLength", "maxProperties",
    "maximum", "minItems", "minLength", "minProperties", "minimum", "pattern", "properties", "propertyOrdering",
    "required", "title", "type",
})  # fmt: skip
GOOGLE_OPENAPI = Subset(
    name="Gemini OpenAPI schemas",
    keywords=_OPENAPI,
    type_lists="nullable",
    references="none",
    root="wrap",
    typed=True,
    typed_enums=True,
    string_enums=True,
    additional="unsaid",
    lone_unions=True,
    own_keywords=True,
)
"""`parameters` and `responseSchema`, before they are put into the OpenAPI form; `nullable` is a type until then."""

OLLAMA_TOOL = Subset(
    name="Ollama tools",
    keywords=_ALL - {"$defs", "$ref", "allOf", "const", "definitions", "oneOf"},
    unknown=True,
    type_lists="none",
    references="none",
    root="fold",
)
"""`parameters` of functions: what the server would leave out although a model needs it is told in its own words."""

SUBSETS = (
    OPENAI_TOOL,
    OPENAI_OUTPUT,
    OPENAI_STRICT,
    ANTHROPIC_TOOL,
    ANTHROPIC_STRICT,
    ANTHROPIC_OUTPUT,
    GOOGLE_TOOL,
    GOOGLE_OUTPUT,
    GOOGLE_OPENAPI,
    OLLAMA_TOOL,
)
"""Every row."""
