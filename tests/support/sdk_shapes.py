"""The official clients' request types as shapes, and how they differ from the tables of the strict upstream."""

from __future__ import annotations

import collections.abc
import enum
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Required, Union, cast, get_args, get_origin

import typing_extensions

from interlingua.testing.upstream.shapes import (
    Anything,
    Choice,
    Flag,
    Grammar,
    ListOf,
    MapOf,
    Member,
    Members,
    Named,
    Null,
    Number,
    Shape,
    Text,
    Word,
)

__all__ = ["SdkShapes", "differences", "schema_shapes"]

PLAIN: dict[object, Shape] = {
    str: Text(),
    bytes: Text(),
    int: Number(whole=True),
    float: Number(),
    bool: Flag(),
    type(None): Null(),
    object: Anything(),
    Any: Anything(),
}
WRAPPERS = (Required, typing.NotRequired, typing_extensions.Required, typing_extensions.NotRequired, typing.Annotated)
SEQUENCES = (list, collections.abc.Iterable, collections.abc.Sequence)
MAPS = (dict, collections.abc.Mapping)


class SdkShapes:
    """Shapes made from types, by name; a class is told once, so that types may hold themselves."""

    def __init__(self) -> None:
        self.grammar: dict[str, Shape] = {}

    def shape(self, hint: Any) -> Shape:
        """The shape that a type annotation allows."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in WRAPPERS:
            return self.shape(arguments[0])
        if origin in (Union, types.UnionType):
            return Choice(tuple(self.shape(argument) for argument in arguments if not _is_handle(argument)))
        if origin in (Literal, typing_extensions.Literal):
            return Choice(tuple(Word(argument) for argument in arguments))
        if origin in SEQUENCES or "SequenceNotStr" in str(origin):
            return ListOf(self.shape(arguments[0]))
        if origin in MAPS:
            value = self.shape(arguments[1])
            return value if isinstance(value, Anything) else MapOf(value)
        if isinstance(hint, typing_extensions.TypeAliasType):
            return self.shape(hint.__value__)
        return PLAIN[hint] if hint in PLAIN else self._class(hint)

    def _class(self, kind: Any) -> Shape:
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return Choice(tuple(Word(str(member.value)) for member in kind))
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name not in self.grammar:
            self.grammar[name] = Anything()
            self.grammar[name] = Members(kind.__qualname__, dict(self._members(kind)))
        return Named(name)

    def _members(self, kind: Any) -> Iterator[tuple[str, Member]]:
        if hasattr(kind, "__required_keys__"):
            hints = typing.get_type_hints(kind, include_extras=True)
            for name, hint in hints.items():
                required = get_origin(hint) in (Required, typing_extensions.Required) or _is_total(kind, name)
                yield name, Member(self.shape(hint), required)
            return
        if not hasattr(kind, "model_fields"):
            return
        for name, field in kind.model_fields.items():
            yield field.alias or name, Member(self.shape(field.annotation), required=False)


def _is_total(kind: Any, name: str) -> bool:
    """Whether the class that defines the member says that its members are there."""
    bases = [base for base in getattr(kind, "__orig_bases__", ()) if hasattr(base, "__required_keys__")]
    for base in bases:
        if name in typing.get_type_hints(base):
            return _is_total(base, name)
    return bool(kind.__total__)


def _is_handle(hint: Any) -> bool:
    """Whether a type stands for a file in the program, or for an answer's own object: never for JSON of a request."""
    return "IO[" in str(hint) or "PathLike" in str(hint) or (hasattr(hint, "model_fields") and "Block" in str(hint))


