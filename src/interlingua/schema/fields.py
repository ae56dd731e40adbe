"""The fields of a class that stands for a JSON object, whatever the class is made with.

Dataclasses, TypedDicts, NamedTuples and msgspec Structs look the same from here: names, types, defaults, descriptions,
and how an instance is built. A NamedTuple is an object too: a model does better with names than with places.

Not responsible for: pydantic models, which bring their own schema.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from interlingua.errors import SchemaError
from interlingua.schema.docstring import Docstring, parse_docstring

__all__ = ["NO_DEFAULT", "Field", "Fields", "Kind", "docstring_of", "fields_of", "hints_of"]

Kind: TypeAlias = Any
"""Whatever stands for a type: a class, a union, a literal, a generic with its arguments."""
NO_DEFAULT = msgspec.NODEFAULT
"""Stands for a default that there is not, or that is made anew each time."""


class Field(NamedTuple):
    """One member of a JSON object."""

    name: str
    """The name in Python."""
    key: str
    """The name in JSON."""
    kind: Kind
    """Its type."""
    required: bool = True
    """Whether it must be there."""
    default: object = NO_DEFAULT
    """The value when it is left out, where that is a constant."""
    description: str | None = None
    """The meaning, from a docstring."""


class Fields(NamedTuple):
    """The fields of a JSON object, and the maker of its value."""

    members: tuple[Field, ...]
    """Its fields, in order."""
    build: Callable[..., Any]
    """Makes the value from the fields that were there, by their Python names."""
    description: str | None = None
    """The description of the object."""
    tag: tuple[str, str | int] | None = None
    """The member that says which struct of a union it is, and its value."""


def fields_of(kind: Kind) -> Fields | None:
    """The fields of a class or of a generic class with its arguments; None for anything that is not such a class.

    Raises: SchemaError, where a type's name cannot be resolved.
    """
    owner = typing.get_origin(kind) or kind
    if not isinstance(owner, type):
        return None
    make = next((make for is_such, make in _KINDS if is_such(owner)), None)
    if make is None:
        return None
    text, described = docstring_of(owner), _described(owner)
    bound = dict(zip(getattr(owner, "__parameters__", ()), typing.get_args(kind), strict=False))
    fields = make(owner)
    members = tuple(
        field._replace(kind=_bind(field.kind, bound), description=described.get(field.name)) for field in fields.members
    )
    return fields._replace(members=members, description=text.summary or None)


def hints_of(owner: Kind | Callable[..., object]) -> dict[str, Any]:
    """The types of a class's fields or of a function's parameters, resolved, annotations kept.

    Raises: SchemaError, where a name cannot be resolved.
    """
    local = {owner.__name__: owner} if isinstance(owner, type) else None
    try:
        return typing.get_type_hints(owner, localns=local, include_extras=True)
    except NameError as error:
        name = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', owner)}"
        raise SchemaError(f"{name}: {error}; types must be known at the top of the module") from None


def docstring_of(owner: type) -> Docstring:
    """The docstring of a class; texts that Python made up do not count."""
    text = owner.__dict__.get("__doc__")
    is_written = isinstance(text, str) and not text.startswith(f"{owner.__name__}(")
    return parse_docstring(text if is_written else None)


def _described(owner: type) -> dict[str, str]:
    """The texts of fields in a class and those that it inherits fields from; its own words win."""
    bases = owner.__dict__.get("__orig_bases__", owner.__bases__)
    descriptions: dict[str, str] = {}
    for base in [typing.get_origin(base) or base for base in reversed(bases)]:
        if isinstance(base, type) and base.__module__ not in _WITHOUT_FIELDS:
            descriptions |= _described(base)
    return descriptions | docstring_of(owner).parameters


_WITHOUT_FIELDS = frozenset({"builtins", "msgspec", "typing", "typing_extensions"})
"""Where classes are from that other classes are made with."""


def _bind(kind: Kind, bound: Mapping[Any, Any]) -> Kind:
    """`kind` with the type variables of a generic class replaced by its arguments."""
    if kind in bound:
        return bound[kind]
    variables = getattr(kind, "__parameters__", ())
    return kind[tuple(bound.get(variable, variable) for variable in variables)] if bound and variables else kind


def _of_dataclass(owner: Any) -> Fields:
    import dataclasses

    hints, missing = hints_of(owner), dataclasses.MISSING
    return Fields(
        tuple(
            Field(
                field.name,
                field.name,
                hints[field.name],
                field.default is missing and field.default_factory is missing,
                NO_DEFAULT if field.default is missing else field.default,
            )
            for field in dataclasses.fields(owner)
            if field.init
        ),
        owner,
    )


def _of_struct(owner: type[msgspec.Struct]) -> Fields:
    hints = hints_of(owner)
    config = owner.__struct_config__
    tag = None if config.tag is None or config.tag_field is None else (config.tag_field, config.tag)
    members = tuple(
        Field(field.name, field.encode_name, hints[field.name], field.required, field.default)
        for field in msgspec.structs.fields(owner)
    )
    return Fields(members, owner, tag=tag)


def _of_typed_dict(owner: Any) -> Fields:
    required: frozenset[str] = owner.__required_keys__
    members: list[Field] = []
    for name, hint in hints_of(owner).items():
        kind, needed = hint, name in required
        while typing.get_origin(kind) in _QUALIFIERS:
            needed = _QUALIFIERS[typing.get_origin(kind)] or (
                needed and typing.get_origin(kind) is not typing.NotRequired
            )
            kind = typing.get_args(kind)[0]
        members.append(Field(name, name, kind, needed))
    return Fields(tuple(members), dict)


_QUALIFIERS: dict[Any, bool] = {typing.Required: True, typing.NotRequired: False}
if sys.version_info >= (3, 13):
    _QUALIFIERS[typing.ReadOnly] = False


def _of_named_tuple(owner: Any) -> Fields:
    hints, defaults = hints_of(owner), owner._field_defaults
    members = tuple(
        Field(name, name, hints.get(name, Any), name not in defaults, defaults.get(name, NO_DEFAULT))
        for name in owner._fields
    )
    return Fields(members, owner)


_KINDS: tuple[tuple[Callable[[type], bool], Callable[[Any], Fields]], ...] = (
    (lambda owner: issubclass(owner, msgspec.Struct), _of_struct),
    (typing.is_typeddict, _of_typed_dict),
    (lambda owner: hasattr(owner, "__dataclass_fields__"), _of_dataclass),
    (lambda owner: hasattr(owner, "_field_defaults"), _of_named_tuple),
)
