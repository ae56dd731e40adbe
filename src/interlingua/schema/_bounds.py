"""Bounds that `Annotated` sets: as keywords of the schema, or in words where no keyword says them, and checked.

JSON Schema bounds numbers, texts and lists. What JSON says as text, a Decimal or a date, it cannot bound: the model is
told in the description, and the value that the text stands for is checked. A predicate is Python's alone, and
checks the value that was made.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from interlingua.errors import SchemaError
from interlingua.schema._leaves import is_said_as_text
from interlingua.schema.problem import MisfitError, brief
from interlingua.schema.walk import Schema
from interlingua.types._base import JsonValue

__all__ = [
    "bounds_told",
    "check_bounds",
    "check_constraints",
    "check_predicates",
    "constraint_keywords",
    "constraints_of",
    "predicates_of",
    "text_bounds",
]


class _Constraint(NamedTuple):
    """One bound that `Annotated` may set, named alike by msgspec, annotated-types and pydantic."""

    keywords: Mapping[str, str]
    """JSON type -> keyword."""
    holds: Callable[[Any, Any], bool]
    """Whether a value keeps to the limit."""
    words: str
    """The words for a value that does not."""
    note: str = ""
    """The words for the model where no keyword says it."""


_NUMBERS = ("integer", "number")


def _bound(keyword: str, holds: Callable[[Any, Any], bool], words: str, phrase: str) -> _Constraint:
    return _Constraint(dict.fromkeys(_NUMBERS, keyword), holds, words, phrase)


def _matches(value: Any, limit: Any) -> bool:
    return re.search(limit, value) is not None


def _length(prefix: str, holds: Callable[[Any, Any], bool], words: str) -> _Constraint:
    keywords = {"string": f"{prefix}Length", "array": f"{prefix}Items", "object": f"{prefix}Properties"}
    return _Constraint(keywords, holds, words)


_CONSTRAINTS: dict[str, _Constraint] = {
    "ge": _bound("minimum", lambda value, limit: value >= limit, "is less than", "at least"),
    "gt": _bound("exclusiveMinimum", lambda value, limit: value > limit, "is not more than", "more than"),
    "le": _bound("maximum", lambda value, limit: value <= limit, "is more than", "at most"),
    "lt": _bound("exclusiveMaximum", lambda value, limit: value < limit, "is not less than", "less than"),
    "multiple_of": _bound("multipleOf", lambda value, limit: not value % limit, "is no multiple of", "a multiple of"),
    "min_length": _length("min", lambda value, limit: len(value) >= limit, "is shorter than"),
    "max_length": _length("max", lambda value, limit: len(value) <= limit, "is longer than"),
    "pattern": _Constraint({"string": "pattern"}, _matches, "does not match"),
}
_JSON_TYPES: dict[Any, str] = {int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def constraints_of(metadata: Any) -> dict[str, Any]:
    """The bounds that one thing in an `Annotated` sets: a msgspec Meta, an annotated-types or a pydantic object."""
    limits = {name: getattr(metadata, name, None) for name in _CONSTRAINTS}
    for inner in getattr(metadata, "metadata", ()):
        limits |= constraints_of(inner)
    plain = {name: getattr(limit, "pattern", limit) for name, limit in limits.items()}
    return {
        name: limit for name, limit in plain.items() if isinstance(limit, int | float | str) or is_said_as_text(limit)
    }


def constraint_keywords(constraints: Mapping[str, Any], schema: Schema) -> Schema:
    """The keywords that say these bounds of a value of this schema."""
    kinds = [form.get("type") for form in (schema, *schema.get("anyOf", ()))]
    return {
        keyword: limit
        for name, limit in constraints.items()
        for kind, keyword in _CONSTRAINTS[name].keywords.items()
        if kind in kinds and isinstance(limit, int | float | str)
    }


def text_bounds(constraints: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The bounds on what JSON says as text, a Decimal or a date: no keyword of this schema says them."""
    return {
        name: limit
        for name, limit in constraints.items()
        if _CONSTRAINTS[name].note and schema.keys().isdisjoint(_CONSTRAINTS[name].keywords.values())
    }


def bounds_told(bounds: Mapping[str, Any]) -> str:
    """Bounds in words: `at least 0, less than 2026-01-31`."""
    return ", ".join(f"{_CONSTRAINTS[name].note} {_value_text(limit)}" for name, limit in bounds.items())


def check_bounds(bounds: Mapping[str, Any], made: Any) -> None:
    """Nothing, when what a text was read as keeps to its bounds, or is of another kind than they are.

    Raises: MisfitError.
    """
    for name, limit in bounds.items():
        if not _holds(_CONSTRAINTS[name], made, limit):
            raise MisfitError(f"{_value_text(made)} {_CONSTRAINTS[name].words} {_value_text(limit)}")


def _holds(constraint: _Constraint, made: Any, limit: Any) -> bool:
    if type(limit) is float and _is_decimal(made):
        limit = type(made)(repr(limit))  # 0.01 means these digits
    elif type(made) is float and _is_decimal(limit):
        made = type(limit)(repr(made))
    try:
        return constraint.holds(made, limit)
    except ArithmeticError:  # a Decimal that is no number, or too large to have a remainder
        return False
    except TypeError:  # another member of a union than the bound is for, or of two times only one has a zone
        if type(made) is not type(limit):
            return True
        raise MisfitError(
            f"{_value_text(made)} cannot be compared with {_value_text(limit)}: one has no time zone"
        ) from None


def _is_decimal(value: object) -> bool:
    kind = type(value)
    return (kind.__module__, kind.__qualname__) == ("decimal", "Decimal")


def _value_text(value: Any) -> str:
    return str(msgspec.to_builtins(value))


_PYDANTIC_ALONE = ("AfterValidator", "BeforeValidator", "PlainValidator", "WrapValidator")
"""Constraints that only pydantic checks, and only in its models."""


def predicates_of(metadata: tuple[Any, ...]) -> list[Callable[[Any], object]]:
    """The predicates of annotated-types in an `Annotated`; who has one has imported it.

    Raises: SchemaError, for a validator of pydantic, which would not run.
    """
    kind: Any = getattr(sys.modules.get("annotated_types"), "Predicate", ())
    for item in metadata:
        name = type(item).__name__
        if name in _PYDANTIC_ALONE and type(item).__module__.startswith("pydantic."):
            raise SchemaError(f"{name} runs in a pydantic model alone; annotated_types.Predicate runs anywhere")
    return [item.func for item in metadata if isinstance(item, kind)]


def check_predicates(predicates: Iterable[Callable[[Any], object]], made: Any, value: JsonValue) -> None:
    """Nothing, when every predicate is true of what was made of `value`; a ValueError says why it is not.

    Raises: MisfitError.
    """
    for holds in predicates:
        try:
            holding = holds(made)
        except (ValueError, TypeError, AssertionError) as error:
            raise MisfitError(str(error) or "is not valid") from None
        if not holding:
            name = getattr(holds, "__name__", "<")
            raise MisfitError(f"{brief(value)} fails {'a check' if name[0] == '<' else f'the check {name}'}")


def check_constraints(constraints: Mapping[str, Any], value: Any) -> None:
    """Nothing, when a JSON value keeps to the bounds.

    Raises: MisfitError.
    """
    kind = _JSON_TYPES.get(type(value))
    for name, limit in constraints.items():
        constraint = _CONSTRAINTS[name]
        if kind in constraint.keywords and not _holds(constraint, value, limit):
            raise MisfitError(f"{brief(value)} {constraint.words} {limit}")
