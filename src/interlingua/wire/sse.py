"""Server-sent events: bytes to events and back, incrementally, bounded.

Rules of reading
- CR, LF and CRLF end a line, also when a CRLF is cut in two; a byte order mark at the start is skipped.
- One space after the colon is taken off, none is needed; trailing spaces stay. `data` lines are joined by LF.
- Comments are counted (they are signs of life) and yield nothing; `retry` and unknown fields are ignored.
- An event with empty data is not dispatched, whatever its name (keep-alives).
- Leniency: a line that begins with `{` or `[` where no data has come yet is data, and so is every line after it up to
  the blank one. Some servers break the line after `data:`, others put a bare error object into the stream.
- Leniency: where a data line that is one whole JSON object is followed by another data line, it is an event by itself.
  Some recorders and proxies take the blank lines away.
- Leniency: an event that is not followed by a blank line is dispatched at the end of the stream when its data is one
  JSON value or `[DONE]`. Anything else there was cut off: it is left out, and `cut` says so.

`[DONE]`, names and ids mean nothing here: dialects know.
Source: WHATWG HTML, section 9.2 "Server-sent events".
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeGuard

import msgspec

from interlingua.errors import UsageError
from interlingua.wire._feed import Feed, is_whole_json
from interlingua.wire.json import MAX_EVENT_BYTES

__all__ = [
    "DONE",
    "STREAM_HEADERS",
    "BodyKind",
    "SseDecoder",
    "SseEvent",
    "encode_comment",
    "encode_event",
    "is_event_name",
    "sniff",
]

DONE = b"[DONE]"
"""The data with which OpenAI-like servers end a stream."""

STREAM_HEADERS: tuple[tuple[str, str], ...] = (("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no"))
"""Headers that keep a stream from being held back, or compressed, on its way."""

BodyKind: TypeAlias = Literal["sse", "ndjson", "json", "json-array", "html", "other"]
"""The kind of a body, whatever its content type claims."""

MAX_EVENT_NAME = 256
"""The most characters of the name of an unknown event that is written."""

_BOM = b"\xef\xbb\xbf"
_LF, _CR = b"\n\r"  # numbers: to look for one in bytes costs a quarter of looking for a byte string


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One event."""

    data: bytes
    """Its data lines joined by LF; never empty."""
    event: str | None = None
    """Its name, or None when it had none."""
    id: str | None = None
    """Its own id, or None when it had none."""


