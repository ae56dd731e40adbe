"""Citations from one dialect to another: its own go back as they came, others are written from what they cite.

Rules
- A citation with a value of its own dialect is that value; the value of another dialect never leaves with it.
- What a format cannot say of a source (a file, a document without an address) is an entry for that citation.
- In a history citations go home and nowhere else: a service has no use for what another one found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Citation

__all__ = ["count_in", "own_values", "span_in", "text_in", "written"]


def written(
    annotations: Sequence[Citation],
    dialect: str,
    changes: Changes,
    path: str,
    write: Callable[[Citation], dict[str, Any] | None],
) -> list[dict[str, Any]]:
    """The wire values of an answer's citations, in order; `write` makes those that are none yet."""
    values: list[dict[str, Any]] = []
    for place, citation in enumerate(annotations):
        own = citation.raw if citation.dialect == dialect else None
        value = own or write(citation)
        if value is None:
            changes.add("annotation_unsupported", f"{path}/{place}", _what(citation))
        else:
            values.append(value)
    return values


def own_values(annotations: Sequence[Citation], dialect: str, changes: Changes, path: str) -> list[dict[str, Any]]:
    """The wire values of a history's citations that are the dialect's own; an entry for each other one."""
    for place, citation in enumerate(annotations):
        if citation.dialect != dialect:
            changes.add("annotation_unsupported", f"{path}/{place}", _what(citation))
    return [citation.raw for citation in annotations if citation.dialect == dialect and citation.raw]


def _what(citation: Citation) -> str:
    return f"{citation.url or citation.file or citation.title or 'an annotation'} of {citation.dialect}"


def span_in(citation: Citation, text: str) -> tuple[int, int]:
    """Where in `text` what rests on the source begins and ends."""
    end = len(text) if citation.end is None else min(citation.end, len(text))
    return min(citation.start or 0, end), end


def text_in(value: object) -> str | None:
    """A member that is a string; None for anything else, and for one that says nothing."""
    return value if isinstance(value, str) and value else None


def count_in(value: object) -> int | None:
    """A member that is a place in a text; None for anything else."""
    return value if type(value) is int and value >= 0 else None
