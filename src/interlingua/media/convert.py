"""Images made into what a target takes, with Pillow and pillow-heif: the [media] extra.

Rules
- What has been through here is upright, in sRGB with eight bits a channel, and without metadata.
- Transparency is kept where the format has it; else the ground is white.
- Lossless stays lossless as long as it fits; then come lower qualities, then smaller sizes.
- Memory: a JPEG is decoded at about the size that is needed, as far as its format allows; anything else needs all of
  its pixels once.
- No decoder but that of the format which the header names is asked, and the size that it finds is checked again.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import UsageError
from interlingua.media.need import MAX_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

    from interlingua.media.header import ImageHeader
    from interlingua.media.need import Recipe

__all__ = ["Converted", "can_convert", "convert"]

JPEG, PNG, WEBP = "image/jpeg", "image/png", "image/webp"
LOSSLESS = frozenset({PNG, "image/gif", "image/bmp", "image/tiff"})
"""Formats in which pixels are told exactly, as a rule."""
READERS = {JPEG: "JPEG", PNG: "PNG", WEBP: "WEBP", "image/gif": "GIF", "image/bmp": "BMP", "image/tiff": "TIFF"}
"""Pillow's names of the formats that it reads everywhere."""
AVIF = "image/avif"
QUALITIES = (90, 80, 70, 58, 45, 32)
"""The qualities that are tried, best first."""
SHRINKING = 0.75
"""The factor of a side where the last step is still too large."""
LEAST_SIDE_PX = 16
"""A longest side that is not gone below."""


class Converted(NamedTuple):
    """An image that was made into another one."""

    data: bytes
    """The file."""
    media_type: str
    """Its MIME type."""
    entries: tuple[tuple[str, str], ...]
    """The changes: codes of `CODES` with their details."""


@lru_cache(maxsize=32)
def can_convert(media_type: str) -> bool:
    """Whether what is installed here reads images of a type."""
    if find_spec("PIL") is None:
        return False
    if media_type == AVIF:
        from PIL import features  # only this format may be missing from Pillow

        return bool(features.check("avif"))
    return media_type in READERS or find_spec("pillow_heif") is not None


def convert(data: bytes, header: ImageHeader, recipe: Recipe) -> Converted:
    """The image as the recipe wants it.

    Raises: UsageError for a file that cannot be decoded.
    """
    try:
        return _Conversion(header, recipe).run(data)
    except Exception as error:  # decoders raise whatever they like on broken bytes, and all of it means the same
        raise UsageError(f"the {header.media_type} file cannot be decoded ({type(error).__name__}: {error})") from error


class _Conversion:
    """One image on its way."""

    def __init__(self, header: ImageHeader, recipe: Recipe) -> None:
        self.header = header
        self.recipe = recipe
        self.entries: list[tuple[str, str]] = []

    def run(self, data: bytes) -> Converted:
        """All the steps."""
        from PIL.Image import Transpose

        image = _opened(data, self.header.media_type)
        if image.width * image.height > MAX_PIXELS:
            raise ValueError("it has more pixels than its header says")
        stored = image.size
        orientation = _orientation(image, self.header)
        if self.header.media_type == JPEG:
            image.draft(None, self._size(stored))
        image.load()
        profile: bytes | None = image.info.get("icc_profile")
        size = self._size(image.size if self.header.media_type != JPEG else stored)
        image = _resized(_resizable(image), size)
        image = self._in_srgb(image, profile)
        turns = {
            2: Transpose.FLIP_LEFT_RIGHT,
            3: Transpose.ROTATE_180,
            4: Transpose.FLIP_TOP_BOTTOM,
            5: Transpose.TRANSPOSE,
            6: Transpose.ROTATE_270,
            7: Transpose.TRANSVERSE,
            8: Transpose.ROTATE_90,
        }
        if orientation in turns:
            image = image.transpose(turns[orientation])
        if image.mode in ("LA", "RGBA") and image.getchannel("A").getextrema() == (255, 255):
            image = image.convert(image.mode.removesuffix("A"))  # the transparency says nothing
        orientation = orientation if orientation != 1 else self.header.orientation
        if orientation != 1:
            self.entries.append(("image_turned", f"orientation {orientation}"))
        if self.header.animated:
            self.entries.append(("image_still", "its first frame or page"))
        if sorted(stored) != sorted(image.size):
            upright = stored if (stored[0] >= stored[1]) == (image.size[0] >= image.size[1]) else stored[::-1]
            self.entries.append(
                ("image_resized", f"{upright[0]} x {upright[1]} px are {image.size[0]} x {image.size[1]} px")
            )
        if self.header.bits > 8:
            self.entries.append(("image_transcoded", f"{self.header.bits} bits a channel are sent as 8"))
        return self._written(image)

    def _size(self, size: tuple[int, int]) -> tuple[int, int]:
        """The size that is taken, with the same proportions."""
        width, height = size
        side, pixels = self.recipe.side_px, self.recipe.pixels
        factor = min(1.0, (side or math.inf) / max(size), math.sqrt((pixels or math.inf) / (width * height)))
        return (max(1, int(width * factor + 1e-6)), max(1, int(height * factor + 1e-6)))

    def _in_srgb(self, image: Image, profile: bytes | None) -> Image:
        """The image in gray or sRGB, with alpha where it has some."""
        if profile is not None and b"sRGB" not in profile:
            converted = _by_profile(image, profile)
            if converted is not None:
                self.entries.append(("image_transcoded", "the colours of its profile are told in sRGB"))
                return converted
        if image.mode == "CMYK":
            self.entries.append(("image_transcoded", "CMYK is sent as RGB"))
            return image.convert("RGB")
        return image

    # Writing

    def _written(self, image: Image) -> Converted:
        image.info = {}  # writers would take metadata from here
        most = self.recipe.max_bytes
        for place, (data, kind, detail) in enumerate(self._smaller(image)):
            if most is not None and len(data) > most:
                continue
            if place:
                self.entries.append(("image_compressed", f"{detail}, to have at most {most:,} bytes"))
            if kind != self.header.media_type:
                self.entries.append(("image_transcoded", f"{self.header.media_type} is sent as {kind}"))
            return Converted(data, kind, tuple(self.entries))
        raise ValueError(f"it cannot be brought under {most:,} bytes")

    def _smaller(self, image: Image) -> Iterator[tuple[bytes, str, str]]:
        """The file in every form that is worth trying, best first, each with its type and what to say of it."""
        types, own = self.recipe.types, self.header.media_type
        is_clear = image.mode in ("LA", "RGBA")
        small = WEBP if WEBP in types and (is_clear or JPEG not in types or own == WEBP) else JPEG
        if (own in LOSSLESS or (is_clear and small == JPEG)) and PNG in types:
            yield _saved(image, PNG), PNG, "lossless"
        for quality in QUALITIES:
            yield self._lossy(image, small, quality), small, f"quality {quality}"
        while max(image.size) * SHRINKING >= LEAST_SIDE_PX:
            image = _resized(image, (_shrunk(image.width), _shrunk(image.height)))
            yield self._lossy(image, small, QUALITIES[3]), small, f"{image.width} x {image.height} px"

    def _lossy(self, image: Image, kind: str, quality: int) -> bytes:
        if kind == WEBP:
            return _saved(image, WEBP, quality=quality)
        # Screens and drawings suffer from colours at half the resolution.
        exact = self.header.media_type in LOSSLESS and quality >= QUALITIES[1]
        if image.mode in ("LA", "RGBA"):
            from PIL import Image

            clear = image.convert("RGBA")
            ground = Image.new("RGBA", clear.size, (255, 255, 255, 255))
            ground.alpha_composite(clear)
            image = ground.convert("RGB")
        return _saved(image, JPEG, quality=quality, subsampling=0 if exact else 2)


