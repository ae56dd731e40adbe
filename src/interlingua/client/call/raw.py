"""The provider's own reply beside its answer, where a caller asks for it: plain values of a body, or of its frames.

Rules
- At most `MAX_RAW_BYTES` of a reply are kept; what is beyond them is cut off, and `raw_cut_off` says so in the changes.
  Of a body that was cut off its text is left, of a stream its whole frames.
- A frame is the JSON that it holds; one that holds none, such as `[DONE]`, is its text. A frame of AWS's binary streams
  is an object with the event's name, as its SDKs show it.
- Answers of other processes and of code in this one are kept alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.errors import WireError
from interlingua.types.change import CODES, Change
from interlingua.types.event import StreamEnd, StreamError
from interlingua.types.response import RawReply
from interlingua.wire.eventstream import AMAZON_STREAM, EventStreamDecoder
from interlingua.wire.json import decode_any
from interlingua.wire.ndjson import JsonArrayDecoder, NdjsonDecoder
from interlingua.wire.sse import SseDecoder, sniff

if TYPE_CHECKING:
    from interlingua.dialects._contract import StreamDecoder
    from interlingua.errors import Error
    from interlingua.types.change import Changes
    from interlingua.types.event import Event
    from interlingua.types.response import Response
    from interlingua.wire.eventstream import EventFrame
    from interlingua.wire.sse import BodyKind

__all__ = ["MAX_RAW_BYTES", "FrameTap", "with_raw_body"]

MAX_RAW_BYTES = 8_388_608
"""Bytes of one reply that are kept as it came."""


def with_raw_body(response: Response[Any], body: bytes, dialect: str) -> Response[Any]:
    """The answer together with the body that it was read from."""
    if len(body) <= MAX_RAW_BYTES:
        return _with_raw_reply(response, _value(body), dialect, cut=0)
    return _with_raw_reply(
        response, body[:MAX_RAW_BYTES].decode(errors="replace"), dialect, cut=len(body) - MAX_RAW_BYTES
    )


def _with_raw_reply(response: Response[Any], value: Any, dialect: str, *, cut: int) -> Response[Any]:
    changes = response.changes
    if cut:
        detail = f"{cut} bytes of it are beyond {MAX_RAW_BYTES}"
        changes = (*changes, Change(CODES["raw_cut_off"].action, "raw_cut_off", "", dialect, "decode_response", detail))
    return msgspec.structs.replace(response, raw_reply=RawReply.of(value), changes=changes)


def _value(text: bytes) -> Any:
    try:
        return decode_any(text, repairs=[])
    except WireError:
        return text.decode(errors="replace")


class FrameTap:
    """A stream's decoder that keeps the bytes which it is fed, for the answer at its end."""

    def __init__(self, decoder: StreamDecoder, dialect: str, content_type: str | None) -> None:
        """A tap on `decoder`, for a body of that type."""
        self._decoder = decoder
        self._dialect = dialect
        self._content_type = content_type
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def terminal(self) -> bool:
        """Whether the wire's terminal signal came."""
        return self._decoder.terminal

    @property
    def ended(self) -> bool:
        """Whether the terminal event was given out."""
        return self._decoder.ended

    @property
    def changes(self) -> Changes:
        """The changes of the reading so far."""
        return self._decoder.changes

    @property
    def compared(self) -> bytes:
        """The last piece that was read by comparing it with the one before."""
        return self._decoder.compared

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        room = MAX_RAW_BYTES - self._size
        if room > 0:
            self._pieces.append(data[:room])
        self._size += len(data)
        return self._with_frames(self._decoder.feed(data))

    def close(self) -> list[Event]:
        """The events that the end of the bytes completes."""
        return self._with_frames(self._decoder.close())

    def fail(self, error: Error) -> list[Event]:
        """The events of a stream that the transport broke."""
        return self._with_frames(self._decoder.fail(error))

    def _with_frames(self, events: list[Event]) -> list[Event]:
        """The events, a terminal one among them with the frames in its answer."""
        last = events[-1] if events else None
        match last:
            case StreamEnd(response=response):
                return [*events[:-1], StreamEnd(self._with_raw_reply(response))]
            case StreamError(partial=partial) if partial is not None:
                return [*events[:-1], msgspec.structs.replace(last, partial=self._with_raw_reply(partial))]
            case _:
                return events

    def _with_raw_reply(self, response: Response[Any]) -> Response[Any]:
        body = b"".join(self._pieces)
        return _with_raw_reply(response, self._frames(body), self._dialect, cut=max(0, self._size - MAX_RAW_BYTES))

    def _frames(self, body: bytes) -> list[Any]:
        try:
            if (self._content_type or "").startswith(AMAZON_STREAM):
                return [_named(frame) for frame in EventStreamDecoder().feed(body)]
            return [_value(frame) for frame in _split(body, sniff(self._content_type, body))]
        except WireError:  # the answer's own decoder has told what is wrong with it
            return [body.decode(errors="replace")]


def _named(frame: EventFrame) -> dict[str, Any]:
    """A binary frame under the name of its event or exception."""
    name = frame.headers.get(":event-type") or frame.headers.get(":exception-type") or ""
    return {name: _value(frame.payload)}


def _split(body: bytes, form: BodyKind) -> list[bytes]:
    """The frames of a stream."""
    if form == "sse":
        sse = SseDecoder()
        return [event.data for event in (*sse.feed(body), *sse.close())]
    lines = JsonArrayDecoder() if form == "json-array" else NdjsonDecoder()
    return [*lines.feed(body), *lines.close()]
