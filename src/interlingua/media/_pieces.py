"""Headers of formats that are made of pieces, one after the other: JPEG, PNG, GIF, WebP; and BMP, which has one.

Each reader gives the members of an `ImageHeader`; `fault` is `cut` where the pieces are not all there.
"""

from __future__ import annotations

from typing import Any

from interlingua.media._bytes import Broken, Cut, number, sized
from interlingua.media._tiff import orientation_of

__all__ = ["read_bmp", "read_gif", "read_jpeg", "read_png", "read_webp"]


def _steps(data: bytes) -> int:
    """How many pieces of a file are walked over: as many as a real file of its size has, with room to spare.

    Whoever sends pieces of a few bytes, to have them counted, makes nobody wait.
    """
    return 64 + len(data) // 256


# JPEG: markers of two bytes, most of them with a length

_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_PROGRESSIVE = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_COMPONENTS = {1: "gray", 3: "rgb", 4: "cmyk"}
_SCAN, _END, _EXIF, _ICC = 0xDA, 0xD9, 0xE1, 0xE2


def read_jpeg(data: bytes) -> dict[str, Any]:
    """The header of a JPEG file.

    Raises: Broken, Cut.
    """
    facts: dict[str, Any] = {}
    at = 2
    for _ in range(_steps(data)):
        if number(data, at, 1) != 0xFF:
            raise Broken
        marker = number(data, at + 1, 1)
        if marker == 0xFF:  # any number of these may stand before a marker
            at += 1
        elif marker in _ALONE:
            at += 2
        elif marker in (_SCAN, _END):
            break
        else:
            length = number(data, at + 2, 2)
            if length < 2:
                raise Broken
            facts |= _segment(data, marker, at + 4, at + 2 + length)
            at += 2 + length
    if "width" not in facts:
        raise Broken
    whole = data.endswith(b"\xff\xd9") or data.find(b"\xff\xd9", at) >= 0
    return facts | ({} if whole else {"fault": "cut"})


def _segment(data: bytes, marker: int, at: int, end: int) -> dict[str, Any]:
    if marker in _FRAMES:
        return {
            **sized(number(data, at + 3, 2), number(data, at + 1, 2)),
            "bits": number(data, at, 1),
            "colour": _COMPONENTS.get(number(data, at + 5, 1), "other"),
            "progressive": marker in _PROGRESSIVE,
        }
    if marker == _EXIF and data[at : at + 6] == b"Exif\x00\x00":
        return {"orientation": orientation_of(data, at + 6, end)}
    if marker == _ICC and data[at : at + 12] == b"ICC_PROFILE\x00":
        return {"profile": True}
    return {}


# PNG: chunks of length, name, data and checksum

_COLOUR_TYPES = {0: ("gray", False), 2: ("rgb", False), 3: ("palette", False), 4: ("gray", True), 6: ("rgb", True)}


def read_png(data: bytes) -> dict[str, Any]:
    """The header of a PNG file.

    Raises: Broken, Cut.
    """
    if data[12:16] != b"IHDR":
        raise Broken if len(data) >= 16 else Cut
    kind = number(data, 25, 1)
    if kind not in _COLOUR_TYPES:
        raise Broken
    colour, alpha = _COLOUR_TYPES[kind]
    facts = sized(number(data, 16, 4), number(data, 20, 4)) | {"bits": number(data, 24, 1)}
    return {**facts, "colour": colour, "alpha": alpha, **_chunks(data)}


def _chunks(data: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    at = 8
    for _ in range(_steps(data)):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data) or end == at:
            return facts | {"fault": "cut"}
        match data[at + 4 : at + 8]:
            case b"IEND":
                return facts
            case b"tRNS":
                facts["alpha"] = True
            case b"acTL":
                facts["animated"] = number(data, at + 8, 4) > 1
            case b"iCCP":
                facts["profile"] = True
            case b"eXIf":
                facts["orientation"] = orientation_of(data, at + 8, end - 4)
            case _:
                pass
        at = end
    return facts if data.find(b"IEND", at) >= 0 else facts | {"fault": "cut"}


# GIF: blocks, each told by its first byte

_IMAGE, _EXTENSION, _TRAILER, _CONTROL = 0x2C, 0x21, 0x3B, 0xF9