class _Pair:
    """Walks two shapes side by side."""

    def __init__(self, theirs: Grammar, ours: Grammar) -> None:
        self.theirs, self.ours = theirs, ours
        self.seen: set[tuple[str, str]] = set()

    def compare(self, theirs: Shape, ours: Shape, path: str) -> Iterator[str]:
        """Every difference below `path`."""
        first, second = _options(self.theirs, theirs), _options(self.ours, ours)
        if set() < {word.value for word in _of(first, Word)} <= {True, False} and _of(second, Flag):
            return  # a type for the streamed answer and one for the whole
        if any(isinstance(option, Anything) for option in (*first, *second)):
            return
        yield from self._kinds(first, second, path)
        yield from _words(first, second, path)
        yield from self._members(_of(first, Members), _of(second, Members), path)
        for kind, field in ((ListOf, "item"), (MapOf, "value")):
            one, two = [getattr(o, field) for o in _of(first, kind)], [getattr(o, field) for o in _of(second, kind)]
            if one and two:
                yield from self.compare(Choice(tuple(one)), Choice(tuple(two)), f"{path}[]")

    def _kinds(self, theirs: list[Shape], ours: list[Shape], path: str) -> Iterator[str]:
        names = {Text: "text", Number: "number", Flag: "flag", Null: "null", ListOf: "array"}
        for kind, name in names.items():
            one, two = bool(_of(theirs, kind)), bool(_of(ours, kind))
            if one != two:
                yield f"{path}: {name} only in {'types' if one else 'judge'}"

    def _members(self, theirs: list[Any], ours: list[Any], path: str) -> Iterator[str]:
        """Each object of the types against the one of the judge that is most like it."""
        taken: list[Any] = []
        for told in theirs:
            fitting = [known for known in ours if _is_same(told, known)]
            if not fitting:
                yield f"{path}: {told.name} only in types"
                continue
            best = min(fitting, key=lambda known: _distance(told, known))
            taken.append(best)
            if (told.name, best.name) not in self.seen:
                self.seen.add((told.name, best.name))
                yield from self._object(told, best)
        yield from [f"{path}: {known.name} only in judge" for known in ours if theirs and known not in taken]

    def _object(self, told: Members, known: Members) -> Iterator[str]:
        for name in sorted({*told.members, *known.members}):
            place = f"{known.name}.{name}"
            if name not in known.members or name not in told.members:
                yield f"{place}: only in {'types' if name in told.members else 'judge'}"
                continue
            first, second = told.members[name], known.members[name]
            if first.required and not second.required:
                yield f"{place}: required only in types"
            if second.required and not first.required:
                yield f"{place}: required only in judge"
            yield from self.compare(first.shape, second.shape, place)


def _options(grammar: Grammar, shape: Shape) -> list[Shape]:
    if isinstance(shape, Named):
        return _options(grammar, grammar[shape.name])
    if isinstance(shape, Choice):
        return [option for inner in shape.options for option in _options(grammar, inner)]
    return [shape]


def _of(options: list[Shape], kind: type) -> list[Any]:
    return [option for option in options if isinstance(option, kind)]


def _words(theirs: list[Shape], ours: list[Shape], path: str) -> Iterator[str]:
    if _of(theirs, Text) or _of(ours, Text):
        return
    one = {word.value for word in _of(theirs, Word)}
    two = {word.value for word in _of(ours, Word)}
    if one - two:
        yield f"{path}: {sorted(map(str, one - two))} only in types"
    if two - one:
        yield f"{path}: {sorted(map(str, two - one))} only in judge"


def _is_same(told: Members, known: Members) -> bool:
    """Whether two objects may be the same one: they say the same words, or hold the same members."""
    one, two = told.words, known.words
    shared = {name for name in ("type", "role") if name in one and name in two}
    if shared:
        return all(one[name] & two[name] for name in shared)
    return not ({"type", "role"} & {*one, *two}) or set(told.members) == set(known.members)


def _distance(told: Members, known: Members) -> int:
    """How unlike two objects are."""
    needs = [{name for name, member in each.members.items() if member.required} for each in (told, known)]
    roles = [each.words.get("role") for each in (told, known)]
    return len(set(told.members) ^ set(known.members)) * 2 + len(needs[0] ^ needs[1]) + (roles[0] != roles[1])


def differences(theirs: tuple[Grammar, Shape], ours: tuple[Grammar, Shape]) -> list[str]:
    """Every difference between two shapes, each with the grammar that resolves its names."""
    return sorted(set(_Pair(theirs[0], ours[0]).compare(theirs[1], ours[1], "Request")))


def schema_shapes(schema: dict[str, Any]) -> Grammar:
    """The shapes that the definitions of a JSON Schema allow."""
    return {name: _schema_shape(definition, name) for name, definition in schema["$defs"].items()}


def _schema_shape(schema: Any, name: str = "") -> Shape:
    if "$ref" in schema:
        return Named(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return Choice(tuple(_schema_shape(option) for option in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        words = schema.get("enum", [schema.get("const")])
        return Choice(tuple(Null() if word is None else Word(word) for word in words))
    kind = schema.get("type")
    if isinstance(kind, list):
        return Choice(tuple(_schema_shape({**schema, "type": each}) for each in cast("list[str]", kind)))
    if kind == "object" and "properties" in schema:
        required = schema.get("required", [])
        members = {key: Member(_schema_shape(value), key in required) for key, value in schema["properties"].items()}
        return Members(name, members)
    if kind == "object" and schema.get("additionalProperties") not in (None, True, {}):
        return MapOf(_schema_shape(schema["additionalProperties"]))
    if kind == "array":
        return ListOf(_schema_shape(schema.get("items", {})))
    return SCHEMA_TYPES.get(kind, Anything())


SCHEMA_TYPES: dict[Any, Shape] = {
    "string": Text(),
    "integer": Number(whole=True),
    "number": Number(),
    "boolean": Flag(),
    "null": Null(),
}
