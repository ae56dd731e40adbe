"""Where in a JSON text the objects of a wire type lie.

A shape is the part of a type that leads to structs with an `extra` field, worked out once per type. `wire/json.py`
walks a text along it when it has to move unknown members into `extra` or back. Nothing here reads JSON.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias, cast, get_type_hints

import msgspec
from msgspec import inspect

__all__ = ["EXTRA", "Choice", "Items", "Members", "Shape", "Values", "float_fields", "shape_of"]

EXTRA = "§" * 16
"""The wire name of the field that keeps unknown members; it never leaves this process.

Few, rare and many: a search for it passes over any other text in steps of 32 bytes.
"""


class Members(msgspec.Struct, eq=False):
    """An object that is a struct."""

    kind: type
    """The struct."""
    fields: frozenset[str]
    """Names that have a field, the tag included."""
    children: dict[str, tuple[Shape, object]]
    """Fields under which more structs lie, with their types."""
    keeps_extra: bool
    """Whether the struct has the field for unknown members."""


class Items(msgspec.Struct, eq=False):
    """An array whose items hold structs."""

    item: Shape
    """The shape of every item."""


class Values(msgspec.Struct, eq=False):
    """An object with free names whose values hold structs."""

    value: Shape
    """The shape of every value."""


class Choice(msgspec.Struct, eq=False):
    """A union: what an array is, what an object is, what an object with a tag is."""

    array: Shape | None
    """Where the text is an array."""
    object: Shape | None
    """Where the text is an object without a tag."""
    tag_field: str | None
    """The member that names the struct."""
    tagged: dict[str | int, Members]
    """Structs by their tag."""


Shape: TypeAlias = Members | Items | Values | Choice


@lru_cache(maxsize=512)
def shape_of(kind: object) -> Shape | None:
    """The shape of a type, or None when no struct lies in it."""
    return _shape(inspect.type_info(kind), {})


def _shape(info: inspect.Type, structs: dict[type, Members]) -> Shape | None:
    match info:
        case inspect.StructType():
            return _members(info, structs)
        case inspect.ListType() | inspect.VarTupleType():
            item = _shape(info.item_type, structs)
            return None if item is None else Items(item)
        case inspect.DictType():
            value = _shape(info.value_type, structs)
            return None if value is None else Values(value)
        case inspect.UnionType():
            choice = Choice(None, None, None, {})
            for member in info.types:
                shape = _shape(member, structs)
                if (
                    isinstance(member, inspect.StructType)
                    and member.tag_field is not None
                    and isinstance(shape, Members)
                ):
                    choice.tag_field = member.tag_field
                    choice.tagged[cast("str | int", member.tag)] = shape
                elif isinstance(shape, Items):
                    choice.array = shape
                elif shape is not None:
                    choice.object = shape
            return choice if choice.array or choice.object or choice.tagged else None
        case _:
            return None


def _members(info: inspect.StructType, structs: dict[type, Members]) -> Members:
    if info.cls in structs:
        return structs[info.cls]
    names = {field.encode_name for field in info.fields}
    keeps_extra = EXTRA in names
    if info.tag_field is not None:
        names.add(info.tag_field)
    shape = structs[info.cls] = Members(info.cls, frozenset(names - {EXTRA}), {}, keeps_extra)
    kinds = get_type_hints(info.cls, include_extras=True)
    for field in info.fields:
        child = _shape(field.type, structs)
        if child is not None:
            shape.children[field.encode_name] = (child, kinds[field.name])
    return shape


@lru_cache(maxsize=2048)
def float_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The fields of a struct, as (attribute, wire name), below which a float can lie."""
    info = cast("inspect.StructType", inspect.type_info(kind))
    return tuple(
        (field.name, field.encode_name)
        for field in info.fields
        if field.encode_name == EXTRA or _holds_float(field.type, structs=frozenset({kind}))
    )


def _holds_float(info: inspect.Type, *, structs: frozenset[type]) -> bool:
    match info:
        case inspect.FloatType() | inspect.AnyType() | inspect.CustomType():
            return True
        case inspect.StructType():
            return info.cls in structs or any(
                field.encode_name == EXTRA or _holds_float(field.type, structs=structs | {info.cls})
                for field in info.fields
            )
        case inspect.Metadata():
            return _holds_float(info.type, structs=structs)
        case inspect.ListType() | inspect.VarTupleType():
            return _holds_float(info.item_type, structs=structs)
        case inspect.DictType():
            return _holds_float(info.value_type, structs=structs)
        case inspect.UnionType():
            return any(_holds_float(member, structs=structs) for member in info.types)
        case _:
            return False
