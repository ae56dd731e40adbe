"""Documents, both ways: what a request brings beside its messages, and blocks of a tool's result.

Strategy: `documents` of a request are document parts that stand first in its first message of the user, as other
dialects have them. What such a part says beside its text and title stays in `extra` as it came.

Rules
- A document is a text, or an object of data. Data with nothing but `text`, or `text` and `title`, is that text; any
  other data is its JSON.
- Only documents that are text can be told; a PDF is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_object
from interlingua.types.content import DocumentPart
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes

__all__ = ["decode_documents", "document_text", "encode_document"]

NAME = "cohere"
PLAIN = "text/plain"
_TEXTS = ("text/", "application/json", "application/xml", "application/yaml", "application/x-yaml")
"""How media types begin of files that are text."""


# Reading


def decode_documents(documents: Sequence[Any]) -> list[DocumentPart]:
    """The parts that `documents` of a request are."""
    parts: list[DocumentPart] = []
    for document in documents:
        title, text = _read(document)
        is_said = document == _wire(title, text)
        extra = {} if is_said else {NAME: {"document": document}}
        parts.append(DocumentPart(text.encode(), PLAIN, title, extra=extra))
    return parts


def document_text(document: object) -> str:
    """The text of a document."""
    return _read(document)[1]


def _read(document: object) -> tuple[str | None, str]:
    """Title and text of a document; its `id` is neither."""
    data = document
    if is_object(document):
        data = document.get("data", {name: value for name, value in document.items() if name != "id"})
    if isinstance(data, str):
        return None, data
    if is_object(data) and isinstance(data.get("text"), str) and data.keys() <= {"text", "title"}:
        title = data.get("title")
        if title is None or (isinstance(title, str) and title):
            return title, data["text"]
    return None, encode(data).decode()


# Writing


def encode_document(part: DocumentPart, changes: Changes, path: str) -> object:
    """A document on the wire; None, with the refusal, for one that is no text."""
    own = part.extra.get(NAME, {})
    if "document" in own:
        return own["document"]
    try:
        text = part.data.decode() if part.media_type.startswith(_TEXTS) else None
    except UnicodeDecodeError:
        text = None
    if text is None:
        changes.add("documents", path, f"the dialect's documents are text, and this is {part.media_type}")
        return None
    if part.media_type != PLAIN:
        changes.add("media_type_unsaid", f"{path}/media_type", f"{part.media_type} is sent as text")
    return _wire(part.name or None, text)


def _wire(title: str | None, text: str) -> dict[str, Any]:
    return {"data": {"text": text} if title is None else {"title": title, "text": text}}
