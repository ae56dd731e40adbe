"""How large and how deep a JSON text may be, looked at before anything is parsed.

What comes out is UTF-8 without a byte order mark, so that the parser never meets doubtful bytes.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire._depth import is_deeper

__all__ = ["MAX_BODY_BYTES", "MAX_DEPTH", "MAX_EVENT_BYTES", "JsonText", "bounded", "too_deep"]

JsonText: TypeAlias = bytes | bytearray | memoryview | str | msgspec.Raw
"""JSON as it comes: bytes in UTF-8, text, or a part of a body that was kept as text."""

MAX_BODY_BYTES = 64 * 1024 * 1024
"""The largest body that is parsed."""
MAX_EVENT_BYTES = 8 * 1024 * 1024
"""The longest line and the largest event of a stream."""
MAX_DEPTH = 128
"""How deep arrays and objects may nest."""

_BOM = b"\xef\xbb\xbf"


def bounded(data: JsonText, max_bytes: int, max_depth: int) -> bytes:
    """`data` as bytes of UTF-8 within the bounds, without a byte order mark.

    Raises: DecodeError for what is not UTF-8; LimitExceededError beyond a bound.
    """
    body = data if type(data) is bytes else _as_bytes(data, max_bytes)
    size = len(body)
    if size > max_bytes:
        raise _too_large(max_bytes)
    if not body.isascii():
        body = body.removeprefix(_BOM)
        try:
            body.decode()
        except UnicodeDecodeError as error:
            raise DecodeError(f"the JSON text is not UTF-8 at byte {error.start}") from None
    if size > 2 * max_depth and is_deeper(body, max_depth):
        raise too_deep(max_depth)
    return body


def too_deep(max_depth: int) -> LimitExceededError:
    """The error of a text that nests deeper than so."""
    return LimitExceededError(f"the JSON text nests deeper than {max_depth} levels")


def _as_bytes(data: JsonText, max_bytes: int) -> bytes:
    """The bytes of another kind of text; one that is too large is not copied first."""
    if isinstance(data, str):
        if len(data) > max_bytes:
            raise _too_large(max_bytes)
        try:
            return data.encode()
        except UnicodeEncodeError as error:
            raise DecodeError(f"the JSON text holds half of a surrogate pair at character {error.start}") from None
    if len(memoryview(data) if isinstance(data, msgspec.Raw) else data) > max_bytes:
        raise _too_large(max_bytes)
    return bytes(data)


def _too_large(max_bytes: int) -> LimitExceededError:
    return LimitExceededError(f"the JSON text is larger than {max_bytes:,} bytes")
