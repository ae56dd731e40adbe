"""JSON Schemas checked, and values checked against them: the only module that calls jsonschema-rs.

Rules
- A schema is bounded in depth and nodes before anything else looks at it.
- Nothing is ever fetched: a reference that leads out of the schema is an error. By itself jsonschema-rs fetches
  `http:` and `file:` references when a schema is compiled, and unknown meta-schemas when a schema is checked.
- Formats are checked. Compiled validators are kept by the schema's bytes.
- `$schema` may name an older draft; without it, or with a name that nobody knows, a schema is draft 2020-12.

Not responsible for: making a schema fit a target, and changing a value.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn, cast

from interlingua.errors import Error, SchemaError
from interlingua.schema._words import problems_of
from interlingua.schema.problem import Problem, describe
from interlingua.schema.usual import is_usual
from interlingua.wire._depth import is_deeper
from interlingua.wire.cache import ByteCache
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jsonschema_rs import Validator

__all__ = [
    "MAX_PROBLEMS",
    "MAX_SCHEMA_DEPTH",
    "MAX_SCHEMA_NODES",
    "check_bounds",
    "check_schema",
    "check_schemas",
    "is_within_bounds",
    "validate",
]

MAX_SCHEMA_DEPTH = 64
"""How deep the objects and arrays of a schema may nest."""
MAX_SCHEMA_NODES = 10_000
"""How many values a schema may hold, all levels together."""
MAX_PROBLEMS = 50
"""How many problems of one value are told."""
_MAX_VALIDATORS_BYTES = 32 * 1024 * 1024
_VALIDATOR_BYTES = 2_000
_BYTES_OF_A_BYTE = 40
"""The bytes that a compiled schema takes for each byte of its text: 8 to 42, measured with jsonschema-rs 0.60."""
_MAX_SOUND_BYTES = 8 * 1024 * 1024

_DRAFT = re.compile(r"^https?://json-schema\.org/draft(?:/|-)(?P<name>2019-09|0[467])/schema#?$")
_DRAFTS = {
    "04": "Draft4Validator",
    "06": "Draft6Validator",
    "07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
}
_OUTSIDE = re.compile(r"^Resource '(?P<uri>[^']*)'")


def check_schema(schema: dict[str, Any], *, where: str) -> None:
    """Nothing, when `schema` is valid JSON Schema within the bounds that refers to nothing outside itself.

    Raises: SchemaError, which begins with `where` and names the bad place of the schema.
    """
    try:
        text = encode(schema)
    except Error:
        text = b""
    if text and _is_sound[text]:
        return
    check_bounds(schema, where=where)
    try:
        _validator(text or encode(schema), naive_times=False)
    except Error as error:
        raise SchemaError(f"{where}: {error.message}") from None


def check_schemas(schemas: Sequence[dict[str, Any]], *, where: Callable[[int], str]) -> None:
    """Nothing, when all of `schemas` pass `check_schema`; `where` names one by its place.

    Schemas that come again together, as the tools of a program do, are told by one text.
    Raises: SchemaError.
    """
    try:
        text = encode(schemas)
    except Error:
        text = b""
    if text and _are_sound[text]:
        return
    for place, schema in enumerate(schemas):
        check_schema(schema, where=where(place))


def _look_at(text: bytes) -> bool:
    """Whether a schema is valid and within the bounds."""
    if is_usual(text):
        return True
    try:
        check_bounds(decode_any(text), where="")
        _validator(text, naive_times=False)
    except Error:
        return False
    return True


_is_sound = ByteCache(_MAX_SOUND_BYTES, _look_at)
"""Whether schemas are sound, by their texts: most come again and again."""


def _look_at_all(text: bytes) -> bool:
    """Whether all schemas of a list are sound; False, too, for one that has to be looked at by itself."""
    try:
        return all([_is_sound[encode(schema)] for schema in cast("list[object]", decode_any(text))])
    except Error:
        return False


_are_sound = ByteCache(_MAX_SOUND_BYTES, _look_at_all)
"""Whether the schemas of a list are sound, by the text of the list."""


def is_within_bounds(text: bytes) -> bool:
    """Whether the JSON text of a schema is so short and so flat that it keeps the bounds of `check_bounds`.

    False for one whose values have to be counted.
    """
    return len(text) <= 2 * MAX_SCHEMA_NODES and not is_deeper(text, MAX_SCHEMA_DEPTH)


def check_bounds(schema: object, *, where: str) -> None:
    """Nothing, when `schema` nests no deeper than 64 levels and holds at most 10,000 values.

    Raises: SchemaError.
    """
    nodes, level = 0, [schema]
    for _ in range(MAX_SCHEMA_DEPTH + 1):
        nodes += len(level)
        if nodes > MAX_SCHEMA_NODES:
            raise SchemaError(f"{where}: the schema holds more than {MAX_SCHEMA_NODES:,} values; split it")
        level = list(chain.from_iterable(map(_below, level)))
        if not level:
            return
    raise SchemaError(f"{where}: the schema nests deeper than {MAX_SCHEMA_DEPTH} levels; flatten it")


def _below(node: object) -> Iterable[object]:
    if isinstance(node, dict):
        return cast("dict[str, object]", node).values()
    return cast("list[object]", node) if isinstance(node, list | tuple) else ()


def validate(schema: dict[str, Any], value: object, *, naive_times: bool = False) -> list[Problem]:
    """Every problem that `value` has with `schema`, at most 50; none when it is valid.

    With `naive_times`, times without an offset from UTC are as good as those with one.
    Raises: SchemaError, for a schema that is none.
    """
    check_bounds(schema, where="schema")
    try:
        validator = _validator(encode(schema), naive_times=naive_times)
    except Error as error:
        raise SchemaError(f"schema: {error.message}") from None
    problems = chain.from_iterable(problems_of(error, schema) for error in validator.iter_errors(value))
    return list(dict.fromkeys(islice(problems, MAX_PROBLEMS)))


def _validator(text: bytes, *, naive_times: bool) -> Validator:
    """The compiled schema; SchemaError without the place where it was used."""
    return _validators[text, naive_times]


def _compiled(key: tuple[bytes, bool]) -> Validator:
    text, naive_times = key
    import jsonschema_rs  # 64 ms: only who validates pays for it

    schema = decode_any(text)
    draft = _DRAFT.match(str(schema.get("$schema"))) if isinstance(schema, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # JSON
    kind = getattr(jsonschema_rs, _DRAFTS[draft["name"]] if draft else "Draft202012Validator")
    formats = _NAIVE_TIMES if naive_times else None
    try:
        return kind(schema, validate_formats=True, formats=formats, retriever=_refuse)
    except jsonschema_rs.ValidationError as error:
        outside = _OUTSIDE.match(error.message)
        if outside:
            raise SchemaError(f"it refers to {outside['uri']}, and nothing is fetched; put that under $defs") from None
        raise SchemaError(f"no valid JSON Schema: {describe(problems_of(error, {}), 'at')}") from None


def _weight(key: tuple[bytes, bool], validator: Validator) -> int:  # noqa: ARG001 - the form of a weight
    return _VALIDATOR_BYTES + _BYTES_OF_A_BYTE * len(key[0])


_validators = ByteCache(_MAX_VALIDATORS_BYTES, _compiled, weigh=_weight)


def _refuse(uri: str) -> NoReturn:
    raise LookupError(uri)


def _matches(pattern: str) -> Callable[[str], bool]:
    whole = re.compile(pattern)
    return lambda text: whole.fullmatch(text) is not None


_TIME = r"([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?"
_NAIVE_TIMES = {"date-time": _matches(rf"\d{{4}}-\d\d-\d\d[Tt ]{_TIME}"), "time": _matches(_TIME)}
