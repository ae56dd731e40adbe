"""A run of text: pieces of a stream that are one event each and differ in their text alone.

Strategy: where a template was learned, and the block is open whose text it holds, a piece that begins, goes on and ends
like it is one more delta of that block. All of that is told by comparing bytes in one step, without the framing, the
parser and the builder; the builder's block grows as if it had said the delta itself. Anything else is read as ever, and
whoever reads something else ends the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import DecodeError

from interlingua.stream.build import DELTAS
from interlingua.wire.json import read_text

if TYPE_CHECKING:
    from interlingua.dialects._template import Gap, Parts
    from interlingua.stream.build import Block
    from interlingua.types.event import Delta, Event

__all__ = ["DATA", "MOST_BYTES", "Between", "Frame", "TextRun"]

MOST_BYTES = 65_536
"""A larger piece is cut into events first, which are bounded."""
LONGEST_NUMBER = 20
"""Digits; a longer number is parsed."""

_QUOTE = b'"'

Frame: TypeAlias = tuple[bytes, bytes]
"""What stands around the data of an event."""
DATA: Frame = (b"data: ", b"\n\n")
"""That of an event without a name."""


class Between(Protocol):
    """What cuts a stream into events."""

    is_between: bool
    """Whether nothing of an event is waiting for its rest."""


class TextRun:
    """Reads the pieces of a run."""

    __slots__ = (
        "_before", "_choice", "_delta", "_end", "_framing", "_gaps", "_grow", "_head", "_index", "_is_one", "_is_rare",
        "_lead", "_note", "_start", "_tail",
    )  # fmt: skip

    def __init__(
        self, parts: Parts, frame: Frame, framing: Between, block: Block, noted: list[Delta] | None = None
    ) -> None:
        """A run for `block`, which is open, in a stream that `framing` cuts; `noted` gets each delta, too."""
        last = b"" if parts.gaps else _QUOTE  # the text's own quotes are compared, too: it begins and ends there
        first = b"" if parts.lead else _QUOTE
        self._head = frame[0] + parts.head + first
        self._tail = last + parts.tail + frame[1]
        self._start = len(self._head) - len(first)
        self._end = len(self._tail) - len(last)
        self._gaps = _quoted(parts.gaps)
        self._lead = parts.lead and parts.lead + _QUOTE
        self._is_rare = bool(parts.lead) or len(self._gaps) > 1
        self._before, self._is_one = self._gaps[0] if self._gaps and not self._is_rare else (b"", bytes.isdigit)
        self._framing = framing
        self._delta = DELTAS[block.kind]
        self._index = block.index
        self._choice = block.choice
        self._grow = block.pieces.append
        self._note = None if noted is None else noted.append

    def more(self, data: bytes) -> list[Event] | None:
        """The delta that a piece of the run is; None for any other piece."""
        if not (data.startswith(self._head) and data.endswith(self._tail) and self._framing.is_between):
            return None
        start, end = self._start, len(data) - self._end
        before = self._before
        if before:
            place = data.rfind(before, start, end)
            if place < 0 or not self._is_one(data[place + len(before) : end]):
                return None
            end = place + 1
        elif self._is_rare:
            start, end = self._narrowed(data, start, end)
        if end > MOST_BYTES:
            return None
        try:
            text = read_text(data[start:end])
        except (DecodeError, UnicodeDecodeError):  # bytes that are no text are named as such where events are parsed
            return None
        if not text:
            return None
        self._grow(text)
        event = self._delta(self._index, text, self._choice)
        if self._note is not None:
            self._note(event)
        return [event]

    def _narrowed(self, data: bytes, start: int, end: int) -> tuple[int, int]:
        """Where the text of an event begins and ends, between what says nothing; nowhere in any other event."""
        lead = self._lead
        if lead:
            place = data.find(lead, start, start + LONGEST_NUMBER + len(lead))
            if place < 0 or not data[start:place].isdigit():
                return 0, 0
            start = place + len(lead) - 1
        for before, is_one in self._gaps:
            place = data.rfind(before, start, end)
            if place < 0 or not is_one(data[place + len(before) : end]):
                return 0, 0
            end = place
        return start, end + bool(self._gaps)


def _quoted(gaps: tuple[Gap, ...]) -> tuple[Gap, ...]:
    """The same, the one that follows the text with the quote that ends it."""
    return (*gaps[:-1], (_QUOTE + gaps[-1][0], gaps[-1][1])) if gaps else ()
