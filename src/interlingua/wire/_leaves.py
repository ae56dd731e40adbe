"""The first leaf of a value that JSON cannot say, looked for where writing failed or may have lied."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, cast

import msgspec

from interlingua.wire._shape import EXTRA, float_fields
from interlingua.wire.media import encode_base64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["are_finite", "find_leaf", "is_non_finite", "is_not_utf8"]

_PACK = msgspec.msgpack.Encoder(enc_hook=encode_base64).encode
_MAYBE_NON_FINITE = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]").search
"""Finds each number that is not finite as MessagePack writes it; no text in UTF-8 looks like one."""

_LEAVES = (str, int, float)
_ARRAYS = (list, tuple, set, frozenset)


def is_non_finite(value: object) -> bool:
    """Whether a leaf is a number that JSON has not."""
    return type(value) is float and not math.isfinite(value)


def is_not_utf8(value: object) -> bool:
    """Whether a leaf is a text with half of a surrogate pair."""
    try:
        return type(value) is str and not value.isascii() and not value.encode()
    except UnicodeEncodeError:
        return True


def are_finite(value: object) -> bool:
    """Whether all numbers in a value surely are numbers of JSON, told by a format that has the others.

    It takes 1 µs a kB; False where only a walk can tell (`find_leaf`).
    """
    try:
        return _MAYBE_NON_FINITE(_PACK(value)) is None
    except (OverflowError, RecursionError, TypeError, ValueError):  # an integer of more than 64 bits, for one
        return False


def find_leaf(value: object, is_bad: Callable[[object], bool]) -> tuple[str | int, ...] | None:
    """The steps that lead to the first bad leaf, or None."""
    if value is None or isinstance(value, _LEAVES):
        return () if is_bad(value) else None
    for step, child in _children(value, is_bad):
        steps = find_leaf(child, is_bad)
        if steps is not None:
            return steps if step is None else (step, *steps)
    return None


def _children(value: object, is_bad: Callable[[object], bool]) -> Iterable[tuple[str | int | None, object]]:
    """The values below `value`; members of `extra` stand beside the others, fields without floats are passed over."""
    if not isinstance(value, msgspec.Struct):
        if isinstance(value, dict):
            return cast("dict[str, object]", value).items()
        return enumerate(cast("Iterable[object]", value)) if isinstance(value, _ARRAYS) else ()
    if is_bad is is_non_finite:
        fields = float_fields(type(value))
    else:
        fields = tuple(zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True))
    return ((None if name == EXTRA else name, getattr(value, attribute)) for attribute, name in fields)
