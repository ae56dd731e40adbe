"""The kind of a file, told by its first bytes: pure, without any library.

Not responsible for: whether the rest of the file is sound.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Kind", "Sniffed", "sniff", "sniff_image"]

Kind: TypeAlias = Literal["image", "audio", "document"]


class Sniffed(NamedTuple):
    """The kind of a file."""

    kind: Kind
    """Which part it makes."""
    media_type: str
    """Its MIME type."""


_BEGINNINGS: tuple[tuple[bytes, Kind, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image", "image/png"),
    (b"\xff\xd8\xff", "image", "image/jpeg"),
    (b"GIF87a", "image", "image/gif"),
    (b"GIF89a", "image", "image/gif"),
    (b"II*\x00", "image", "image/tiff"),
    (b"MM\x00*", "image", "image/tiff"),
    (b"%PDF-", "document", "application/pdf"),
    (b"ID3", "audio", "audio/mpeg"),
    (b"\xff\xfb", "audio", "audio/mpeg"),
    (b"\xff\xf3", "audio", "audio/mpeg"),
    (b"\xff\xf2", "audio", "audio/mpeg"),
    (b"\xff\xf1", "audio", "audio/aac"),
    (b"\xff\xf9", "audio", "audio/aac"),
    (b"fLaC", "audio", "audio/flac"),
    (b"OggS", "audio", "audio/ogg"),
)
_RIFF: dict[bytes, tuple[Kind, str]] = {b"WEBP": ("image", "image/webp"), b"WAVE": ("audio", "audio/wav")}
_BRANDS: dict[bytes, tuple[Kind, str]] = {
    b"heic": ("image", "image/heic"),
    b"heix": ("image", "image/heic"),
    b"heim": ("image", "image/heic"),
    b"heis": ("image", "image/heic"),
    b"hevc": ("image", "image/heic-sequence"),
    b"mif1": ("image", "image/heif"),
    b"msf1": ("image", "image/heif-sequence"),
    b"avif": ("image", "image/avif"),
    b"avis": ("image", "image/avif"),
    b"M4A ": ("audio", "audio/mp4"),
    b"M4B ": ("audio", "audio/mp4"),
}
"""Brands of files in the ISO base media format (`ftyp`)."""
_BMP_SIZES = frozenset([size.to_bytes(4, "little") for size in (12, 16, 40, 52, 56, 64, 108, 124)])
"""Sizes of the header inside a BMP: texts may begin with its two letters, too."""
_BEGINNING_BYTES = 18


def sniff(data: bytes) -> Sniffed | None:
    """The kind of `data`; plain text is a document; None for what is none of the known formats."""
    if data[:4] == b"RIFF" and data[8:12] in _RIFF:
        return Sniffed(*_RIFF[data[8:12]])
    if data[4:8] == b"ftyp":
        return _branded(data)
    if data[:2] == b"BM" and data[14:18] in _BMP_SIZES:
        return Sniffed("image", "image/bmp")
    for beginning, kind, media_type in _BEGINNINGS:
        if data.startswith(beginning):
            return Sniffed(kind, media_type)
    return Sniffed("document", "text/plain") if _is_text(data) else None


def sniff_image(data: bytes) -> str | None:
    """The MIME type of the image that `data` is; None for anything else. Only the first bytes are looked at."""
    sniffed = _branded(data) if data[4:8] == b"ftyp" else sniff(data[:_BEGINNING_BYTES])
    return sniffed.media_type if sniffed is not None and sniffed.kind == "image" else None


def _branded(data: bytes) -> Sniffed | None:
    """The first known brand of the file: its own, else one that it is compatible with (`mif1` says little)."""
    size = min(int.from_bytes(data[:4], "big"), len(data))
    brands = [data[8:12], *[data[place : place + 4] for place in range(16, size - 3, 4)]]
    entries = [_BRANDS[brand] for brand in brands if brand in _BRANDS]
    exact = [entry for entry in entries if entry[1] not in ("image/heif", "image/heif-sequence")]
    return Sniffed(*(exact or entries)[0]) if entries else None


def _is_text(data: bytes) -> bool:
    if not data or b"\x00" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
