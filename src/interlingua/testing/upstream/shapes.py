"""The shape of a JSON value, as values, and what is wrong with one that looks otherwise.

Rules
- Every fault is found, not only the first; each has the place, as a JSON pointer, and a sentence.
- A null member is an absent one, where it may be absent.
- Where several shapes are allowed, an object is held against the ones whose fixed words it says (`"type": "text"`).
- Nothing here knows a provider.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec

from interlingua.wire.json import pointer

__all__ = [
    "Anything",
    "Choice",
    "Fault",
    "FaultKind",
    "Flag",
    "Grammar",
    "ListOf",
    "MapOf",
    "Member",
    "Members",
    "Named",
    "Null",
    "Number",
    "Reading",
    "Shape",
    "Text",
    "Word",
    "faults",
]

FaultKind: TypeAlias = Literal[
    "unknown_member",
    "missing_member",
    "wrong_type",
    "unknown_value",
    "out_of_range",
    "bad_length",
    "bad_pattern",
    "bad_base64",
    "bad_union",
]
"""The kinds of faults of a value."""

Step: TypeAlias = "str | int"


class Text(msgspec.Struct, frozen=True):
    """Text."""

    low: int | None = None
    """Fewest characters."""
    high: int | None = None
    """Most characters."""
    pattern: str | None = None
    """Regular expression of the whole text."""
    base64: bool = False
    """Whether it is bytes in base64, in either alphabet."""


class Number(msgspec.Struct, frozen=True):
    """A number."""

    whole: bool = False
    """Whether it is an integer."""
    low: float | None = None
    """Least value."""
    high: float | None = None
    """Greatest value."""


class Flag(msgspec.Struct, frozen=True):
    """true or false."""


class Null(msgspec.Struct, frozen=True):
    """null."""


class Anything(msgspec.Struct, frozen=True):
    """Any JSON value, or any object."""

    is_object: bool = False
    """Whether it must be an object."""


class Word(msgspec.Struct, frozen=True):
    """One fixed value."""

    value: str | bool
    """The value."""


class ListOf(msgspec.Struct, frozen=True):
    """An array."""

    item: Shape
    """The shape of its elements."""
    low: int | None = None
    """Fewest elements."""
    high: int | None = None
    """Most elements."""


class MapOf(msgspec.Struct, frozen=True):
    """An object whose member names are free."""

    value: Shape
    """The shape of its values."""
    high: int | None = None
    """Most members."""


class Member(msgspec.Struct, frozen=True):
    """One member of an object."""

    shape: Shape
    """Its shape."""
    required: bool = True
    """Whether it must be there."""


class Members(msgspec.Struct, frozen=True):
    """An object with known members."""

    name: str
    """Its name."""
    members: dict[str, Member]
    """Its members by name."""
    is_open: bool = False
    """Whether it may have more."""
    is_union: bool = False
    """Whether exactly one of its members must be there."""

    words: dict[str, frozenset[str | bool]] = {}
    """The members that say which object it is, with the words they may say; made of the members."""

    def __post_init__(self) -> None:
        """The words, gathered once for all objects that are held against it."""
        all_words = {name: _words(member.shape) for name, member in self.members.items()}
        msgspec.structs.force_setattr(self, "words", {name: words for name, words in all_words.items() if words})


class Named(msgspec.Struct, frozen=True):
    """A shape of the grammar, by name."""

    name: str
    """Its name."""


class Choice(msgspec.Struct, frozen=True):
    """One of several shapes."""

    options: tuple[Shape, ...]
    """The shapes."""


Shape: TypeAlias = Text | Number | Flag | Null | Anything | Word | ListOf | MapOf | Members | Named | Choice
Grammar: TypeAlias = Mapping[str, Shape]
"""Shapes by name."""


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong."""

    kind: FaultKind
    """The kind."""
    steps: tuple[str | int, ...]
    """Where, as member names and places."""
    sentence: str
    """The fault, in one sentence."""

    @property
    def pointer(self) -> str:
        """Where, as a JSON pointer."""
        return pointer(*self.steps)


