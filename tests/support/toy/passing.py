"""The normal form in which answers are passed on as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._streams.frames import FrameCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]


class Frames(FrameCheck):
    """Looks at the frames of one stream."""

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next frame is one of words, or the last one."""
        del events
        return frame.startswith(b'data: {"')


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form."""
    return body.startswith(b'{"words":')
