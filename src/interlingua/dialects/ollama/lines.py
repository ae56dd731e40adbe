"""Lines that differ in their time and one text: read by comparing bytes instead of parsing them.

Nearly all lines of a stream are the same bytes around another time and another piece of text. A line of that kind, once
parsed, becomes a template. A later line that begins, goes on and ends like it, with a plain time and exactly one JSON
string in the gaps, must parse to the same line with those two in it. Anything else is parsed as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.dialects._run import MOST_BYTES
from interlingua.errors import DecodeError
from interlingua.stream.build import DELTAS
from interlingua.wire.json import encode, raw_text, read_text

if TYPE_CHECKING:
    from interlingua.dialects._run import Between
    from interlingua.stream.build import Block
    from interlingua.types.event import Event

__all__ = ["LineRun", "LineTemplate", "template_of"]

_PLAIN = b"0123456789TZ:.+-"
"""What the time of a line is written with."""


class LineTemplate(NamedTuple):
    """The bytes around the time and the text of a line."""

    head: bytes
    """Up to the time, its quote included."""
    middle: bytes
    """From the quote after the time up to the text."""
    tail: bytes
    """What follows the text."""

    def read(self, line: bytes) -> tuple[str, str] | None:
        """Time and text of a line of this kind; None for any other line."""
        head, middle, tail = self
        if not (line.startswith(head) and line.endswith(tail)):
            return None
        start = len(head)
        quote = line.find(b'"', start)
        if quote < 0 or not line.startswith(middle, quote):
            return None
        time, gap = line[start:quote], line[quote + len(middle) : len(line) - len(tail)]
        if time.strip(_PLAIN) or gap[:1] != b'"':
            return None
        try:
            return time.decode(), raw_text(gap)
        except DecodeError:
            return None


class LineRun:
    """Reads the pieces of a stream that are one line each, like a template: more of one block."""

    __slots__ = (
        "_choice", "_delta", "_end", "_framing", "_grow", "_head", "_index", "_middle", "_start", "_tail", "time",
    )  # fmt: skip

    def __init__(self, template: LineTemplate, framing: Between, block: Block) -> None:
        """A run for `block`, which is open, in a stream that `framing` cuts."""
        self._head, middle, tail = template
        self._middle = middle + b'"'
        self._tail = b'"%b\n' % tail
        self._start = len(self._head)
        self._end = len(self._tail) - 1
        self._framing = framing
        self._delta = DELTAS[block.kind]
        self._index = block.index
        self._choice = block.choice
        self._grow = block.pieces.append
        self.time: bytes = b""
        """The time of the last line; empty before the first."""

    def more(self, data: bytes) -> list[Event] | None:
        """The delta that a piece is; None for any other piece."""
        if not (data.startswith(self._head) and data.endswith(self._tail) and self._framing.is_between):
            return None
        middle, end = self._middle, len(data) - self._end
        quote = data.find(b'"', self._start, end)
        time = data[self._start : quote]
        if quote < 0 or not data.startswith(middle, quote) or time.strip(_PLAIN) or end > MOST_BYTES:
            return None
        try:
            text = read_text(data[quote + len(middle) - 1 : end])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if not text:
            return None
        self.time = time
        self._grow(text)
        return [self._delta(self._index, text, self._choice)]


def template_of(line: bytes, time: str, member: str, text: str) -> LineTemplate | None:
    """The template of a line whose only text is `member`; None where it is written in another way than we do."""
    start = _place_of(line, "created_at", encode(time))
    place = _place_of(line, member, encode(text))
    if start < 0 or place < start:
        return None
    end_of_time = start + len(encode(time)) - 1
    template = LineTemplate(line[: start + 1], line[end_of_time:place], line[place + len(encode(text)) :])
    return template if template.read(line) == (time, text) else None


def _place_of(line: bytes, member: str, value: bytes) -> int:
    """Where the value of a member begins; -1 where it is written in another way."""
    name = b'"%b":' % member.encode()
    place = line.find(name) + len(name)
    place += line.startswith(b" ", place)
    return place if place >= len(name) and line.startswith(value, place) else -1