def _opened(data: bytes, media_type: str) -> Image:
    """The image, decoded as late as its format allows."""
    from PIL import Image

    if media_type in READERS or media_type == AVIF:
        return Image.open(io.BytesIO(data), formats=[READERS.get(media_type, "AVIF")])
    from pillow_heif import open_heif  # pyright: ignore[reportUnknownVariableType]  # the package has no types

    picture = open_heif(data)
    if picture.size[0] * picture.size[1] > MAX_PIXELS:
        raise ValueError("it has more pixels than its header says")
    return picture.to_pillow()


def _orientation(image: Image, header: ImageHeader) -> int:
    """How the decoded pixels are to be turned: some decoders do it themselves."""
    match header.media_type:
        case "image/jpeg" | "image/png" | "image/webp":
            return header.orientation
        case "image/avif":
            return int(image.getexif().get(0x0112, 1))
        case _:
            return 1


def _resizable(image: Image) -> Image:
    """The image in a mode whose pixels can be mixed."""
    if "transparency" in image.info or image.mode in ("PA", "RGBa", "La"):
        return image.convert("RGBA")
    if image.mode.startswith("I;16"):
        from PIL import Image

        raw = image.tobytes()
        # The upper half of 16 bits of gray.
        return Image.frombytes("L", image.size, raw[0 if image.mode == "I;16B" else 1 :: 2])
    match image.mode:
        case "1":
            return image.convert("L")
        case "I" | "F":
            # Gray of 32 bits is brought to the range of one byte.
            _, most = image.getextrema()
            high = float(str(most))
            tops = (1.0, 255.0, 65535.0) if image.mode == "F" else (255.0, 65535.0)
            factor = 255.0 / next((top for top in tops if high <= top), high)
            return image.point(lambda value: value * factor).convert("L")
        case "L" | "LA" | "RGB" | "RGBA" | "CMYK":
            return image
        case _:
            return image.convert("RGB")


def _resized(image: Image, size: tuple[int, int]) -> Image:
    from PIL import Image

    if image.size == size:
        return image
    # reduced by whole numbers first: quick, and no second image of the full size
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _shrunk(side: int) -> int:
    return max(1, int(side * SHRINKING))


def _by_profile(image: Image, profile: bytes) -> Image | None:
    """The image in sRGB by its colour profile; None where the profile is broken or not for such an image."""
    from PIL import ImageCms

    alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
    colours = image.convert(image.mode.removesuffix("A")) if alpha is not None else image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # the same
        converted = ImageCms.profileToProfile(colours, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return None
    if converted is not None and alpha is not None:
        converted.putalpha(alpha)
    return converted


def _saved(image: Image, media_type: str, **options: int) -> bytes:
    written = io.BytesIO()
    image.save(written, READERS[media_type], **options)
    return written.getvalue()
