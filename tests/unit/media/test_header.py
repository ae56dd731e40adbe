"""The header reader: exact values for every format, and no bytes that make it raise, wander or dawdle."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.media.header import ImageHeader, read_header
from tests.support.cells import cells
from tests.support.pictures import ACCEPTED, BOMBS, png_chunk
from tests.support.steps import steps_of

MADE = {name: make for made in ACCEPTED.values() for name, make in made.items()}
MOST_STEPS = 1_600_000
"""Twice what the worst file takes; a loop over each byte of a megabyte takes ten times as many as it has bytes."""


@cache
def made(name: str) -> bytes:
    """A picture, made once."""
    return MADE[name]()


class Watched(bytes):
    """Bytes that refuse to be read at a place before their beginning."""

    def __getitem__(self, key: Any) -> Any:
        """The slice or byte; AssertionError for a negative place."""
        places: list[int | None] = [getattr(key, "start", 0), getattr(key, "stop", key)]
        assert all(place is None or place >= 0 for place in places)
        return cast("Any", bytes.__getitem__(self, key))


class Weighed(bytes):
    """Bytes that know how many of them were taken out."""

    taken = 0

    def __getitem__(self, key: Any) -> Any:
        """The slice or byte."""
        found = cast("Any", bytes.__getitem__(self, key))
        self.taken += len(found) if isinstance(key, slice) else 1
        return found


def said(name: str) -> dict[str, Any]:
    """The members of a header that are not what they are by default, without its type and size."""
    header = read_header(made(name))
    assert header is not None
    plain = ImageHeader(media_type=header.media_type, width=header.width, height=header.height)
    return {
        field: getattr(header, field)
        for field in ImageHeader.__struct_fields__
        if getattr(header, field) != getattr(plain, field)
    }


@cells("orientation", range(1, 9))
@cells("kind", ["jpeg", "png", "webp", "tiff"])
def test_sizes_and_turns(kind: str, orientation: int) -> None:
    """Width and height are those that are stored; the turn is what Exif says."""
    header = read_header(made(f"{kind}-orientation-{orientation}"))
    assert header is not None
    assert (header.media_type, header.fault) == (f"image/{kind}", "")
    assert (header.width, header.height) == ((120, 80) if orientation < 5 else (80, 120))
    assert header.orientation == orientation


@pytest.mark.parametrize("kind", ["heic", "avif"])
def test_boxes_turn_in_the_decoder(kind: str) -> None:
    """HEIC and AVIF have their turn in the picture: the size is the stored one, and Exif is not asked."""
    for orientation, size in ((1, (120, 80)), (6, (80, 120))):
        header = read_header(made(f"{kind}-orientation-{orientation}"))
        assert header is not None
        assert (header.media_type, header.width, header.height) == (f"image/{kind}", *size)
        assert (header.orientation, header.fault, header.bits) == (1, "", 8)


@cells(
    ("name", "members"),
    [
        ("jpeg-orientation-1", {}),
        ("jpeg-progressive", {"progressive": True}),
        ("jpeg-gray", {"colour": "gray"}),
        ("jpeg-cmyk", {"colour": "cmyk"}),
        ("jpeg-profile", {"profile": True}),
        ("png-alpha", {"alpha": True}),
        ("png-palette", {"colour": "palette"}),
        ("png-16-bits", {"bits": 16}),
        ("png-gray-16-bits", {"bits": 16, "colour": "gray"}),
        ("png-profile", {"profile": True}),
        ("png-animated", {"animated": True}),
        ("gif", {"colour": "palette"}),
        ("gif-animated", {"colour": "palette", "animated": True, "alpha": True}),
        ("webp-lossless", {}),
        ("webp-alpha", {"alpha": True}),
        ("webp-animated", {"animated": True}),
        ("webp-profile", {"profile": True}),
        ("avif-alpha", {"alpha": True}),
        ("avif-animated", {"animated": True}),
        ("heic-alpha", {"alpha": True}),
        ("tiff-lzw", {}),
        ("tiff-cmyk", {"colour": "cmyk"}),
        ("tiff-palette", {"colour": "palette"}),
        ("tiff-pages", {"animated": True}),
        ("tiff-alpha", {"alpha": True}),
        ("tiff-gray-16-bits", {"bits": 16, "colour": "gray"}),
        ("tiff-float", {"bits": 32, "colour": "gray"}),
        ("bmp", {}),
        ("bmp-palette", {"colour": "palette"}),
        ("bmp-32", {"alpha": True}),
    ],
)
def test_what_a_file_says_of_itself(name: str, members: dict[str, Any]) -> None:
    """Frames, transparency, depth, colours, profile: what the file says, and nothing else."""
    assert said(name) == members


@pytest.mark.parametrize(
    ("name", "size"),
    [("png-1x1", (1, 1)), ("png-30000x1", (30_000, 1)), ("jpeg-1x30000", (1, 30_000)), ("heic-17x33", (64, 64))],
)
def test_odd_sizes(name: str, size: tuple[int, int]) -> None:
    """From one pixel to a line of thirty thousand; of HEIC it is what is coded, before it is cropped."""
    header = read_header(made(name))
    assert header is not None
    assert (header.width, header.height, header.pixels) == (*size, size[0] * size[1])


@pytest.mark.parametrize("data", [b"", b"\x00" * 64, b"just text", b"%PDF-1.7", b"RIFF\x00\x00\x00\x00WAVEfmt "])
def test_what_is_no_image_has_no_header(data: bytes) -> None:
    """Neither has nothing at all."""
    assert read_header(data) is None


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\xff\xd8\xff", "cut"),
        (b"\xff\xd8\xff\xd9", "broken"),
        (b"\xff\xd8\xff\xe0\x00\x01\x00\x00", "broken"),
        (b"\x89PNG\r\n\x1a\n", "cut"),
        (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IDAT", bytes(13)), "broken"),
        (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 9, 0, 0, 0])), "broken"),
        (b"GIF89a\x01", "cut"),
        (b"GIF89a" + bytes(7), "broken"),
        (b"RIFF\x10\x00\x00\x00WEBPXXXX" + bytes(8), "broken"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 \x04\x00\x00\x00\x00", "cut"),
        (b"BM" + bytes(12) + b"\x28\x00\x00\x00", "cut"),
        (b"II*\x00\xff\xff\xff\x7f", "cut"),
        (b"MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00", "broken"),
        (b"\x00\x00\x00\x14ftypheic\x00\x00\x00\x00mif1", "cut"),
        (b"\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x00\x00\x00\x0cmeta\x00\x00\x00\x00", "broken"),
        (b"\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x00\x00\x00\x02meta", "broken"),
    ],
)
def test_faults(data: bytes, fault: str) -> None:
    """A file that ends too early is cut; one whose pieces are not those of its format is broken."""
    header = read_header(data)
    assert header is not None
    assert header.fault == fault


@pytest.mark.parametrize(
    "name", ["jpeg-orientation-1", "png-orientation-1", "gif", "webp-orientation-1", "bmp", "heic-alpha", "avif-alpha"]
)
def test_every_beginning_of_a_file_is_cut(name: str) -> None:
    """Wherever a file ends before its end, the header says so, once there is enough of it to tell what it is."""
    whole = made(name)
    for end in {*range(24, 200), *range(200, len(whole) - 1, 97)}:
        header = read_header(whole[: min(end, len(whole) - 4)])
        assert header is not None
        assert header.fault == "cut", end


def test_a_transparent_colour_of_a_png_is_transparency() -> None:
    """A chunk of its own says so; a film of one picture is none."""
    whole = made("png-palette")
    at = whole.index(b"IDAT") - 4
    header = read_header(
        whole[:at] + png_chunk(b"tRNS", b"\x00") + png_chunk(b"acTL", bytes([0, 0, 0, 1, 0, 0, 0, 0])) + whole[at:]
    )
    assert header is not None
    assert (header.colour, header.alpha, header.animated, header.fault) == ("palette", True, False, "")


def test_an_old_bmp_has_small_numbers() -> None:
    """The header of OS/2 has two bytes for a side."""
    data = b"BM" + bytes(8) + b"\x1a\x00\x00\x00" + b"\x0c\x00\x00\x00" + struct.pack("<HHHH", 3, 2, 1, 24) + bytes(24)
    header = read_header(data)
    assert header == ImageHeader(media_type="image/bmp", width=3, height=2)


def test_boxes_have_long_sizes_and_none() -> None:
    """Eight bytes where the size is 1, to the end of the file where it is 0; a profile is one of its properties."""
    ispe = b"\x00\x00\x00\x14ispe" + struct.pack(">III", 0, 7, 8)
    colr = b"\x00\x00\x00\x10colrprof" + bytes(4)
    ipco = struct.pack(">I", 8 + len(ispe + colr)) + b"ipco" + ispe + colr
    iprp = b"\x00\x00\x00\x00iprp" + ipco
    meta = b"\x00\x00\x00\x01meta" + struct.pack(">Q", 20 + len(iprp)) + bytes(4) + iprp
    header = read_header(b"\x00\x00\x00\x10ftypheic" + bytes(4) + meta)
    assert header == ImageHeader(media_type="image/heic", width=7, height=8, profile=True)


def test_a_first_frame_decides_the_size_of_a_gif() -> None:
    """A frame beyond the screen counts: decoders make room for it."""
    data = b"GIF89a" + struct.pack("<HHBBB", 4, 4, 0, 0, 0) + b"\x2c" + struct.pack("<HHHHB", 6, 7, 10, 20, 0)
    header = read_header(data + b"\x02\x01\x00\x00;")
    assert header is not None
    assert (header.width, header.height, header.fault) == (16, 27, "")


@cells("name", sorted({*MADE, *BOMBS}))
def test_nothing_before_the_beginning_is_read(name: str) -> None:
    """No place is ever negative, which Python would take from the end."""
    data = MADE[name]() if name in MADE else BOMBS[name]()
    assert read_header(Watched(data)) == read_header(data)


BEGINNINGS = sorted({made(name)[:length] for name in MADE for length in (12, 18, 32) if "30000" not in name})


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=600))
def test_no_bytes_make_it_raise(beginning: bytes, rest: bytes) -> None:
    """Whatever follows a beginning, there is a header with a size of its own or with a fault."""
    header = read_header(Watched(beginning + rest))
    assert header is None or header.fault or header.pixels > 0


@given(st.sampled_from(sorted(name for name in MADE if "30000" not in name and "9000" not in name)), st.data())
def test_no_damage_makes_it_raise(name: str, data: st.DataObject) -> None:
    """A real file with some bytes of others in it is read to a header, too."""
    damaged = bytearray(made(name))
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, min(len(damaged), 400) - 1))] = data.draw(st.integers(0, 255))
    header = read_header(Watched(bytes(damaged)))
    assert header is None or header.fault or header.pixels > 0


MANY = 1_000_000
ENDLESS = {
    "jpeg of fill bytes": b"\xff\xd8" + b"\xff" * MANY,
    "jpeg of small segments": b"\xff\xd8" + b"\xff\xe5\x00\x02" * (MANY // 4),
    "jpeg of restart markers": b"\xff\xd8" + b"\xff\xd0" * (MANY // 2),
    "jpeg without an end": made("jpeg-orientation-1")[:-2] + b"\x00" * MANY,
    "png of empty chunks": made("png-orientation-1")[:33] + png_chunk(b"tEXt", b"") * (MANY // 12),
    "gif of small blocks": b"GIF89a" + bytes([1, 0, 1, 0, 0, 0, 0]) + b"\x21\xfe" + b"\x01\x00" * (MANY // 2),
    "gif of one-byte pieces": b"GIF89a" + bytes([1, 0, 1, 0, 0, 0, 0]) + b"\x21\xfe" + b"\x01" * MANY,
    "webp of empty chunks": (
        b"RIFF\xff\xff\xff\xffWEBPVP8X\x0a\x00\x00\x00\x08" + bytes(9) + b"ALPH\x00\x00\x00\x00" * (MANY // 8)
    ),
    "boxes of nothing": b"\x00\x00\x00\x10ftypheic\x00\x00\x00\x00" + b"\x00\x00\x00\x08free" * (MANY // 8),
    "boxes in boxes": b"\x00\x00\x00\x10ftypavif\x00\x00\x00\x00" + struct.pack(">I", MANY) + b"meta" + bytes(4)
    + (struct.pack(">I", 16) + b"iprp" + b"\x00\x00\x00\x08ipco") * (MANY // 16),
    "tiff of tags": b"II*\x00\x08\x00\x00\x00\xff\xff" + struct.pack("<HHII", 256, 3, 1, 1) * 65_535,
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_no_bytes_make_it_slow(name: str) -> None:
    """Files of a megabyte and more that are made of nothing but pieces are given up after few steps, and read once."""
    data = Weighed(ENDLESS[name])
    assert steps_of(lambda: read_header(data)) < MOST_STEPS
    assert data.taken < 3 * len(data)  # in two runs


def test_a_tag_of_no_known_type_may_be_cut_off_behind_its_type() -> None:
    """A header is whole where only the count and the value of such a tag are missing: neither is read."""
    sizes = struct.pack("<HHIHHHHIHH", 256, 3, 1, 7, 0, 257, 3, 1, 5, 0)
    file = b"II*\x00\x08\x00\x00\x00" + struct.pack("<H", 3) + sizes + struct.pack("<HH", 258, 5)
    assert read_header(file) == ImageHeader(media_type="image/tiff", width=7, height=5, bits=0, colour="gray")
