"""Lines that differ in their time and one text: read by comparing bytes instead of parsing them.

Nearly all lines of a stream are the same bytes around another time and another piece of text. A line of that kind, once
parsed, becomes a template. A later line that begins, goes on and ends like it, with a plain time and exactly one JSON
string in the gaps, must parse to the same line with those two in it. Anything else is parsed as ever.
"""

from __future__ import annotations

from interlingua.dialects._streams.templates import Template
from interlingua.wire.json import encode

__all__ = ["LINE", "Time", "template_of", "time_of"]

LINE = (b"", b"\n")
"""The bytes around a line."""
_PLAIN = b"0123456789TZ:.+-"
"""The characters of the time of a line."""


class Time:
    """The time of a line, which stands before its text."""

    __slots__ = ("_prefix", "middle")

    def __init__(self, time: bytes, middle: bytes) -> None:
        """`time` is that of the first line, which is plain; `middle` stands between it and the text."""
        self.middle: bytes = middle
        self._prefix = time

    def text(self, raw: bytes) -> bytes:
        """As in `Inside`."""
        prefix = self._prefix
        rest = raw.removeprefix(prefix)  # what all times begin with need not be looked at again
        if rest is raw:
            while not raw.startswith(prefix):
                prefix = prefix[:-1]
            self._prefix = prefix
        rest = rest.lstrip(_PLAIN)
        text = rest.removeprefix(self.middle)
        return b"" if text is rest else text


def time_of(template: Template, line: bytes) -> str:
    """The time of a line that is like the template."""
    return line.removeprefix(template.head).partition(b'"')[0].decode()


def template_of(line: bytes, time: str, member: str, text: str) -> Template | None:
    """The template of a line whose only text is `member`; None where it is written in another way than we do."""
    shown = encode(time)
    start = _place_of(line, "created_at", shown)
    place = _place_of(line, member, encode(text))
    if start < 0 or place < start or shown[1:-1].strip(_PLAIN):
        return None
    middle = line[start + len(shown) - 1 : place]
    template = Template(
        line[: start + 1], line[place + len(encode(text)) :], Time(line[start + 1 : start + len(shown) - 1], middle)
    )
    return template if template.text_in(line) == text and time_of(template, line) == time else None


def _place_of(line: bytes, member: str, value: bytes) -> int:
    """Where the value of a member begins; -1 where it is written in another way."""
    name = b'"%b":' % member.encode()
    place = line.find(name) + len(name)
    place += line.startswith(b" ", place)
    return place if place >= len(name) and line.startswith(value, place) else -1
