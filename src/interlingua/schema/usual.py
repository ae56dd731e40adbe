"""The usual schema, told by one compiled look: objects, arrays and plain values that say nothing out of the ordinary.

Most tools have such a schema. It is valid JSON Schema within the bounds, and every target that takes tools without
strictness takes it as it is, so nobody has to walk through it. Whatever else a schema says, it is unusual, and whoever
asks has to look for himself; laws hold this look to the long ones.

Rules
- Each keyword stands at the type about which it says something; no list of types.
- A parameter may be a union of such schemas and null, as one that may be left out is in pydantic and zod; no union
  stands deeper, but in a definition.
- A reference leads to a definition of the root, and round no circle. A target takes those that it takes: with keywords
  beside them, alone, or none.
- What is required is there, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from interlingua.wire.json import exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    References: TypeAlias = Literal["any", "bare", "none"]

__all__ = ["MAX_USUAL_BYTES", "bare_parameters", "is_usual"]

MAX_USUAL_BYTES = 16_384
"""A schema with a longer text is unusual; in this one there is no room for more values than the bounds allow."""

MAX_PARTED_LEVELS = 8
"""How deep unions and references may stand in parameters and definitions."""

_UNION = b'"anyOf":'
_REFERENCE = b'"$ref":'
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


class _Reference(_Told):
    ref: Annotated[str, Meta(pattern=r"^#/\$defs/[\w.-]+$")] = msgspec.field(name="$ref")
    default: str | int | float | bool | UnsetType | None = UNSET

    @property
    def is_bare(self) -> bool:
        """Whether nothing stands beside it."""
        return self.description is UNSET and self.title is UNSET and self.default is UNSET


class _OnlyNull(_Told):
    type: Literal["null"]


class _OpenUnion(_Told):
    any_of: Annotated[list[Raw], Meta(min_length=1)]
    default: str | int | float | bool | UnsetType | None = UNSET


class _OpenRoot(_Root[Raw], tag="object"):
    definitions: dict[str, Raw] | UnsetType = msgspec.field(default=UNSET, name="$defs")


_read = exact_reader(cast("type[_Root[_Deep]]", _Root[_Deep] | _NoRoot))
_read_open = exact_reader(cast("type[_OpenRoot]", _OpenRoot | _NoRoot))
_read_union: Callable[[bytes], _Told | None] = exact_reader(_Union)
_read_lone = exact_reader(cast("type[_Told]", _Deep))
_read_null = exact_reader(_OnlyNull)
_read_reference = exact_reader(_Reference)
_read_open_union = exact_reader(_OpenUnion)
_read_open_lone = exact_reader(cast("type[_Array[Raw] | _Object[Raw]]", _Array[Raw] | _Object[Raw]))
_TAKEN: dict[References, int] = {"none": 0, "bare": 1, "any": 2}


def is_usual(text: bytes, references: References = "any") -> bool:
    """Whether the JSON text of a schema is that of a usual one, with such references at most."""
    found = _look_at(text)
    return found is not None and found.references <= _TAKEN[references]


def bare_parameters(text: bytes) -> list[str] | None:
    """The parameters that a usual schema does not describe, by name; None for an unusual one, and with references."""
    found = _look_at(text)
    if found is None or found.references:
        return None
    told = [(name, schema.description) for name, schema in found.parameters.items()]
    return [name for name, words in told if isinstance(words, UnsetType) or not words.strip()]


class _Usual(msgspec.Struct, frozen=True, gc=False):
    """What there is in a usual schema."""

    parameters: Mapping[str, _Told]
    references: int = 0
    """Whether there are references, as a number of `_TAKEN`."""


def _look_at(text: bytes) -> _Usual | None:
    """A usual schema; None for an unusual one."""
    if len(text) > MAX_USUAL_BYTES:
        return None
    root = _read(text)
    if isinstance(root, _Root):
        return _Usual(root.properties)
    opened = _read_open(text) if _UNION in text or _REFERENCE in text else None
    return _Parts().read(opened) if isinstance(opened, _OpenRoot) else None


class _Parts:
    """Looks at the parts of a schema with unions or references, which are none of a type, one by one."""

    def __init__(self) -> None:
        self.references = 0
        self.led: set[str] = set()
        """The definitions to which the part leads that is looked at."""

    def read(self, root: _OpenRoot) -> _Usual | None:
        """A usual schema; None for an unusual one."""
        parameters: dict[str, _Told] = {}
        for name, part in root.properties.items():
            schema = self._part(bytes(part), MAX_PARTED_LEVELS)
            if schema is None:
                return None
            parameters[name] = schema
        if root.definitions is UNSET:
            return None if self.led else _Usual(parameters)
        from graphlib import CycleError, TopologicalSorter  # only who has definitions pays for it

        led_by: dict[str, set[str]] = {}
        needed = self.led
        for name, part in root.definitions.items():
            self.led = led_by[name] = set()
            schema = self._part(bytes(part), MAX_PARTED_LEVELS)
            if schema is None or type(schema) is _Reference:
                return None
            needed |= self.led
        if not needed <= led_by.keys():
            return None
        try:
            TopologicalSorter(led_by).prepare()
        except CycleError:
            return None
        return _Usual(parameters, max(self.references, 1))

    def _part(self, text: bytes, levels: int) -> _Told | None:
        """One schema; None for an unusual one."""
        if _REFERENCE not in text:
            return _read_union(text) if _UNION in text else _read_lone(text)
        reference = _read_reference(text)
        if reference is not None:
            self.led.add(reference.ref.rpartition("/")[2])
            self.references = max(self.references, 1 if reference.is_bare else 2)
            return reference
        schema = _read_open_union(text) or _read_open_lone(text)
        match schema:
            case _ if not levels:
                return None
            case _OpenUnion(any_of=parts):
                inside = [part for part in parts if _read_null(bytes(part)) is None]
            case _Object(properties=members):
                inside = [*members.values()]
            case _Array(items=items):
                inside = [] if isinstance(items, UnsetType) else [items]
            case _:
                return None
        return schema if all([self._part(bytes(part), levels - 1) for part in inside]) else None
