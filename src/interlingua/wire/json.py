"""JSON, read and written: the only door to it (besides `schema/`).

msgspec does the work. By itself it keeps the last of duplicate keys, drops unknown members without a trace, writes NaN
as null, fails on deep input and bad UTF-8 with errors of others, and fails a whole body on one lone surrogate. Hence:

Rules
- Size and depth are bounded before anything is parsed.
- What the peer sent wrongly is a `DecodeError` with the place, or a `LimitExceededError`; nothing else is raised.
- What our caller cannot say in JSON is a `UsageError` with the place: non-finite floats, lone surrogates, other types.
- Wire structs forbid unknown members on the fast path. Only a body that has some is read a second time, as text along
  its types: unknown members move into `extra` of their object, and every `msgspec.Raw` keeps its exact text.

The rooms behind the door: `_bounds`, `_parser`, `_unknown` members, `_repairs` of answers, the `_writer`, `_pointer`;
nobody else enters them.

Not responsible for: repairing anything but lone surrogates, and knowing what the members mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, overload

import msgspec

from interlingua.errors import DecodeError
from interlingua.wire._bounds import MAX_BODY_BYTES, MAX_DEPTH, MAX_EVENT_BYTES, JsonText, bounded, too_deep
from interlingua.wire._depth import is_deeper
from interlingua.wire._parser import (
    ANYTHING,
    FOREIGN,
    decode_error,
    decoder_of,
    parse,
    parse_object,
    read_again,
    read_text,
)
from interlingua.wire._pointer import pointer, pointer_steps
from interlingua.wire._repairs import MAX_REPAIRED, repaired_at
from interlingua.wire._text_slots import TextSlots
from interlingua.wire._unknown import EXTRA_NAME, Extra, WireStruct, parse_wire, spread, strict_decoder
from interlingua.wire._writer import ENCODER, SORTED, dump, holds_more_nulls, one_line, refuse_non_finite, write_text

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_DEPTH",
    "MAX_EVENT_BYTES",
    "ExactStruct",
    "Extra",
    "JsonText",
    "JsonValue",
    "TextSlots",
    "WireStruct",
    "decode",
    "decode_any",
    "decode_received",
    "decode_wire",
    "encode",
    "encode_exact",
    "encode_text",
    "encode_wire",
    "encode_wires",
    "exact_reader",
    "one_line",
    "parse_object",
    "pointer",
    "pointer_steps",
    "raw",
    "raw_text",
    "read_text",
    "shallow",
    "write_text",
]

T = TypeVar("T")
W = TypeVar("W", bound=msgspec.Struct)

JsonValue: TypeAlias = Any
"""A plain JSON value: None, bool, exact int, finite float, str, list, or dict with str keys."""

WHOLE_NUMBER = "whole_number"
"""The repair that reads `12.0` and `"12"` where a whole number belongs."""
_NOT_EXACT = (ValueError, RecursionError)
"""Exceptions of a decoder, and of bytes or characters that are no UTF-8."""
_UNSAID = (*_NOT_EXACT, TypeError)
"""Exceptions of the encoder for values that JSON cannot say."""
_NOT_WHOLE = r"expected `(?:int\b|[^`]*\| int\b)[^`]*`, got `(?:float|str)`"
"""Our words for another number, or a text, in the place of a whole number."""


class ExactStruct(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The base of wire objects of which every member is known, and nothing else is taken (`exact_reader`)."""


@overload
def decode(
    data: JsonText,
    type: type[T],
    *,
    max_bytes: int = ...,
    max_depth: int = ...,
    repairs: list[str] | None = ...,
) -> T: ...


@overload
def decode(
    data: JsonText,
    type: object,
    *,
    max_bytes: int = ...,
    max_depth: int = ...,
    repairs: list[str] | None = ...,
) -> JsonValue: ...


def decode(
    data: JsonText,
    type: object,
    *,
    max_bytes: int = MAX_BODY_BYTES,
    max_depth: int = MAX_DEPTH,
    repairs: list[str] | None = None,
) -> object:
    """The value of type `type` that the JSON in `data` holds.

    `repairs` takes the names of repairs made (`lone_surrogate`); without it nothing is repaired.
    Raises: DecodeError, with the first bad place; LimitExceededError, beyond `max_bytes` or `max_depth`.
    """
    return parse(decoder_of(type), bounded(data, max_bytes, max_depth), repairs)


def decode_any(
    data: JsonText,
    *,
    max_bytes: int = MAX_BODY_BYTES,
    max_depth: int = MAX_DEPTH,
    repairs: list[str] | None = None,
) -> JsonValue:
    """The plain value that the JSON in `data` holds: None, bool, exact int, finite float, str, list, dict.

    Raises: as `decode`.
    """
    body = bounded(data, max_bytes, max_depth)
    try:
        return ANYTHING.decode(body)
    except FOREIGN as error:
        return read_again(error, ANYTHING, body, repairs)


def decode_wire(
    data: JsonText,
    type: type[W],
    *,
    max_bytes: int = MAX_BODY_BYTES,
    max_depth: int = MAX_DEPTH,
    repairs: list[str] | None = None,
    lenient: bool = False,
) -> W:
    """The wire struct that the JSON object in `data` is; members without a field are in `extra` of their object.

    `lenient` is for answers, which are paid for: it repairs whole numbers that were written as others, as servers in
    Lua and Go write counts, and reads values of an unexpected type for their words and clamps counts (`_repairs`).
    Raises: as `decode`.
    """
    body = bounded(data, max_bytes, max_depth)
    try:
        return parse_wire(strict_decoder(type), body, type, repairs)
    except DecodeError as error:
        if repairs is None or not lenient:
            raise
        return _read_leniently(body, type, repairs, error)


