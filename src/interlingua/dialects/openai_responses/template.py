"""Deltas that differ in one string and a number: read by comparing bytes instead of parsing them.

As in Chat, nearly all events of a stream are the same bytes around another piece of text and other padding. Here each
also has another `sequence_number`; it says nothing, so it is stepped over, before the text or as the last member.
"""

from __future__ import annotations

from interlingua.dialects._streams.templates import NUMBER, Ahead, Behind, Template, template_of

__all__ = ["numbered_template_of"]

NAME = b'"sequence_number":'


def numbered_template_of(data: bytes, text: str) -> Template | None:
    """The template of a delta that says `text`; None where its parts are not found in the bytes."""
    start = data.find(NAME) + len(NAME)
    end = data.find(b",", start)
    if start < len(NAME):
        return None
    template = _last(data[: start - len(NAME)], text) if end < 0 else _first(data, start, end, text)
    return template if template is not None and template.text_in(data) == text else None


def _last(data: bytes, text: str) -> Template | None:
    """The template of a delta that ends with its number; `data` is what stands before that."""
    rest = template_of(data, "delta", text)
    if rest is None:
        return None
    return Template(rest.head, b"}", Behind(NUMBER, rest.tail + NAME, rest.inside))


def _first(data: bytes, start: int, end: int, text: str) -> Template | None:
    """The template of a delta whose number, which stands from `start` to `end`, comes before its text."""
    rest = template_of(data[end:], "delta", text) if data.find(b'"delta":') > end else None
    return None if rest is None else Template(data[:start], rest.tail, Ahead(NUMBER, rest.head, rest.inside))
