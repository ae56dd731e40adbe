"""The usual schema, told by one compiled look: objects, arrays and plain values that say nothing out of the ordinary.

Most tools have such a schema. It is valid JSON Schema within the bounds, and every target that takes tools without
strictness takes it as it is, so nobody has to walk through it. Whatever else a schema says, it is unusual, and whoever
asks has to look for himself; laws hold this look to the long ones.

Rules
- Each keyword stands at the type about which it says something; no null, no list of types, no union, no reference.
- What is required is there, once.
"""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from interlingua.wire.json import exact_reader

__all__ = ["MAX_USUAL_BYTES", "bare_parameters", "is_usual"]

MAX_USUAL_BYTES = 16_384
"""A schema with a longer text is unusual; in this one there is no room for more values than the bounds allow."""

T = TypeVar("T")
_Count: TypeAlias = Annotated[int, Meta(ge=0)] | UnsetType
_Number: TypeAlias = int | float | UnsetType
_Draft: TypeAlias = Literal["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]


class _Said(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True, tag_field="type", rename="camel"):
    """What any schema may say of itself."""

    description: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class _String(_Said, tag="string"):
    enum: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    default: str | UnsetType = UNSET
    format: str | UnsetType = UNSET
    min_length: _Count = UNSET
    max_length: _Count = UNSET


class _Integer(_Said, tag="integer"):
    default: int | UnsetType = UNSET
    minimum: _Number = UNSET
    maximum: _Number = UNSET


class _Float(_Said, tag="number"):
    default: _Number = UNSET
    minimum: _Number = UNSET
    maximum: _Number = UNSET


class _Boolean(_Said, tag="boolean"):
    default: bool | UnsetType = UNSET


class _Array(_Said, Generic[T], tag="array"):
    items: T
    min_items: _Count = UNSET
    max_items: _Count = UNSET


class _Object(_Said, Generic[T], tag="object"):
    properties: dict[str, T]
    required: list[str] | UnsetType = UNSET
    additional_properties: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raises: ValueError, where a property is required twice, or is none."""
        if self.required and len(self.properties.keys() & self.required) < len(self.required):
            raise ValueError


class _Root(_Object[T], Generic[T], tag="object"):
    draft: _Draft | UnsetType = msgspec.field(default=UNSET, name="$schema")


_Plain: TypeAlias = _String | _Integer | _Float | _Boolean
_Flat: TypeAlias = _Plain | _Array[_Plain] | _Object[_Plain]
_Nested: TypeAlias = _Plain | _Array[_Flat] | _Object[_Flat]
_Deep: TypeAlias = _Plain | _Array[_Nested] | _Object[_Nested]
_read = exact_reader(_Root[_Deep])


def is_usual(text: bytes) -> bool:
    """Whether the JSON text of a schema is that of a usual one."""
    return len(text) <= MAX_USUAL_BYTES and _read(text) is not None


def bare_parameters(text: bytes) -> list[str] | None:
    """The parameters that a usual schema does not describe, by name; None for an unusual one."""
    root = _read(text) if len(text) <= MAX_USUAL_BYTES else None
    if root is None:
        return None
    told = [(name, schema.description) for name, schema in root.properties.items()]
    return [name for name, words in told if isinstance(words, UnsetType) or not words.strip()]
