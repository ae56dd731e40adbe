"""Halves of surrogate pairs in a JSON text, mended."""

from __future__ import annotations

import re

__all__ = ["mend_surrogates"]

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
