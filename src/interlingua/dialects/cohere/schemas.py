"""The subset of JSON Schema where a schema binds: an object with what a grammar can hold to.

Source: our notes on the vendor's page "Structured Outputs", November 2026; not read on the wire.
"""

from __future__ import annotations

from interlingua.schema.subset import ANNOTATIONS, BY_TYPE, STRUCTURE, Subset

__all__ = ["OUTPUT", "STRICT", "TOOL"]

_KEYWORDS = frozenset({
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "format", "items",
    "pattern", "properties", "required", "title", "type",
})  # fmt: skip
_FORMATS = frozenset({"date", "date-time", "time", "uuid"})

OUTPUT = Subset(name="Cohere output", keywords=_KEYWORDS, formats=_FORMATS, references="bare", root="wrap")
"""`response_format.json_schema`, which always binds."""
STRICT = Subset(name="Cohere strict tools", keywords=_KEYWORDS, formats=_FORMATS, references="bare", root="wrap")
"""`parameters` of tools under `strict_tools`."""
_ALL = (ANNOTATIONS | STRUCTURE | {"if", "then", "else", "not"}).union(*BY_TYPE.values())
TOOL = Subset(name="Cohere tools", keywords=_ALL, unknown=True, root="fold", loose=True)
"""`parameters` of any other tool: any schema whose root is a plain object."""
