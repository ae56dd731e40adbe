"""Citations of text blocks: each is of the whole block.

Rules
- A page that was found on the web is told by its address. Its `encrypted_index` is the service's own; one that we wrote
  has none, and does not go to the service.
- A place in a document of the request has no address; it is told nowhere else.
Source: anthropic-python 2.12, `types/citations_*_location.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._citations import own_values, span_in, text_in, written
from interlingua.types.content import Citation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes

__all__ = ["history_citations", "own_value", "read_citation", "reply_citations", "write_citation"]

NAME = "anthropic"
WEB = "web_search_result_location"


def read_citation(raw: dict[str, Any]) -> Citation:
    """The citation that a location is."""
    return Citation(
        NAME,
        raw,
        text_in(raw.get("url")) or text_in(raw.get("source")),
        text_in(raw.get("title")) or text_in(raw.get("document_title")),
        text_in(raw.get("file_id")),
        text_in(raw.get("cited_text")),
    )


def reply_citations(annotations: Sequence[Citation], text: str, changes: Changes, path: str) -> list[dict[str, Any]]:
    """The citations of a block of an answer."""
    for place, citation in enumerate(annotations):
        narrow = citation.dialect != NAME and span_in(citation, text) != (0, len(text))
        if narrow and citation.url is not None:
            changes.add("citation_widened", f"{path}/{place}", "a block is cited as a whole")
    return written(annotations, NAME, changes, path, write_citation)


def own_value(citation: Citation) -> dict[str, Any] | None:
    """A citation of an answer on the wire; None for one without a place."""
    return citation.raw if citation.dialect == NAME and citation.raw else write_citation(citation)


def write_citation(citation: Citation) -> dict[str, Any] | None:
    """A source with an address as a page that was found; None for any other."""
    if citation.url is None:
        return None
    return {
        "type": WEB,
        "cited_text": citation.quote or "",
        "encrypted_index": "",
        "title": citation.title,
        "url": citation.url,
    }


def history_citations(annotations: Sequence[Citation], changes: Changes, path: str) -> list[dict[str, Any]]:
    """The citations that go back to the service: its own."""
    own = own_values(annotations, NAME, changes, path)
    sendable = [raw for raw in own if raw.get("type") != WEB or raw.get("encrypted_index") != ""]
    if len(sendable) < len(own):
        changes.add("annotation_unsupported", path, "a source that another provider found")
    return sendable
