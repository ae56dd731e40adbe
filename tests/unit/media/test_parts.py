"""Files, bytes and images in memory become parts by their content; nothing is fetched."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import interlingua as il
from interlingua.media import parts
from interlingua.media.sniff import Sniffed, sniff
from tests.support.cells import cells

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 8
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "
PDF = b"%PDF-1.7\n\xe2\xe3"


def _branded(brand: bytes, *compatible: bytes) -> bytes:
    size = 16 + 4 * len(compatible)
    return size.to_bytes(4, "big") + b"ftyp" + brand + b"\x00\x00\x00\x00" + b"".join(compatible) + b"mdat\x00"


@cells(
    ("data", "kind", "media_type"),
    [
        (PNG, "image", "image/png"),
        (b"\xff\xd8\xff\xe0", "image", "image/jpeg"),
        (b"GIF89a", "image", "image/gif"),
        (b"GIF87a", "image", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image", "image/webp"),
        (b"BM" + b"\x00" * 12 + b"\x28\x00\x00\x00", "image", "image/bmp"),
        (b"BMI is 22, said the doctor", "document", "text/plain"),
        (b"II*\x00", "image", "image/tiff"),
        (b"MM\x00*", "image", "image/tiff"),
        (_branded(b"heic"), "image", "image/heic"),
        (_branded(b"mif1", b"mif1", b"heic"), "image", "image/heic"),
        (_branded(b"mif1"), "image", "image/heif"),
        (_branded(b"avif", b"mif1"), "image", "image/avif"),
        (_branded(b"M4A ", b"mp42"), "audio", "audio/mp4"),
        (WAV, "audio", "audio/wav"),
        (b"ID3\x04", "audio", "audio/mpeg"),
        (b"\xff\xfb\x90", "audio", "audio/mpeg"),
        (b"fLaC", "audio", "audio/flac"),
        (b"OggS", "audio", "audio/ogg"),
        (PDF, "document", "application/pdf"),
        ("Grüße".encode(), "document", "text/plain"),
    ],
)
def test_content_decides(data: bytes, kind: str, media_type: str) -> None:
    """The first bytes say what a file is, and `il.file` makes the part that fits."""
    assert sniff(data) == Sniffed(kind, media_type)  # pyright: ignore[reportArgumentType]  # a parameter's word
    part = il.file(data)
    assert (part.data, part.media_type) == (data, media_type)
    assert type(part).__name__.lower() == f"{kind}part"


@pytest.mark.parametrize("data", [b"\x00\x01\x02", b"\xff\xfe\xfa", b"RIFF\x00\x00\x00\x00AVI ", _branded(b"isom")])
def test_what_is_not_known_is_refused(data: bytes) -> None:
    """Bytes that are none of the known formats are an error, never a guess."""
    assert sniff(data) is None
    with pytest.raises(il.UsageError, match="is no image, audio, PDF or text that is known here"):
        il.file(data)


@pytest.mark.parametrize("build", [il.file, il.image, il.document])
def test_an_empty_file_is_called_empty(build: Any, tmp_path: Path) -> None:
    """Among 10,000 files there is one, and its row must say so."""
    path = tmp_path / "mail.eml"
    path.touch()
    with pytest.raises(il.UsageError) as caught:
        build(path)
    assert caught.value.message == f"the file {path} is empty"


def test_a_text_in_another_encoding_hears_of_utf_8() -> None:
    """Old mails are in Latin-1; a file with zeros is no text in any case."""
    sentence = "what il.{} was given is no {} that is known here; a text has to be in UTF-8"
    for build, name, kinds in (
        (il.file, "file(…)", "image, audio, PDF or text"),
        (il.document, "document(…)", "document"),
    ):
        with pytest.raises(il.UsageError) as caught:
            build("Grüße".encode("latin-1"))
        assert caught.value.message == sentence.format(name, kinds)
    with pytest.raises(il.UsageError, match=r"known here$"):
        il.file(b"\x00\xfc")


@given(st.binary(max_size=64))
def test_sniffing_never_fails(data: bytes) -> None:
    """Any bytes are something or nothing."""
    sniff(data)


def test_a_name_does_not_decide(tmp_path: Path) -> None:
    """A PNG by another name is a PNG; its name is kept only where a part has one."""
    path = tmp_path / "photo.pdf"
    path.write_bytes(PNG)
    assert il.file(path) == il.ImagePart(PNG, "image/png")
    assert il.image(str(path), detail="low", cache="5m") == il.ImagePart(PNG, "image/png", "low", "5m")


def test_the_name_of_a_text_says_which_text(tmp_path: Path) -> None:
    """Markdown and CSV look the same from inside."""
    path = tmp_path / "notes.md"
    path.write_text("# Notes", encoding="utf-8")
    assert il.file(path) == il.DocumentPart(b"# Notes", "text/markdown", "notes.md")
    assert il.document(path, name="Notes") == il.DocumentPart(b"# Notes", "text/markdown", "Notes")
    assert il.document(b"plain") == il.DocumentPart(b"plain", "text/plain")


def test_audio_and_documents() -> None:
    """Each builder takes its own kind."""
    assert il.audio(WAV) == il.AudioPart(WAV, "audio/wav")
    assert il.document(PDF) == il.DocumentPart(PDF, "application/pdf")
    assert il.image(bytearray(PNG)) == il.ImagePart(PNG, "image/png")


@pytest.mark.parametrize("build", [il.image, il.audio, il.document, il.file])
@pytest.mark.parametrize("url", ["https://example.com/a.png", "http://example.com", "file:///etc/hosts"])
def test_a_url_is_refused(build: Any, url: str) -> None:
    """R04: nothing is fetched; the error names the way out."""
    with pytest.raises(il.UsageError, match=r"never a URL.*il\.fetch"):
        build(url)


def test_a_data_url_says_how_to_get_its_bytes() -> None:
    """Nothing has to be fetched, so `il.fetch` is no way out."""
    with pytest.raises(il.UsageError) as caught:
        il.image("data:image/png;base64,AAAA")
    assert caught.value.message == (
        "il.image(…) takes a path or bytes, and a data: URL is neither;"
        " il.image(base64.b64decode(url.partition(',')[2])) gives the bytes in it"
    )


@pytest.mark.parametrize(
    ("build", "data", "sentence"),
    [
        (il.image, PDF, r"is application/pdf, which il\.document\(…\) takes"),
        (il.audio, PNG, r"is image/png, which il\.image\(…\) takes"),
        (il.document, WAV, r"is audio/wav, which il\.audio\(…\) takes"),
        (il.image, b"\x00", "is no image that is known here"),
        (il.image, 7, r"il\.image\(…\) takes a path or bytes, not int"),
    ],
)
def test_the_wrong_kind_is_refused(build: Any, data: Any, sentence: str) -> None:
    """The error names the builder that would take it."""
    with pytest.raises(il.UsageError, match=sentence):
        build(data)


def test_base64_that_is_taken_for_a_path_is_not_told_whole() -> None:
    """It may be megabytes."""
    with pytest.raises(il.UsageError) as caught:
        il.image("iVBORw0KGgo/" * 1_000)
    assert caught.value.message == (
        f"the file {'iVBORw0KGgo/' * 5}… cannot be read: File name too long; of base64, base64.b64decode makes bytes"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file, a folder and a name that is none are the caller's fault."""
    for path in (tmp_path / "missing.png", tmp_path, "a\0b"):
        with pytest.raises(il.UsageError, match="cannot be read"):
            il.file(path)


def test_a_file_beyond_the_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of exactly the bound is taken, one more byte is not; no more than that is read."""
    monkeypatch.setattr(parts, "MAX_FILE_BYTES", 8)
    (tmp_path / "fits.txt").write_bytes(b"8" * 8)
    (tmp_path / "large.txt").write_bytes(b"9" * 9)
    assert il.file(tmp_path / "fits.txt").data == b"8" * 8
    with pytest.raises(il.LimitExceededError, match="larger than 8 bytes"):
        il.file(tmp_path / "large.txt")
    with pytest.raises(il.LimitExceededError):
        il.file(b"9" * 9)


def test_an_image_of_pillow_is_written_as_png() -> None:
    """An image in memory needs no file."""
    pillow = pytest.importorskip("PIL.Image")
    part = il.image(pillow.new("RGB", (2, 3), "red"))
    assert part.media_type == "image/png"
    assert pillow.open(io.BytesIO(part.data)).size == (2, 3)
