"""Partial values of a typed answer, while it streams.

Rules
- Nothing is half built: the outermost object is a dict under the field names throughout, and so is every object that
  has begun and not ended; a list has the items so far; a text grows.
- What has ended is a value of its type: a nested object an instance, a date a date. What does not fit its type stays as
  JSON says it; the end of the answer tells what is wrong.
- A null that stands for a property left out is left out.
- Nothing is raised, whatever the text.

Units: each text is read once, and each value made once for every object around it; a partial copies what is open.
"""

from __future__ import annotations

import types
import typing
from collections import abc
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.errors import SchemaError
from interlingua.schema.fields import fields_of
from interlingua.schema.problem import MisfitError
from interlingua.schema.reflect import WRAPPER, reflect
from interlingua.schema.strict import relax
from interlingua.wire.partial import NOTHING, JsonReader, Open

if TYPE_CHECKING:
    from interlingua.schema.fields import Kind
    from interlingua.types._base import JsonValue

__all__ = ["PartialReader"]

_UNKNOWN: Any = object()
"""The type of a place whose type nothing says before it has ended."""
_MAPS = frozenset({dict, abc.Mapping, abc.MutableMapping})
_ALIASES = ("__supertype__", "__value__")


class PartialReader:
    """Reads a typed answer piece by piece."""

    def __init__(self, kind: Kind, *, lenient: bool = False) -> None:
        """Nothing has come yet.

        Raises: SchemaError, for a type that JSON has no place for.
        """
        self._reader = JsonReader(lenient=lenient)
        self._kind: Kind = _UNKNOWN if isinstance(kind, dict) else kind
        self._wrapped = self._kind is not _UNKNOWN and reflect(kind).strict.get("type") != "object"
        self._places: list[_Place] = []
        self._last: Any = NOTHING

    def feed(self, text: str) -> JsonValue:
        """The answer so far; NOTHING where a piece says nothing new of it."""
        growth = self._reader.growth
        self._reader.feed(text)
        if self._reader.growth == growth:
            return NOTHING
        # The places are brought to where the reader is.
        root = cast("dict[str, Any] | list[Any]", self._reader.root)
        path = self._reader.path or [Open(root)]
        unchanged = sum(place.raw is now.container for place, now in zip(self._places, path, strict=False))
        del self._places[unchanged:]
        for depth, now in enumerate(path):
            if depth == unchanged:
                if depth:
                    kind = self._places[-1].kind_below()
                else:
                    kind = _Wrapped(self._kind) if self._wrapped and isinstance(root, dict) else self._kind
                self._places.append(_Place(now.container, kind))
                unchanged += 1
            self._places[depth].go_on(now.key, is_innermost=depth == len(path) - 1)
        shown = self._shown()
        if shown is NOTHING or shown == self._last:
            return NOTHING
        self._last = shown
        return shown

    def _shown(self) -> Any:
        edge = self._reader.edge
        shown: Any = NOTHING if edge is None else edge
        for place in reversed(self._places):
            shown = place.with_open(shown)
        if self._wrapped and isinstance(shown, dict):
            return cast("dict[str, Any]", shown).get(WRAPPER, NOTHING)
        return shown


class _Wrapped(NamedTuple):
    """The object around what is no object."""

    inside: Kind


class _Place:
    """An open container: as JSON says it, and what of it has ended as values of their types."""

    __slots__ = ("_ended", "_key", "_kind", "_shown", "raw")

    def __init__(self, raw: dict[str, Any] | list[Any], kind: Kind) -> None:
        self.raw = raw
        self._kind = _bare(kind)
        self._key: str | None = None
        self._ended = 0
        self._shown: dict[str, Any] | list[Any] = {} if isinstance(raw, dict) else []

    def go_on(self, key: str | None, *, is_innermost: bool) -> None:
        """Take what has ended since; the last member of a container that is not the innermost one is open."""
        self._key = key
        ended = len(self.raw) - (not is_innermost)
        if isinstance(self.raw, dict):
            for name, value in islice(self.raw.items(), self._ended, ended):
                field, kind = self._member(name)
                member = _read(kind, value)
                if member is not NOTHING:
                    cast("dict[str, Any]", self._shown)[field] = member
        elif isinstance(self._shown, list):
            self._shown += [_read(self._item_kind(), value) for value in islice(self.raw, self._ended, ended)]
        self._ended = max(ended, self._ended)

    def with_open(self, value: JsonValue) -> dict[str, Any] | list[Any]:
        """A copy of what is shown, with what is open in it."""
        copied = Open(self._shown.copy())
        copied.key = self._member(self._key or "")[0]
        if value is not NOTHING:
            copied.put(value)
        return copied.container

    def kind_below(self) -> Kind:
        """The type of what is open."""
        return self._member(self._key or "")[1] if isinstance(self.raw, dict) else self._item_kind()

    def _member(self, name: str) -> tuple[str, Kind]:
        """The field's own name, and its type."""
        if isinstance(self._kind, _Wrapped):
            return name, self._kind.inside
        if typing.get_origin(self._kind) in _MAPS:
            return name, typing.get_args(self._kind)[1]
        return _fields(self._kind).get(name, (name, _UNKNOWN))

    def _item_kind(self) -> Kind:
        origin, arguments = typing.get_origin(self._kind), typing.get_args(self._kind)
        if origin is tuple and arguments[1:] != (...,):
            return arguments[len(self._shown)] if len(self._shown) < len(arguments) else _UNKNOWN
        return arguments[0] if arguments and origin not in _MAPS and not _is_union(origin) else _UNKNOWN


def _read(kind: Kind, value: JsonValue) -> Any:
    """The value that has ended as one of its type; NOTHING for a null that says that it is left out."""
    if kind is _UNKNOWN:
        return value
    try:
        reflection = reflect(kind)
        return reflection.read(relax(value, reflection.loose))
    except (MisfitError, SchemaError):
        return NOTHING if value is None else value


def _is_union(origin: object) -> bool:
    return origin is typing.Union or origin is types.UnionType


def _bare(kind: Kind) -> Kind:
    """A type without annotations, other names and the None beside it."""
    alias = next((inner for name in _ALIASES if (inner := getattr(kind, name, None)) is not None), None)
    if alias is not None and not isinstance(kind, type):
        return _bare(alias)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _bare(arguments[0])
    if not _is_union(origin):
        return kind
    others = [argument for argument in arguments if argument is not type(None)]
    return _bare(others[0]) if len(others) == 1 else _UNKNOWN


def _fields(kind: Kind) -> dict[str, tuple[str, Kind]]:
    """The fields of a class by their JSON names: the own name and the type of each."""
    try:
        return _fields_kept(kind)
    except (SchemaError, TypeError):  # a name that cannot be resolved, or a type that cannot be hashed
        return {}


@lru_cache(maxsize=256)
def _fields_kept(kind: Kind) -> dict[str, tuple[str, Kind]]:
    models: dict[str, Any] | None = getattr(kind, "model_fields", None)
    if isinstance(models, dict):
        return {field.alias or name: (name, field.annotation) for name, field in models.items()}
    fields = fields_of(kind)
    return {} if fields is None else {field.key: (field.name, field.kind) for field in fields.members}
