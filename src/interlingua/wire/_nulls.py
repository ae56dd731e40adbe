"""Whether a null in a text was meant: msgspec writes one for a number that is not finite, too.

Strategy: many texts have none, which a compiled expression tells; of one that has, the numbers are looked at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlingua.wire._leaves import are_finite

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["holds_null", "is_told_by"]

holds_null: Callable[[bytes], object] = re.compile(b"null").search
"""A match if a text has a null in it, or something like one; in a text of 5 kB it takes a third of `in`."""


def is_told_by(text: bytes, value: object) -> bool:
    """Whether a text that was written of a value says all of it: no null stands for a number that is not finite."""
    return not holds_null(text) or are_finite(value)
