"""AWS's binary event streams: bytes to frames and back, incrementally, bounded.

Rules
- A frame is a prelude (its length, that of its headers, their CRC-32), headers, a payload, and the CRC-32 of it all.
- Lengths are checked before anything is waited for: a frame beyond the bound is refused at its prelude.
- Both checksums must be right. Of headers only texts are kept; the others are passed over by their sizes.
- What the end of the stream cuts off is left out, and `cut` says so.

What events and exceptions mean is for a dialect to say.
Source: vendor page "Event stream encoding" of Amazon Transcribe; `botocore.eventstream` 1.44; both read November 2026.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire._feed import Feed
from interlingua.wire.json import MAX_EVENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "AMAZON_STREAM",
    "EventFrame",
    "EventStreamDecoder",
    "encode_event_frame",
    "encode_headers",
    "frame_length",
    "frame_of",
]

AMAZON_STREAM = "application/vnd.amazon.eventstream"
"""The media type of such a stream."""
MAX_HEADER_BYTES = 131_072
"""The most bytes that the headers of one frame take."""
_PRELUDE = Struct(">III")
_LENGTHS = Struct(">II")
_CHECKSUM = Struct(">I")
_LENGTH = Struct(">H")
_AROUND = _PRELUDE.size + _CHECKSUM.size
"""Bytes of a frame that are neither headers nor payload."""
_TEXT = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Type of a header's value -> its size: true, false, whole numbers of four sizes, a time, a UUID."""
_SIZED = frozenset({6, _TEXT})
"""Types of values that say their size: bytes and texts."""


class EventFrame(NamedTuple):
    """One frame of a stream."""

    headers: Mapping[str, str]
    """The headers whose values are texts; frames of one stream with equal headers share them."""
    payload: bytes
    """The content of the frame."""


class EventStreamDecoder(Feed[EventFrame]):
    """The frames of a stream, however its bytes are cut.

    Raises: DecodeError, for lengths, checksums and headers that are wrong; LimitExceededError, for a frame beyond
    `max_event_bytes`.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        super().__init__(max_event_bytes=max_event_bytes)
        self._data = bytearray()
        self._needed = _PRELUDE.size
        self._head = b""
        self._headers: dict[str, str] = {}

    def _take(self, data: bytes, whole: list[EventFrame]) -> None:
        if self._data:
            self._data += data
            if len(self._data) < self._needed:
                return
            data = bytes(self._data)
        start, size = 0, len(data)
        while True:
            length, header_bytes = _lengths(data, start, self.max_event_bytes)
            if start + length > size:
                break
            end = start + length - _CHECKSUM.size
            if crc32(data[start:end]) != _CHECKSUM.unpack_from(data, end)[0]:
                raise DecodeError("the stream holds a frame with another checksum")
            payload = start + _PRELUDE.size + header_bytes
            head = data[start + _PRELUDE.size : payload]
            if head != self._head:  # most frames of a stream repeat the headers of the one before
                self._head, self._headers = head, _headers(head)
            whole.append(EventFrame(self._headers, data[payload:end]))
            start += length
        self._needed = length
        self._data = bytearray(data[start:])

    def _end(self, whole: list[EventFrame]) -> None:
        del whole
        self.cut: bool = bool(self._data)


def frame_length(data: bytes, *, max_event_bytes: int = MAX_EVENT_BYTES) -> int | None:
    """How many bytes the frame has that begins with `data`; None where its prelude is not whole yet.

    Raises: DecodeError, LimitExceededError.
    """
    return None if len(data) < _PRELUDE.size else _lengths(data, 0, max_event_bytes)[0]


def _lengths(data: bytes, start: int, max_event_bytes: int) -> tuple[int, int]:
    """The length of the frame at `start` and that of its headers; as much as a prelude while that is not whole.

    Raises: DecodeError, LimitExceededError.
    """
    if len(data) < start + _PRELUDE.size:
        return _PRELUDE.size, 0
    length, header_bytes, checksum = _PRELUDE.unpack_from(data, start)
    if crc32(data[start : start + 8]) != checksum:
        raise DecodeError("the stream holds a frame whose prelude has another checksum")
    if length > max_event_bytes or header_bytes > MAX_HEADER_BYTES:
        raise LimitExceededError(f"a frame of the stream is larger than {max_event_bytes:,} bytes")
    if length < _AROUND + header_bytes:
        raise DecodeError("the stream holds a frame that is shorter than its headers")
    return length, header_bytes


def _headers(data: bytes) -> dict[str, str]:
    """The headers that are texts.

    Raises: DecodeError, for bytes that are no headers.
    """
    headers: dict[str, str] = {}
    place = 0
    while place < len(data):
        name_end = place + 1 + data[place]
        kind = data[name_end] if name_end < len(data) else -1
        start, size = name_end + 1, _SIZES.get(kind)
        if kind in _SIZED and start + _LENGTH.size <= len(data):
            (size,) = _LENGTH.unpack_from(data, start)
            start += _LENGTH.size
        if size is None or start + size > len(data):
            raise DecodeError("the stream holds a frame whose headers cannot be read")
        end = start + size
        if kind == _TEXT:
            try:
                headers[data[place + 1 : name_end].decode()] = data[start:end].decode()
            except UnicodeDecodeError:
                raise DecodeError("the stream holds a header that is no text") from None
        place = end
    return headers


def encode_event_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """The bytes of one frame, whose headers are texts."""
    return frame_of(encode_headers(headers), payload)


def encode_headers(headers: Mapping[str, str]) -> bytes:
    """The bytes of headers that are texts."""
    encoded = bytearray()
    for name, value in headers.items():
        label, text = name.encode(), value.encode()
        encoded += b"%c%b%c%b%b" % (len(label), label, _TEXT, _LENGTH.pack(len(text)), text)
    return bytes(encoded)


def frame_of(head: bytes, payload: bytes) -> bytes:
    """The bytes of one frame whose headers are encoded."""
    prelude = _LENGTHS.pack(_AROUND + len(head) + len(payload), len(head))
    frame = b"%b%b%b%b" % (prelude, _CHECKSUM.pack(crc32(prelude)), head, payload)
    return frame + _CHECKSUM.pack(crc32(frame))
