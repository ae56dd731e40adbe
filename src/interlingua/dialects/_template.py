"""Chunks that differ in one string: read by comparing bytes instead of parsing them.

Nearly all chunks of a stream are the same bytes around another piece of text (and around other padding). A chunk of
that kind, once parsed, becomes a template: what stands before the text, between text and padding, and after it. A later
chunk that begins and ends like the template and holds exactly one JSON string in the gap must parse to the same chunk
with that string in it, so it need not be parsed. Anything else is parsed as ever.

Bytes are taken off and parted instead of looked for: `removeprefix` and its like take one argument, which costs half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from interlingua.errors import DecodeError
from interlingua.wire.json import raw_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST_NUMBER", "Ahead", "Behind", "Inside", "Template", "template_of"]

PADDING = b'"obfuscation":'
"""Before random padding; its length and letters say nothing."""
LONGEST_NUMBER = 19
"""Digits; a longer number is parsed."""
_QUOTE = 34


class Inside(Protocol):
    """Finds the text where something else that differs stands beside it."""

    def text(self, said: bytes) -> bytes:
        """The text's JSON in what stands between head and tail; nothing where that is not as it should be."""
        ...


class Ahead:
    """A number before the text, another one in each chunk, that says nothing."""

    __slots__ = ("_first", "_middle", "_then", "middle")

    def __init__(self, middle: bytes, then: Inside | None = None) -> None:
        """`middle` stands between the number and the text, `then` finds the text in what follows."""
        self.middle: bytes = middle
        self._first = middle[:1]
        self._middle = middle[1:]
        self._then = then

    def text(self, said: bytes) -> bytes:
        """As in `Inside`."""
        number, _, rest = said.partition(self._first)
        text = rest.removeprefix(self._middle)
        if text is rest or not number.isdigit() or len(number) > LONGEST_NUMBER:
            return b""
        return text if self._then is None else self._then.text(text)


class Behind:
    """Padding or a number behind the text, another one in each chunk, that says nothing."""

    __slots__ = ("_before", "_is_one", "_last", "_most", "_then", "before")

    def __init__(
        self,
        before: bytes,
        is_one: Callable[[bytes], bool] = bytes.isalnum,
        most: int | None = None,
        then: Inside | None = None,
    ) -> None:
        """`before` stands before it, `is_one` knows it, `then` finds the text in what stands before all of that."""
        self.before: bytes = before
        self._before = before[:-1]
        self._last = before[-1:]
        self._is_one = is_one
        self._most = most
        self._then = then

    def text(self, said: bytes) -> bytes:
        """As in `Inside`."""
        rest, _, padding = said.rpartition(self._last)
        text = rest.removesuffix(self._before)
        if text is rest or not self._is_one(padding) or (self._most is not None and len(padding) > self._most):
            return b""
        return text if self._then is None else self._then.text(text)


class Template:
    """The bytes around the text of a chunk."""

    __slots__ = ("head", "inside", "tail")

    def __init__(self, head: bytes, tail: bytes, inside: Inside | None = None) -> None:
        """`head` stands before the string, `tail` at the end; `inside` finds it where something else is there, too."""
        self.head: bytes = head
        self.tail: bytes = tail
        self.inside: Inside | None = inside

    def text_in(self, data: bytes) -> str | None:
        """The string in a chunk of this kind; None for any other chunk."""
        rest = data.removeprefix(self.head)
        said = rest.removesuffix(self.tail)
        if rest is data or said is rest:
            return None
        if self.inside is not None:
            said = self.inside.text(said)
        try:
            return raw_text(said) if said and said[0] == _QUOTE else None
        except (DecodeError, UnicodeDecodeError):  # bytes that are no text are named as such where a chunk is parsed
            return None


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
        template = Template(data[:start], data[end:])
    else:
        template = Template(data[:start], data[until:], Behind(data[end : padded + 1]))
    return template if template.text_in(data) == text else None


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
