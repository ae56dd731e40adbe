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
    template: Template | None = None
    if end < 0:  # the number comes last
        rest = template_of(data[: start - len(NAME)], "delta", text)
        if rest is not None:
            template = Template(rest.head, b"}", Behind(NUMBER, rest.tail + NAME, rest.inside))
    elif data.find(b'"delta":') > end:  # it comes before the text
        rest = template_of(data[end:], "delta", text)
        if rest is not None:
            template = Template(data[:start], rest.tail, Ahead(NUMBER, rest.head, rest.inside))
    return template if template is not None and template.text_in(data) == text else None
