"""Types as answers: the schema to ask with, and the value that the answer holds.

A type's schema is one that strict modes take: an object, all of its properties required, no others, optional ones
nullable. What is not an object stands in an object, under `value`. A plain dict is a JSON Schema of the caller's own:
it is sent as it is, and the value is the parsed JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast, get_origin

from interlingua.errors import DecodeError
from interlingua.schema._leaves import holds_decimals
from interlingua.schema.answer import parse_answer
from interlingua.schema.fields import Kind
from interlingua.schema.forms import Forms, compose
from interlingua.schema.problem import MisfitError, Problem, describe
from interlingua.schema.strict import relax, strictened
from interlingua.schema.validate import check_schema, validate
from interlingua.schema.walk import Schema
from interlingua.types._base import JsonValue
from interlingua.wire.json import decode_any

__all__ = [
    "NAMELESS",
    "WRAPPER",
    "Reflection",
    "decode_output",
    "read_output",
    "reflect",
    "schema_name_of",
    "schema_of",
]

T = TypeVar("T")

WRAPPER = "value"
"""The property under which an answer stands that is not an object."""

NAMELESS = "response"
"""The name of the schema of a type without a name."""
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


class Reflection(NamedTuple):
    """A type as JSON."""

    loose: Schema
    """Its schema, in which what has a default may be left out."""
    strict: Schema
    """Its schema as strict modes take it."""
    read: Callable[[Any], Any]
    """The Python value of a JSON value of the loose schema."""
    has_decimals: bool
    """Whether a Decimal is in it, whose digits a float would not keep."""


def reflect(kind: Kind) -> Reflection:
    """The schemas of a type and its reader; made once per type.

    Raises: SchemaError, for a type that JSON has no place for.
    """
    try:
        return _kept(kind)
    except TypeError:  # a type whose annotations cannot be hashed
        return _reflect(kind)


def _reflect(kind: Kind) -> Reflection:
    forms = Forms()
    form = forms.form(kind)
    loose = compose(form.schema, forms.definitions)
    return Reflection(loose, strictened(loose), form.read, holds_decimals(loose))


_kept = lru_cache(maxsize=256)(_reflect)


def schema_of(kind: type[T] | Kind) -> Schema:
    """The JSON Schema with which an answer of this type is asked for; a dict is its own schema, checked.

    Raises: SchemaError, for a type that JSON has no place for, and for a dict that is no JSON Schema.
    """
    if isinstance(kind, dict):
        own = cast("Schema", kind)
        check_schema(own, where="output")
        return own
    strict = reflect(kind).strict
    if _is_object(strict):
        return strict
    form = {keyword: value for keyword, value in strict.items() if keyword != "$defs"}
    whole: Schema = {
        "type": "object",
        "properties": {WRAPPER: form},
        "required": [WRAPPER],
        "additionalProperties": False,
    }
    return {**whole, "$defs": strict["$defs"]} if "$defs" in strict else whole


def schema_name_of(kind: type[T] | Kind) -> str:
    """The name of the schema: the class's name or the schema's title; `response` where there is none."""
    if isinstance(kind, dict):
        name = str(cast("Schema", kind).get("title", ""))
    else:
        owner = get_origin(kind) or kind
        name = owner.__name__ if isinstance(owner, type) and owner.__module__ not in _NAMELESS else ""
    return _NOT_IN_NAMES.sub("_", name).strip("_")[:64] or NAMELESS


_NAMELESS = frozenset({"builtins", "collections.abc", "types", "typing"})


def decode_output(text: str, kind: type[T] | Kind) -> T:
    """The value of type `kind` that an answer's text holds; a fence and words around the JSON are taken off.

    Raises: DecodeError, with every problem in its sentence and the first bad place as its path; LimitExceededError.
    """
    return read_output(parse_answer(text, _parser(kind)), kind)


def _parser(kind: Kind) -> Callable[[str], JsonValue]:
    """The reader of an answer's JSON: with every digit where the type has a Decimal."""
    if isinstance(kind, dict) or not reflect(kind).has_decimals:
        return decode_any
    from interlingua.schema.digits import decode_digits  # only who has a Decimal needs it

    return decode_digits


def read_output(value: JsonValue, kind: type[T] | Kind) -> T:
    """The value of type `kind` that an answer's JSON stands for.

    Raises: DecodeError, as `decode_output`.
    """
    if isinstance(kind, dict):
        problems = validate(cast("Schema", kind), value)
        if problems:
            raise _refusal(problems)
        return cast("T", value)
    reflection = reflect(kind)
    wrapper = "" if _is_object(reflection.strict) or type(value) is not dict or value.keys() != {WRAPPER} else WRAPPER
    bare = cast("JsonValue", value[wrapper] if wrapper else value)
    if reflection.has_decimals:
        from interlingua.schema.digits import settle

        bare = settle(bare, reflection.loose)
    value = relax(bare, reflection.loose)
    try:
        return reflection.read(value)
    except MisfitError as misfit:
        problems = validate(reflection.loose, value, naive_times=True) or misfit.problems
        raise _refusal(problems, wrapper) from None


def _refusal(problems: list[Problem], wrapper: str = "") -> DecodeError:
    steps = f"/{wrapper}" if wrapper else ""
    placed = [problem._replace(path=f"{steps}{problem.path}") for problem in problems]
    return DecodeError(f"the answer does not fit: {describe(placed)}", path=placed[0].path)


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object"
