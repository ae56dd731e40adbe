"""Blocks one after the other, for wire formats whose clients take a stream as a list of items.

Strategy: one block of a choice is open at a time. Canonical blocks may interleave, so the events of a block that began
while another one was open wait until all before it have ended. At the end of the stream nothing waits any longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.types.event import BlockEnd, BlockStart, StreamEnd, StreamError

if TYPE_CHECKING:
    from interlingua.types.event import Event

__all__ = ["InOrder"]


class InOrder:
    """The events of one answer with one block of each choice open at a time."""

    __slots__ = ("_open", "waiting")

    def __init__(self) -> None:
        """An order in which no block is open."""
        self._open: dict[int, int] = {}
        self.waiting: dict[tuple[int, int], list[Event]] = {}
        """The events of blocks that wait, by choice and index, in the order of their starts."""

    def take(self, event: Event) -> list[Event]:
        """The events that can be told now, of which `event` need not be one."""
        match event:
            case BlockStart(choice=choice, index=index):
                if choice in self._open:
                    self.waiting[choice, index] = [event]
                    return []
                self._open[choice] = index
            case StreamEnd() | StreamError():
                late = [one for events in self.waiting.values() for one in events]
                self.waiting.clear()
                return [*late, event]
            case BlockEnd(choice=choice, index=index) if self._open.get(choice) == index:
                del self._open[choice]
                return [event, *self._next(choice)] if self.waiting else [event]
            case _ if self.waiting:
                events = self.waiting.get((getattr(event, "choice", 0), getattr(event, "index", -1)))
                if events is not None:
                    events.append(event)
                    return []
            case _:
                pass
        return [event]

    def _next(self, choice: int) -> list[Event]:
        """The events of the blocks that waited for one that has ended, up to one that is still open."""
        released: list[Event] = []
        for key in [key for key in self.waiting if key[0] == choice]:
            events = self.waiting.pop(key)
            released += events
            if not any([isinstance(event, BlockEnd) for event in events]):
                self._open[choice] = key[1]
                break
        return released
