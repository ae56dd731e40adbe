"""Times on the command line: 30s, 10m, 2h, 1d."""

from __future__ import annotations

import re

from interlingua.errors import UsageError

__all__ = ["seconds_of"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")


def seconds_of(text: str, option: str) -> float:
    """The seconds of a time that an option was given.

    Raises: UsageError for what is no time, and for none at all.
    """
    match = _DURATION.fullmatch(text)
    if match is None or not float(match[1]):
        raise UsageError(f"{option} takes 30s, 10m, 2h or 1d, not {text:.40}")
    return float(match[1]) * _UNITS[match[2]]
