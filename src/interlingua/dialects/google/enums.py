"""Values of an enum as bare text, for clients that want `text/x.enum`: other dialects answer in JSON, with quotes.

Rules
- A text that is one JSON string becomes what the string says; any other text stays as it is, and so does one with
  citations, which point into it.
- Of a stream, a text that begins as a JSON string is texts until it ends; it is as long as the value of an enum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlingua.errors import WireError
from interlingua.types.content import TextPart
from interlingua.types.event import BlockEnd, StreamEnd, StreamError, TextDelta
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.content import Part
    from interlingua.types.event import Event

__all__ = ["ENUM_TYPE", "EnumTexts", "enum_parts"]

ENUM_TYPE = "text/x.enum"
"""The media type of an answer that is the bare value of an enum."""
_SPACE = " \t\r\n"


def enum_parts(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts of an answer with bare values in place of JSON strings."""
    return tuple([_enum_part(part) if isinstance(part, TextPart) else part for part in parts])


def _enum_part(part: TextPart) -> TextPart:
    if part.annotations or part.text.lstrip(_SPACE)[:1] != '"':
        return part
    try:
        value = decode_any(part.text.encode())
    except (UnicodeEncodeError, WireError):
        return part
    return replace(part, text=value) if isinstance(value, str) else part


class EnumTexts:
    """The events of one answer with bare values in place of JSON strings."""

    __slots__ = ("_plain", "_quoted", "_waiting")

    def __init__(self) -> None:
        """A stage that has seen no event."""
        self._waiting: dict[tuple[int, int], list[TextDelta]] = {}
        self._quoted: set[tuple[int, int]] = set()
        self._plain: set[tuple[int, int]] = set()

    def take(self, event: Event) -> list[Event]:
        """The events that can be told now, of which `event` need not be one."""
        match event:
            case TextDelta(choice=choice, index=index) if (choice, index) not in self._plain:
                # Nothing is told while the text may be one JSON string, and all of it once it cannot.
                key = (choice, index)
                self._waiting.setdefault(key, []).append(event)
                begun = '"' if key in self._quoted else event.text.lstrip(_SPACE)[:1]
                if not begun:
                    return []
                if begun == '"':
                    self._quoted.add(key)
                    return []
                self._plain.add(key)
                return list(self._waiting.pop(key))
            case BlockEnd(choice=choice, index=index):
                self._plain.discard((choice, index))
                self._quoted.discard((choice, index))
                # The text that waits is told, bare where it is one JSON string, and its end.
                texts = self._waiting.pop((event.choice, event.index), [])
                part = _enum_part(event.part) if texts and isinstance(event.part, TextPart) else event.part
                if part is event.part or not isinstance(part, TextPart):
                    return [*texts, event]
                end = replace(event, part=part)
                return [replace(texts[0], text=part.text), end] if part.text else [end]
            case StreamEnd() | StreamError():
                late: list[Event] = [one for texts in self._waiting.values() for one in texts]
                self._waiting.clear()
                return [*late, event]
            case _:
                return [event]
