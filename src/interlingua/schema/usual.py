"""The usual schema, told by one compiled look: objects, arrays, unions and plain values, described in the usual words.

Most tools have such a schema. It is valid JSON Schema within the bounds, so nobody has to walk through it. Whatever
else a schema says, it is unusual, and whoever asks has to look for himself; laws hold this look to the long ones.

Rules
- Each keyword has a value as JSON Schema wants it, whatever it stands beside; no list of types, no pattern.
- A reference leads to a definition of the root, which is more than a reference itself.
- What is required is named once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from interlingua.wire._depth import is_deeper
from interlingua.wire.json import exact_reader

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["MAX_USUAL_BYTES", "MAX_USUAL_DEPTH", "bare_parameters", "is_usual"]

MAX_USUAL_BYTES = 16_384
"""A schema with a longer text is unusual; in this one there is no room for more values than the bounds allow."""
MAX_USUAL_DEPTH = 64
"""How deep the objects and arrays of a usual schema nest."""

_PREFIX = len("#/$defs/")
_Count: TypeAlias = Annotated[int, Meta(ge=0)] | UnsetType
_Number: TypeAlias = int | float | UnsetType
_Plain: TypeAlias = str | int | float | bool | None
_Forms: TypeAlias = "Annotated[list[_Schema], Meta(min_length=1)] | UnsetType"


class _Schema(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True, rename="camel"):
    """A usual schema."""

    type: Literal["array", "boolean", "integer", "null", "number", "object", "string"] | UnsetType = UNSET
    description: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    default: _Plain | list[Any] | dict[str, Any] | UnsetType = UNSET
    examples: list[Any] | UnsetType = UNSET
    const: _Plain | UnsetType = UNSET
    enum: Annotated[list[_Plain], Meta(min_length=1)] | UnsetType = UNSET
    any_of: _Forms = UNSET
    one_of: _Forms = UNSET
    all_of: _Forms = UNSET
    ref: Annotated[str, Meta(pattern=r"^#/\$defs/[\w.-]+$")] | UnsetType = msgspec.field(name="$ref", default=UNSET)
    format: str | UnsetType = UNSET
    min_length: _Count = UNSET
    max_length: _Count = UNSET
    minimum: _Number = UNSET
    maximum: _Number = UNSET
    exclusive_minimum: _Number = UNSET
    exclusive_maximum: _Number = UNSET
    items: _Schema | UnsetType = UNSET
    unique_items: bool | UnsetType = UNSET
    min_items: _Count = UNSET
    max_items: _Count = UNSET
    properties: dict[str, _Schema] | UnsetType = UNSET
    required: list[str] | UnsetType = UNSET
    additional_properties: bool | _Schema | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raises: ValueError, where a property is required twice, or several kinds of forms stand side by side."""
        required = self.required
        if required and len(required) > 1 and len(set(required)) < len(required):
            raise ValueError
        if self.any_of and (self.one_of or self.all_of):
            raise ValueError
        if self.one_of and self.all_of:
            raise ValueError

    def leads_into(self, names: Container[str]) -> bool:
        """Whether each reference in it leads to a definition of such a name."""
        if self.ref and self.ref[_PREFIX:] not in names:
            return False
        for schema in self.properties.values() if self.properties else ():
            if not schema.leads_into(names):
                return False
        for schema in (self.any_of or self.one_of or self.all_of) or ():
            if not schema.leads_into(names):
                return False
        if isinstance(self.items, _Schema) and not self.items.leads_into(names):
            return False
        free = self.additional_properties
        return not isinstance(free, _Schema) or free.leads_into(names)


class _Root(_Schema):
    """A usual schema with its definitions."""

    type: Literal["object"]  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]  # narrower
    definitions: dict[str, _Schema] | UnsetType = msgspec.field(default=UNSET, name="$defs")
    draft: (
        Literal["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] | UnsetType
    ) = msgspec.field(default=UNSET, name="$schema")


_read = exact_reader(_Root)


def is_usual(text: bytes) -> bool:
    """Whether the JSON text of a schema is that of a usual one."""
    return _look_at(text) is not None


def bare_parameters(text: bytes) -> list[str] | None:
    """The parameters that a usual schema does not describe, by name; None for an unusual one.

    It is None, too, where the root has properties beyond its own.
    """
    root = _look_at(text)
    if root is None or root.ref or root.any_of or root.one_of or root.all_of:
        return None
    definitions = root.definitions or {}
    bare: list[str] = []
    for name, own in (root.properties or {}).items():
        if own.description and own.description.strip():
            continue
        whole = definitions[own.ref[_PREFIX:]] if own.ref else own
        if own.all_of or whole.all_of:
            return None
        if not whole.description or not whole.description.strip():
            bare.append(name)
    return bare


def _look_at(text: bytes) -> _Root | None:
    """A usual schema; None for an unusual one."""
    if len(text) > MAX_USUAL_BYTES or is_deeper(text, MAX_USUAL_DEPTH):
        return None
    root = _read(text)
    if root is None or (b"$ref" not in text and b"\\u" not in text):  # no way to write a reference
        return root
    definitions = root.definitions or {}
    schemas = (root, *definitions.values())
    if any([schema.ref for schema in schemas]) or not all([schema.leads_into(definitions) for schema in schemas]):
        return None
    return root
