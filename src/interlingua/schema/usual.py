"""The usual schema, told by one compiled look: objects, arrays and plain values that say nothing out of the ordinary.

Most tools have such a schema. It is valid JSON Schema within the bounds, and every target that takes tools without
strictness takes it as it is, so nobody has to walk through it. Whatever else a schema says, it is unusual, and whoever
asks has to look for himself; laws hold this look to the long ones.

Rules
- Each keyword stands at the type about which it says something; no list of types, no reference.
- A parameter may be a union of such schemas and null, as one that may be left out is in pydantic and zod; no union
  stands deeper.
- What is required is there, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from interlingua.wire.json import exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["MAX_USUAL_BYTES", "bare_parameters", "is_usual"]

MAX_USUAL_BYTES = 16_384
"""A schema with a longer text is unusual; in this one there is no room for more values than the bounds allow."""

_UNION = b'"anyOf":'
T = TypeVar("T")
_Count: TypeAlias = Annotated[int, Meta(ge=0)] | UnsetType
_Number: TypeAlias = int | float | UnsetType
_Draft: TypeAlias = Literal["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]


class _Told(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True, rename="camel"):
    """What any schema may say of itself."""

    description: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class _Said(_Told, tag_field="type"):
    """A schema of one type."""


class _String(_Said, tag="string"):
    enum: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    default: str | UnsetType | None = UNSET
    format: str | UnsetType = UNSET
    min_length: _Count = UNSET
    max_length: _Count = UNSET


class _Integer(_Said, tag="integer"):
    enum: Annotated[list[int], Meta(min_length=1)] | UnsetType = UNSET
    default: int | UnsetType | None = UNSET
    minimum: _Number = UNSET
    maximum: _Number = UNSET


class _Float(_Said, tag="number"):
    default: _Number | None = UNSET
    minimum: _Number = UNSET
    maximum: _Number = UNSET


class _Boolean(_Said, tag="boolean"):
    default: bool | UnsetType | None = UNSET


_Plain: TypeAlias = _String | _Integer | _Float | _Boolean


class _Null(_Said, tag="null"):
    pass


class _Array(_Said, Generic[T], tag="array"):
    items: T | UnsetType = UNSET
    default: list[str] | UnsetType | None = UNSET
    unique_items: bool | UnsetType = UNSET
    min_items: _Count = UNSET
    max_items: _Count = UNSET


class _Object(_Said, Generic[T], tag="object"):
    properties: dict[str, T] = msgspec.field(default_factory=dict[str, T])
    required: list[str] | UnsetType = UNSET
    additional_properties: bool | _Plain | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raises: ValueError, where a property is required twice, or is none."""
        if self.required and len(self.properties.keys() & self.required) < len(self.required):
            raise ValueError


class _Root(_Object[T], Generic[T], tag="object"):
    draft: _Draft | UnsetType = msgspec.field(default=UNSET, name="$schema")


_Flat: TypeAlias = _Plain | _Array[_Plain] | _Object[_Plain]
_Nested: TypeAlias = _Plain | _Array[_Flat] | _Object[_Flat]
_Deep: TypeAlias = _Plain | _Array[_Nested] | _Object[_Nested]


class _Union(_Told):
    any_of: Annotated[list[_Deep | _Null], Meta(min_length=1)]
    default: str | int | float | bool | UnsetType | None = UNSET


class _NoRoot(_Said, tag=""):
    """No schema has this type; where there is one type alone, msgspec would not insist that it is said."""


_read = exact_reader(cast("type[_Root[_Deep]]", _Root[_Deep] | _NoRoot))
_read_parted = exact_reader(cast("type[_Root[Raw]]", _Root[Raw] | _NoRoot))
_read_union: Callable[[bytes], _Told | None] = exact_reader(_Union)
_read_lone = exact_reader(cast("type[_Told]", _Deep))


def is_usual(text: bytes) -> bool:
    """Whether the JSON text of a schema is that of a usual one."""
    return _parameters(text) is not None


def bare_parameters(text: bytes) -> list[str] | None:
    """The parameters that a usual schema does not describe, by name; None for an unusual one."""
    found = _parameters(text)
    if found is None:
        return None
    told = [(name, schema.description) for name, schema in found.items()]
    return [name for name, words in told if isinstance(words, UnsetType) or not words.strip()]


def _parameters(text: bytes) -> Mapping[str, _Told] | None:
    """The parameters of a usual schema; None for an unusual one."""
    if len(text) > MAX_USUAL_BYTES:
        return None
    root = _read(text)
    if isinstance(root, _Root):
        return root.properties
    return _parted(text) if _UNION in text else None


def _parted(text: bytes) -> dict[str, _Told] | None:
    """The same, of a schema with unions, which are none of a type: the parameters are looked at one by one."""
    root = _read_parted(text)
    if not isinstance(root, _Root):
        return None
    found: dict[str, _Told] = {}
    for name, part in root.properties.items():
        one = bytes(part)
        schema = _read_union(one) if _UNION in one else _read_lone(one)
        if schema is None:
            return None
        found[name] = schema
    return found
