"""Pictures of one motif in every format, and the motif itself at any size, computed pixel by pixel.

The motif is a slope of colours that looks different in each corner, so that a wrong turn, a swapped channel or a wrong
scale shows in the mean difference. The reference of a test is this formula, never a picture that a library scaled.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from PIL import Image, ImageChops, ImageCms, ImageStat
from PIL.Image import Transpose

__all__ = ["ACCEPTED", "BOMBS", "FAULTY", "difference", "gray_reference", "png_chunk", "reference"]

SIZE = (120, 80)
"""Columns and rows of most pictures."""
BACK = {
    1: None,
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_90,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_270,
}
"""Orientation -> what turns an upright picture into the one that is stored with it."""


@lru_cache(maxsize=256)
def reference(width: int, height: int) -> Image.Image:
    """The motif in RGB, by its formula."""
    columns = [(place + 0.5) / width for place in range(width)]
    red = bytes([int(255 * u) for u in columns])
    pixels = bytearray(3 * width * height)
    for row in range(height):
        v = (row + 0.5) / height
        begin, end = 3 * width * row, 3 * width * (row + 1)
        pixels[begin:end:3] = red
        pixels[begin + 1 : end : 3] = bytes([int(255 * v)]) * width
        pixels[begin + 2 : end : 3] = bytes([int(255 * (1 - u) * (1 - v)) for u in columns])
    return Image.frombytes("RGB", (width, height), bytes(pixels))


def gray_reference(width: int, height: int) -> Image.Image:
    """The motif in gray: its first channel, in all three."""
    red = reference(width, height).getchannel("R")
    return Image.merge("RGB", (red, red, red))


def difference(found: Image.Image, wanted: Image.Image) -> float:
    """The mean difference of two pictures, of 255."""
    return sum(ImageStat.Stat(ImageChops.difference(found.convert("RGB"), wanted)).mean) / 3


def _saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    written = io.BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def _stored(orientation: int) -> Image.Image:
    turn = BACK[orientation]
    return reference(*SIZE) if turn is None else reference(*SIZE).transpose(turn)


def _exif(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def _heic(image: Image.Image, **options: Any) -> bytes:
    import pillow_heif

    written = io.BytesIO()
    pillow_heif.from_pillow(image).save(written, quality=90, **options)  # pyright: ignore[reportUnknownMemberType]
    return written.getvalue()


def _turned(kind: str, orientation: int) -> bytes:
    image = _stored(orientation)
    if kind == "HEIC":
        return _heic(image, exif=_exif(orientation).tobytes())
    if kind == "TIFF":
        return _saved(image, kind, tiffinfo={274: orientation})
    return _saved(image, kind, exif=_exif(orientation), **({"quality": 90} if kind != "PNG" else {}))


def _clear(image: Image.Image) -> Image.Image:
    """With a left half that is seen through half-way, and a right half that is not."""
    clear = image.convert("RGBA")
    alpha = Image.new("L", clear.size, 255)
    alpha.paste(128, (0, 0, clear.width // 2, clear.height))
    clear.putalpha(alpha)
    return clear


def png_chunk(name: bytes, data: bytes) -> bytes:
    """One chunk of a PNG file."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png_16_bits() -> bytes:
    """RGB with sixteen bits a channel, which Pillow does not write."""
    width, height = SIZE
    raw = reference(*SIZE).tobytes()
    rows = [
        b"\x00" + b"".join(bytes((value, value)) for value in raw[3 * width * row : 3 * width * (row + 1)])
        for row in range(height)
    ]
    head = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    chunks = png_chunk(b"IHDR", head) + png_chunk(b"IDAT", zlib.compress(b"".join(rows))) + png_chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _gray_16_bits() -> Image.Image:
    red = reference(*SIZE).getchannel("R").tobytes()
    return Image.frombytes("I;16", SIZE, b"".join(bytes((value, value)) for value in red))


def _with_swapped_colours() -> tuple[Image.Image, bytes]:
    """The motif with red and green exchanged, and the profile that exchanges them back."""
    red, green, blue = reference(*SIZE).split()
    made = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    count = int.from_bytes(made[128:132], "big")
    places = {bytes(made[at : at + 4]): at for at in range(132, 132 + 12 * count, 12)}
    made[places[b"rXYZ"] : places[b"rXYZ"] + 4] = b"gXYZ"
    made[places[b"gXYZ"] : places[b"gXYZ"] + 4] = b"rXYZ"
    return Image.merge("RGB", (green, red, blue)), bytes(made)


def _frames() -> list[Image.Image]:
    return [reference(*SIZE), Image.new("RGB", SIZE, "white")]


