"""Media on the wire: data URLs, base64, and the MIME types of audio and images. Pure text and byte work."""

from __future__ import annotations

import base64
import binascii
import re

from interlingua.errors import DecodeError

__all__ = ["audio_type", "data_url", "from_base64", "image_type", "parse_data_url", "to_base64", "told_detail"]

_DATA_URL = r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<parameters>(?:;[\w-]+=[^;,]*)*)(?P<base64>;base64)?,"
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"RIFF", "audio/wav"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
)
_IMAGES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
)
"""Where, which bytes, what type."""
UNKNOWN_IMAGE = "image/png"
"""The type of an image whose first bytes say nothing."""


def image_type(data: bytes) -> str:
    """The MIME type of an image by its first bytes."""
    return next((kind for place, start, kind in _IMAGES if data.startswith(start, place)), UNKNOWN_IMAGE)


def to_base64(data: bytes) -> str:
    """Padded standard base64."""
    return base64.b64encode(data).decode("ascii")


def from_base64(text: str, path: str = "") -> bytes:
    """The bytes of standard or URL-safe base64, padded or not, white space ignored.

    Raises: DecodeError at `path`.
    """
    compact = "".join(text.split()).translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise DecodeError(f"{path}: the value is not base64".removeprefix(": "), path=path) from None


_URL_SAFE = str.maketrans("-_", "+/")


def told_detail(detail: str | None) -> str | None:
    """The detail of an image in the words of services: `full` is our own, and the nearest to it is `high`."""
    return "high" if detail == "full" else detail


def data_url(data: bytes, media_type: str) -> str:
    """A `data:` URL with base64."""
    return f"data:{media_type};base64,{to_base64(data)}"


def parse_data_url(url: str, path: str = "") -> tuple[str, bytes] | None:
    """MIME type (empty when not said) and bytes of a base64 `data:` URL; None for any other URL.

    Raises: DecodeError at `path` for a data URL whose base64 is broken.
    """
    match = re.match(_DATA_URL, url, re.IGNORECASE)
    if match is None or not match["base64"]:
        return None
    return (match["type"] or "").lower(), from_base64(url[match.end() :], path)


def audio_type(data: bytes) -> str:
    """The MIME type of audio by its first bytes; raw samples when nothing is known."""
    return next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), "audio/pcm")
