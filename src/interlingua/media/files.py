"""Files as inputs: which ones a pattern names, and what each becomes.

Rules
- Nothing is read before its turn comes: a list of files costs their names.
- What a file is, its first bytes decide, as in `il.file`; only mail is told by its name, since it is text like others.

| file | becomes |
|---|---|
| mail (`.eml`) | a text: From, To, Date, Subject and the body; each attachment as a part of its own, by its content |
| any other text in UTF-8 (`.txt`, `.md`, `.json`, `.csv` …) | the text itself |
| an image | an image part |
| a PDF | a document part |
| audio | an audio part |
| anything else, and an empty file | an error of that one input |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from interlingua.errors import LimitExceededError, UsageError, kind_of
from interlingua.media.parts import MAX_FILE_BYTES, file
from interlingua.media.sniff import sniff
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, TextPart

if TYPE_CHECKING:
    from email.message import EmailMessage

__all__ = ["FilePart", "InputFile", "files"]

FilePart: TypeAlias = TextPart | ImagePart | AudioPart | DocumentPart
"""The parts that a file may become."""

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


class InputFile(msgspec.Struct, frozen=True):
    """One file that is to be read when its turn comes."""

    path: str
    """Where it is, as the pattern gave it."""

    @property
    def key(self) -> str:
        """Its name in items and journals: its path, with forward slashes."""
        return self.path.replace(os.sep, "/")

    def parts(self) -> tuple[FilePart, ...]:
        """The parts of the file.

        Raises: UsageError for a file that cannot be read, is empty, or is of no known kind; LimitExceededError.
        """
        try:
            with Path(self.path).open("rb") as opened:
                data = opened.read(MAX_FILE_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise UsageError(f"the file {self.path} cannot be read: {reason or 'not a usable path'}") from None
        if len(data) > MAX_FILE_BYTES:
            raise LimitExceededError(f"the file {self.path} is larger than {MAX_FILE_BYTES:,} bytes")
        if not data:
            raise UsageError(f"the file {self.path} is empty")
        sniffed = sniff(data)
        if sniffed is None:
            raise UsageError(
                f"the file {self.path} is none of the kinds known here: mail, text in UTF-8, an image, a PDF or audio"
            )
        if sniffed.media_type != "text/plain":
            return (file(data),)
        if self.path.lower().endswith(".eml"):
            from email import message_from_bytes, policy  # only mail needs it
            from email.message import EmailMessage

            message = message_from_bytes(data, EmailMessage, policy=policy.default)
            headers = [f"{name}: {' '.join(str(message[name]).split())}" for name in _HEADERS if message[name]]
            attached = [_attachment(part) for part in message.iter_attachments()]
            notes = [note for note in attached if isinstance(note, str)]
            text = "\n\n".join([piece for piece in ("\n".join(headers), _body(message), "\n".join(notes)) if piece])
            return (TextPart(text), *[part for part in attached if not isinstance(part, str)])
        return (TextPart(data.decode("utf-8-sig")),)


def files(patterns: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Iterator[InputFile]:
    """The files that paths and patterns name, in order of their names, each once; `**` reaches into folders.

    Raises: UsageError for a pattern that names no file, and for what is no path. A path without a pattern is looked at
    when it is read.
    """
    paths = dict.fromkeys([path for pattern in _several(patterns) for path in _named(pattern)])
    return map(InputFile, paths)


def _several(patterns: object) -> list[object]:
    if isinstance(patterns, str | bytes | os.PathLike) or not isinstance(patterns, Iterable):
        return [patterns]
    return list(cast("Iterable[object]", patterns))


def _named(pattern_or_path: object) -> list[str]:
    if not isinstance(pattern_or_path, str | os.PathLike):
        raise UsageError(f"il.files(…) takes paths and patterns such as 'mails/*.eml', not {kind_of(pattern_or_path)}")
    pattern: str = os.fspath(cast("str | os.PathLike[str]", pattern_or_path))
    pattern = str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern
    if not has_magic(pattern):
        return [pattern]
    matches = glob(pattern, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
    paths = sorted(path for path in matches if Path(path).is_file())
    if not paths:
        raise UsageError(f"no file is named by {pattern}")
    return paths


# Mail


def _body(message: EmailMessage) -> str:
    """The body as text; HTML without its tags where there is nothing else."""
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    try:
        text = str(body.get_content())
    except (LookupError, ValueError):  # in a charset that nobody knows it is read as far as it goes
        payload = body.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    return (_without_tags(text) if body.get_content_subtype() == "html" else text).strip()


def _attachment(part: EmailMessage) -> FilePart | str:
    """The part that an attachment makes; a note on one of no known kind, so that nothing is left out in silence."""
    name = part.get_filename() or "without a name"
    if part.get_content_maintype() in ("message", "multipart"):
        return f"[attachment {name}: {part.get_content_type()}, not read]"
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    sniffed = sniff(data)
    if sniffed is None:
        return f"[attachment {name}: {part.get_content_type()}, not read]"
    if sniffed.media_type == "text/plain":
        return TextPart(f"[attachment {name}]\n{data.decode('utf-8-sig')}")
    return file(data)


def _without_tags(html: str) -> str:
    """The text that a reader of the page would see, a line for each block."""
    from html.parser import HTMLParser

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.pieces: list[str] = []
            self._hidden = 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            del attrs
            self._hidden += tag in _UNSEEN
            if tag in _BLOCKS:
                self.pieces.append("\n")

        def handle_endtag(self, tag: str) -> None:
            self._hidden = max(0, self._hidden - (tag in _UNSEEN))

        def handle_data(self, data: str) -> None:
            if not self._hidden:
                self.pieces.append(data)

    reader = Reader()
    reader.feed(html)
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.pieces).splitlines()]
    return "\n".join([line for line in lines if line])


_UNSEEN = frozenset({"script", "style", "title"})
_BLOCKS = frozenset({"br", "p", "div", "li", "tr", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6"})
