"""Conversions: what is kept, what is told, lower qualities, and what is remembered."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest
from PIL import Image, ImageCms

import interlingua as il
from interlingua.media import convert as room
from interlingua.media._kept import ENTRY_BYTES, KeptImages
from interlingua.media.convert import Converted, convert
from interlingua.media.header import read_header
from interlingua.media.need import Recipe
from tests.support.pictures import ACCEPTED, difference, reference

pytest.importorskip("pillow_heif")

MADE = {name: make for made in ACCEPTED.values() for name, make in made.items()}
EVERY = ("image/jpeg", "image/png", "image/webp")


def converted(data: bytes, *types: str, **recipe: Any) -> tuple[Converted, Image.Image]:
    """What a conversion gives, and the picture in it."""
    header = read_header(data)
    assert header is not None
    found = convert(data, header, Recipe(types=types or EVERY, **recipe))
    return found, Image.open(io.BytesIO(found.data))


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    """A file of a picture."""
    written = io.BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def codes(found: Converted) -> list[str]:
    """The codes of what was changed."""
    return [code for code, _ in found.entries]


# Formats


@pytest.mark.parametrize(
    ("name", "types", "kind"),
    [
        ("bmp", EVERY, "image/png"),
        ("gif", EVERY, "image/png"),
        ("tiff-lzw", EVERY, "image/png"),
        ("heic-orientation-1", EVERY, "image/jpeg"),
        ("avif-orientation-1", EVERY, "image/jpeg"),
        ("avif-alpha", EVERY, "image/webp"),
        ("avif-alpha", ("image/jpeg", "image/png"), "image/png"),
        ("avif-alpha", ("image/jpeg",), "image/jpeg"),
        ("webp-orientation-6", EVERY, "image/webp"),
        ("webp-lossless", ("image/jpeg", "image/png"), "image/jpeg"),
        ("webp-alpha", ("image/jpeg", "image/png"), "image/png"),
        ("bmp", ("image/jpeg",), "image/jpeg"),
        ("bmp", ("image/webp",), "image/webp"),
        ("jpeg-orientation-1", ("image/png", "image/webp"), "image/webp"),
    ],
)
def test_the_format_that_fits_best(name: str, types: tuple[str, ...], kind: str) -> None:
    """Lossless stays lossless, photos become photos, transparency decides where formats differ in it."""
    found, image = converted(MADE[name](), *types)
    assert (found.media_type, Image.MIME[image.format or ""]) == (kind, kind)


def test_transparency_becomes_white_where_there_is_none() -> None:
    """A half-clear left side is half as dark."""
    _, image = converted(MADE["png-alpha"](), "image/jpeg")
    half = (4, 0, image.width // 2 - 4, image.height)
    ground = Image.new("RGB", image.size, "white")
    wanted = Image.blend(ground, reference(*image.size), 128 / 255)
    assert difference(image.crop(half), wanted.crop(half)) <= 8


def test_a_channel_of_transparency_that_says_nothing_is_left_out() -> None:
    """So that a solid picture can be a JPEG."""
    found, image = converted(saved(reference(40, 30).convert("RGBA"), "TIFF"))
    assert (found.media_type, image.mode) == ("image/png", "RGB")


def test_a_bit_is_told_exactly() -> None:
    """Black and white stay what they are."""
    bits = reference(40, 30).getchannel("R").convert("1")
    _, image = converted(saved(bits, "TIFF"))
    assert image.tobytes() == bits.convert("L").tobytes()


def test_a_transparent_colour_of_a_palette_is_kept() -> None:
    """GIF has one; PNG has it as a channel."""
    source = Image.new("P", (10, 10), 1)
    source.putpalette([255, 0, 0, 0, 255, 0])
    source.putpixel((0, 0), 0)
    _, image = converted(saved(source, "GIF", transparency=0))
    assert image.mode == "RGBA"
    assert [image.getpixel(place) for place in ((0, 0), (5, 5))] == [(255, 0, 0, 0), (0, 255, 0, 255)]


@pytest.mark.parametrize("top", [1.0, 255.0, 65_535.0, 3.0e6])
def test_numbers_become_gray(top: float) -> None:
    """The range of floating-point pixels is the one that holds them all."""
    source = Image.new("F", (2, 1))
    source.putpixel((0, 0), 0.0)
    source.putpixel((1, 0), top)
    _, image = converted(saved(source, "TIFF"))
    assert (image.mode, image.tobytes()) == ("L", b"\x00\xff")


# Metadata and colours


def test_no_metadata_are_left() -> None:
    """Neither Exif with its places, nor texts, nor a profile."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "a secret"
    for kind in ("JPEG", "PNG", "WEBP"):
        data = saved(reference(40, 30), kind, exif=exif, icc_profile=b"", comment=b"a secret")
        found, image = converted(data)
        assert b"secret" in data
        assert b"secret" not in found.data
        assert b"Exif" not in found.data
        assert len(image.getexif()) == 0


