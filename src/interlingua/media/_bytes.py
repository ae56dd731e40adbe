"""Numbers in a file, read without ever leaving it."""

from __future__ import annotations

from typing import Literal

__all__ = ["Broken", "Cut", "number", "sized"]


class Cut(Exception):  # noqa: N818 - it says where reading stands, and never leaves this package
    """The bytes end before what is to be read."""


class Broken(Exception):  # noqa: N818 - the same
    """The bytes are not what the format says."""


def number(data: bytes, at: int, size: int, order: Literal["big", "little"] = "big") -> int:
    """The unsigned number of `size` bytes at a place.

    Raises: Cut beyond the end.
    """
    piece = data[at : at + size]
    if at < 0 or len(piece) < size:
        raise Cut
    return int.from_bytes(piece, order)


def sized(width: int, height: int) -> dict[str, int]:
    """Width and height as members of a header.

    Raises: Broken for an image without any pixels.
    """
    if width <= 0 or height <= 0:
        raise Broken
    return {"width": width, "height": height}
