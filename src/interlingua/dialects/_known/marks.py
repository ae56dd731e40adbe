"""Marks for the prompt cache, which move: an agent marks the end of its messages, and the mark is gone a turn later.

Strategy: a conversation with marks is parted where the turn of the model begins after which the first of them stands.
What is before will come again byte for byte, so it is known like a conversation without marks; the few messages behind
are read and written by themselves with each turn.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from interlingua.types.content import ToolResult

__all__ = ["Parted", "before_marks", "is_marked"]

_UNKNOWN = "cache_control"
"""Where a mark is kept that says more than a life time."""
_BETWEEN = re.compile(rb"[\s,]*")
"""What stands between the elements of an array."""


class Parted(msgspec.Struct, frozen=True):
    """Where an array of messages is parted."""

    ends: int
    """Behind the last message before the marks."""
    begins: int
    """Before the next one."""

    def both(self, text: bytes) -> tuple[bytes, bytes]:
        """The two arrays of messages that `text` is then."""
        return b"%b]" % text[: self.ends], b"[%b" % text[self.begins :]


class _Message(msgspec.Struct, gc=False):
    role: str = ""


_role = msgspec.json.Decoder(_Message).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


def before_marks(text: bytes, mark: bytes) -> Parted | None:
    """Where an array of messages is parted before the first mark in it; None where no message is before, or no array.

    `mark` is the name of the member that a mark is. What else has that name is taken for one.
    """
    marked = text.find(mark)
    place, ends, found = 1, 0, None
    try:
        for element in _elements(text):
            between = _BETWEEN.match(text, place)
            begins = place if between is None else between.end()
            if ends and _role(element).role == "assistant":
                found = Parted(ends, begins)
            place = ends = begins + len(memoryview(element))
            if ends > marked:
                return found
    except (msgspec.DecodeError, RecursionError):  # who reads it as a whole says how deep it may be
        return None
    return None


def is_marked(what: object) -> bool:
    """Whether a part or a tool has a mark, be it one of a kind that we do not know."""
    extra: dict[str, dict[str, Any]] | None = getattr(what, "extra", None)
    if getattr(what, "cache", None) or (extra and any(_UNKNOWN in members for members in extra.values())):
        return True
    return type(what) is ToolResult and type(what.content) is tuple and any(map(is_marked, what.content))