def read_gif(data: bytes) -> dict[str, Any]:
    """The header of a GIF file; the picture is as large as its screen or its first frame, whatever is larger.

    Raises: Broken, Cut.
    """
    facts: dict[str, Any] = {"colour": "palette", **sized(number(data, 6, 2, "little"), number(data, 8, 2, "little"))}
    at = 13 + _table_bytes(number(data, 10, 1))
    steps = 64 + len(data) // 64
    images = 0
    while steps > 0:
        kind = data[at : at + 1]
        if kind == b"\x2c" and images:
            return facts | {"animated": True}
        if kind == b"\x2c":
            images += 1
            left, top, width, height = [number(data, at + place, 2, "little") for place in (1, 3, 5, 7)]
            facts |= sized(max(facts["width"], left + width), max(facts["height"], top + height))
            at += 11 + _table_bytes(number(data, at + 9, 1))
        elif kind == b"\x21":
            is_control = data[at + 1 : at + 2] == b"\xf9"
            if is_control and data[at + 3 : at + 4] and data[at + 3] & 1:
                facts["alpha"] = True  # a colour is transparent
            at += 2
        else:
            return facts if images and kind in (b";", b"") else facts | {"fault": "cut" if kind == b"" else "broken"}
        try:
            # The pieces that begin here end with an empty one.
            steps -= 1
            while steps > 0:
                steps -= 1
                length = number(data, at, 1)
                at += 1 + length
                if length == 0:
                    break
        except Cut:
            return facts | {"fault": "cut"}
    return facts


def _table_bytes(flags: int) -> int:
    return 3 * (2 << (flags & 7)) if flags & 0x80 else 0


# WebP: chunks of name, length and data, in a RIFF container


def read_webp(data: bytes) -> dict[str, Any]:
    """The header of a WebP file.

    Raises: Broken, Cut.
    """
    whole = {} if number(data, 4, 4, "little") + 8 <= len(data) else {"fault": "cut"}
    match data[12:16]:
        case b"VP8 ":
            if number(data, 23, 3) != 0x9D012A:
                raise Broken
            return whole | sized(number(data, 26, 2, "little") & 0x3FFF, number(data, 28, 2, "little") & 0x3FFF)
        case b"VP8L":
            if number(data, 20, 1) != 0x2F:
                raise Broken
            bits = number(data, 21, 4, "little")
            size = sized(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
            return whole | size | {"alpha": bool(bits >> 28 & 1)}
        case b"VP8X":
            flags = number(data, 20, 1)
            facts = sized(1 + number(data, 24, 3, "little"), 1 + number(data, 27, 3, "little"))
            if flags & 0x08:
                facts["orientation"] = _webp_orientation(data)
            profile, alpha, animated = [bool(flags & bit) for bit in (0x20, 0x10, 0x02)]
            return {**whole, **facts, "profile": profile, "alpha": alpha, "animated": animated}
        case piece:
            raise Cut if len(piece) < 4 else Broken


def _webp_orientation(data: bytes) -> int:
    at = 12
    for _ in range(_steps(data)):
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"EXIF":
            start = at + (14 if data[at + 8 : at + 14] == b"Exif\x00\x00" else 8)
            return orientation_of(data, start, at + 8 + length)
        at += 8 + length + (length & 1)
        if at >= len(data):
            break
    return 1


# BMP


def read_bmp(data: bytes) -> dict[str, Any]:
    """The header of a BMP file.

    Raises: Broken, Cut.
    """
    size = number(data, 14, 4, "little")
    if size == 12:
        width, height = number(data, 18, 2, "little"), number(data, 20, 2, "little")
        bits, packed = number(data, 24, 2, "little"), False
    elif 40 <= size <= 124:
        width, height = _signed(data, 18), abs(_signed(data, 22))
        bits, packed = number(data, 28, 2, "little"), number(data, 30, 4, "little") in (1, 2)
    else:
        raise Broken
    facts = sized(width, height)
    stored = number(data, 10, 4, "little") + (width * bits + 31) // 32 * 4 * height
    cut = {"fault": "cut"} if not packed and stored > len(data) else {}
    return {**facts, "colour": "palette" if bits <= 8 else "rgb", "alpha": bits == 32, **cut}


def _signed(data: bytes, at: int) -> int:
    value = number(data, at, 4, "little")
    return value - (1 << 32) if value >> 31 else value