def _moving(kind: str, **options: Any) -> bytes:
    first, *rest = _frames()
    return _saved(first, kind, save_all=True, append_images=rest, **options)


def _palette() -> Image.Image:
    return reference(*SIZE).quantize(256)


_SWAPPED = _with_swapped_colours()

_ORIENTED: dict[str, Callable[[], bytes]] = {
    f"{kind.lower()}-orientation-{orientation}": lambda kind=kind, orientation=orientation: _turned(kind, orientation)
    for kind in ("JPEG", "PNG", "WEBP", "TIFF", "HEIC", "AVIF")
    for orientation in (range(1, 9) if kind in ("JPEG", "PNG", "WEBP", "TIFF") else (1, 3, 6, 8))
}
_COLOURED: dict[str, Callable[[], bytes]] = {
    "jpeg-progressive": lambda: _saved(reference(*SIZE), "JPEG", progressive=True, quality=90),
    "jpeg-cmyk": lambda: _saved(reference(*SIZE).convert("CMYK"), "JPEG", quality=95),
    "jpeg-profile": lambda: _saved(_SWAPPED[0], "JPEG", icc_profile=_SWAPPED[1], quality=95, subsampling=0),
    "png-16-bits": _png_16_bits,
    "png-palette": lambda: _saved(_palette(), "PNG"),
    "png-profile": lambda: _saved(_SWAPPED[0], "PNG", icc_profile=_SWAPPED[1]),
    "png-animated": lambda: _moving("PNG"),
    "gif": lambda: _saved(_palette(), "GIF"),
    "gif-animated": lambda: _moving("GIF"),
    "webp-lossless": lambda: _saved(reference(*SIZE), "WEBP", lossless=True),
    "webp-animated": lambda: _moving("WEBP", quality=90),
    "webp-profile": lambda: _saved(_SWAPPED[0], "WEBP", icc_profile=_SWAPPED[1], lossless=True),
    "avif-animated": lambda: _moving("AVIF"),
    "tiff-lzw": lambda: _saved(reference(*SIZE), "TIFF", compression="tiff_lzw"),
    "tiff-jpeg": lambda: _saved(reference(*SIZE), "TIFF", compression="jpeg", quality=95),
    "tiff-cmyk": lambda: _saved(reference(*SIZE).convert("CMYK"), "TIFF"),
    "tiff-palette": lambda: _saved(_palette(), "TIFF"),
    "tiff-pages": lambda: _moving("TIFF"),
    "bmp": lambda: _saved(reference(*SIZE), "BMP"),
    "bmp-palette": lambda: _saved(_palette(), "BMP"),
    "bmp-32": lambda: _saved(reference(*SIZE).convert("RGBA"), "BMP"),
}
_GRAY: dict[str, Callable[[], bytes]] = {
    "jpeg-gray": lambda: _saved(reference(*SIZE).getchannel("R"), "JPEG", quality=95),
    "png-gray": lambda: _saved(reference(*SIZE).getchannel("R"), "PNG"),
    "png-gray-16-bits": lambda: _saved(_gray_16_bits(), "PNG"),
    "tiff-gray-16-bits": lambda: _saved(_gray_16_bits(), "TIFF"),
    "tiff-float": lambda: _saved(reference(*SIZE).getchannel("R").convert("F"), "TIFF"),
}
_CLEAR: dict[str, Callable[[], bytes]] = {
    "png-alpha": lambda: _saved(_clear(reference(*SIZE)), "PNG"),
    "webp-alpha": lambda: _saved(_clear(reference(*SIZE)), "WEBP", lossless=True, exact=True),
    "avif-alpha": lambda: _saved(_clear(reference(*SIZE)), "AVIF", quality=90),
    "heic-alpha": lambda: _heic(_clear(reference(*SIZE))),
    "tiff-alpha": lambda: _saved(_clear(reference(*SIZE)), "TIFF"),
}
_ODD: dict[str, Callable[[], bytes]] = {
    "png-1x1": lambda: _saved(reference(1, 1), "PNG"),
    "jpeg-1x1": lambda: _saved(reference(1, 1), "JPEG", quality=95),
    "heic-17x33": lambda: _heic(reference(17, 33)),
    "png-30000x1": lambda: _saved(reference(30_000, 1), "PNG"),
    "jpeg-1x30000": lambda: _saved(reference(1, 30_000), "JPEG", quality=95),
    "jpeg-9000x200": lambda: _saved(reference(9_000, 200), "JPEG", quality=90),
    "png-200x9000": lambda: _saved(reference(200, 9_000), "PNG"),
}
ACCEPTED = {"motif": _ORIENTED | _COLOURED | _ODD, "gray": _GRAY, "clear": _CLEAR}
"""What is shown -> the pictures that show it, by name, each made when it is asked for."""


