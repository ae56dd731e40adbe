"""Two JSON Schemas as one that demands what both demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from interlingua.schema.walk import Schema

__all__ = ["merged"]


def merged(first: Schema, second: Schema) -> Schema:
    """A schema that allows what both allow, as far as one can say it; where only one can be told, `second` is."""
    whole = dict(first)
    for keyword, value in second.items():
        join = _JOINS.get(keyword)
        whole[keyword] = value if keyword not in first or join is None else join(first[keyword], value)
    return whole


def _schema(value: object) -> Schema | None:
    return cast("Schema", value) if isinstance(value, dict) else None


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _both(first: object, second: object) -> object:
    ours, theirs = _schema(first), _schema(second)
    if ours is not None and theirs is not None:
        return merged(ours, theirs)
    return first if second is True else second


def _named(first: object, second: object) -> object:
    ours, theirs = _schema(first), _schema(second)
    if ours is None or theirs is None:
        return second
    return ours | {name: _both(ours[name], schema) if name in ours else schema for name, schema in theirs.items()}


def _all_names(first: object, second: object) -> object:
    return list(dict.fromkeys([*_list(first), *_list(second)]))


def _common(first: object, second: object) -> object:
    """The types that are common to two types, or lists of types."""
    ours, theirs = _list(first), _list(second)
    if "integer" in ours and "number" in theirs:
        theirs = [*theirs, "integer"]
    if "number" in ours and "integer" in theirs:
        ours = [*ours, "integer"]
    common = [value for value in ours if value in theirs and not (value == "number" and "number" not in _list(second))]
    if not common:
        return second
    return common[0] if len(common) == 1 else common


def _values(first: object, second: object) -> object:
    return [value for value in _list(first) if value in _list(second)] or second


def _forms(first: object, second: object) -> object:
    """Each form of the one with each form of the other, as far as their types agree."""
    pairs = [(ours, theirs) for ours in _list(first) for theirs in _list(second)]
    fitting = [pair for pair in pairs if _agree(*pair)]
    return [_both(ours, theirs) for ours, theirs in fitting or pairs]


def _agree(first: object, second: object) -> bool:
    ours, theirs = (_schema(first) or {}).get("type"), (_schema(second) or {}).get("type")
    if ours is None or theirs is None:
        return True
    return bool(set(_list(ours)) & set(_list(theirs)))


def _additional(first: object, second: object) -> object:
    return False if first is False or second is False else _both(first, second)


def _every(first: object, second: object) -> object:
    return [*_list(first), *_list(second)]


_JOINS: dict[str, Callable[[Any, Any], object]] = {
    "properties": _named,
    "patternProperties": _named,
    "$defs": _named,
    "definitions": _named,
    "required": _all_names,
    "type": _common,
    "enum": _values,
    "anyOf": _forms,
    "oneOf": _forms,
    "allOf": _every,
    "items": _both,
    "additionalProperties": _additional,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
"""How a keyword that both have is told once."""
