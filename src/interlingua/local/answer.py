"""The answer of a local model, read while it speaks: calls, text, output.

The model writes one of the JSON objects of `grammar`, in pieces cut anywhere. `AnswerReader` gives back what each piece
adds: text of a reply (unescaped), a call's name, fragments of its arguments, fragments of an output. Text that is under
no union passes through.

Rules
- Nothing is given out that a later piece could take back: an escape or a surrogate pair that is cut waits for its rest.
- Arguments and outputs are the model's exact text.
- Text that the grammar cannot have made is a `DecodeError`: the engine did not take the grammar.
- An answer cut by a limit gives what came; a call whose arguments had not begun is no call.

Not responsible for: ids, finish reasons and the shape of chunks (`chat`).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from interlingua.errors import DecodeError
from interlingua.wire import json

__all__ = ["AnswerReader", "ArgumentsPiece", "CallStart", "Said", "TextPiece"]


class TextPiece(NamedTuple):
    """More text for the user, or more of the output's JSON."""

    text: str
    """Never empty."""


class CallStart(NamedTuple):
    """A call begins."""

    name: str
    """The tool's name."""


class ArgumentsPiece(NamedTuple):
    """More of the call's arguments."""

    text: str
    """Exact JSON text, never empty."""


Said: TypeAlias = TextPiece | CallStart | ArgumentsPiece
"""One thing that a piece of the answer adds."""
Part: TypeAlias = Literal["head", "reply", "output", "arguments", "end"]

_HEAD = re.compile(
    r'\s*\{\s*"(?:(?P<reply>reply)"\s*:\s*"|(?P<output>output)"\s*:\s*(?=\S)'
    r'|name"\s*:\s*(?P<name>"(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*(?=\{))'
)
_SPACE = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*"?)|\s+')
_STRING_PIECE = re.compile(
    r"(?P<plain>[^\"\\]+)|(?P<end>\")|\\(?:(?P<simple>[^u])"
    r"|(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<half>u[dD][89abAB][0-9a-fA-F]{2})(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])"
    r"|(?P<unit>u(?![dD][89abAB])[0-9a-fA-F]{4}))"
)
_STRUCTURE = re.compile(r'["\\{}\[\]]')
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class AnswerReader:
    """Reads one answer of a union grammar; feed it pieces, then finish it once."""

    def __init__(self, tools: Iterable[str]) -> None:
        """A reader that has seen nothing, for answers that may call `tools`."""
        calls = (f'{{"name":{json.encode(name).decode()},"arguments":{{' for name in tools)
        self._heads = ('{"reply":"', '{"output":', *calls)
        self._part: Part = "head"
        self._pending = ""
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, text: str) -> Iterator[Said]:
        """The pieces that `text` adds.

        Raises: DecodeError, when this cannot be an answer of the grammar.
        """
        pending, self._pending = self._pending + text, ""
        if self._part == "head":
            pending = yield from self._head(pending)
        if self._part == "reply":
            pending = yield from self._reply(pending)
        elif self._part in {"arguments", "output"}:
            pending = yield from self._value(pending)
        self._pending = "" if self._part == "end" else pending

    def finish(self, *, cut: bool) -> None:
        """Check that the answer came to its end; `cut` when a limit stopped it.

        Raises: DecodeError, when it ended early without having been cut.
        """
        if not cut and self._part != "end":
            raise DecodeError("the local model's answer ended before its JSON did")

    def _head(self, text: str) -> Generator[Said, None, str]:
        match = _HEAD.match(text)
        if match is None or not self._may_be_a_head(match[0]):
            if match or not self._may_be_a_head(text):
                raise DecodeError("the local engine did not keep the grammar; it may not understand the schema")
            return text
        if name := match["name"]:
            self._part = "arguments"
            yield CallStart(str(json.decode_any(name)))
        else:
            self._part = "reply" if match["reply"] else "output"
        return text[match.end() :]

    def _may_be_a_head(self, text: str) -> bool:
        """Whether this is a head, or the beginning of one."""
        head_text = _SPACE.sub(lambda space: space["string"] or "", text)
        return any(head.startswith(head_text) for head in self._heads)

    def _reply(self, pending: str) -> Generator[Said, None, str]:
        text, place = "", 0
        while self._part == "reply" and (match := _STRING_PIECE.match(pending, place)):
            place = match.end()
            if match["end"]:
                self._part = "end"
            else:
                text += _unescaped(match)
        if text:
            yield TextPiece(text)
        return pending[place:]

    def _value(self, pending: str) -> Generator[Said, None, str]:
        end = self._end_of_value(pending)
        piece = pending if end is None else pending[:end]
        if piece:
            yield ArgumentsPiece(piece) if self._part == "arguments" else TextPiece(piece)
        if end is not None:
            self._part = "end"
        return ""

    def _end_of_value(self, text: str) -> int | None:
        """Where the brace stands that closes the object around the value."""
        place = 0
        if self._escaped and text:
            self._escaped, place = False, 1
        while match := _STRUCTURE.search(text, place):
            place = match.end()
            sign = match[0]
            if sign == "\\":
                self._escaped = place == len(text)
                place += 1
            elif sign == '"':
                self._in_string = not self._in_string
            elif not self._in_string:
                if sign == "}" and self._depth == 0:
                    return match.start()
                self._depth += 1 if sign in "{[" else -1
        return None


def _unescaped(match: re.Match[str]) -> str:
    if plain := match["plain"]:
        return plain
    if simple := match["simple"]:
        return _SIMPLE.get(simple, simple)
    if pair := match["pair"]:
        high, low = int(pair[1:5], 16), int(pair[7:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if unit := match["unit"]:
        code = int(unit[1:], 16)
        return "\ufffd" if 0xDC00 <= code <= 0xDFFF else chr(code)
    return "\ufffd"