def _read_leniently(
    body: bytes, type: type[W], repairs: list[str], error: DecodeError, *, strict: bool = True, left: int = MAX_REPAIRED
) -> W:
    """The wire struct of a text that was refused with `error`, its misfits repaired one after the other.

    Raises: as `decode`.
    """
    if strict and re.match(_NOT_WHOLE, error.message):
        strict, repair = False, WHOLE_NUMBER
    else:
        repaired = repaired_at(body, error, type) if left else None
        if repaired is None:
            raise error
        body, repair = repaired[0], f"{repaired[1]} {error.path}"
    repairs.append(repair)
    try:
        return parse_wire(strict_decoder(type, strict=strict), body, type, repairs)
    except DecodeError as further:
        if repair == WHOLE_NUMBER and further.path == error.path:
            repairs.remove(repair)
        return _read_leniently(body, type, repairs, further, strict=strict, left=left - 1)


def shallow(levels: int) -> object:
    """The type of free JSON in which arrays and objects nest no deeper than so; it doubles with each level."""
    kind: Any = str | int | float | bool | None
    for _ in range(levels):
        kind = str | int | float | bool | None | list[kind] | dict[str, kind]
    return kind


def exact_reader(type: type[T], *, max_depth: int | None = None) -> Callable[[bytes], T | None]:
    """Reads JSON that is exactly of a type, and gives None for any other, whatever its fault.

    A type that has free JSON in it says how deep that is (`shallow`), unless the reader keeps `max_depth`.
    """
    decode: Callable[[bytes], T] | None = None

    def read(body: bytes) -> T | None:
        nonlocal decode
        size = len(body)
        if size > MAX_BODY_BYTES or (max_depth is not None and size > 2 * max_depth and is_deeper(body, max_depth)):
            return None
        decode = decode or decoder_of(type).decode
        try:
            return decode(body)
        except _NOT_EXACT:
            return None

    return read


def decode_received(
    data: JsonText,
    type: type[W],
    later: Sequence[str],
    *,
    repairs: list[str] | None = None,
    again: Callable[[bytes, type[W], list[str]], W] | None = None,
) -> W:
    """The wire struct that the JSON object in `data` is, with the members `later`, whose depth is not bounded.

    Each is a string, or JSON text that is bounded by its reader; most bodies hold nothing else that could be deep. A
    body that is not exactly of that type is read `again` by the dialect's own reader, where it has one.
    Raises: as `decode`.
    """
    body = bounded(data, MAX_BODY_BYTES, MAX_BODY_BYTES)
    try:
        wire = strict_decoder(type).decode(body)
    except FOREIGN:
        if again is not None:
            return again(body, type, [] if repairs is None else repairs)
        return decode_wire(body, type, repairs=repairs)
    rest = len(body)
    for name in later:
        member = getattr(wire, name)
        if isinstance(member, msgspec.Raw):
            rest -= len(memoryview(member))
        elif isinstance(member, str):
            rest -= len(member)
    if rest > 2 * MAX_DEPTH and is_deeper(body, MAX_DEPTH):
        raise too_deep(MAX_DEPTH)
    return wire


def encode(value: object, *, sort_keys: bool = False, nulls: int = 0) -> bytes:
    """`value` as compact JSON in UTF-8: exact integers, `msgspec.Raw` verbatim, members in their own order.

    msgspec writes a non-finite number as null, so they are looked for where there are more nulls than `nulls`, the
    count of those that the caller knows to be meant.
    Raises: UsageError, with the place, for what JSON cannot say.
    """
    body = dump(value, SORTED if sort_keys else ENCODER)
    if holds_more_nulls(body, nulls):
        refuse_non_finite(value)
    return body


def encode_exact(value: object) -> bytes | None:
    """`value`, which holds no floats, as compact JSON; None where `encode` would refuse it."""
    try:
        return ENCODER.encode(value)
    except _UNSAID:
        return None


def encode_wire(value: msgspec.Struct, *, nulls: int = 0, slots: TextSlots | None = None) -> bytes:
    """The JSON object that a wire struct is, with the members in `extra` back in their places; `nulls` as in `encode`.

    Raises: as `encode`.
    """
    body = dump(value, ENCODER)
    if holds_more_nulls(body, nulls):
        refuse_non_finite(value)
    has_extra = EXTRA_NAME in body
    if slots is not None:
        body = slots.fill(body)
    if not has_extra:
        return body
    return dump(spread(body, type(value)), ENCODER)


def encode_wires(values: Sequence[W], nulls: Callable[[W], int] = lambda _: 0) -> bytes:
    """Wire structs as the elements of an array, without its brackets; `nulls` says how many of one are meant.

    Raises: as `encode`.
    """
    try:
        body = ENCODER.encode(values)
    except (UnicodeEncodeError, TypeError, RecursionError):
        body = EXTRA_NAME  # one by one, the place in the error is right
    if EXTRA_NAME in body or b"null" in body:
        return b",".join([encode_wire(value, nulls=nulls(value)) for value in values])
    return body[1:-1]


def raw(value: object) -> msgspec.Raw:
    """`value` as JSON text that is written as it is.

    Raises: as `encode`.
    """
    return msgspec.Raw(encode(value))


def encode_text(text: str) -> bytes:
    """`text` as a JSON string: what `encode` gives, without its checks for other values.

    Raises: UsageError for half of a surrogate pair.
    """
    try:
        return ENCODER.encode(text)
    except UnicodeEncodeError:
        return dump(text, ENCODER)


def raw_text(raw: msgspec.Raw | bytes) -> str:
    """The string that a part of a parsed body, or other text without doubtful bytes, is.

    Raises: DecodeError when it is something else.
    """
    try:
        return read_text(raw)
    except msgspec.DecodeError as error:
        raise decode_error(error) from None
