"""Numbers on the command line: readers for argparse, which names the option of one that is out of range."""

from __future__ import annotations

from argparse import ArgumentTypeError
from math import inf, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CALLS", "COUNT", "DOLLARS", "PORT", "SECONDS", "TEMPERATURE"]


def _whole(kind: str, least: int, most: float = inf) -> Callable[[str], int]:
    """The reader of whole numbers from `least` to `most`, which `kind` says in words."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise ArgumentTypeError(f"takes {kind}, not {text:.40}")
        return value

    return read


def _number(kind: str, least: float, most: float = inf, *, above: bool = False) -> Callable[[str], float]:
    """The reader of finite numbers from `least` to `most`, which `kind` says in words; `above`: without `least`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = inf
        if not (isfinite(value) and least <= value <= most) or (above and value == least):
            raise ArgumentTypeError(f"takes {kind}, not {text:.40}")
        return value

    return read


COUNT = _whole("a whole number from 1 on", 1)
"""A number of tokens, steps or lines."""
CALLS = _whole("a whole number from 1 to 1000", 1, 1_000)
"""The number of calls that are under way at once."""
PORT = _whole("a whole number from 0 to 65535", 0, 65_535)
"""A port; 0 is any free one."""
SECONDS = _number("seconds above 0", 0, above=True)
"""The time that something may take."""
DOLLARS = _number("US dollars from 0 on", 0)
"""The price that something may have."""
TEMPERATURE = _number("a number from 0 to 2", 0, 2)
"""A sampling temperature: no service takes more than 2; `--option temperature=3` is for a server that does."""