# What is refused


def _cut(name: str, share: float = 0.6) -> Callable[[], bytes]:
    everything = _ORIENTED | _COLOURED

    def make() -> bytes:
        data = everything[name]()
        return data[: int(len(data) * share)]

    return make


FAULTY: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "jpeg-cut": _cut("jpeg-orientation-1"),
    "jpeg-cut-in-its-header": lambda: _ORIENTED["jpeg-orientation-1"]()[:24],
    "jpeg-progressive-cut": _cut("jpeg-progressive"),
    "png-cut": _cut("png-orientation-1"),
    "png-cut-in-its-header": lambda: _ORIENTED["png-orientation-1"]()[:20],
    "gif-cut": _cut("gif"),
    "webp-cut": _cut("webp-orientation-1"),
    "bmp-cut": _cut("bmp"),
    "tiff-cut": _cut("tiff-lzw", 0.3),
    "tiff-cut-in-its-pixels": _cut("tiff-cmyk"),
    "bmp-of-another-kind": lambda: _patched(_COLOURED["bmp"](), 14, b"\x33\x00\x00\x00"),
    "webp-of-noise": lambda: b"RIFF\x20\x00\x00\x00WEBPVP8L\x10\x00\x00\x00" + bytes(range(1, 17)),
    "webp-lossy-of-noise": lambda: b"RIFF\x20\x00\x00\x00WEBPVP8 \x10\x00\x00\x00" + bytes(range(1, 17)),
    "heic-cut": _cut("heic-orientation-1"),
    "avif-cut": _cut("avif-orientation-1"),
    "text": lambda: b"This is no picture at all, whatever it is called.",
    "pdf": lambda: b"%PDF-1.7\n1 0 obj",
    "jpeg-of-noise": lambda: b"\xff\xd8\xff" + bytes(range(256)),
    "png-without-size": lambda: b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", bytes(8) + b"\x08\x02\x00\x00\x00"),
}
"""Files that are no whole pictures, by name."""


def _png_bomb() -> bytes:
    """A megabyte of nothing that claims 900 megapixels."""
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(1_000_000)) * 100
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + png_chunk(b"IDAT", body) + png_chunk(b"IEND", b"")


def _jpeg_bomb() -> bytes:
    small = _ORIENTED["jpeg-orientation-1"]()
    at = small.index(b"\xff\xc0")
    return small[: at + 5] + struct.pack(">HH", 65_500, 65_500) + small[at + 9 :]


def _patched(data: bytes, at: int, piece: bytes) -> bytes:
    return data[:at] + piece + data[at + len(piece) :]


def _heic_bomb() -> bytes:
    small = _ORIENTED["heic-orientation-1"]()
    return _patched(small, small.index(b"ispe") + 8, struct.pack(">II", 40_000, 40_000))


def _tiff_bomb(tag: int) -> bytes:
    """A TIFF in which one tag says a million."""
    entries = {256: 100, 257: 100, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: 100, 279: 10_000, 322: 64, 323: 64}
    entries[tag] = 1_000_000
    body = b"".join(struct.pack("<HHII", name, 4, 1, value) for name, value in entries.items())
    return b"II*\x00\x08\x00\x00\x00" + struct.pack("<H", len(entries)) + body + bytes(4)


BOMBS: dict[str, Callable[[], bytes]] = {
    "png": _png_bomb,
    "jpeg": _jpeg_bomb,
    "gif": lambda: _patched(_COLOURED["gif"](), 6, struct.pack("<HH", 65_535, 65_535)),
    "webp": lambda: (
        b"RIFF"
        + struct.pack("<I", 22)
        + b"WEBPVP8 "
        + struct.pack("<I", 10)
        + b"\x00\x00\x00\x9d\x01\x2a\xff\x3f\xff\x3f"
    ),
    "webp-canvas": lambda: (
        b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff\xff\x00\xff\xff\x00"
    ),
    "bmp": lambda: _patched(_COLOURED["bmp"](), 18, struct.pack("<ii", 60_000, -60_000)),
    "tiff": lambda: _tiff_bomb(256),
    "tiff-tile": lambda: _tiff_bomb(322),
    "heic": _heic_bomb,
    "avif": lambda: _patched(
        _ORIENTED["avif-orientation-1"](),
        _ORIENTED["avif-orientation-1"]().index(b"ispe") + 8,
        struct.pack(">II", 40_000, 40_000),
    ),
}
"""Files that claim far more pixels than they have bytes for, by name."""
