"""Deltas that differ in one string and a number: read by comparing bytes instead of parsing them.

As in Chat, nearly all events of a stream are the same bytes around another piece of text and other padding. Here each
also has another `sequence_number`; it says nothing, so it is stepped over, before the text or as the last member.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._template import Parts, template_of

if TYPE_CHECKING:
    from interlingua.dialects._template import Template

__all__ = ["NumberedTemplate", "numbered_template_of"]

NUMBER = b'"sequence_number":'
LONGEST_NUMBER = 20
"""Digits; a longer number is parsed."""


class NumberedTemplate:
    """The bytes around the number and the text of a delta."""

    __slots__ = ("head", "rest")

    def __init__(self, head: bytes, rest: Template) -> None:
        """`head` ends before a number that comes first, and is empty where it is the last member; `rest` has none."""
        self.head: bytes = head
        self.rest: Template = rest

    @property
    def parts(self) -> Parts:
        """For who compares whole pieces of a stream."""
        head, _, gaps, tail = self.rest.parts
        if self.head:
            return Parts(self.head, head, gaps, tail)
        return Parts(head, b"", ((tail + NUMBER, bytes.isdigit), *gaps), b"}")

    def text_in(self, data: bytes, start: int, end: int) -> str | None:
        """The string in an event of this kind that stands in `data[start:end]`; None for any other event."""
        head = self.head
        if not head:
            number = data.rfind(NUMBER, max(start, end - len(NUMBER) - LONGEST_NUMBER), end)
            told = number >= 0 and data[number + len(NUMBER) : end - 1].isdigit() and data.endswith(b"}", start, end)
            return self.rest.text_in(data, start, number) if told else None
        if not data.startswith(head, start):
            return None
        start += len(head)
        after = data.find(b",", start, end)
        return self.rest.text_in(data, after, end) if data[start:after].isdigit() else None


def numbered_template_of(data: bytes, text: str) -> NumberedTemplate | None:
    """The template of a delta that says `text`; None where its parts are not found in the bytes."""
    start = data.find(NUMBER) + len(NUMBER)
    end = data.find(b",", start)
    if start < len(NUMBER):
        return None
    if end < 0:
        rest = template_of(data[: start - len(NUMBER)], "delta", text)
        found = None if rest is None else NumberedTemplate(b"", rest)
    else:
        rest = template_of(data[end:], "delta", text) if data.find(b'"delta":') > end else None
        found = None if rest is None else NumberedTemplate(data[:start], rest)
    return found if found is not None and found.text_in(data, 0, len(data)) == text else None
