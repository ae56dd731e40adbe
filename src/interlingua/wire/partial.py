"""JSON, read while it comes: what a text that is not whole yet has said so far.

Strategy: a machine with one state for each place in the grammar. Containers are built where they stand, so that what is
open is a path from the outermost container to the innermost one; text is consumed once, whatever the pieces, and only
an unfinished word or escape is looked at again.

Rules
- Nothing is raised: text that is no JSON makes the reader `broken`, and what came before stays. A key that stands twice
  in an object does so, too: of its values none is chosen.
- A number, `true`, `false` or `null` is there when the sign behind it has come; a string grows in `edge`.
- What a lenient reader accepts beyond JSON is noted in `leniencies`.
- Text in front of the first bracket is passed over, and text behind the value is not read: the value is an object or an
  array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias, cast

from interlingua.errors import DecodeError
from interlingua.wire.json import MAX_DEPTH, JsonValue, decode_any

__all__ = ["NOTHING", "JsonReader", "Leniency", "Open"]

Leniency: TypeAlias = Literal["commas", "quotes", "literals", "controls"]
"""Trailing commas; single quotes; True, False and None; raw control characters in strings."""

NOTHING: Any = object()
"""Stands for a value of which nothing has come, and for a word that is no value."""

_SPACE = re.compile(r"[ \t\r\n]*")
_WORD = re.compile(r"[^\s,:\[\]{}\"']+")
_START = re.compile(r"[\[{]")
_RUNS = {'"': re.compile(r'[^"\\\x00-\x1f]+'), "'": re.compile(r"[^'\\\x00-\x1f]+")}
_ESCAPES = {**dict(zip("\"\\/'", "\"\\/'", strict=True)), **dict(zip("bfnrt", "\b\f\n\r\t", strict=True))}
_HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_LOW = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UNICODE = re.compile(r"\\u[0-9a-fA-F]{4}")
_BEGUN_UNICODE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_PYTHON: dict[str, bool | None] = {"True": True, "False": False, "None": None}
_LONGEST_WORD = 4_096
_CLOSERS = {"}": dict, "]": list}


class Open:
    """A container that has begun and not ended."""

    __slots__ = ("container", "key")

    def __init__(self, container: dict[str, Any] | list[Any]) -> None:
        """An empty one."""
        self.container: dict[str, Any] | list[Any] = container
        """Its value so far; the container below it on the path is there, too."""
        self.key: str | None = None
        """Of an object: the name whose value comes next or is coming."""

    def put(self, value: JsonValue) -> None:
        """Add a value at the end, or under the key."""
        if isinstance(self.container, dict):
            self.container[cast("str", self.key)] = value
        else:
            self.container.append(value)


class JsonReader:
    """Reads one JSON object or array, piece by piece."""

    def __init__(self, *, lenient: bool = False) -> None:
        """A reader that has read nothing."""
        self.root: dict[str, Any] | list[Any] | None = None
        """The value as far as it has come, without a string that still grows; it grows itself."""
        self.path: list[Open] = []
        """The open containers, outermost first."""
        self.leniencies: set[Leniency] = set()
        """The forms beyond JSON that were accepted."""
        self.consumed: int = 0
        """Characters up to and with the last one that was understood."""
        self.growth: int = 0
        """How often the value has grown, or a part of it ended."""
        self._lenient = lenient
        self._state = "start"
        self._text = ""
        self._at = 0
        self._quote = '"'
        self._is_key = False
        self._pieces: list[str] = []

    @property
    def complete(self) -> bool:
        """Whether the value has come to its end."""
        return self._state == "end"

    @property
    def broken(self) -> bool:
        """Whether the text is no JSON."""
        return self._state == "broken"

    @property
    def edge(self) -> str | None:
        """The start of a string that is a value and has not ended; None where there is none."""
        if self._state != "text" or self._is_key:
            return None
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def feed(self, text: str) -> None:
        """Read a further piece."""
        self._text = self._text[self._at :] + text
        self._at = 0
        while self._state not in ("end", "broken"):
            if self._state != "text":
                self._move(cast("re.Match[str]", _SPACE.match(self._text, self._at)).end())
            if self._at >= len(self._text) or not self._STATES[self._state](self):
                break  # further text has to come first

    def _move(self, to: int) -> None:
        self.consumed += to - self._at
        self._at = to

    def _go(self, state: str, to: int) -> bool:
        self._move(to)
        self._state = state
        return True

    def _break(self) -> bool:
        self._state = "broken"
        return False

    # States: each looks at the sign at hand

    def _at_start(self) -> bool:
        match = _START.search(self._text, self._at)
        return self._go("value", match.start()) if match else self._go("start", len(self._text))

    def _at_value(self) -> bool:
        sign = self._text[self._at]
        if sign not in "{[":
            return self._begin(sign, is_key=False) if self._is_quote(sign) else self._word()
        if len(self.path) >= MAX_DEPTH:
            return self._break()
        container: dict[str, Any] | list[Any] = {} if sign == "{" else []
        if self.path:
            self.path[-1].put(container)
        else:
            self.root = container
        self.path.append(Open(container))
        self.growth += 1
        return self._go("first_key" if sign == "{" else "first_item", self._at + 1)

    def _at_first_item(self) -> bool:
        return self._shut() if self._text[self._at] == "]" else self._at_value()

    def _at_item(self) -> bool:
        return self._shut_after_comma("]") or self._at_value()

    def _at_first_key(self) -> bool:
        return self._shut() if self._text[self._at] == "}" else self._key()

    def _at_key(self) -> bool:
        return self._shut_after_comma("}") or self._key()

    def _at_colon(self) -> bool:
        return self._go("value", self._at + 1) if self._text[self._at] == ":" else self._break()

    def _at_next(self) -> bool:
        sign, container = self._text[self._at], self.path[-1].container
        if sign == ",":
            return self._go("item" if isinstance(container, list) else "key", self._at + 1)
        return self._shut() if _CLOSERS.get(sign) is type(container) else self._break()

    def _at_text(self) -> bool:
        run = _RUNS[self._quote].match(self._text, self._at)
        if run:
            return self._grow(run[0], run.end())
        sign = self._text[self._at]
        if sign == self._quote:
            text = "".join(self._pieces)
            self._move(self._at + 1)
            if not self._is_key:
                self._put(text)
                return True
            if text in self.path[-1].container:
                return self._break()
            self.path[-1].key = text
            self._state = "colon"
            return True
        if sign == "\\":
            return self._escape()
        if not self._lenient:
            return self._break()
        self.leniencies.add("controls")
        return self._grow(sign, self._at + 1)

    _STATES: ClassVar[dict[str, Callable[[JsonReader], bool]]] = {
        "start": _at_start,
        "value": _at_value,
        "first_item": _at_first_item,
        "item": _at_item,
        "first_key": _at_first_key,
        "key": _at_key,
        "colon": _at_colon,
        "next": _at_next,
        "text": _at_text,
    }

    # What they do

    def _is_quote(self, sign: str) -> bool:
        if sign == "'" and self._lenient:
            self.leniencies.add("quotes")
            return True
        return sign == '"'

    def _key(self) -> bool:
        sign = self._text[self._at]
        return self._begin(sign, is_key=True) if self._is_quote(sign) else self._break()

    def _begin(self, quote: str, *, is_key: bool) -> bool:
        self._quote, self._is_key, self._pieces = quote, is_key, []
        return self._go("text", self._at + 1)

    def _shut(self) -> bool:
        self.path.pop()
        self.growth += 1
        return self._go("next" if self.path else "end", self._at + 1)

    def _shut_after_comma(self, closer: str) -> bool:
        if not self._lenient or self._text[self._at] != closer:
            return False
        self.leniencies.add("commas")
        return self._shut()

    def _put(self, value: JsonValue) -> None:
        self.path[-1].put(value)
        self.growth += 1
        self._state = "next"

    def _word(self) -> bool:
        match = _WORD.match(self._text, self._at)
        if match is None or match.end() - self._at > _LONGEST_WORD:
            return self._break()
        if match.end() == len(self._text):
            return False
        value = self._literal(match[0])
        if value is NOTHING:
            return self._break()
        self._move(match.end())
        self._put(value)
        return True

    def _literal(self, word: str) -> JsonValue:
        if word in _LITERALS:
            return _LITERALS[word]
        if self._lenient and word in _PYTHON:
            self.leniencies.add("literals")
            return _PYTHON[word]
        if _NUMBER.fullmatch(word) is None:
            return NOTHING
        try:
            return decode_any(word)
        except DecodeError:  # beyond a float
            return NOTHING

    def _escape(self) -> bool:
        """One escape, or both halves of a pair; what is not whole yet waits."""
        if _BEGUN_UNICODE.match(self._text, self._at):
            return False
        unicode = _UNICODE.match(self._text, self._at)
        if unicode is None:
            sign = self._text[self._at + 1]
            if sign not in _ESCAPES or (sign == "'" and not self._lenient):
                return self._break()
            return self._character(ord(_ESCAPES[sign]), self._at + 2)
        if not _HIGH.match(self._text, self._at):
            return self._character(_code(unicode), unicode.end())
        low = _LOW.match(self._text, unicode.end())
        if low:
            return self._character(0x10000 + ((_code(unicode) & 0x3FF) << 10) + (_code(low) & 0x3FF), low.end())
        if unicode.end() == len(self._text) or _BEGUN_UNICODE.match(self._text, unicode.end()):
            return False
        return self._character(_code(unicode), unicode.end())

    def _character(self, code: int, to: int) -> bool:
        return self._grow("\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code), to)

    def _grow(self, piece: str, to: int) -> bool:
        self._pieces.append(piece)
        self.growth += not self._is_key
        self._move(to)
        return True


def _code(escape: re.Match[str]) -> int:
    return int(escape[0][-4:], 16)
