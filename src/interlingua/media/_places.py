"""Where media stand in a conversation, and putting other parts there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from interlingua.types.content import AudioPart, DocumentPart, ImagePart, Part, TextPart, ToolResult
from interlingua.types.message import Message

__all__ = ["Media", "Place", "media_of", "with_media"]

Media: TypeAlias = ImagePart | AudioPart | DocumentPart
"""A part that holds the bytes of a file."""


class Place(NamedTuple):
    """Where a media part stands."""

    message: int
    """Which message."""
    part: int
    """Which part of it."""
    inner: int | None = None
    """Which part of a tool result's content, where it stands in one."""

    @property
    def path(self) -> str:
        """As a pointer into the canonical JSON."""
        outer = f"/messages/{self.message}/parts/{self.part}"
        return outer if self.inner is None else f"{outer}/content/{self.inner}"


def media_of(messages: Sequence[Message]) -> Iterator[tuple[Place, Media]]:
    """Every media part with its place, oldest first."""
    for at, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if isinstance(part, Media):
                yield Place(at, place), part
            elif isinstance(part, ToolResult) and isinstance(part.content, tuple):
                for inner, item in enumerate(part.content):
                    if isinstance(item, Media):
                        yield Place(at, place, inner), item


def with_media(messages: tuple[Message, ...], swaps: Mapping[Place, Media | TextPart]) -> tuple[Message, ...]:
    """The messages with other parts at some places; a message without any stays the same object."""
    if not swaps:
        return messages
    swapped = list(messages)
    for at in {place.message for place in swaps}:
        parts = [_part(part, Place(at, place), swaps) for place, part in enumerate(swapped[at].parts)]
        swapped[at] = replace(swapped[at], parts=tuple(parts))
    return tuple(swapped)


def _part(part: Part, place: Place, swaps: Mapping[Place, Media | TextPart]) -> Part:
    if not isinstance(part, ToolResult) or not isinstance(part.content, tuple):
        return swaps.get(place, part)
    content = [swaps.get(place._replace(inner=inner), item) for inner, item in enumerate(part.content)]
    return (
        part
        if all(new is old for new, old in zip(content, part.content, strict=True))
        else replace(part, content=tuple(content))
    )
