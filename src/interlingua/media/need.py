"""The needs of one image before a target takes it: what must be done, and what should be.

Rules
- Over 64 megapixels, cut off, or not what it claims to be: refused, by the header alone, whoever is asked.
- What is within the target's limits stays byte for byte, so that the same image is always the same bytes.
- *Must*: a format that the target does not take, a side, an area or a size in bytes beyond its limits.
- *Should*: turning upright, since services differ in whether they read Exif; the colours of print, which few decoders
  tell right; the size that the target scales down to itself. Without the [media] extra these are left undone.
- `detail="full"` (or OpenAI's `original`) leaves the last of these alone. An image with sealed state is its issuer's
  own: only what must be done is done to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import UsageError
from interlingua.media.header import read_header
from interlingua.media.sniff import sniff
from interlingua.wire.media import media_type_of

if TYPE_CHECKING:
    from interlingua.media.header import ImageHeader
    from interlingua.providers.media_limits import MediaLimits
    from interlingua.types.content import ImagePart

__all__ = ["FULL", "KNOWN", "MAX_PIXELS", "Need", "Recipe", "header_of", "need_of", "plain_type"]

MAX_PIXELS = 64_000_000
"""The most pixels that an image may have."""
FULL = frozenset({"full", "original"})
"""Details that ask for every pixel that the target takes."""
_TURNED_BY_DECODERS = frozenset({"image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"})


class Recipe(NamedTuple):
    """All that decides which bytes an image becomes."""

    types: tuple[str, ...]
    """The formats that are taken."""
    side_px: int | None = None
    """The longest side."""
    pixels: int | None = None
    """The most pixels."""
    max_bytes: int | None = None
    """The largest file."""


class Need(NamedTuple):
    """The needs of one image."""

    header: ImageHeader
    """Its header."""
    recipe: Recipe
    """How it is converted, if it is."""
    must: bool
    """Whether the target would refuse it as it is."""
    should: bool
    """Whether it would be told better."""
    seen_otherwise: bool = False
    """Whether a target may see it turned or in wrong colours as it is."""


def header_of(part: ImagePart, path: str) -> ImageHeader | None:
    """The header of an image; None for a format that is not known here.

    Raises: UsageError for a file that is empty, cut off, broken, too large, or not of the format that it claims.
    """
    header = read_header(part.data)
    if header is None:
        if not part.data:
            raise UsageError(f"{path}: the image is empty")
        sniffed = sniff(part.data)
        if sniffed is not None and sniffed.kind != "image" and part.media_type.lower() != "image/svg+xml":
            raise UsageError(f"{path}: the image is {sniffed.media_type}; il.{sniffed.kind}(…) takes that")
        if plain_type(part.media_type) in KNOWN:
            raise UsageError(f"{path}: the file is said to be {part.media_type}, and its bytes are no image known here")
        return None
    if header.pixels > MAX_PIXELS:
        raise UsageError(
            f"{path}: the image has {header.width:,} x {header.height:,} pixels, and {MAX_PIXELS // 1_000_000} "
            "megapixels are the most that is taken; scale it down first"
        )
    if header.fault == "cut":
        raise UsageError(f"{path}: the {header.media_type} file is cut off, its end is missing; give the whole file")
    if header.fault == "broken" or header.pixels == 0:
        raise UsageError(f"{path}: the file begins like {header.media_type}, and is no image of that format")
    return header


KNOWN = frozenset({
    "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff", "image/heic", "image/heif",
    "image/avif",
})  # fmt: skip
"""Formats whose first bytes are known."""


def plain_type(media_type: str) -> str:
    """A MIME type in its usual spelling, without parameters."""
    return media_type_of(media_type).lower().partition(";")[0].strip()


def need_of(part: ImagePart, header: ImageHeader, limits: MediaLimits, most_px: int | None) -> Need:
    """The needs of an image; `most_px` is the longest side that is taken in this request."""
    free = part.sealed is None
    useful = limits.useful_side_px if free and part.detail not in FULL else None
    longest = max(header.width, header.height)
    max_bytes = limits.max_image_bytes
    if max_bytes is None and limits.max_request_bytes is not None:
        max_bytes = limits.max_request_bytes * 7 // 10  # where nothing else is said, of a file that is alone
    recipe = Recipe(
        types=tuple(sorted(limits.image_types)),
        side_px=min([side for side in (most_px, useful) if side is not None], default=None),
        pixels=limits.max_pixels,
        max_bytes=max_bytes,
    )
    must = (
        header.media_type not in limits.image_types
        or (header.animated and limits.animated is False)
        or (most_px is not None and longest > most_px)
        or (limits.max_pixels is not None and header.pixels > limits.max_pixels)
        or (recipe.max_bytes is not None and part.size_bytes > recipe.max_bytes)
    )
    turned = header.orientation != 1 and header.media_type not in _TURNED_BY_DECODERS
    otherwise = free and (turned or header.colour == "cmyk")
    large = useful is not None and longest > useful
    moving = free and header.animated and limits.animated is None
    return Need(header, recipe, must, otherwise or large or moving, otherwise)
