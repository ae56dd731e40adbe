"""Citations of a candidate: metadata of what it found, and which bytes of the text rest on which of that.

Rules
- One member of a candidate holds many citations. The first of them has the whole member as its value, the others none.
- A segment counts bytes of the text in UTF-8; where that is not the text that the segment repeats, the text is looked
  for. One that is not there has no place.
- What is written has a chunk for each address and a support for each citation.
Source: google-genai 3.4, `types.GroundingMetadata`, `types.CitationMetadata`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._citations import count_in, span_in, text_in
from interlingua.dialects._members import is_list, is_object
from interlingua.types.content import Citation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes

__all__ = ["CITATIONS", "Grounding", "read_citations"]

NAME = "google"
CITATIONS = ("groundingMetadata", "citationMetadata")
"""Members of a candidate that cite what its text says."""
_SOURCES = ("web", "retrievedContext", "maps", "image")
"""What a chunk can be; each has an address and a title."""


# Reading


def read_citations(member: str, metadata: object, text: str) -> list[Citation]:
    """The citations of `text` that a member of its candidate holds; at least one, which has the member."""
    citations = _grounded(metadata, text) if member == CITATIONS[0] else _recited(metadata, text)
    first, *others = citations or [Citation(NAME)]
    raw = {member: metadata}
    return [
        Citation(NAME, raw, first.url, first.title, first.file, first.quote, first.start, first.end),
        *others,
    ]


def _grounded(metadata: object, text: str) -> list[Citation]:
    chunks = [_chunk(one) for one in _objects(metadata, "groundingChunks")]
    supports = _objects(metadata, "groundingSupports")
    cited: list[Citation] = []
    for support in supports:
        start, end = _segment(support.get("segment"), text)
        places = support.get("groundingChunkIndices")
        for place in places if is_list(places) else ():
            if type(place) is int and 0 <= place < len(chunks):
                chunk = chunks[place]
                cited.append(Citation(NAME, {}, chunk.url, chunk.title, chunk.file, chunk.quote, start, end))
    return cited if supports and cited else [chunk for chunk in chunks if chunk != Citation(NAME)]


def _objects(metadata: object, name: str) -> list[dict[str, Any]]:
    listed = metadata.get(name) if is_object(metadata) else None
    return [one if is_object(one) else {} for one in listed] if is_list(listed) else []


def _chunk(chunk: dict[str, Any]) -> Citation:
    empty: dict[str, Any] = {}
    words = next((one for name in _SOURCES if is_object(one := chunk.get(name))), empty)
    url = text_in(words.get("uri")) or text_in(words.get("sourceUri"))
    file = text_in(words.get("fileSearchStore")) or text_in(words.get("documentName")) if url is None else None
    return Citation(NAME, {}, url, text_in(words.get("title")), file, text_in(words.get("text")))


def _recited(metadata: object, text: str) -> list[Citation]:
    sources = _objects(metadata, "citationSources") or _objects(metadata, "citations")
    spans = [_segment(one, text) for one in sources]
    pairs = zip(sources, spans, strict=True)
    return [
        Citation(NAME, {}, text_in(one.get("uri")), text_in(one.get("title")), None, None, *span) for one, span in pairs
    ]


def _segment(segment: object, text: str) -> tuple[int | None, int | None]:
    """Where in the text a segment of bytes stands, in characters."""
    if not is_object(segment):
        return None, None
    start, end = count_in(segment.get("startIndex")) or 0, count_in(segment.get("endIndex"))
    words = text_in(segment.get("text"))
    data = text.encode("utf-8", "replace")
    if end is not None and start <= end <= len(data):
        here = data[start:end].decode("utf-8", "ignore")
        if words is None or words == here:
            before = len(data[:start].decode("utf-8", "ignore"))
            return before, before + len(here)
    place = text.find(words) if words is not None else -1
    return (place, place + len(words)) if words is not None and place >= 0 else (None, None)


# Writing


class Grounding:
    """The metadata of one candidate of an answer, gathered text by text."""

    __slots__ = ("_chunks", "_members", "_supports")

    def __init__(self) -> None:
        """Nothing is cited yet."""
        self._members: dict[str, Any] = {}
        self._chunks: dict[tuple[str, str | None], int] = {}
        self._supports: list[dict[str, Any]] = []

    def cite(
        self, annotations: Sequence[Citation], text: str, changes: Changes, path: str, *, offset: int = 0, part: int = 0
    ) -> None:
        """The citations of a text that begins `offset` bytes into the part of the number `part`."""
        for place, citation in enumerate(annotations):
            if citation.dialect == NAME and (citation.raw or self._members):
                self._members.update(citation.raw)
            elif citation.url is None:
                what = citation.file or citation.title or "an annotation"
                changes.add("annotation_unsupported", f"{path}/{place}", f"{what} of {citation.dialect}")
            else:
                self._support(citation, citation.url, text, offset, part)

    def _support(self, citation: Citation, url: str, text: str, offset: int, part: int) -> None:
        chunk = self._chunks.setdefault((url, citation.title), len(self._chunks))
        start, end = span_in(citation, text)
        words = text[start:end]
        first = offset + len(text[:start].encode())
        segment = {"partIndex": part, "startIndex": first, "endIndex": first + len(words.encode()), "text": words}
        segment = {name: value for name, value in segment.items() if value}
        self._supports.append({"segment": segment, "groundingChunkIndices": [chunk]})

    def members(self) -> dict[str, Any]:
        """The members of the candidate."""
        if not self._supports:
            return self._members
        web = [{"web": {"uri": url, **({"title": title} if title else {})}} for url, title in self._chunks]
        citations = {"groundingChunks": web, "groundingSupports": self._supports}
        return {**self._members, "groundingMetadata": citations}
