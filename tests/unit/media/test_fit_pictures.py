"""Every picture against every target: taken, upright, the right colours; what is broken is refused, bombs at once."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import pytest
from PIL import Image, ImageCms

import interlingua as il
from interlingua.media.fit import plan_media
from interlingua.registry.endpoint import Endpoint
from interlingua.registry.resolve import Registry
from interlingua.types.request import Request
from tests.support.cells import cells
from tests.support.pictures import ACCEPTED, BOMBS, FAULTY, difference, gray_reference, reference
from tests.support.steps import steps_of

pytest.importorskip("pillow_heif")

FOUR = {"PNG", "JPEG", "WEBP", "GIF"}
MEBIBYTE = 1024 * 1024
TARGETS: dict[str, tuple[set[str], int, int]] = {
    "anthropic/claude-opus-4-5": (FOUR, 8_000, 5 * MEBIBYTE * 3 // 4),
    "anthropic/claude-opus-5": (FOUR, 8_000, 5 * MEBIBYTE * 3 // 4),
    "openai/gpt-5.5": (FOUR, 100_000, 20_000_000),
    "openai-chat/gpt-4.1": (FOUR, 100_000, 20_000_000),
    "google/gemini-2.5-pro": ({"PNG", "JPEG", "WEBP", "HEIF"}, 100_000, 100_000_000),
    "gemini-compat/gemini-2.5-pro": ({"PNG", "JPEG", "WEBP"}, 100_000, 100_000_000),
    "ollama/llava": ({"PNG", "JPEG", "WEBP"}, 100_000, 100_000_000),
    "groq/llama-4-scout": (FOUR, 100_000, 600_000),
    "mistral/pixtral-large": (FOUR, 100_000, 10_000_000),
    "xai/grok-4": ({"PNG", "JPEG"}, 100_000, 20 * MEBIBYTE),
    "fireworks/qwen-vl": ({"PNG", "JPEG", "GIF", "BMP", "TIFF"}, 100_000, 7_500_000),
    "llamacpp/any": ({"PNG", "JPEG", "BMP"}, 100_000, 100_000_000),
    "lmstudio/any": ({"PNG", "JPEG", "WEBP"}, 100_000, 100_000_000),
    "together/unknown": (FOUR, 100_000, 100_000_000),
}
"""Target -> the formats that its documentation names, the longest side, the largest file; written down a second time,
by hand, so that a slip in the table shows."""
PICTURES = [(kind, name) for kind, made in ACCEPTED.items() for name in made]
REGISTRY = Registry(environ={})


@cache
def picture(kind: str, name: str) -> bytes:
    """A picture, made once."""
    return ACCEPTED[kind][name]()


@cache
def endpoint(spec: str) -> Endpoint:
    """The endpoint of a target."""
    return REGISTRY.resolve(spec)[0]


def told(data: bytes, spec: str, **members: Any) -> tuple[il.ImagePart, tuple[il.Change, ...]]:
    """The image as the target gets it, and what was changed."""
    request = Request(messages=(il.user("Look.", il.image(data, **members)),))
    plan = plan_media(request, endpoint(spec))
    fitted, changes = (request, ()) if plan is None else plan.run()
    part = fitted.messages[0].parts[1]
    assert isinstance(part, il.ImagePart)
    return part, changes


def opened(data: bytes) -> Image.Image:
    """The picture as a service sees it: by its colour profile if it has one, never by Exif; HEIC turns itself."""
    if data[4:8] == b"ftyp" and b"avif" not in data[:32]:
        import pillow_heif

        image = pillow_heif.open_heif(data).to_pillow()  # pyright: ignore[reportUnknownMemberType]
        image.format = "HEIF"
        return image
    image = Image.open(io.BytesIO(data))
    profile = image.info.get("icc_profile")
    if profile is None:
        return image
    given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    managed = ImageCms.profileToProfile(image, given, srgb, outputMode="RGB")
    assert managed is not None
    managed.format = image.format
    return managed


def test_there_are_enough_pictures() -> None:
    """Sixty and more that are taken; each with a format, a turn or a colour of its own."""
    assert len(PICTURES) >= 60
    assert len(PICTURES) + len(FAULTY) + len(BOMBS) >= 90


@pytest.mark.parametrize(("kind", "name"), PICTURES, ids=[name for _, name in PICTURES])
@cells("spec", TARGETS)
def test_r44_every_target_gets_what_it_takes(kind: str, name: str, spec: str) -> None:
    """The format is one that the target takes, within its limits, upright, and the picture is still the picture."""
    formats, side, size = TARGETS[spec]
    part, changes = told(picture(kind, name), spec)
    image = opened(part.data)
    assert image.format in formats
    assert part.media_type == f"image/{image.format.lower()}".replace("heif", "heic")
    assert max(image.size) <= side
    assert len(part.data) <= size
    assert image.getexif().get(0x0112, 1) == 1
    assert {change.stage for change in changes} <= {"media"}
    _assert_shows(kind, image)


def _assert_shows(kind: str, image: Image.Image) -> None:
    wanted = gray_reference if kind == "gray" else reference
    if kind != "clear":
        found = image if image.mode != "I;16" else Image.frombytes("L", image.size, image.tobytes()[1::2])
        assert difference(found, wanted(*image.size)) <= 8
        return
    if image.mode == "RGBA":
        left, right = (image.width // 4, image.height // 2), (image.width * 3 // 4, image.height // 2)
        assert [_alpha(image, place) for place in (left, right)] == pytest.approx([128, 255], abs=6)
    half = (image.width // 2 + 4, 0, image.width, image.height)
    assert difference(image.convert("RGB").crop(half), reference(*image.size).crop(half)) <= 8


def _alpha(image: Image.Image, place: tuple[int, int]) -> float:
    pixel = image.getpixel(place)
    assert isinstance(pixel, tuple)
    return pixel[3]


@cells("name", FAULTY)
@cells("spec", ["anthropic/claude-opus-5", "google/gemini-2.5-pro", "together/unknown"])
def test_r45_what_is_no_whole_picture_is_refused(name: str, spec: str) -> None:
    """The error names the place and what is wrong with the file, whichever target is asked."""
    part = il.ImagePart(FAULTY[name](), "image/png" if name in ("nothing", "text", "pdf") else "image/jpeg")
    request = Request(messages=(il.user(part),))
    with pytest.raises(il.UsageError, match=r"/messages/0/parts/0(: | \()the (image|file|image/[a-z]+ file) "):
        _fitted(request, spec)


def _fitted(request: Request, spec: str) -> None:
    plan = plan_media(request, endpoint(spec))
    assert plan is not None
    plan.run()


@pytest.mark.parametrize("spec", ["anthropic/claude-opus-5", "together/unknown"])
@pytest.mark.parametrize("name", BOMBS)
def test_sec_10_bombs_are_refused_by_their_header(name: str, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few thousand steps, and without a decoder being so much as opened."""
    part = il.ImagePart(BOMBS[name](), "image/png")
    request = Request(messages=(il.user(part),))
    opened: list[object] = []
    monkeypatch.setattr(Image, "open", opened.append)
    monkeypatch.setattr("pillow_heif.open_heif", opened.append)

    def refused() -> None:
        with pytest.raises(il.UsageError, match="64 megapixels are the most"):
            plan_media(request, endpoint(spec))

    assert steps_of(refused) < 10_000
    assert opened == []


def test_sec_10_the_bound_is_64_megapixels() -> None:
    """An image of exactly that many pixels is looked at further; with one more row it is refused for its size."""
    for height, told in ((8_000, "cut off"), (8_001, r"8,000 x 8,001 pixels, and 64 megapixels")):
        bmp = BOMBS["bmp"]()
        data = bmp[:18] + (8_000).to_bytes(4, "little") + height.to_bytes(4, "little") + bmp[26:]
        with pytest.raises(il.UsageError, match=told):
            plan_media(Request(messages=(il.user(il.image(data)),)), endpoint("together/unknown"))
