"""What a fuzz target is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Target"]


class Target(NamedTuple):
    """One decoder under the law: give a value, or raise our own error, in bounded time and memory."""

    run: Callable[[bytes], object]
    """Decodes one input."""
    samples: tuple[bytes, ...]
    """Good inputs to start from."""
