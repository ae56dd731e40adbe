"""Whether a body is cheap enough to be read, decoded and encoded on the event loop.

Rules
- What costs is the number of values far more than the bytes: an object takes about 7 µs to be read, decoded and
  encoded, a megabyte of text 20 ms, and one of escapes 40 ms. So a cheap body takes 80 ms at most, and most of them a
  tenth of that (measured on one of two shared cores, November 2026; `fuzz/shapes.py` has the shapes).
- A bound of the number that is found at once is looked at first. Only where it is beyond, as with program text, what
  stands in strings is left out of the count.
"""

from __future__ import annotations

import re

from interlingua.errors import LimitExceededError

__all__ = ["CHEAP_BYTES", "MAX_CONTAINERS", "MAX_VALUES", "check_values", "is_cheap"]

CHEAP_BYTES = 65_536
"""Whatever is in a body of that size, it is cheap."""
_MOST_BYTES = 2_097_152
"""A larger body is never cheap."""
_CHEAP_CONTAINERS = 6_000
_CHEAP_VALUES = 100_000
_CHEAP_STRINGS = 50_000
_CHEAP_HALVES = 10_000
"""Halves of surrogate pairs: each that has lost the other one costs 2 µs."""
MAX_CONTAINERS = 50_000
"""How many objects and arrays a body may hold."""
MAX_VALUES = 400_000
"""How many values it may hold, all levels together."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or what is left of one that does not end."""


def is_cheap(body: bytes) -> bool:
    """Whether a body can be read, decoded and encoded on the event loop."""
    if len(body) <= CHEAP_BYTES:
        return True
    if len(body) > _MOST_BYTES:
        return False
    if body.count(b"\\ud") + body.count(b"\\uD") > _CHEAP_HALVES:
        return False
    if _holds(body, _CHEAP_CONTAINERS, _CHEAP_VALUES):
        return True
    strings = (body.count(b'"') - body.count(b'\\"')) // 2
    return strings <= _CHEAP_STRINGS and _holds(_bare(body), _CHEAP_CONTAINERS, _CHEAP_VALUES)


def check_values(body: bytes) -> None:
    """Nothing, for a body within the bounds on its values; what is no JSON may count as anything.

    Raises: LimitExceededError with the status 400.
    """
    if not (_holds(body, MAX_CONTAINERS, MAX_VALUES) or _holds(_bare(body), MAX_CONTAINERS, MAX_VALUES)):
        raise LimitExceededError(
            f"the body holds more than {MAX_CONTAINERS:,} objects and arrays, or {MAX_VALUES:,} values", status=400
        )


def _holds(text: bytes, containers: int, values: int) -> bool:
    """Whether there are no more of them, as far as it shows from commas and brackets."""
    return text.count(b"{") + text.count(b"[") <= containers and text.count(b",") <= values


def _bare(body: bytes) -> bytes:
    """The bytes outside of strings."""
    return _STRING.sub(b"", body)