class SseDecoder(Feed[SseEvent]):
    """Events from the bytes of a stream, however they are cut.

    Raises: LimitExceededError, for a line or the data of an event beyond `max_event_bytes`.
    """

    is_between: bool = True
    """Whether nothing of an event or a line is waiting for its rest."""
    _at_start: bool = True
    _after_cr: bool = False
    _data: bytes | bytearray | None = None
    _event: str | None = None
    _id: str | None = None
    _bare: bool = False

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        super().__init__(max_event_bytes=max_event_bytes)
        self._line = bytearray()

    def feed(self, data: bytes) -> list[SseEvent]:
        """As in `Feed`; a piece of whole plain events is read at once."""
        if self.is_between:  # never after a fault
            events = self._plain(data)
            if events is not None:
                self._at_start = False
                return events
        return super().feed(data)

    def _take(self, data: bytes, whole: list[SseEvent]) -> None:
        self.is_between = False
        if data and _LF not in data and _CR not in data:  # a piece of a line: what comes by single bytes is only such
            self._after_cr = False
            self._wait(data)
            return
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self._line:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        for line in lines:
            self._take_line(line, whole)
        if rest:
            self._wait(rest)
        waits = self._line or self._after_cr or self._event or self._id or self._data is not None
        self.is_between = not waits

    def _wait(self, rest: bytes) -> None:
        """Keep the beginning of a line, or more of it."""
        self._line += rest
        if len(self._line) > self.max_event_bytes:
            self._bound(len(self._line) - _overhead(self._line))

    def _plain(self, data: bytes) -> list[SseEvent] | None:
        """The events that a piece is, as nearly all are: whole ones of perhaps a name and one line of data."""
        body = data.removesuffix(b"\n\n")
        if body is data:  # nothing was taken off
            body = data.removesuffix(b"\r\n\r\n")
        if body is data or len(body) > self.max_event_bytes or _CR in body:
            return None
        text = body.removeprefix(b"data: ")
        if text is not body and text and _LF not in text:
            return [SseEvent(text)]
        events: list[SseEvent] = []
        for block in body.split(b"\n\n"):
            event = _plain_event(block)
            if event is None:
                return None
            events.append(event)
        return events

    def _take_line(self, line: bytes, whole: list[SseEvent]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(whole)
        elif self._bare:
            self._add(line, whole)
        elif line.startswith(b"data: "):
            self._add(line[6:], whole)
        elif line.startswith(b"data:"):
            self._add(line[5:], whole)
        else:
            self._bound(len(line))
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"event":
                self._event = value.decode(errors="replace") or None
            elif name == b"id" and b"\x00" not in value:
                self._id = value.decode(errors="replace")
            elif name == b"data":
                self._add(b"", whole)
            elif line[:1] in (b"{", b"[") and not self._data:
                self._data = line
                self._bare = True

    def _add(self, text: bytes, whole: list[SseEvent]) -> None:
        """One more data line; from the second one on they gather in a buffer, so that many cost no more than few."""
        data = self._data
        if data is None:
            self._data = data = text
        elif isinstance(data, bytearray):
            data += b"\n"
            data += text
        elif data.startswith(b"{") and is_whole_json(data):
            bare = self._bare
            self._dispatch(whole)
            self._data = data = text
            self._bare = bare
        else:
            self._data = data = bytearray(b"%b\n%b" % (data, text))
        if len(data) > self.max_event_bytes:
            self._bound(len(data))

    def _dispatch(self, whole: list[SseEvent]) -> None:
        """Give on what has come, if anything has, and begin anew."""
        if self._data:
            whole.append(SseEvent(bytes(self._data), self._event, self._id))
        self._data = self._event = self._id = None
        self._bare = False

    def _end(self, whole: list[SseEvent]) -> None:
        if self._line:
            self._take_line(bytes(self._line), whole)
            self._line.clear()
        if self._data:
            data = bytes(self._data)
            if data.strip() != DONE and not is_whole_json(data):
                self.cut = True
                self._data = None
        self._dispatch(whole)


def _plain_event(body: bytes) -> SseEvent | None:
    """The event of these lines, without the blank one: perhaps a name, and one line of data."""
    line, further, rest = body.partition(b"\n")
    name = None
    if further:
        name = line.removeprefix(b"event: ")
        if name is line or not name:
            return None
        line = rest
    text = line.removeprefix(b"data: ")
    if text is line or not text or _LF in text:
        return None
    return SseEvent(text, None if name is None else name.decode(errors="replace"))


def _overhead(line: bytearray) -> int:
    """How much of an unfinished line does not count: what stands before the data. So every cut is bounded alike."""
    start = len(_BOM) if line.startswith(_BOM) else 0
    if line.startswith(b"data: ", start):
        return start + 6
    return start + 5 if line.startswith(b"data:", start) else start


def encode_event(data: bytes, *, event: str | None = None, id: str | None = None) -> bytes:
    """One event in bytes; line breaks in `data` become further data lines.

    Raises: UsageError, for a line break in `event` or `id`.
    """
    head = b""
    if event is not None:
        head = b"event: %b\n" % _one_line(event)
    if id is not None:
        head += b"id: %b\n" % _one_line(id)
    if b"\n" in data or b"\r" in data:
        data = b"\ndata: ".join(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    return b"%bdata: %b\n\n" % (head, data)


def is_event_name(name: object) -> TypeGuard[str]:
    """Whether an unknown event may be written under its name, which stands in a line, or a header, of the stream.

    One with an end of a line in it would begin another event, such as an end.
    """
    return isinstance(name, str) and 0 < len(name) <= MAX_EVENT_NAME and name.isprintable()


def encode_comment(text: str = "") -> bytes:
    """A comment: a sign of life that no client takes for an event.

    It ends its own line and no more: a blank line after it would make some clients dispatch an empty event.
    """
    return b"".join(b": %b\n" % line.encode() for line in text.splitlines() or [""])


def _one_line(text: str) -> bytes:
    if "\n" in text or "\r" in text:
        raise UsageError("the name or id of an event cannot hold a line break")
    return text.encode()


_BY_TYPE: tuple[tuple[str, BodyKind], ...] = (
    ("event-stream", "sse"),
    ("ndjson", "ndjson"),
    ("jsonl", "ndjson"),
    ("json-lines", "ndjson"),
    ("json", "json"),
    ("html", "html"),
)
_SSE_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")


def sniff(content_type: str | None, head: bytes) -> BodyKind:
    """The kind of a body, from its content type and its first bytes; where they disagree, the bytes are right.

    An event stream that begins with `{` or `[` is a JSON body under a wrong name, one that begins with `<` a page.
    """
    head = head.removeprefix(_BOM).lstrip()
    if head.startswith(_SSE_BEGINNINGS):
        return "sse"
    if head.startswith(b"<"):
        return "html"
    label = (content_type or "").lower()
    kinds: list[BodyKind] = [kind for part, kind in _BY_TYPE if part in label]
    claimed = kinds[0] if kinds else "other"
    if head.startswith(b"["):
        return "json-array"
    if head.startswith(b"{"):
        if claimed == "ndjson":
            return "ndjson"
        # An object in the first line, whole, with another one behind it: these are lines.
        first, _, rest = head.partition(b"\n")
        return "ndjson" if rest.lstrip()[:1] == b"{" and is_whole_json(first) else "json"
    return claimed
