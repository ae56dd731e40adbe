"""Halves of surrogate pairs in a JSON text, repaired."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

__all__ = ["mend_surrogates", "unmasked"]

_LONE = rb"u[dD][89a-fA-F][0-9a-fA-F]{2}"
_PAIR = rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SOUND = re.compile(rb"(?:[^\\]++|\\(?:%b|(?!%b).))*+" % (_PAIR, _LONE), re.DOTALL)
"""Everything as far as the next lone half; one step of C, however many escapes there are."""
_LONE_BYTES = 6


def mend_surrogates(body: bytes) -> bytes | None:
    """`body` with U+FFFD for each lone surrogate escape, or None when there is none."""
    pieces: list[bytes] = []
    begin = 0
    for place in _lone_places(body):
        pieces += (body[begin:place], rb"\ufffd")
        begin = place + _LONE_BYTES
    return b"".join([*pieces, body[begin:]]) if pieces else None


def _lone_places(body: bytes) -> Iterator[int]:
    """Where each lone half begins."""
    place = 0
    while (sound := _SOUND.match(body, place)) is not None and sound.end() < len(body) - 1:
        yield sound.end()
        place = sound.end() + _LONE_BYTES


def unmasked(error: msgspec.DecodeError, body: bytes, decode: Callable[[bytes], object]) -> msgspec.DecodeError:
    """`error` of `body`, or what it hides: half of a pair within six bytes of the end looks to msgspec like the end."""
    repaired = mend_surrogates(body) if str(error) == _TRUNCATED else None
    if repaired is None:
        return error
    try:
        decode(repaired)
    except (msgspec.DecodeError, RecursionError) as second:
        if str(second) == _TRUNCATED:
            return error
    return msgspec.DecodeError(f"JSON is malformed: half of a surrogate pair (byte {next(_lone_places(body))})")


_TRUNCATED = "Input data was truncated"
