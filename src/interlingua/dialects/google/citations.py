"""Citations of a candidate: metadata of what it found, and which bytes of the text rest on which of that.

Rules
- One member of a candidate holds many citations. The first of them has the whole member as its value, the others none.
- A segment counts bytes of the text in UTF-8; where that is not the text that the segment repeats, the text is looked
  for. One that is not there has no place.
- What is written has a chunk for each address and a support for each citation, which repeats its words, as long as
  those of all citations are no longer than the text or `WORDS`: many that cite the whole would make an answer without
  bounds.
Source: google-genai 3.4, `types.GroundingMetadata`, `types.CitationMetadata`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
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
"""The kinds of a chunk; each has an address and a title."""


WORDS = 4_096
"""How many characters the supports of a text may repeat of it, where it is shorter."""
LOOKED_FOR = 100
"""How many segments of a text are looked for where their places are not those of their words."""


class _Places:
    """The places in a text, by bytes of UTF-8 and by characters; a citation costs the same however long the text is."""

    __slots__ = ("_starts", "length", "looks", "text")

    def __init__(self, text: str) -> None:
        sizes = () if text.isascii() else [len(character.encode("utf-8", "replace")) for character in text]
        self._starts = list(accumulate(sizes, initial=0)) if sizes else None
        self.text = text
        self.length: int = len(text) if self._starts is None else self._starts[-1]
        """How many bytes there are."""
        self.looks: int = LOOKED_FOR
        """How often the text may be searched yet."""

    def byte_of(self, place: int) -> int:
        """The byte at which a character begins."""
        return place if self._starts is None else self._starts[place]

    def character_at(self, byte: int) -> int:
        """The character that begins at a byte, or the first one behind it."""
        return byte if self._starts is None else bisect_left(self._starts, byte)

    def end_at(self, byte: int) -> int:
        """The end of the last character that is whole before a byte."""
        return byte if self._starts is None else bisect_right(self._starts, byte) - 1


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
    chunks: list[Citation] = []
    empty: dict[str, Any] = {}
    for one in _objects(metadata, "groundingChunks"):
        words = next((inner for name in _SOURCES if is_object(inner := one.get(name))), empty)
        url = text_in(words.get("uri")) or text_in(words.get("sourceUri"))
        file = text_in(words.get("fileSearchStore")) or text_in(words.get("documentName")) if url is None else None
        chunks.append(Citation(NAME, {}, url, text_in(words.get("title")), file, text_in(words.get("text"))))
    supports = _objects(metadata, "groundingSupports")
    cited: list[Citation] = []
    places_in = _Places(text)
    for support in supports:
        start, end = _segment(support.get("segment"), places_in)
        places = support.get("groundingChunkIndices")
        for place in places if is_list(places) else ():
            if type(place) is int and 0 <= place < len(chunks):
                chunk = chunks[place]
                cited.append(Citation(NAME, {}, chunk.url, chunk.title, chunk.file, chunk.quote, start, end))
    return cited if supports and cited else [chunk for chunk in chunks if chunk != Citation(NAME)]


def _objects(metadata: object, name: str) -> list[dict[str, Any]]:
    listed = metadata.get(name) if is_object(metadata) else None
    return [one if is_object(one) else {} for one in listed] if is_list(listed) else []


def _recited(metadata: object, text: str) -> list[Citation]:
    sources = _objects(metadata, "citationSources") or _objects(metadata, "citations")
    places_in = _Places(text)
    spans = [_segment(one, places_in) for one in sources]
    pairs = zip(sources, spans, strict=True)
    return [
        Citation(NAME, {}, text_in(one.get("uri")), text_in(one.get("title")), None, None, *span) for one, span in pairs
    ]


def _segment(segment: object, places: _Places) -> tuple[int | None, int | None]:
    """Where in the text a segment of bytes stands, in characters."""
    if not is_object(segment):
        return None, None
    start, end = count_in(segment.get("startIndex")) or 0, count_in(segment.get("endIndex"))
    words, text = text_in(segment.get("text")), places.text
    if end is not None and start <= end <= places.length:
        first, last = places.character_at(start), places.end_at(end)
        if words is None or (len(words) == last - first and text.startswith(words, first)):
            return first, max(first, last)
    if words is None or not places.looks:
        return None, None
    places.looks -= 1
    place = text.find(words)
    return (place, place + len(words)) if place >= 0 else (None, None)


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
        places = _Places(text)
        room = max(len(text), WORDS)
        for place, citation in enumerate(annotations):
            if citation.dialect == NAME and (citation.raw or self._members):
                self._members.update(citation.raw)
            elif citation.url is None:
                what = citation.file or citation.title or "an annotation"
                changes.add("annotation_unsupported", f"{path}/{place}", f"{what} of {citation.dialect}")
            else:
                chunk = self._chunks.setdefault((citation.url, citation.title), len(self._chunks))
                start, end = span_in(citation, text)
                words = text[start:end] if end - start <= room else ""
                room -= len(words)
                first, last = offset + places.byte_of(start), offset + places.byte_of(end)
                segment = {"partIndex": part, "startIndex": first, "endIndex": last, "text": words}
                segment = {name: value for name, value in segment.items() if value}
                self._supports.append({"segment": segment, "groundingChunkIndices": [chunk]})

    def members(self) -> dict[str, Any]:
        """The members of the candidate."""
        if not self._supports:
            return self._members
        web = [{"web": {"uri": url, **({"title": title} if title else {})}} for url, title in self._chunks]
        citations = {"groundingChunks": web, "groundingSupports": self._supports}
        return {**self._members, "groundingMetadata": citations}
