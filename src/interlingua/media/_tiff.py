"""Directories of tags: those of a TIFF file, and those in which Exif says how an image is to be turned."""

from __future__ import annotations

from typing import Any, Literal

from interlingua.media._bytes import Broken, Cut, number, sized

__all__ = ["orientation_of", "read_tiff"]

MAX_ENTRIES = 512
"""How many tags of one directory are looked at."""

_WIDTH, _HEIGHT, _BITS, _PHOTOMETRIC, _ORIENTATION, _SAMPLES = 256, 257, 258, 262, 274, 277
_TILE_WIDTH, _TILE_HEIGHT, _EXTRA_SAMPLES, _PROFILE = 322, 323, 338, 34675
_WANTED = frozenset({
    _WIDTH, _HEIGHT, _BITS, _PHOTOMETRIC, _ORIENTATION, _SAMPLES, _TILE_WIDTH, _TILE_HEIGHT, _EXTRA_SAMPLES, _PROFILE,
})  # fmt: skip
_SIZES = {1: 1, 3: 2, 4: 4, 7: 1}
"""Bytes of one value, by its type: byte, short, long, undefined."""
_COLOURS = {0: "gray", 1: "gray", 2: "rgb", 3: "palette", 5: "cmyk", 6: "rgb"}
_ALPHA = frozenset({1, 2})
_UPRIGHT = 1


def orientation_of(data: bytes, start: int, end: int) -> int:
    """The orientation that the Exif block in these bounds says; 1 where it says none or is broken."""
    try:
        orientation = _directory(data[start:end])[0].get(_ORIENTATION, _UPRIGHT)
    except (Broken, Cut):
        return _UPRIGHT
    return orientation if 1 <= orientation <= 8 else _UPRIGHT


def read_tiff(data: bytes) -> dict[str, Any]:
    """The header of a TIFF file, of its first page; a tile that is larger than the image counts as its size.

    Raises: Broken, Cut.
    """
    tags, further = _directory(data)
    if _WIDTH not in tags or _HEIGHT not in tags:
        raise Broken
    orientation = tags.get(_ORIENTATION, _UPRIGHT)
    return {
        **sized(max(tags[_WIDTH], tags.get(_TILE_WIDTH, 0)), max(tags[_HEIGHT], tags.get(_TILE_HEIGHT, 0))),
        "orientation": orientation if 1 <= orientation <= 8 else _UPRIGHT,
        "animated": further,
        "alpha": tags.get(_EXTRA_SAMPLES) in _ALPHA,
        "bits": tags.get(_BITS, 1),
        "colour": _COLOURS.get(tags.get(_PHOTOMETRIC, 1), "other"),
        "profile": _PROFILE in tags,
    }


def _directory(data: bytes) -> tuple[dict[int, int], bool]:
    """The first value of each wanted tag of the first directory, and whether another directory follows."""
    orders: dict[bytes, Literal["little", "big"]] = {b"II*\x00": "little", b"MM\x00*": "big"}
    order = orders.get(data[:4])
    if order is None:
        raise Broken
    place = number(data, 4, 4, order)
    count = number(data, place, 2, order)
    tags: dict[int, int] = {}
    for entry in range(min(count, MAX_ENTRIES)):
        at = place + 2 + 12 * entry
        tag = number(data, at, 2, order)
        if tag not in _WANTED:
            continue
        size = _SIZES.get(number(data, at + 2, 2, order), 0)
        if size == 0:
            tags[tag] = 0  # its count and its value are not read, so that they may be cut off
            continue
        # The values are in the entry itself where all of them have room there, else where it points to.
        room = number(data, at + 4, 4, order) * size <= 4
        tags[tag] = number(data, at + 8 if room else number(data, at + 8, 4, order), size, order)
    end = place + 2 + 12 * count
    return tags, end + 4 <= len(data) and number(data, end, 4, order) != 0
