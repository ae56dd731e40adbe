"""The arguments of tool calls: one JSON object with unique keys and finite numbers, or broken for a named reason.

The standard library's parser is asked only about texts that msgspec refuses, and about those with other colons than
their object says: it alone tells duplicate keys and non-finite numbers from other faults.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire._depth import is_deeper
from interlingua.wire._prefix import completions
from interlingua.wire.json import MAX_BODY_BYTES, MAX_DEPTH, JsonValue, decode_any, encode, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ArgumentsFault", "are_sound", "check_arguments", "parse_arguments", "parse_unique"]

ArgumentsFault: TypeAlias = Literal["malformed", "not_object", "duplicate_key", "non_finite", "cut_off"]
"""Why a call's arguments are not one JSON object."""

_BOM = b"\xef\xbb\xbf"
_DEEP = MAX_DEPTH - 16
"""So deep may be what stands somewhere in a body, so that the body is not too deep; beyond it, somebody else looks."""
SHORT = 2 * _DEEP
"""The length up to which a text cannot be too deep."""
_MANY = 1 << 60
"""More nulls than a text can hold: all of them are meant, since no number that was read is not finite."""


def are_sound(text: str) -> bool:
    """Whether a text is one object with unique keys and finite numbers; told at once of nearly all that are.

    Where it is False, `check_arguments` has the answer.
    """
    try:
        if len(text) > SHORT and (len(text) > MAX_BODY_BYTES or is_deeper(text.encode(), _DEEP)):
            return False
        members = parse_object(text)
    except (ValueError, RecursionError):
        return False
    colons = text.count(":")
    return colons == len(members) or _says_colons(members, colons, escaped="\\u003" in text)


def check_arguments(text: str | bytes, *, ended_early: bool = False) -> ArgumentsFault | None:
    """Why a call's arguments are not one JSON object, or None when they are.

    `ended_early` says that the answer ended by its length: only then is the beginning of an object `cut_off`.
    Raises: LimitExceededError, beyond the bounds on size and depth.
    """
    parsed = _arguments(text, ended_early=ended_early)
    return None if isinstance(parsed, dict) else parsed


def parse_arguments(text: str | bytes) -> dict[str, Any]:
    """A call's arguments, with exact integers.

    Raises: DecodeError, with the reason as its `code`; LimitExceededError.
    """
    parsed = _arguments(text, ended_early=False)
    if isinstance(parsed, dict):
        return parsed
    raise DecodeError(
        f"the arguments are not one JSON object with unique keys and finite numbers: {parsed}", code=parsed
    )


def _arguments(text: str | bytes, *, ended_early: bool) -> dict[str, Any] | ArgumentsFault:
    """The arguments, or why they are none."""
    try:
        data = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        return "malformed"
    if data[:3] == _BOM:
        return "malformed"
    try:
        value = decode_any(data)
    except DecodeError:
        try:
            text = text if isinstance(text, str) else text.decode()
            text.encode()
        except UnicodeError:
            return "malformed"
        if _is_only_non_finite(text):
            return "non_finite"
        return "cut_off" if ended_early and _is_cut(text) else "malformed"
    if type(value) is not dict:
        return "not_object"
    arguments = cast("dict[str, Any]", value)
    # Every key brings a colon, and a colon in a string only adds to the count: equal numbers mean unique keys.
    colons = data.count(b":")
    if colons == len(arguments) or _says_colons(arguments, colons, escaped=b"\\u003" in data):
        return arguments
    return arguments if _repeated_key(text) is None else "duplicate_key"


def parse_unique(text: str, read: Callable[[str], JsonValue] = decode_any) -> JsonValue:
    """Any JSON value with unique keys, as `read` reads it: of two values under one key none is chosen.

    Raises: DecodeError, LimitExceededError.
    """
    value = read(text)
    if not _says_colons(value, text.count(":"), escaped="\\u003" in text):
        repeated = _repeated_key(text.removeprefix("\ufeff"))
        if repeated is not None:
            raise DecodeError(f"the key {encode(repeated).decode()} stands twice in one object", code="duplicate_key")
    return value


def _says_colons(value: object, colons: int, *, escaped: bool) -> bool:
    """Whether a value that was read from a text with so many colons has as many itself: then no key was dropped.

    A dropped one brought its own, and nothing brings more; but one that was escaped is not among those of the text.
    """
    return not escaped and encode(value, nulls=_MANY).count(b":") == colons


def _repeated_key(text: str | bytes) -> str | None:
    import json  # as below: only texts that are rare pay for it

    repeated: str | None = None

    def note(pairs: list[tuple[str, object]]) -> None:
        nonlocal repeated
        if repeated is not None or len(dict(pairs)) == len(pairs):
            return
        visited: set[str] = set()  # each name is looked up once, since a hostile object can have a million
        for name, _ in pairs:
            if name in visited:
                repeated = name
                return
            visited.add(name)

    json.loads(text, object_pairs_hook=note)
    return repeated


def _is_only_non_finite(text: str) -> bool:
    """Whether `text` would be an object if NaN, Infinity and numbers beyond a float were JSON."""
    import json

    non_finite = False

    def constant(_: str) -> None:
        nonlocal non_finite
        non_finite = True

    def number(digits: str) -> None:
        nonlocal non_finite
        non_finite = non_finite or not math.isfinite(float(digits))

    try:
        value = json.loads(text, parse_constant=constant, parse_float=number)
    except (ValueError, RecursionError):
        return False
    return non_finite and isinstance(value, dict)


def _is_cut(text: str) -> bool:
    if text.lstrip(" \t\r\n")[:1] != "{":
        return False
    for whole in completions(text):
        try:
            decode_any(whole)
        except (DecodeError, LimitExceededError):
            continue
        return True
    return False
