"""Types without parts: their schema, and how a JSON value becomes one."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import msgspec

from interlingua.schema._words import FORMS
from interlingua.schema.problem import MisfitError, brief
from interlingua.schema.walk import Schema

__all__ = ["LEAVES", "Form", "check_constraints", "constraint_keywords", "constraints_of", "leaf_of"]


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
_NAMED: dict[tuple[str, str], tuple[Schema, str]] = {
    ("datetime", "date"): ({"format": "date"}, FORMS["date"]),
    ("datetime", "datetime"): ({"format": "date-time"}, FORMS["date-time"]),
    ("datetime", "time"): ({"format": "time"}, FORMS["time"]),
    ("datetime", "timedelta"): ({"format": "duration"}, FORMS["duration"]),
    ("decimal", "Decimal"): ({"pattern": r"^[+-]?\d+(\.\d+)?$"}, "a decimal number"),
    ("uuid", "UUID"): ({"format": "uuid"}, FORMS["uuid"]),
}
"""Types that JSON says as text, by module and name: whoever has one has imported its module."""


def leaf_of(kind: object) -> Form | None:
    """The form of a type without parts; None for any other."""
    if not isinstance(kind, Hashable):
        return None
    named = _NAMED.get((kind.__module__, kind.__qualname__)) if isinstance(kind, type) else None
    if named is None:
        return LEAVES.get(kind)
    return Form({"type": "string", **named[0]}, _converted(kind, named[1]))


class _Constraint(NamedTuple):
    """One bound that `Annotated` may set, named alike by msgspec, annotated-types and pydantic."""

    keywords: Mapping[str, str]
    """JSON type -> keyword."""
    holds: Callable[[Any, Any], bool]
    """Whether a value keeps to the limit."""
    words: str
    """What is said of a value that does not."""


_NUMBERS = ("integer", "number")


def _bound(keyword: str, holds: Callable[[Any, Any], bool], words: str) -> _Constraint:
    return _Constraint(dict.fromkeys(_NUMBERS, keyword), holds, words)


def _matches(value: Any, limit: Any) -> bool:
    return re.search(limit, value) is not None


def _length(prefix: str, holds: Callable[[Any, Any], bool], words: str) -> _Constraint:
    keywords = {"string": f"{prefix}Length", "array": f"{prefix}Items", "object": f"{prefix}Properties"}
    return _Constraint(keywords, holds, words)


_CONSTRAINTS: dict[str, _Constraint] = {
    "ge": _bound("minimum", lambda value, limit: value >= limit, "is less than"),
    "gt": _bound("exclusiveMinimum", lambda value, limit: value > limit, "is not more than"),
    "le": _bound("maximum", lambda value, limit: value <= limit, "is more than"),
    "lt": _bound("exclusiveMaximum", lambda value, limit: value < limit, "is not less than"),
    "multiple_of": _bound("multipleOf", lambda value, limit: value % limit == 0, "is no multiple of"),
    "min_length": _length("min", lambda value, limit: len(value) >= limit, "is shorter than"),
    "max_length": _length("max", lambda value, limit: len(value) <= limit, "is longer than"),
    "pattern": _Constraint({"string": "pattern"}, _matches, "does not match"),
}
_JSON_TYPES: dict[Any, str] = {int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def constraints_of(metadata: Any) -> dict[str, Any]:
    """The bounds that one thing in an `Annotated` sets: a msgspec Meta, an annotated-types or a pydantic object."""
    found = {name: getattr(metadata, name, None) for name in _CONSTRAINTS}
    for inner in getattr(metadata, "metadata", ()):
        found |= constraints_of(inner)
    plain = {name: getattr(limit, "pattern", limit) for name, limit in found.items()}
    return {name: limit for name, limit in plain.items() if isinstance(limit, int | float | str)}


def constraint_keywords(constraints: Mapping[str, Any], schema: Schema) -> Schema:
    """The keywords that say these bounds of a value of this schema."""
    kinds = [form.get("type") for form in (schema, *schema.get("anyOf", ()))]
    return {
        keyword: limit
        for name, limit in constraints.items()
        for kind, keyword in _CONSTRAINTS[name].keywords.items()
        if kind in kinds
    }


def check_constraints(constraints: Mapping[str, Any], value: Any) -> None:
    """Nothing, when a JSON value keeps to the bounds.

    Raises: MisfitError.
    """
    kind = _JSON_TYPES.get(type(value))
    for name, limit in constraints.items():
        constraint = _CONSTRAINTS[name]
        if kind in constraint.keywords and not constraint.holds(value, limit):
            raise MisfitError(f"{brief(value)} {constraint.words} {limit}")
