"""Chunks that differ in one string: read by comparing bytes instead of parsing them.

Nearly all chunks of a stream are the same bytes around another piece of text (and around other padding). A chunk of
that kind, once parsed, becomes a template: what stands before the text, between text and padding, and after it. A later
chunk that begins and ends like the template and holds exactly one JSON string in the gap must parse to the same chunk
with that string in it, so it need not be parsed. Anything else is parsed as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from interlingua.errors import DecodeError
from interlingua.wire.json import raw_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Gap", "Parts", "Template", "template_of"]

PADDING = b'"obfuscation":'
"""Before random padding; its length and letters say nothing."""


Gap: TypeAlias = "tuple[bytes, Callable[[bytes], bool]]"
"""What stands before something that is another one in each chunk and says nothing, and what tells such a thing."""


class Parts(NamedTuple):
    """A template, taken apart."""

    head: bytes
    """What a chunk begins with: up to the text, or to a number before it."""
    lead: bytes
    """What stands between such a number and the text; empty where there is none."""
    gaps: tuple[Gap, ...]
    """What is another one in each chunk behind the text, the last one first."""
    tail: bytes
    """What a chunk ends with."""


class Template:
    """The bytes around the text of a chunk."""

    __slots__ = ("head", "padding", "tail")

    def __init__(self, head: bytes, padding: bytes, tail: bytes) -> None:
        """`head` stands before the string, `padding` between it and the padding, if there is any, `tail` at the end."""
        self.head: bytes = head
        self.padding: bytes = padding
        self.tail: bytes = tail

    def text_in(self, data: bytes, start: int, end: int) -> str | None:
        """The string in a chunk of this kind that stands in `data[start:end]`; None for any other chunk."""
        head, padding, tail = self.head, self.padding, self.tail
        if not (data.startswith(head, start) and data.endswith(tail, start, end)):
            return None
        start += len(head)
        end -= len(tail)
        if padding:
            padded = data.rfind(padding, start, end)
            if padded < 0 or not data[padded + len(padding) : end].isalnum():
                return None
            end = padded
        gap = data[start:end]
        try:
            return raw_text(gap) if gap[:1] == b'"' else None
        except (DecodeError, UnicodeDecodeError):  # bytes that are no text are named as such where a chunk is parsed
            return None

    @property
    def parts(self) -> Parts:
        """For who compares whole pieces of a stream."""
        return Parts(self.head, b"", ((self.padding, bytes.isalnum),) if self.padding else (), self.tail)


def template_of(data: bytes, member: str, text: str) -> Template | None:
    """The template of a chunk whose only text is `member`; None where its string is not found in the bytes."""
    if b"\n" in data:  # several lines of a stream, which another piece would have to part in the same way
        return None
    start = _after(data, b'"%b":' % member.encode(), 0)
    end = _end_of_string(data, start)
    if start < 0 or end < 0:
        return None
    padded = _after(data, PADDING, end)
    until = data.find(b'"', padded + 1)
    if padded < 0 or until < 0:
        template = Template(data[:start], b"", data[end:])
    else:
        template = Template(data[:start], data[end : padded + 1], data[until:])
    return template if template.text_in(data, 0, len(data)) == text else None


def _after(data: bytes, name: bytes, start: int) -> int:
    """Where the string begins that is the value of the first member `name` from `start` on; -1 where there is none."""
    place = data.find(name, start)
    if place < 0:
        return -1
    place += len(name)
    while data[place : place + 1] == b" ":
        place += 1
    return place if data[place : place + 1] == b'"' else -1


def _end_of_string(data: bytes, start: int) -> int:
    """The place after the string that begins at `start`: after its first quote that is not escaped; -1 without one."""
    place = data.find(b'"', start + 1) if start >= 0 else -1
    while place > 0 and (place - len(data[start:place].rstrip(b"\\")) - start) % 2:
        place = data.find(b'"', place + 1)
    return place + 1 if place >= 0 else -1
