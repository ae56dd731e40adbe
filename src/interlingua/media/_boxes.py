"""Headers of HEIC and AVIF: boxes in boxes (ISO base media format)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.media._bytes import Broken, Cut, number, sized

__all__ = ["read_boxes"]

MAX_BOXES = 1_024
"""How many boxes of one level are walked over."""
_MOVING = frozenset({b"avis", b"msf1", b"hevc", b"hevx"})
_ALPHA = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\x00"
_HEVC_ALPHA = b"urn:mpeg:hevc:2015:auxid:1\x00"


def read_boxes(data: bytes) -> dict[str, Any]:
    """The header of a HEIC or AVIF file: of its largest picture, since tiles and previews have sizes, too.

    The size is the one before the picture is cropped. The turn of such a file is part of the picture, not of its Exif
    block: whoever decodes it, turns it.

    Raises: Broken, Cut.
    """
    facts: dict[str, Any] = {}
    sizes: list[tuple[int, int]] = []
    last, complete = 0, False
    for name, start, end in _boxes(data, 0, len(data)):
        last = end
        if name == b"ftyp":
            facts["animated"] = data[start : start + 4] in _MOVING
        elif name == b"meta":
            complete = end <= len(data)
            for properties in _inside(data, start + 4, end, b"iprp", b"ipco"):
                _read_properties(data, properties, facts, sizes)
        elif name == b"moov":
            # The sizes that tracks of a moving picture say, 16 bits before the point.
            for _, track_end in _inside(data, start, end, b"trak", b"tkhd"):
                sizes.append((number(data, track_end - 8, 4) >> 16, number(data, track_end - 4, 4) >> 16))
    if not sizes:
        raise Broken if complete else Cut
    width, height = max(sizes, key=_area)
    return {**sized(width, height), **facts, **({"fault": "cut"} if last > len(data) else {})}


def _area(size: tuple[int, int]) -> int:
    return size[0] * size[1]


def _boxes(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes between two places: name, where the content begins, where it ends; the last may end too late."""
    for _ in range(MAX_BOXES):
        if at + 8 > min(end, len(data)):
            return
        size, head = number(data, at, 4), 8
        if size == 1 and at + 16 <= len(data):
            size, head = number(data, at + 8, 8), 16
        if size == 0:
            size = end - at
        if size < head:
            raise Broken
        yield data[at + 4 : at + 8], at + head, at + size
        at += size


def _inside(data: bytes, start: int, end: int, *names: bytes) -> Iterator[tuple[int, int]]:
    """Content of the boxes that are reached by these names, one in the other."""
    if not names:
        yield start, end
        return
    for name, inner_start, inner_end in _boxes(data, start, end):
        if name == names[0]:
            yield from _inside(data, inner_start, inner_end, *names[1:])


def _read_properties(data: bytes, place: tuple[int, int], facts: dict[str, Any], sizes: list[tuple[int, int]]) -> None:
    for name, start, end in _boxes(data, *place):
        match name:
            case b"ispe":
                sizes.append((number(data, start + 4, 4), number(data, start + 8, 4)))
            case b"pixi" if data[start + 4 : start + 5] != b"\x00":
                facts["bits"] = number(data, start + 5, 1)
            case b"auxC" if data[start + 4 : end].startswith((_ALPHA, _HEVC_ALPHA)):
                facts["alpha"] = True
            case b"colr" if data[start : start + 4] in (b"prof", b"rICC"):
                facts["profile"] = True
            case _:
                pass
