"""Events and answers as they came: none, since ids of calls are always our own in this dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._streams.frames import FrameCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]


class Frames(FrameCheck):
    """Looks at the events of one stream."""

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Never: the ids in it are the upstream's."""
        del frame, events
        return False


def is_normal(body: bytes) -> bool:
    """Never: the ids in it are the upstream's."""
    del body
    return False
