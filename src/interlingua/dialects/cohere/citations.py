"""Citations of a message: each names some words of a block, and the documents and results that they rest on.

Rules
- `start` and `end` count characters of the block; `content_index` is its place among the blocks of `content`.
- A citation of several sources is several of ours: the first has the wire value, the others none.
- What cites the plan is that text's; what cites thinking, or a block that is not there, is a member of the answer.
- A source of another dialect is sent as a document of its address, title and words.
Source: cohere-python 7.3.1, `types/citation.py`, `types/source.py`, `types/citation_type.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._citations import count_in, span_in, text_in
from interlingua.dialects._members import is_list, is_object
from interlingua.types.content import Citation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes

__all__ = ["is_of_plan", "is_of_thinking", "read_citation", "write_citations"]

NAME = "cohere"
TEXT_KIND, THINKING_KIND, PLAN_KIND = "TEXT_CONTENT", "THINKING_CONTENT", "PLAN"


def read_citation(raw: dict[str, Any]) -> list[Citation]:
    """The citations of one on the wire, a value for each source; at least one, which has the wire value."""
    start, end = count_in(raw.get("start")), count_in(raw.get("end"))
    if start is not None and end is not None and end < start:
        start = end = None
    sources = raw.get("sources")
    # Address, title, file and words of each source; the id of a document is no file of the provider's.
    parsed: list[tuple[str | None, str | None, str | None, str | None]] = []
    for source in sources if is_list(sources) else ():
        if is_object(source):
            holder = source.get("document")
            inside: dict[str, Any] = holder if is_object(holder) else {}
            words = text_in(inside.get("text")) or text_in(inside.get("snippet"))
            url, title, file = [text_in(inside.get(name)) for name in ("url", "title", "file_id")]
            parsed.append((url, title, file, words))
    return [
        Citation(NAME, {} if place else raw, *source, start, end)
        for place, source in enumerate(parsed or [(None, None, None, None)])
    ]


def is_of_plan(raw: dict[str, Any]) -> bool:
    """Whether a citation is one of the text before the calls."""
    return raw.get("type") == PLAN_KIND


def is_of_thinking(raw: dict[str, Any]) -> bool:
    """Whether a citation is one of thinking."""
    return raw.get("type") == THINKING_KIND


def write_citations(
    annotations: Sequence[Citation], text: str, changes: Changes, path: str, *, index: int | None
) -> list[dict[str, Any]]:
    """The citations of a text of an answer; `index` is its place among the blocks, None for the plan."""
    values: list[dict[str, Any]] = []
    for place, citation in enumerate(annotations):
        if citation.dialect == NAME and (citation.raw or values):
            values.extend([citation.raw] if citation.raw else [])
            continue
        name = citation.url or citation.file or citation.title
        if name is None:
            changes.add("annotation_unsupported", f"{path}/{place}", f"an annotation of {citation.dialect}")
            continue
        # a source with an address, a file or a title is a document
        words = {"title": citation.title, "url": citation.url, "file_id": citation.file, "text": citation.quote}
        document = {"id": name} | {member: value for member, value in words.items() if value is not None}
        start, end = span_in(citation, text)
        value: dict[str, Any] = {
            "start": start,
            "end": end,
            "text": text[start:end],
            "sources": [{"type": "document", "id": name, "document": document}],
            "type": PLAN_KIND if index is None else TEXT_KIND,
        }
        values.append(value if index is None else {**value, "content_index": index})
    return values
