"""Types without parts: their schema, and how a JSON value becomes one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import msgspec

from interlingua.schema._words import FORMS
from interlingua.schema.problem import MisfitError, brief
from interlingua.schema.walk import Schema, parts_of_schema

__all__ = ["DECIMAL", "LEAVES", "Form", "holds_decimals", "is_said_as_text", "leaf_of"]


class Form(NamedTuple):
    """A type as JSON: its schema, and how a value of it is read."""

    schema: Schema
    """JSON Schema, in which optional properties are left out."""
    read: Callable[[Any], Any]
    """The Python value of a JSON value; raises MisfitError."""
    names: frozenset[str] | None = None
    """The members of an object with fixed ones."""


def _exactly(kind: type, words: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise MisfitError(f"{brief(value)} is not {words}")
        return value

    return read


def _anything(value: Any) -> Any:
    return value


def _integer(value: Any) -> int:
    if type(value) is int or (type(value) is float and value.is_integer()):
        return int(value)
    raise MisfitError(f"{brief(value)} is not an integer")


def _number(value: Any) -> float:
    if type(value) in (int, float):
        return float(value)
    raise MisfitError(f"{brief(value)} is not a number")


def _converted(kind: Any, words: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            raise MisfitError(f"{brief(value)} is not {words}") from None

    return read


LEAVES: dict[Any, Form] = {
    Any: Form({}, _anything),
    object: Form({}, _anything),
    None: Form({"type": "null"}, _exactly(type(None), "null")),
    type(None): Form({"type": "null"}, _exactly(type(None), "null")),
    bool: Form({"type": "boolean"}, _exactly(bool, "true or false")),
    int: Form({"type": "integer"}, _integer),
    float: Form({"type": "number"}, _number),
    str: Form({"type": "string"}, _exactly(str, "a string")),
    bytes: Form({"type": "string", "contentEncoding": "base64"}, _converted(bytes, "base64")),
}
"""Types that JSON has itself, or nearly."""
DECIMAL = r"^[+-]?\d+(\.\d+)?$"
"""The pattern for the text of a Decimal; no other type asks so."""
_NAMED: dict[tuple[str, str], tuple[Schema, str]] = {
    ("datetime", "date"): ({"format": "date"}, FORMS["date"]),
    ("datetime", "datetime"): ({"format": "date-time"}, FORMS["date-time"]),
    ("datetime", "time"): ({"format": "time"}, FORMS["time"]),
    ("datetime", "timedelta"): ({"format": "duration"}, FORMS["duration"]),
    ("decimal", "Decimal"): ({"pattern": DECIMAL}, "a decimal number"),
    ("uuid", "UUID"): ({"format": "uuid"}, FORMS["uuid"]),
}
"""Types that JSON says as text, by module and name: whoever has one has imported its module."""


def holds_decimals(schema: Schema) -> bool:
    """Whether a schema made of a type asks for a Decimal, whose digits a float would not keep."""
    return any(part.get("pattern") == DECIMAL for part in parts_of_schema(schema))


def is_said_as_text(value: object) -> bool:
    """Whether JSON says such a value as text, and Python does not: a Decimal, a date."""
    kind = type(value)
    return (kind.__module__, kind.__qualname__) in _NAMED


def leaf_of(kind: object) -> Form | None:
    """The form of a type without parts; None for any other."""
    if not isinstance(kind, Hashable):
        return None
    named = _NAMED.get((kind.__module__, kind.__qualname__)) if isinstance(kind, type) else None
    if named is None:
        return LEAVES.get(kind)
    return Form({"type": "string", **named[0]}, _converted(kind, named[1]))