def test_a_profile_leaves_transparency_alone() -> None:
    """Colours are converted, the channel beside them is not."""
    clear = Image.open(io.BytesIO(MADE["png-alpha"]()))
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    found, image = converted(saved(clear, "TIFF", icc_profile=profile))
    assert (image.mode, image.getchannel("A").tobytes()) == ("RGBA", clear.getchannel("A").tobytes())
    assert codes(found) == ["image_transcoded", "image_transcoded"]


def test_a_broken_profile_is_left_out() -> None:
    """The colours are taken as they are."""
    found, image = converted(saved(reference(40, 30), "TIFF", icc_profile=b"no profile at all"))
    assert difference(image, reference(40, 30)) <= 1
    assert codes(found) == ["image_transcoded"]


def test_everything_that_was_done_is_told() -> None:
    """In the order in which it was done."""
    found, image = converted(MADE["tiff-orientation-6"](), "image/jpeg", side_px=60)
    assert image.size == (60, 40)
    assert found.entries == (
        ("image_turned", "orientation 6"),
        ("image_resized", "120 x 80 px are 60 x 40 px"),
        ("image_transcoded", "image/tiff is sent as image/jpeg"),
    )


# Sizes


@pytest.mark.parametrize(
    ("size", "recipe", "told"),
    [
        ((300, 200), {"side_px": 150}, (150, 100)),
        ((300, 200), {"side_px": 300}, (300, 200)),
        ((200, 300), {"side_px": 100}, (66, 100)),
        ((300, 200), {"pixels": 15_000}, (150, 100)),
        ((300, 200), {"side_px": 120, "pixels": 15_000}, (120, 80)),
        ((3_000, 1), {"side_px": 100}, (100, 1)),
        ((1, 3_000), {"pixels": 30}, (1, 300)),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_sizes_keep_their_proportions(
    kind: str, size: tuple[int, int], recipe: dict[str, int], told: tuple[int, int]
) -> None:
    """No side is shorter than a pixel, and nothing is made larger."""
    if recipe == {"pixels": 30}:
        told = (1, told[1])
    _, image = converted(saved(reference(*size), kind), **recipe)
    assert image.size == told


# Lower qualities


def noisy(width: int, height: int, kind: str = "PNG") -> bytes:
    """A file that does not compress well."""
    noise = Image.effect_noise((width, height), 90)
    return saved(Image.merge("RGB", [noise, noise, noise]), kind)


def clear(noise: Image.Image) -> Image.Image:
    """Noise that can be seen through here and there."""
    return Image.merge("RGBA", [noise, noise, noise, Image.effect_noise(noise.size, 60)])


@pytest.mark.parametrize("most", [200_000, 60_000, 20_000, 6_000, 2_000])
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_the_steps_end_under_the_limit(kind: str, most: int) -> None:
    """First lossless, then lower qualities, then sizes; each step is told."""
    data = noisy(300, 200, kind)
    found, image = converted(data, max_bytes=most)
    assert len(found.data) <= most
    assert max(image.size) <= 300
    if len(data) > most:
        assert "image_compressed" in codes(found)


def test_a_smaller_limit_never_makes_a_larger_file() -> None:
    """Each step is lower than the one before it."""
    data = noisy(200, 150)
    sizes = [len(converted(data, max_bytes=most)[0].data) for most in (300_000, 50_000, 25_000, 12_000, 6_000, 3_000)]
    assert sizes == sorted(sizes, reverse=True)


def test_a_clear_picture_stays_clear_at_every_step() -> None:
    """As WebP, where that is taken; else the ground is white."""
    data = saved(clear(Image.effect_noise((200, 150), 90)), "PNG")
    found, image = converted(data, max_bytes=20_000)
    assert (found.media_type, image.mode) == ("image/webp", "RGBA")
    found, image = converted(data, "image/jpeg", "image/png", max_bytes=20_000)
    assert (found.media_type, image.mode) == ("image/jpeg", "RGB")


def test_what_cannot_be_made_small_enough_is_an_error() -> None:
    """A hundred bytes hold no picture."""
    with pytest.raises(il.UsageError, match="it cannot be brought under 100 bytes"):
        converted(noisy(100, 100), max_bytes=100)


# Files that lie


def test_a_size_that_the_header_hides_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder's size counts, before it decodes."""
    monkeypatch.setattr(room, "MAX_PIXELS", 9_000)
    for name in ("png-palette", "heic-orientation-1"):
        with pytest.raises(il.UsageError, match="it has more pixels than its header says"):
            converted(MADE[name]())


def test_no_other_decoder_is_asked() -> None:
    """A file is what its header says, whatever else Pillow would make of it."""
    header = read_header(MADE["png-1x1"]())
    assert header is not None
    with pytest.raises(il.UsageError, match=r"^the image/png file cannot be decoded \(UnidentifiedImageError"):
        convert(MADE["bmp"](), header, Recipe(types=EVERY))


# What is remembered


def recipe_of(size: int) -> Recipe:
    """A recipe that differs from others."""
    return Recipe(types=EVERY, side_px=size)


def made_of(size: int) -> Converted:
    """A converted image of so many bytes."""
    return Converted(bytes(size), "image/png", ())


def test_what_was_converted_is_not_converted_again() -> None:
    """The same bytes and the same recipe give the same object."""
    kept = KeptImages()
    first = kept.get(b"a", recipe_of(1), lambda: made_of(10))
    assert kept.get(bytes([97]), recipe_of(1), lambda: pytest.fail("converted again")) is first
    assert kept.get(b"a", recipe_of(2), lambda: made_of(20)).data == bytes(20)
    assert kept.kept_bytes == 2 * ENTRY_BYTES + 30


def test_what_is_kept_is_bounded_in_bytes() -> None:
    """The longest unused goes first; what is larger than the bound is not kept at all."""
    kept = KeptImages(max_bytes=2 * ENTRY_BYTES + 100)
    for name in (b"a", b"b"):
        kept.get(name, recipe_of(1), lambda: made_of(40))
    kept.get(b"a", recipe_of(1), lambda: pytest.fail("converted again"))
    kept.get(b"c", recipe_of(1), lambda: made_of(40))
    assert kept.kept_bytes == 2 * ENTRY_BYTES + 80
    kept.get(b"a", recipe_of(1), lambda: pytest.fail("converted again"))
    assert kept.get(b"b", recipe_of(1), lambda: made_of(30)).data == bytes(30)
    assert kept.get(b"d", recipe_of(1), lambda: made_of(2_101)).data == bytes(2_101)
    assert kept.kept_bytes <= 2 * ENTRY_BYTES + 100


def test_a_failure_is_not_kept() -> None:
    """The next call tries again."""
    kept = KeptImages()

    def fail() -> Converted:
        raise il.UsageError("no")

    with pytest.raises(il.UsageError):
        kept.get(b"a", recipe_of(1), fail)
    assert kept.get(b"a", recipe_of(1), lambda: made_of(1)).data == b"\x00"


def test_many_threads_convert_few_images_at_a_time() -> None:
    """Two at once in one process; an image is made twice at most, where two begin with it at once."""
    kept = KeptImages(max_workers=2)
    lock = threading.Lock()
    now, most, done = 0, 0, 0
    go_on = threading.Event()

    def work() -> Converted:
        nonlocal now, most, done
        with lock:
            now, most, done = now + 1, max(most, now + 1), done + 1
        go_on.wait(0.02)
        with lock:
            now -= 1
        return made_of(1)

    threads = [threading.Thread(target=kept.get, args=(bytes([place % 3]), recipe_of(1), work)) for place in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most <= 2, done <= 6) == (True, True)
