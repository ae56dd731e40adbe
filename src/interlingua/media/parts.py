"""Parts of a message made of a path, of bytes, or of an image in memory.

Rules
- What a file is, its first bytes decide, never its name; the name of a text file tells which text it is.
- Nothing is fetched: a URL is an error that names the way out.
- Nothing is converted here; what a target cannot take is said when it is asked.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, TypeAlias, cast

from interlingua.errors import LimitExceededError, UsageError
from interlingua.media.sniff import Kind, Sniffed, sniff
from interlingua.types.content import AudioPart, Cache, DocumentPart, ImagePart

__all__ = ["MAX_FILE_BYTES", "PilImage", "Source", "audio", "document", "file", "image"]

MAX_FILE_BYTES = 64 * 1024 * 1024
"""The largest file that is read."""
LONGEST_PATH = 255
"""Characters of what may be meant as a path; a longer text is hardly one."""

Source: TypeAlias = str | os.PathLike[str] | bytes
"""A path, or the bytes themselves."""
PilImage: TypeAlias = Any
"""A `PIL.Image.Image`; Pillow is not needed for anything else here."""

_TEXTS = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".xml": "text/xml",
    ".json": "application/json",
}
"""Texts by their ending; to the first bytes they are all the same."""


def image(source: Source | PilImage, *, detail: str | None = None, cache: Cache | None = None) -> ImagePart:
    """The image in a file, in bytes, or of Pillow (written as PNG); `detail="full"` keeps every pixel a target takes.

    Raises: UsageError for a URL, an unreadable file, and for what is no image; LimitExceededError.
    """
    pillow = sys.modules.get("PIL.Image")  # who has an image of Pillow has loaded Pillow
    if pillow is not None and isinstance(source, pillow.Image):
        from io import BytesIO

        written = BytesIO()
        cast("PilImage", source).save(written, format="PNG")
        data, name = written.getvalue(), "the image"
    else:
        data, name = _bytes_of(source, "image")
    return ImagePart(data, _expected(data, name, "image").media_type, detail, cache)


def audio(source: Source, *, cache: Cache | None = None) -> AudioPart:
    """The audio in a file or in bytes.

    Raises: UsageError for a URL, an unreadable file, and for what is no audio; LimitExceededError.
    """
    data, name = _bytes_of(source, "audio")
    return AudioPart(data, _expected(data, name, "audio").media_type, cache=cache)


def document(source: Source, *, name: str | None = None, cache: Cache | None = None) -> DocumentPart:
    """The document in a file or in bytes: a PDF or a text.

    Raises: UsageError for a URL, an unreadable file, and for what is no document; LimitExceededError.
    """
    data, label = _bytes_of(source, "document")
    media_type = _expected(data, label, "document").media_type
    return _document(data, media_type, source, name, cache)


def file(source: Source, *, cache: Cache | None = None) -> ImagePart | AudioPart | DocumentPart:
    """The part that a file's content makes: an image, audio or a document.

    Raises: UsageError for a URL, an unreadable file, and for what is none of these; LimitExceededError.
    """
    data, name = _bytes_of(source, "file")
    sniffed = sniff(data)
    if sniffed is None:
        raise _unknown(data, name, "image, audio, PDF or text")
    match sniffed.kind:
        case "image":
            return ImagePart(data, sniffed.media_type, cache=cache)
        case "audio":
            return AudioPart(data, sniffed.media_type, cache=cache)
        case "document":
            return _document(data, sniffed.media_type, source, None, cache)


def _document(data: bytes, media_type: str, source: Source, name: str | None, cache: Cache | None) -> DocumentPart:
    path = None if isinstance(source, bytes) else Path(source)
    if path is not None and media_type == "text/plain":
        media_type = _TEXTS.get(path.suffix.lower(), media_type)
    return DocumentPart(data, media_type, name or (path.name if path else None), cache)


def _expected(data: bytes, name: str, kind: Kind) -> Sniffed:
    sniffed = sniff(data)
    if sniffed is None:
        raise _unknown(data, name, kind)
    if sniffed.kind != kind:
        raise UsageError(f"{name} is {sniffed.media_type}, which il.{sniffed.kind}(…) takes")
    return sniffed


def _unknown(data: bytes, name: str, kinds: str) -> UsageError:
    if not data:
        return UsageError(f"{name} is empty")
    may_be_text = b"\x00" not in data and kinds not in ("image", "audio")
    return UsageError(f"{name} is no {kinds} that is known here{'; a text has to be in UTF-8' if may_be_text else ''}")


def _bytes_of(source: object, builder: str) -> tuple[bytes, str]:
    """The bytes, and what to call them in an error."""
    match source:
        case bytes() | bytearray():
            data, name = bytes(source), f"what il.{builder}(…) was given"
        case str() if source.startswith("data:"):
            raise UsageError(
                f"il.{builder}(…) takes a path or bytes, and a data: URL is neither; "
                f"il.{builder}(base64.b64decode(url.partition(',')[2])) gives the bytes in it"
            )
        case str() if "://" in source:
            raise UsageError(
                f"il.{builder}(…) takes a path or bytes, never a URL: nothing is fetched unasked; "
                "il.fetch(url) fetches it, guarded, and gives the part"
            )
        case str() | os.PathLike():
            data, name = _read(Path(source)), f"the file {source}"  # pyright: ignore[reportUnknownArgumentType]  # any path
        case _:
            raise UsageError(f"il.{builder}(…) takes a path or bytes, not {type(source).__name__}")
    if len(data) > MAX_FILE_BYTES:
        raise LimitExceededError(f"{name} is larger than {MAX_FILE_BYTES:,} bytes")
    return data, name


def _read(path: Path) -> bytes:
    try:
        with path.expanduser().open("rb") as opened:
            return opened.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        name = str(path)
        if len(name) > LONGEST_PATH:
            name, reason = f"{name[:60]}…", f"{reason or 'not a usable path'}; of base64, base64.b64decode makes bytes"
        raise UsageError(f"the file {name} cannot be read: {reason or 'not a usable path'}") from None
