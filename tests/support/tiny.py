"""The smallest files that are what they say, for tests in which a picture has to be one, whatever it shows."""

from __future__ import annotations

import struct
import zlib

__all__ = ["PNG"]


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


_HEAD = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
PNG = b"\x89PNG\r\n\x1a\n" + _HEAD + _chunk(b"IDAT", zlib.compress(b"\x00\x80")) + _chunk(b"IEND", b"")
"""One gray pixel."""
