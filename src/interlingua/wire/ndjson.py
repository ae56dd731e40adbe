"""Newline-delimited JSON, and the elements of one JSON array that comes in pieces.

Rules
- `NdjsonDecoder`: CR, LF and CRLF end a line, blank lines are skipped, the last line needs no line break. One object
  without any is a stream of one.
- `JsonArrayDecoder`: `[{…}, {…}]` yields each object as soon as it closes; between them only commas and white space.
  A single object in the place of the array is a stream of one.
- What the end of the stream cuts off is left out, and `cut` says so.

Texts are given as they came; whether they are what a dialect expects is for `wire/json.py` to say.
"""

from __future__ import annotations

import re

from interlingua.errors import DecodeError
from interlingua.wire._feed import Feed, is_whole_json
from interlingua.wire.json import MAX_EVENT_BYTES

__all__ = ["JsonArrayDecoder", "NdjsonDecoder", "encode_line"]

_BOM = b"\xef\xbb\xbf"


class NdjsonDecoder(Feed[bytes]):
    """The lines of a stream, without white space around them, however they are cut.

    Raises: LimitExceededError, for a line beyond `max_event_bytes`.
    """

    is_between: bool
    """Whether nothing of a line is waiting for its rest."""

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        super().__init__(max_event_bytes=max_event_bytes)
        self.is_between = False
        self._line = bytearray()
        self._at_start = True

    def _take(self, data: bytes, whole: list[bytes]) -> None:
        if self.is_between and data.find(b"\n") == len(data) - 1 >= 0 and b"\r" not in data:
            self._bound(len(data) - 1)  # one line and nothing else, as nearly always
            if text := data.strip():
                whole.append(text)
            return
        if b"\r" in data:
            data = data.replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        for line in lines:
            self._bound(len(line))
            if text := self._text(line):
                whole.append(text)
        self._line += rest
        self._bound(len(self._line))
        self.is_between = not (self._line or self._at_start)

    def _text(self, line: bytes) -> bytes:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        return line.strip()

    def _end(self, whole: list[bytes]) -> None:
        text = self._text(bytes(self._line))
        self._line.clear()
        if text and is_whole_json(text):
            whole.append(text)
        elif text:
            self.cut = True


def encode_line(text: bytes) -> bytes:
    """One line of newline-delimited JSON; `text` is JSON that `wire.json.encode` wrote, which holds no line break."""
    return text + b"\n"


_GAP = b" \t\r\n,"
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<closed>"?)|[\[\]{}]', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+(?P<closed>"?)', re.DOTALL)


class JsonArrayDecoder(Feed[bytes]):
    """The objects of one JSON array, as text, however the bytes are cut.

    Raises: LimitExceededError, for an object beyond `max_event_bytes`; DecodeError, for anything but objects in it.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        super().__init__(max_event_bytes=max_event_bytes)
        self._object = bytearray()
        self._depth = 0
        self._floor = 0
        self._in_string = False
        self._at_start = True
        self._ended = False
        self._escape = b""

    def _take(self, data: bytes, whole: list[bytes]) -> None:
        data = self._escape + data
        self._escape = b""
        if self._at_start:
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._escape = data
                return
            data = data.removeprefix(_BOM)
            self._at_start = False
        self._scan(data, whole)

    def _scan(self, data: bytes, whole: list[bytes]) -> None:
        """Read `data` token by token; `done` is the end of what was given on."""
        # Servers send one object to a piece; that is told without a look at its tokens.
        if self._depth == self._floor == 1 and is_whole_json(text := data.strip(_GAP)) and text.startswith(b"{"):
            self._bound(len(text))
            whole.append(text)
            return
        done = position = 0
        if self._in_string:
            string = _REST_OF_STRING.match(data)
            position = 0 if string is None else string.end()
            self._in_string = string is not None and not string["closed"]
        for token in () if self._in_string else _TOKEN.finditer(data, position):
            position = token.end()
            sign = data[token.start() : token.start() + 1]
            if sign == b'"':
                self._in_string = not token["closed"]
            else:
                done = self._bracket(sign, data, done, token.start(), whole)
        rest = data[done:]
        if self._depth == self._floor:
            self._check_gap(rest)
            return
        # A part of an object has come, perhaps with a part of an escape at its end.
        if self._in_string and data[position : position + 1] == b"\\":
            self._escape = data[position:]
            rest = data[done:position]
        self._object += rest
        self._bound(len(self._object))

    def _bracket(self, sign: bytes, data: bytes, done: int, at: int, whole: list[bytes]) -> int:
        """The end of what was given on after the bracket at `at`."""
        if self._depth == self._floor:
            self._check_gap(data[done:at])
            # The bracket stands between two objects.
            if sign == b"{" and not self._ended:
                self._depth += 1
                return at
            if sign == b"[" and self._floor == 0 and not self._ended:
                self._depth = self._floor = 1
                return at + 1
            if sign == b"]" and self._floor == 1:
                self._depth = self._floor = 0
                self._ended = True
                return at + 1
            raise DecodeError(f"the stream is not one JSON array of objects: {sign.decode()!r} between two of them")
        self._depth += 1 if sign in b"{[" else -1
        if self._depth > self._floor:
            return done
        self._object += data[done : at + 1]
        self._bound(len(self._object))
        whole.append(bytes(self._object))
        self._object.clear()
        self._ended = self._floor == 0
        return at + 1

    def _check_gap(self, gap: bytes) -> None:
        if gap.strip(_GAP):
            raise DecodeError("the stream is not one JSON array of objects: something else stands between two of them")

    def _end(self, whole: list[bytes]) -> None:
        del whole
        self.cut: bool = bool(self._object) or self._depth > 0
