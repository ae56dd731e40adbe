"""Data URLs, base64, and audio by its first bytes."""

from __future__ import annotations

import pytest

from interlingua.errors import DecodeError
from interlingua.wire.media import (
    audio_type,
    data_url,
    from_base64,
    image_type,
    is_base64,
    parse_data_url,
    text_data,
    to_base64,
)


@pytest.mark.parametrize("text", ["AA+/", "AA-_", " AA\n+/ ", "AA-/"])
def test_base64_of_either_alphabet(text: str) -> None:
    """White space means nothing."""
    assert from_base64(text) == b"\x00\x0f\xbf"


@pytest.mark.parametrize(
    ("text", "data"), [("", b""), ("AA==", b"\0"), ("AA", b"\0"), ("AAA=", b"\0\0"), ("AAA", b"\0\0")]
)
def test_base64_with_and_without_padding(text: str, data: bytes) -> None:
    """Padding may be missing."""
    assert from_base64(text) == data
    assert from_base64(to_base64(data)) == data


@pytest.mark.parametrize("text", ["A", "!", "AA$A", "ä"])
def test_what_is_not_base64(text: str) -> None:
    """The place is named, or the value."""
    with pytest.raises(DecodeError, match=r"^the value is not base64$"):
        from_base64(text)
    with pytest.raises(DecodeError, match=r"^/a: the value is not base64$") as caught:
        from_base64(text, "/a")
    assert caught.value.path == "/a"


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("", True), ("AA==", True), ("AAA=", True), ("AA+/", True), ("A" * 4_000, True), ("AA", False), ("AA-_", False),
        ("AB==", False), ("AAB=", False), ("A===", False), ("====", False), ("A=AA", False), ("AA=A", False),
        ("AA =", False), ("AAAä", False), ("AAA!", False), ("AA==AA==", False), ("AAAA\n", False),
    ],
)  # fmt: skip
def test_base64_as_it_is_written(text: str, is_plain: bool) -> None:
    """The one text that stands for its bytes is told from all others, leftover bits among them."""
    assert is_base64(text) is is_plain
    if is_plain:
        assert text_data(text) == text == to_base64(from_base64(text))


@pytest.mark.parametrize(("text", "plain"), [("AB==", "AA=="), ("AA-_", "AA+/"), (" AA\n", "AA==")])
def test_other_base64_becomes_the_one_text_of_its_bytes(text: str, plain: str) -> None:
    """White space, the other alphabet, missing padding and leftover bits go."""
    assert text_data(text) == plain


def test_data_that_is_no_base64_names_its_place() -> None:
    """A body with it is refused when it is read, not when somebody wants the bytes."""
    with pytest.raises(DecodeError, match=r"^/a: the value is not base64$"):
        text_data("AAA!", "/a")


def test_types_by_the_first_bytes_of_a_text() -> None:
    """A picture and a sound in base64 are told as their bytes are."""
    assert image_type(to_base64(b"\xff\xd8\xff" + bytes(100))) == image_type(b"\xff\xd8\xff") == "image/jpeg"
    assert audio_type(to_base64(b"OggS" + bytes(100))) == "audio/ogg"


def test_data_url() -> None:
    """Type and padded base64."""
    assert data_url("AA==", "image/png") == "data:image/png;base64,AA=="


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("data:image/png;base64,AA==", ("image/png", "AA==")),
        ("DATA:Image/PNG;BASE64,AA", ("image/png", "AA==")),
        ("data:image/svg+xml;charset=utf-8;name=a;base64,AA", ("image/svg+xml", "AA==")),
        ("data:;base64,AA", ("", "AA==")),
        ("data:application/vnd.x-1;base64,AA", ("application/vnd.x-1", "AA==")),
        ("data:text/plain,AA", None),
        ("https://a.test", None),
        (" data:;base64,AA", None),
    ],
)
def test_parse_data_url(url: str, found: tuple[str, str] | None) -> None:
    """Only base64 is read, and stays a text, padded and in the standard alphabet."""
    assert parse_data_url(url) == found


def test_a_broken_data_url_names_its_place() -> None:
    """It is a fault, not another kind of URL."""
    with pytest.raises(DecodeError, match=r"^/b: the value is not base64$"):
        parse_data_url("data:;base64,!", "/b")


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (b"RIFF", "audio/wav"),
        (b"ID3", "audio/mpeg"),
        (b"\xff\xfb", "audio/mpeg"),
        (b"\xff\xf3", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
        (b"OggS", "audio/ogg"),
        (b"\0", "audio/pcm"),
        (b"", "audio/pcm"),
        (b"\0RIFF", "audio/pcm"),
    ],
)
def test_audio_by_its_first_bytes(first: bytes, kind: str) -> None:
    """Raw samples have none."""
    assert audio_type(first + b"\0\0") == kind
