"""Halves of surrogate pairs in a JSON text, mended."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

__all__ = ["mend_surrogates", "unmasked"]

_ESCAPE = rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"


def mend_surrogates(body: bytes) -> bytes | None:
    """`body` with U+FFFD for each lone surrogate escape, or None when there is none."""
    count = 0

    def mend(escape: re.Match[bytes]) -> bytes:
        nonlocal count
        if escape["lone"] is None:
            return escape[0]
        count += 1
        return rb"\ufffd"

    mended = re.sub(_ESCAPE, mend, body, flags=re.DOTALL)
    return mended if count else None


def unmasked(error: msgspec.DecodeError, body: bytes, decode: Callable[[bytes], object]) -> msgspec.DecodeError:
    """`error` of `body`, or what it hides: half of a pair within six bytes of the end looks to msgspec like the end."""
    mended = mend_surrogates(body) if str(error) == _TRUNCATED else None
    if mended is None:
        return error
    try:
        decode(mended)
    except (msgspec.DecodeError, RecursionError) as second:
        if str(second) == _TRUNCATED:
            return error
    place = next(escape.start() for escape in re.finditer(_ESCAPE, body, re.DOTALL) if escape["lone"] is not None)
    return msgspec.DecodeError(f"JSON is malformed: half of a surrogate pair (byte {place})")


_TRUNCATED = "Input data was truncated"
