"""Texts that were written before, and are put into a JSON text at the end: nothing has to be looked for in them."""

from __future__ import annotations

import msgspec

__all__ = ["TextSlots"]


class TextSlots:
    """JSON texts of which a wire object holds the places alone, since nothing has to be looked for in them.

    A place is made of the one character that JSON never holds.
    """

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        """None so far."""
        self._texts: list[bytes] = []

    def place(self, text: bytes) -> msgspec.Raw:
        """The placeholder of `text` in a wire object."""
        self._texts.append(text)
        return msgspec.Raw(b"\0%d\0" % (len(self._texts) - 1))

    def text(self, place: msgspec.Raw) -> bytes:
        """The text for which `place` stands."""
        return self._texts[int(bytes(place).strip(b"\0"))]

    def fill(self, body: bytes) -> bytes:
        """`body` with the texts in their places."""
        if not self._texts:
            return body
        pieces = body.split(b"\0")
        for place in range(1, len(pieces), 2):
            pieces[place] = self._texts[int(pieces[place])]
        return b"".join(pieces)
