"""The one JSON parser: what msgspec reads, its errors as ours, and lone surrogates repaired where that is asked for.

All of it takes bytes whose size, depth and encoding were looked at (`_bounds`).
"""

from __future__ import annotations

import math
import re
from _thread import RLock  # where `threading` has it from, which takes a process 2 ms to load
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias, cast

import msgspec

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire._pointer import pointer
from interlingua.wire._shape import EXTRA
from interlingua.wire._surrogates import mend_surrogates, unmasked

__all__ = [
    "ANYTHING",
    "FOREIGN",
    "Decoder",
    "Unfit",
    "decode_error",
    "decoder_of",
    "new_decoder",
    "parse",
    "parse_object",
    "read_again",
    "read_float",
    "read_text",
    "refuse",
]

Decoder: TypeAlias = msgspec.json.Decoder[Any]
"""The reader of texts of one type."""
Unfit: TypeAlias = Callable[[msgspec.ValidationError, bytes, list[str] | None], Any]
"""Makes a value of a JSON text that does not fit its type, given the error, the text and the repairs."""

FOREIGN = (msgspec.DecodeError, RecursionError)
"""Exceptions of a decoder; a text that does not fit its type raises a kind of the first."""

_LONE_SURROGATE = "lone_surrogate"
"""The repair that replaces half of a surrogate pair by U+FFFD."""
_PLAINER = {"input data was truncated": "it is empty, or ends in the middle"}
"""Plainer words for msgspec's own."""
_OUT_OF_RANGE = "Number out of range"
"""The words of msgspec for a number that is not finite."""
_SEARCHED_BYTES = 65_536
"""The longest text that is searched for the place of such a number: some milliseconds of work."""
_PLACE = r" - at `(?:key` in `)?\$(?P<path>[^`]*)`$"
_STEP = r"\[(?P<index>\d+)\]|\.(?P<name>[^.\[]+)|\[\.\.\.\]"
_one_at_a_time = RLock()
"""Held while a decoder is made: of a struct that another thread is still taking in, msgspec 0.22 sees half, and to use
that half ends the process."""


def read_float(text: str) -> float:
    """The number that a text is.

    msgspec takes 100 µs for some of five bytes (`1e308`), this one for none. What of it fits a member of the type
    `float` is read by msgspec all the same.

    Raises: ValueError, in msgspec's words, for one that is not finite.
    """
    number = float(text)
    if math.isinf(number):
        raise ValueError(_OUT_OF_RANGE)
    return number


def new_decoder(type: object, hook: Callable[[type, object], object] | None = None, *, strict: bool = True) -> Decoder:
    """A decoder of this type, for who keeps it; `hook` takes what stands in the place of a type of our own."""
    with _one_at_a_time:
        return msgspec.json.Decoder(cast("Any", type), dec_hook=hook, float_hook=read_float, strict=strict)


@lru_cache(maxsize=512)
def decoder_of(type: object) -> Decoder:
    """The decoder of this type."""
    return new_decoder(type)


ANYTHING: Decoder = new_decoder(Any)
"""The decoder of plain values."""
parse_object: Callable[[str], dict[str, Any]] = new_decoder(dict[str, Any]).decode
"""The parser itself, for texts that are bounded already; raises ValueError and RecursionError for what is no object."""
read_text: Callable[[bytes | str], str] = msgspec.json.Decoder(str).decode
"""The string that a text without doubtful bytes is; msgspec's own error for anything else."""


def decode_error(error: msgspec.DecodeError, text: bytes = b"") -> DecodeError:
    """Our error for one of msgspec's, its path turned into a pointer as far as it is known; `text` is what it read."""
    sentence = str(error)
    if not isinstance(error, msgspec.ValidationError):
        reason = sentence.removeprefix("JSON is malformed: ").lower()
        return DecodeError(f"the text is not JSON: {_PLAINER.get(reason, reason)}")
    place = re.search(_PLACE, sentence)
    steps: list[str | int] = []
    for step in re.finditer(_STEP, place["path"] if place else ""):
        name = step["index"] or step["name"]
        if name is None or name == EXTRA:
            break
        steps.append(name)
    problem = sentence[: place.start()] if place else sentence
    if problem == _OUT_OF_RANGE:
        steps = _steps_to_infinity(text) or steps
    path = pointer(*steps)
    return DecodeError(f"{problem[:1].lower()}{problem[1:]}, at {path or 'the top'}", path=path)


def _steps_to_infinity(text: bytes) -> list[str | int]:
    """The names and indices that lead to the first number of a short text that is out of range; none for others.

    msgspec names no place inside of members that a type does not declare, nor one outside of the part that it read.
    """
    if len(text) > _SEARCHED_BYTES:
        return []
    try:
        whole = msgspec.json.Decoder(float_hook=float).decode(text)
    except FOREIGN:
        return []
    steps: list[str | int] = []
    levels: list[Iterator[tuple[str | int, Any]]] = [iter([(EXTRA, whole)])]
    while levels:
        for step, value in levels[-1]:
            if isinstance(value, float) and math.isinf(value):
                return [each for each in (*steps, step) if each != EXTRA]
            if isinstance(value, dict | list):
                steps.append(step)
                inner = cast("dict[str, Any] | list[Any]", value)
                levels.append(iter(inner.items()) if isinstance(inner, dict) else iter(enumerate(inner)))
                break
        else:
            levels.pop()
            del steps[-1:]
    return []


def refuse(error: msgspec.ValidationError, body: bytes, repairs: list[str] | None) -> NoReturn:
    """Make nothing of a text that does not fit.

    Raises: DecodeError, with the place.
    """
    del repairs
    raise decode_error(error, body) from None


def parse(decoder: Decoder, body: bytes, repairs: list[str] | None) -> Any:
    """The value of a text; `repairs` takes the names of those that were made, without it nothing is repaired.

    Raises: DecodeError, with the place; LimitExceededError.
    """
    try:
        return decoder.decode(body)
    except FOREIGN as error:
        return read_again(error, decoder, body, repairs)


def read_again(
    error: msgspec.DecodeError | RecursionError,
    decoder: Decoder,
    body: bytes,
    repairs: list[str] | None,
    unfit: Unfit = refuse,
) -> Any:
    """The value of a text that failed so: repaired, or what `unfit` makes of one that does not fit its type.

    Raises: as `parse`.
    """
    if isinstance(error, RecursionError):
        raise LimitExceededError("the JSON text nests deeper than the interpreter allows") from None
    if isinstance(error, msgspec.ValidationError):
        return unfit(error, body, repairs)
    repaired = None if repairs is None else mend_surrogates(body)
    if repairs is None or repaired is None:
        raise decode_error(unmasked(error, body, decoder.decode)) from None
    repairs.append(_LONE_SURROGATE)
    try:
        return decoder.decode(repaired)
    except FOREIGN as second:
        return read_again(second, decoder, repaired, None, unfit)
