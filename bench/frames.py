"""AWS's binary event streams by the standard library alone: the baseline of streams whose events are binary frames.

A frame is its length, that of its headers, a CRC-32 of both, headers, a payload, and the CRC-32 of everything.
Source: vendor page "Event stream encoding" of Amazon Transcribe.
"""

from __future__ import annotations

import json
from struct import pack, unpack_from
from typing import Any, NamedTuple
from zlib import crc32

__all__ = ["Framed", "read_frames", "write_frame"]

PRELUDE_BYTES = 12
CHECKSUM_BYTES = 4
TEXT = 7
"""The type of a header whose value is a text."""


class Framed(NamedTuple):
    """The content of one frame."""

    headers: dict[str, str]
    """The headers; all of them are texts."""
    value: Any
    """The value in its payload."""


def read_frames(data: bytes) -> list[Framed]:
    """The frames in these bytes, which end with one.

    Raises: ValueError for a checksum that is wrong.
    """
    frames: list[Framed] = []
    start = 0
    while start < len(data):
        length, header_bytes, checksum = unpack_from(">III", data, start)
        end = start + length - CHECKSUM_BYTES
        if crc32(data[start : start + 8]) != checksum or unpack_from(">I", data, end)[0] != crc32(data[start:end]):
            raise ValueError("a frame has another checksum")
        payload = start + PRELUDE_BYTES + header_bytes
        frames.append(Framed(_headers(data, start + PRELUDE_BYTES, payload), json.loads(data[payload:end])))
        start += length
    return frames


def _headers(data: bytes, start: int, end: int) -> dict[str, str]:
    headers: dict[str, str] = {}
    while start < end:
        value = start + 1 + data[start]
        kind, length = unpack_from(">BH", data, value)
        if kind != TEXT:
            raise ValueError("a header is no text")
        headers[data[start + 1 : value].decode()] = data[value + 3 : value + 3 + length].decode()
        start = value + 3 + length
    return headers


def write_frame(headers: dict[str, str], value: Any) -> bytes:
    """The bytes of a frame."""
    head = b"".join(
        pack(">B", len(name)) + name.encode() + pack(">BH", TEXT, len(value)) + value.encode()
        for name, value in headers.items()
    )
    payload = json.dumps(value).encode()
    prelude = pack(">II", PRELUDE_BYTES + len(head) + len(payload) + CHECKSUM_BYTES, len(head))
    frame = prelude + pack(">I", crc32(prelude)) + head + payload
    return frame + pack(">I", crc32(frame))
