"""Citations of OpenAI's two formats: the same members, in Chat one level deeper.

Rules
- Indexes count characters of the text; 0 and 0 say nothing, as servers write that do not know.
- `file_citation` and `file_path` name the place behind what rests on the file.
Source: openai-python 2.44, `types/responses/response_output_text.py`, `types/chat/chat_completion_message.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._citations import count_in, span_in, text_in
from interlingua.dialects._members import is_object
from interlingua.types.content import Citation

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_annotation", "url_members"]


def read_annotation(dialect: str, raw: dict[str, Any]) -> Citation:
    """The citation that an annotation is; what it says of no source stays in `raw`."""
    kind = raw.get("type")
    inner = raw.get(kind) if isinstance(kind, str) else None
    fields: Mapping[str, Any] = inner if is_object(inner) else raw
    start, end = count_in(fields.get("start_index")), count_in(fields.get("end_index"))
    if not start and not end:
        start, end = None, count_in(fields.get("index"))
    if start is not None and end is not None and end < start:
        start = end = None
    return Citation(
        dialect,
        raw,
        text_in(fields.get("url")),
        text_in(fields.get("title")) or text_in(fields.get("filename")),
        text_in(fields.get("file_id")),
        text_in(fields.get("content")),
        start,
        end,
    )


def url_members(citation: Citation, text: str, offset: int = 0) -> dict[str, Any] | None:
    """The members of a citation of an address; `text` begins `offset` characters into what the indexes count.

    None for a source without an address.
    """
    if citation.url is None:
        return None
    start, end = span_in(citation, text)
    return {
        "start_index": offset + start,
        "end_index": offset + end,
        "title": citation.title or "",
        "url": citation.url,
    }