def _same(name: str) -> str:
    return name


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How values are held against a grammar."""

    grammar: Grammar
    """The named shapes."""
    ignores_unknown: bool = False
    """Whether members that nobody knows are let through."""
    null_is_absent: bool = False
    """Whether null is as good as nothing."""
    numbers_as_text: bool = False
    """Whether a number may be written as text."""
    words_any_case: bool = False
    """Whether a word may be written in any case, or as the number that stands for it."""
    one_for_many: bool = False
    """Whether one element may stand in the place of an array."""
    spell: Callable[[str], str] = _same
    """The name under which the grammar knows a member."""

    def resolved(self, shape: Shape) -> Shape:
        """`shape`, or what its name stands for."""
        while isinstance(shape, Named):
            shape = self.grammar[shape.name]
        return shape

    def options(self, shape: Shape) -> list[Shape]:
        """The shapes that `shape` allows, none of them a name or a choice."""
        shape = self.resolved(shape)
        if not isinstance(shape, Choice):
            return [shape]
        flat: list[Shape] = []
        for option in shape.options:
            if isinstance(option, Named | Choice):
                flat += self.options(option)
            else:
                flat.append(option)
        return flat


def faults(reading: Reading, shape: Shape, value: object, steps: tuple[Step, ...] = ()) -> list[Fault]:
    """Everything that is wrong with `value`, which should have `shape`."""
    shape = reading.resolved(shape)
    if isinstance(shape, Choice):
        return _choose(reading, reading.options(shape), value, steps)
    if reading.null_is_absent and value is None:
        return []
    return list(_CHECKS[type(shape)](reading, shape, value, steps))


def _words(shape: Shape) -> frozenset[str | bool]:
    if isinstance(shape, Word):
        return frozenset({shape.value})
    if isinstance(shape, Choice) and all(isinstance(option, Word) for option in shape.options):
        return frozenset(option.value for option in cast("tuple[Word, ...]", shape.options))
    return frozenset()


# A choice


def _choose(reading: Reading, options: list[Shape], value: object, steps: tuple[Step, ...]) -> list[Fault]:
    fitting = [option for option in options if _is_kind(option, value)]
    if reading.words_any_case and isinstance(value, int) and all(isinstance(option, Word) for option in options):
        return []
    if not fitting:
        return [Fault("wrong_type", steps, f"must be {_titles(options)}, not {_kind(value)}")]
    if isinstance(value, dict):
        return _choose_object(reading, fitting, members=cast("dict[str, Any]", value), steps=steps)
    if all(isinstance(option, Word) for option in fitting):
        if any(_is_word(reading, option, value) for option in fitting):
            return []
        return [Fault("unknown_value", steps, f"{value!r} is none of {_titles(fitting)}")]
    return _least(reading, fitting, value, steps)


def _choose_object(
    reading: Reading, options: list[Shape], *, members: dict[str, Any], steps: tuple[Step, ...]
) -> list[Fault]:
    """The faults of the object that its fixed words say it is."""
    body = {reading.spell(name): value for name, value in members.items()}
    named = [option for option in options if isinstance(option, Members)]
    fitting = [option for option in options if not isinstance(option, Members) or _says(option, body)]
    if not fitting:
        most = max(_agreement(option, body) for option in named)
        fitting = [option for option in named if most and _agreement(option, body) == most]
    if fitting:
        return _least(reading, fitting, members, steps)
    telling = ("type", "role", *body, *named[0].words)
    name = next((name for name in telling if any(name in option.words for option in named)), "type")
    words = sorted({str(word) for option in named for word in option.words.get(name, ())})
    if name not in body:
        return [Fault("missing_member", (*steps, name), f"`{name}` is missing; it is one of {', '.join(words)}")]
    return [Fault("unknown_value", (*steps, name), f"{body[name]!r} is none of {', '.join(words)}")]


def _agreement(shape: Members, body: dict[str, Any]) -> int:
    """How many of its fixed words an object says."""
    return sum(isinstance(body.get(name), str) and body[name] in words for name, words in shape.words.items())


def _says(shape: Members, body: dict[str, Any]) -> bool:
    for name, words in shape.words.items():
        if name in body:
            if not isinstance(body[name], str | bool) or body[name] not in words:
                return False
        elif shape.members[name].required:
            return False
    return True


def _least(reading: Reading, options: Sequence[Shape], value: object, steps: tuple[Step, ...]) -> list[Fault]:
    return min((faults(reading, option, value, steps) for option in options), key=len)


def _is_word(reading: Reading, shape: Shape, value: object) -> bool:
    if not isinstance(shape, Word):
        return False
    if reading.words_any_case and isinstance(value, str):
        return value.upper() == str(shape.value).upper()
    return type(shape.value) is type(value) and shape.value == value


def _is_kind(shape: Shape, value: object) -> bool:
    return _kind(value) in _KINDS[type(shape)] if not isinstance(shape, Word) else _kind(value) == _kind(shape.value)


def _kind(value: object) -> str:
    return _NAMES.get(type(value), "object")


_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "a flag",
    int: "a number",
    float: "a number",
    str: "text",
    list: "an array",
    dict: "object",
}
_EVERY = frozenset({*_NAMES.values()})
_KINDS: dict[type, frozenset[str]] = {
    Text: frozenset({"text"}),
    Number: frozenset({"a number"}),
    Flag: frozenset({"a flag"}),
    Null: frozenset({"null"}),
    Anything: _EVERY,
    ListOf: frozenset({"an array"}),
    MapOf: frozenset({"object"}),
    Members: frozenset({"object"}),
}


def _titles(options: list[Shape]) -> str:
    return ", ".join(dict.fromkeys(_title(option) for option in options))


def _title(shape: Shape) -> str:
    if isinstance(shape, Word):
        return repr(shape.value)
    if isinstance(shape, Anything):
        return "an object" if shape.is_object else "anything"
    [kind] = _KINDS[type(shape)]
    return "an object" if kind == "object" else kind


# One shape


def _of_kind(shape: Shape, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if not _is_kind(shape, value):
        yield Fault("wrong_type", steps, f"must be {_title(shape)}, not {_kind(value)}")


def _text(_: Reading, shape: Text, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield from _of_kind(shape, value, steps)
        return
    yield from _length(shape, len(value), "characters", steps)
    if shape.pattern is not None and re.fullmatch(shape.pattern, value, re.DOTALL) is None:
        yield Fault("bad_pattern", steps, f"{value[:80]!r} does not match ^{shape.pattern}$")
    if shape.base64 and not _is_base64(value):
        yield Fault("bad_base64", steps, "is not base64")


def _is_base64(text: str) -> bool:
    """Whether `text` is base64, in either alphabet, padded or not; white space is what every decoder skips."""
    plain = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _number(reading: Reading, shape: Number, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if isinstance(value, str) and reading.numbers_as_text:
        value = _read_number(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield from _of_kind(shape, value, steps)
        return
    if shape.whole and not float(value).is_integer():
        yield Fault("wrong_type", steps, f"must be an integer, not {value}")
    if shape.low is not None and value < shape.low:
        yield Fault("out_of_range", steps, f"{value} is less than {shape.low:g}")
    if shape.high is not None and value > shape.high:
        yield Fault("out_of_range", steps, f"{value} is more than {shape.high:g}")


def _read_number(text: str) -> object:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _word(reading: Reading, shape: Word, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if not _is_word(reading, shape, value):
        yield Fault("unknown_value", steps, f"{value!r} is not {shape.value!r}")


def _anything(_: Reading, shape: Anything, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if shape.is_object and not isinstance(value, dict):
        yield Fault("wrong_type", steps, f"must be an object, not {_kind(value)}")


def _plain(_: Reading, shape: Flag | Null, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    yield from _of_kind(shape, value, steps)


def _list(reading: Reading, shape: ListOf, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if not isinstance(value, list):
        if reading.one_for_many:
            yield from faults(reading, shape.item, value, steps)
        else:
            yield from _of_kind(shape, value, steps)
        return
    items = cast("list[object]", value)
    yield from _length(shape, len(items), "elements", steps)
    for place, item in enumerate(items):
        yield from faults(reading, shape.item, item, (*steps, place))


def _map(reading: Reading, shape: MapOf, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield from _of_kind(shape, value, steps)
        return
    members = cast("dict[str, object]", value)
    if shape.high is not None and len(members) > shape.high:
        yield Fault("bad_length", steps, f"has {len(members)} members; {shape.high} is the most")
    for name, item in members.items():
        yield from faults(reading, shape.value, item, (*steps, name))


def _members(reading: Reading, shape: Members, value: object, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield from _of_kind(shape, value, steps)
        return
    body = cast("dict[str, object]", value)
    present = {reading.spell(name) for name, item in body.items() if not (reading.null_is_absent and item is None)}
    if shape.is_union and len(present) != 1:
        yield Fault("bad_union", steps, f"{shape.name} must set one of the following keys: {', '.join(shape.members)}")
    for name, member in shape.members.items():
        if member.required and name not in present:
            yield Fault("missing_member", (*steps, name), f"`{name}` is missing")
    for name, item in body.items():
        member = shape.members.get(reading.spell(name))
        if item is None and member is not None and not member.required:
            continue
        if member is not None:
            yield from faults(reading, member.shape, item, (*steps, name))
        elif not (shape.is_open or reading.ignores_unknown):
            yield Fault("unknown_member", (*steps, name), f"`{name}` is no member of {shape.name}")


def _length(shape: Text | ListOf, length: int, units: str, steps: tuple[Step, ...]) -> Iterator[Fault]:
    if shape.low is not None and length < shape.low:
        yield Fault("bad_length", steps, f"has {length} {units}; {shape.low} is the least")
    if shape.high is not None and length > shape.high:
        yield Fault("bad_length", steps, f"has {length} {units}; {shape.high} is the most")


_CHECKS: dict[type, Callable[[Reading, Any, object, tuple[Step, ...]], Iterator[Fault]]] = {
    Text: _text,
    Number: _number,
    Flag: _plain,
    Null: _plain,
    Anything: _anything,
    Word: _word,
    ListOf: _list,
    MapOf: _map,
    Members: _members,
}
