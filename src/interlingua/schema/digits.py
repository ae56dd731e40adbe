"""Decimals that a model wrote as JSON numbers, with every digit.

A Decimal is asked for as text, since a JSON number is a float to nearly everybody. Some targets do not keep to schemas,
and a number that they wrote where such a text belongs is taken from its own digits, never from a float.

Not responsible for: pydantic models, which read their own JSON; pydantic rounds the numbers in it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

import msgspec

from interlingua.schema._leaves import DECIMAL
from interlingua.schema.strict import form_of, item_of, led
from interlingua.schema.walk import Schema
from interlingua.types._base import JsonValue
from interlingua.wire.json import decode_any

__all__ = ["decode_digits", "settle"]

_DIGITS = msgspec.json.Decoder(float_hook=Decimal)


def decode_digits(text: str) -> JsonValue:
    """As `decode_any`, with a Decimal in the place of each float.

    Raises: DecodeError, LimitExceededError.
    """
    decode_any(text)  # which keeps the bounds, and says every fault
    return _DIGITS.decode(text.removeprefix("\ufeff"))


def settle(value: JsonValue, schema: Schema) -> JsonValue:
    """`value` of `decode_digits`, with its numbers as texts where `schema` asks for a Decimal, as floats elsewhere."""
    return _settled(value, schema, schema)


def _settled(value: Any, schema: Schema, root: Schema) -> Any:
    if type(value) is Decimal or type(value) is int:
        if _takes_decimal(schema, root):
            # No exponent, as the pattern wants it; no zeros are written out that a float does not reach.
            return f"{value:f}" if type(value) is Decimal and abs(value.adjusted()) <= _MOST_DIGITS else str(value)
        return float(value) if type(value) is Decimal else value
    schema = form_of(value, led(schema, root), root)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_settled(item, item_of(schema, index), root) for index, item in enumerate(items)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _settled(member, _member(schema, name), root) for name, member in members.items()}
    return value


_MOST_DIGITS = 400


def _takes_decimal(schema: Schema, root: Schema) -> bool:
    schema = led(schema, root)
    return schema.get("pattern") == DECIMAL or any(_takes_decimal(form, root) for form in schema.get("anyOf", ()))


def _member(schema: Schema, name: str) -> Schema:
    child = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
    return cast("Schema", child) if isinstance(child, dict) else {}
