"""Chunks that differ in one string: read by comparing bytes instead of parsing them.

Nearly all chunks of a stream are the same bytes around another piece of text (and around other padding). A chunk of
that kind, once parsed, becomes a template: what stands before the text, between text and padding, and after it. A later
chunk that begins and ends like the template and holds exactly one JSON string in the gap must parse to the same chunk
with that string in it, so it need not be parsed. Anything else is parsed as ever.

Bytes are taken off and parted instead of looked for: `removeprefix` and its like take one argument, which costs half.
"""

from __future__ import annotations

import string
from typing import NamedTuple, Protocol

from interlingua.errors import DecodeError
from interlingua.wire.json import encode_text, raw_text

__all__ = ["NUMBER", "RANDOM", "Ahead", "Behind", "Inside", "Letters", "Template", "template_of"]

PADDING = b'"obfuscation":'
"""Before random padding; its length and letters say nothing."""
_LF, _QUOTE = b'\n"'


class Inside(Protocol):
    """Finds the text where something else that differs stands beside it."""

    def text(self, raw: bytes) -> bytes:
        """The text's JSON in what stands between head and tail; nothing where that is not as it should be."""
        ...


class Letters(NamedTuple):
    """The characters of a part that differs and says nothing."""

    letters: bytes
    """The characters that it has, one of them at least."""
    most: int
    """How many there are at most."""
    never_first: int = 0
    """The one of them that the first cannot be."""


NUMBER = Letters(b"0123456789", 19, ord("0"))
"""A number that counts events; a longer one is parsed, and so is zero, since no other number begins with it."""
RANDOM = Letters(string.digits.encode() + string.ascii_letters.encode(), 65_536)
"""Padding."""


class Ahead:
    """A number before the text, another one in each chunk."""

    __slots__ = ("_letters", "_most", "_never_first", "_then", "middle")

    def __init__(self, kind: Letters, middle: bytes, then: Inside | None = None) -> None:
        """`middle` stands between it and the text, `then` finds the text in what follows."""
        self.middle: bytes = middle
        self._letters, self._most, self._never_first = kind
        self._then = then

    def text(self, raw: bytes) -> bytes:
        """As in `Inside`."""
        rest = raw.lstrip(self._letters)
        text = rest.removeprefix(self.middle)
        if text is rest or rest is raw or len(raw) - len(rest) > self._most or raw[0] == self._never_first:
            return b""
        return text if self._then is None else self._then.text(text)


class Behind:
    """Padding or a number behind the text, another one in each chunk."""

    __slots__ = ("_letters", "_most", "_never_first", "_then", "before")

    def __init__(self, kind: Letters, before: bytes, then: Inside | None = None) -> None:
        """`before` stands before it, `then` finds the text in what stands before all of that."""
        self.before: bytes = before
        self._letters, self._most, self._never_first = kind
        self._then = then

    def text(self, raw: bytes) -> bytes:
        """As in `Inside`."""
        rest = raw.rstrip(self._letters)
        text = rest.removesuffix(self.before)
        length = len(rest)
        if text is rest or rest is raw or len(raw) - length > self._most or raw[length] == self._never_first:
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
        inside = rest.removesuffix(self.tail)
        if rest is data or inside is rest:
            return None
        if self.inside is not None:
            inside = self.inside.text(inside)
        try:
            return raw_text(inside) if inside and inside[0] == _QUOTE else None
        except (DecodeError, UnicodeDecodeError):  # bytes that are no text are named as such where a chunk is parsed
            return None


def template_of(data: bytes, member: str, text: str) -> Template | None:
    """The template of a chunk whose only text is `member`; None where its string is not found in the bytes."""
    _, _, rest = data.partition(b'"%b":' % member.encode())
    string = rest.lstrip(b" ")
    if _LF in data:  # several lines of a stream, which another piece would have to part in the same way
        return None
    tail = string.removeprefix(encode_text(text))
    if tail is string:  # it is written in another way than ours
        # The string ends after its first quote that is not escaped.
        place = string.find(b'"', 1) if string.startswith(b'"') else -1
        while place > 0 and (place - len(string[:place].rstrip(b"\\"))) % 2:
            place = string.find(b'"', place + 1)
        tail = string[place + 1 if place >= 0 else -1 :]
    head = data[: len(data) - len(string)]
    padding = tail.partition(PADDING)[2].lstrip(b" ")
    if padding.startswith(b'"'):
        before = tail[: len(tail) - len(padding) + 1]
        template = Template(head, padding[padding.find(b'"', 1) :], Behind(RANDOM, before))
    else:
        template = Template(head, tail)
    return template if template.text_in(data) == text else None
