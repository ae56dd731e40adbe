"""The header of an image file, read before anything is decoded: pure, without any library, bounded.

Rules
- Headers alone are read: sizes, turns, colours and the order of a file's pieces. No pixel is decoded, nothing is
  inflated, and no loop runs more than a fixed number of steps, whatever the bytes claim.
- Nothing is read outside of the bytes: what goes on beyond their end is a fault of the image, never an exception.
- What a file does not say has the format's own default.

Source: JFIF and Exif 2.32, PNG (third edition), GIF89a, the WebP container, BMP, TIFF 6.0, ISO/IEC 14496-12 and
23008-12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from interlingua.media._boxes import read_boxes
from interlingua.media._bytes import Broken, Cut
from interlingua.media._pieces import read_bmp, read_gif, read_jpeg, read_png, read_webp
from interlingua.media._tiff import read_tiff
from interlingua.media.sniff import sniff_image

__all__ = ["Colour", "ImageFault", "ImageHeader", "read_header"]

Colour: TypeAlias = Literal["gray", "rgb", "palette", "cmyk", "other"]
"""How colours are told; luma with two colour differences counts as rgb, which it stands for."""
ImageFault: TypeAlias = Literal["", "cut", "broken"]
"""Nothing wrong; the file ends too early; it is not what its first bytes say."""


class ImageHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of an image."""

    media_type: str
    """Its MIME type, by its bytes."""
    width: int = 0
    """Columns in pixels, as stored; 0 where a fault hides it."""
    height: int = 0
    """Rows in pixels, as stored; 0 where a fault hides it."""
    orientation: int = 1
    """How it is to be turned (Exif, 1 to 8); 1 is upright, and 5 to 8 swap width and height."""
    animated: bool = False
    """Whether it has more than one frame or page."""
    alpha: bool = False
    """Whether pixels may be transparent."""
    bits: int = 8
    """Bits of one channel."""
    colour: Colour = "rgb"
    """How colours are told."""
    profile: bool = False
    """Whether a colour profile (ICC) is embedded."""
    progressive: bool = False
    """Whether a JPEG tells the whole picture several times, finer each time."""
    fault: ImageFault = ""
    """The fault of the image, as far as its pieces show."""

    @property
    def pixels(self) -> int:
        """Columns times rows."""
        return self.width * self.height


_READERS: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "image/jpeg": read_jpeg,
    "image/png": read_png,
    "image/gif": read_gif,
    "image/webp": read_webp,
    "image/bmp": read_bmp,
    "image/tiff": read_tiff,
    "image/heic": read_boxes,
    "image/heif": read_boxes,
    "image/heic-sequence": read_boxes,
    "image/heif-sequence": read_boxes,
    "image/avif": read_boxes,
}
"""Media type -> what reads its header."""


def read_header(data: bytes) -> ImageHeader | None:
    """The header of the image in `data`; None for what is no image of a known format. Never raises."""
    media_type = sniff_image(data)
    if media_type is None:
        return None
    try:
        return ImageHeader(media_type=media_type, **_READERS[media_type](data))
    except Cut:
        return ImageHeader(media_type=media_type, fault="cut")
    except Broken:
        return ImageHeader(media_type=media_type, fault="broken")
