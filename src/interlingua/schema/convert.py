"""Values turned into the form of a rewritten schema, and back.

Where a schema was rewritten so that a value looks different on the wire, a `Conversion` knows both forms: `to_wire`
puts earlier calls into the form that the model is told, `to_own` turns what the model says back into what the caller's
own schema says.

Rules
- What does not look as expected stays as it is: the caller's schema is still there to judge it.
- Nothing is converted, and no text touched, where the schema was not rewritten in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from interlingua.errors import DecodeError, Error, LimitExceededError
from interlingua.schema.walk import Schema
from interlingua.types._base import JsonValue
from interlingua.wire.json import decode_any, encode

__all__ = [
    "Branch",
    "Choice",
    "Conversion",
    "Items",
    "JsonText",
    "Members",
    "Pairs",
    "Reference",
    "Step",
    "Union",
    "Wrapped",
]


class JsonText(msgspec.Struct, frozen=True):
    """Any value, sent as JSON text."""


class Choice(msgspec.Struct, frozen=True):
    """One of some values that are no strings, sent as strings."""

    values: tuple[tuple[str, JsonValue], ...]
    """The wire's string and the value."""


class Pairs(msgspec.Struct, frozen=True):
    """An object with free names, sent as a list of objects with `key` and `value`."""

    value: Step | None = None
    """The conversion of the values."""


class Wrapped(msgspec.Struct, frozen=True):
    """A value that is no object, sent as the only member of one."""

    member: str
    """The name of the member."""
    inner: Step | None = None
    """The conversion of the value."""


class Members(msgspec.Struct, frozen=True):
    """An object whose members change."""

    properties: Mapping[str, Step] = {}
    """The conversion of each value."""
    rest: Step | None = None
    """The conversion of the others."""
    optional: frozenset[str] = frozenset()
    """Members that may be left out, which the wire says by null."""


class Items(msgspec.Struct, frozen=True):
    """An array whose items change."""

    first: tuple[Step | None, ...] = ()
    """The conversion of the first items, one by one."""
    rest: Step | None = None
    """The conversion of the others."""


class Branch(msgspec.Struct, frozen=True):
    """One form that a value may have."""

    own: Schema
    """The form that the caller's schema gives it, whole."""
    wire: Schema
    """The form on the wire, whole."""
    step: Step | None = None
    """The conversion of a value in this form."""


class Union(msgspec.Struct, frozen=True):
    """A value that has one of several forms: the first that it fits."""

    branches: tuple[Branch, ...]
    """The forms."""


class Reference(msgspec.Struct, frozen=True):
    """A value that is described elsewhere."""

    name: str
    """The name of the definition."""


Step: TypeAlias = JsonText | Choice | Pairs | Wrapped | Members | Items | Union | Reference
"""The conversion of one value."""


class Conversion(msgspec.Struct, frozen=True):
    """The conversion of the values of one schema."""

    root: Step
    """The conversion of the whole value."""
    definitions: Mapping[str, Step | None] = {}
    """The conversion of the values of each definition."""

    def to_wire(self, value: JsonValue) -> JsonValue:
        """A value of the caller's schema as the rewritten schema wants it."""
        return _Converter(self.definitions, _TO_WIRE).convert(value, self.root)

    def to_own(self, value: JsonValue) -> JsonValue:
        """A value of the rewritten schema as the caller's own schema wants it."""
        return _Converter(self.definitions, _TO_OWN).convert(value, self.root)

    def text_to_wire(self, text: str) -> str:
        """`to_wire` for JSON text; the text itself where it is none, or where nothing changes."""
        return _converted_text(text, self.to_wire)

    def text_to_own(self, text: str) -> str:
        """`to_own` for JSON text; the text itself where it is none, or where nothing changes."""
        return _converted_text(text, self.to_own)


def _converted_text(text: str, convert: Callable[[JsonValue], JsonValue]) -> str:
    try:
        value = decode_any(text)
    except (DecodeError, LimitExceededError):
        return text
    converted = convert(value)
    return text if converted == value else encode(converted).decode()


