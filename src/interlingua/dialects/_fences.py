"""JSON that stands in a Markdown fence, where it was asked for in words alone: the fence is taken out.

Rules
- An opening fence begins the text: three backticks, perhaps `json`, then an object or an array. Whatever
  else a text begins with, all of it is untouched.
- A closing fence is a line of its own, which no JSON contains, or ends the text right behind the JSON. What stands
  behind a closing fence is kept.
- However a text is cut, the same characters go out. Only what may yet be a fence is held back, with at most
  `MAX_BLANKS` blanks on either side.
"""

from __future__ import annotations

import re

__all__ = ["MAX_BLANKS", "Unfencer", "unfenced"]

MAX_BLANKS = 64
"""How many blanks and line breaks may stand around the backticks of a fence."""
_SPACE = rf"[ \t\r\n]{{0,{MAX_BLANKS}}}"
_BLANKS = rf"[ \t]{{0,{MAX_BLANKS - 2}}}"  # with its line's end as many as are held back
_OPENING = re.compile(rf"{_SPACE}```(?:json)?{_SPACE}(?=[{{\[])", re.IGNORECASE)
_MAYBE_OPENING = re.compile(rf"{_SPACE}(?:`{{1,2}}|```(?:j|js|jso)?|```(?:json)?{_SPACE})?", re.IGNORECASE)
_LINE = re.compile(rf"\r?\n{_BLANKS}```(?=[ \t]*\r?\n){_SPACE}(?=[^ \t\r\n])")
_MAYBE_CLOSING = re.compile(rf"{_SPACE}(?:`{{1,3}}{_SPACE})?\Z")
_CLOSING = re.compile(r"(?P<line>\s*\n[ \t]*)?\s*```\s*")
_HELD = 2 * MAX_BLANKS + 3
_JSON_ENDS = "}]"


class Unfencer:
    """One text, whose fence is taken out while it comes."""

    __slots__ = ("_buffer", "_is_open", "_last", "_take")

    def __init__(self) -> None:
        """A text of which nothing has come."""
        self._buffer = ""
        self._last = ""
        self._is_open = False
        self._take = self._beginning

    def feed(self, text: str) -> str:
        """The part of the text so far that goes out now."""
        self._buffer += text
        return self._take()

    def close(self) -> str:
        """The rest that goes out at the end of the text."""
        rest, self._buffer = self._buffer, ""
        if not self._is_open:
            return rest
        closing = _CLOSING.fullmatch(rest)
        return "" if closing and (closing["line"] or self._last in _JSON_ENDS) else rest

    def _beginning(self) -> str:
        opening = _OPENING.match(self._buffer)
        if opening is None:
            if _MAYBE_OPENING.fullmatch(self._buffer):
                return ""
            self._take = self._rest
            return self._rest()
        self._is_open = True
        self._buffer = self._buffer[opening.end() :]
        self._take = self._inside
        return self._inside()

    def _inside(self) -> str:
        line = _LINE.search(self._buffer)
        if line is not None:
            before, self._buffer = self._buffer[: line.start()], self._buffer[line.end() :]
            self._is_open = False
            self._take = self._rest
            return f"{before}\n\n{self._rest()}"
        text = self._buffer
        maybe = _MAYBE_CLOSING.search(text, max(0, len(text) - _HELD))
        place = len(text) if maybe is None else maybe.start()
        if place:
            self._last = text[place - 1]
        self._buffer = text[place:]
        return text[:place]

    def _rest(self) -> str:
        text, self._buffer = self._buffer, ""
        return text


def unfenced(text: str) -> str:
    """A whole text without its fence."""
    unfencer = Unfencer()
    return unfencer.feed(text) + unfencer.close()