class _Converter:
    """Walks a value along the steps, in one direction."""

    def __init__(
        self, definitions: Mapping[str, Step | None], ways: dict[type, Callable[[_Converter, Any, Any], Any]]
    ) -> None:
        self.definitions = definitions
        self.ways = ways

    def convert(self, value: JsonValue, step: Step | None) -> JsonValue:
        if step is None:
            return value
        return self.ways[type(step)](self, value, step)

    def reference(self, value: JsonValue, step: Reference) -> JsonValue:
        return self.convert(value, self.definitions.get(step.name))

    def items(self, value: JsonValue, step: Items) -> JsonValue:
        if not isinstance(value, list):
            return value
        elements = cast("list[Any]", value)
        steps = (*step.first, *[step.rest] * len(elements))
        return [self.convert(item, below) for item, below in zip(elements, steps, strict=False)]

    def members(self, value: JsonValue, step: Members) -> JsonValue:
        members = cast("dict[str, Any]", value)
        return {name: self.convert(member, step.properties.get(name, step.rest)) for name, member in members.items()}

    # To the wire

    def as_json_text(self, value: JsonValue, step: JsonText) -> JsonValue:
        del step
        return encode(value).decode()

    def chosen(self, value: JsonValue, step: Choice) -> JsonValue:
        return next((text for text, own in step.values if own == value and type(own) is type(value)), value)

    def paired(self, value: JsonValue, step: Pairs) -> JsonValue:
        if not isinstance(value, dict):
            return value
        members = cast("dict[str, Any]", value)
        return [{"key": name, "value": self.convert(member, step.value)} for name, member in members.items()]

    def wrapped(self, value: JsonValue, step: Wrapped) -> JsonValue:
        return {step.member: self.convert(value, step.inner)}

    def completed(self, value: JsonValue, step: Members) -> JsonValue:
        if not isinstance(value, dict):
            return value
        members = cast("dict[str, Any]", value)
        missing = [name for name in sorted(step.optional) if name not in members]
        return self.members(members, step) | dict.fromkeys(missing)

    def formed(self, value: JsonValue, step: Union) -> JsonValue:
        return self._in_form(value, step, lambda branch: branch.own)

    # Back

    def read(self, value: JsonValue, step: JsonText) -> JsonValue:
        del step
        if not isinstance(value, str):
            return value
        try:
            return decode_any(value)
        except (DecodeError, LimitExceededError):
            return value  # a model that was asked for JSON text often says a plain string

    def meant(self, value: JsonValue, step: Choice) -> JsonValue:
        return next((own for text, own in step.values if text == value), value)

    def mapped(self, value: JsonValue, step: Pairs) -> JsonValue:
        if not isinstance(value, list):
            return value
        pairs = cast("list[Any]", value)
        if not all(
            isinstance(pair, dict) and isinstance(cast("dict[str, object]", pair).get("key"), str) for pair in pairs
        ):
            return pairs
        return {pair["key"]: self.convert(pair.get("value"), step.value) for pair in pairs}

    def unwrapped(self, value: JsonValue, step: Wrapped) -> JsonValue:
        if not isinstance(value, dict) or step.member not in value:
            return cast("Any", value)
        return self.convert(cast("dict[str, Any]", value)[step.member], step.inner)

    def relaxed(self, value: JsonValue, step: Members) -> JsonValue:
        if not isinstance(value, dict):
            return value
        members = cast("dict[str, Any]", value)
        present = {name: member for name, member in members.items() if member is not None or name not in step.optional}
        return self.members(present, step)

    def recognised(self, value: JsonValue, step: Union) -> JsonValue:
        return self._in_form(value, step, lambda branch: branch.wire)

    def _in_form(self, value: JsonValue, step: Union, form: Callable[[Branch], Schema]) -> JsonValue:
        chosen = next((branch for branch in step.branches if _fits(value, form(branch))), None)
        return value if chosen is None else self.convert(value, chosen.step)


def _fits(value: object, schema: Schema) -> bool:
    from interlingua.schema.validate import validate  # 64 ms: only unions of rewritten forms pay for it

    try:
        return not validate(schema, value)
    except Error:
        return False


_Ways: TypeAlias = dict[type, Callable[[_Converter, Any, Any], Any]]
_BOTH: _Ways = {Reference: _Converter.reference, Items: _Converter.items}
_TO_WIRE: _Ways = {
    **_BOTH,
    JsonText: _Converter.as_json_text,
    Choice: _Converter.chosen,
    Pairs: _Converter.paired,
    Wrapped: _Converter.wrapped,
    Members: _Converter.completed,
    Union: _Converter.formed,
}
_TO_OWN: _Ways = {
    **_BOTH,
    JsonText: _Converter.read,
    Choice: _Converter.meant,
    Pairs: _Converter.mapped,
    Wrapped: _Converter.unwrapped,
    Members: _Converter.relaxed,
    Union: _Converter.recognised,
}
