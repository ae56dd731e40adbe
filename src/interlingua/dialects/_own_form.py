"""Answers turned back into the form that the caller asked for, where it was asked for in another one.

Rules
- Where JSON was asked for in words alone, the fence that a model puts around it is taken out, with an entry.
- A call of a tool whose values look the same on the wire keeps its exact text.
- In a stream, the arguments of a converted call, and converted output, come in one piece when they are whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.dialects._fences import Unfencer, unfenced
from interlingua.dialects._schemas import with_arguments
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.types.event import (
    BlockEnd,
    BlockStart,
    StreamEnd,
    StreamError,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
)

if TYPE_CHECKING:
    from interlingua.dialects._contract import StreamDecoder, Undo
    from interlingua.errors import Error
    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["ConvertingDecoder", "turned_back"]


def turned_back(response: Response[Any], undo: Undo, dialect: str) -> Response[Any]:
    """The response of a target of `dialect` in the caller's own form."""
    changes = response.changes
    if undo.fenced:
        removed = Changes(dialect, "decode_response")
        _note_fences(response.parts, "", removed)
        for place, choice in enumerate(response.alternatives):
            _note_fences(choice.parts, f"/alternatives/{place}", removed)
        changes += removed.done()
    alternatives = [
        msgspec.structs.replace(choice, parts=tuple([_own(part, undo) for part in choice.parts]))
        for choice in response.alternatives
    ]
    parts = tuple([_own(part, undo) for part in response.parts])
    return msgspec.structs.replace(response, parts=parts, alternatives=tuple(alternatives), changes=changes)


def _note_fences(parts: tuple[Part, ...], path: str, changes: Changes) -> None:
    for place, part in enumerate(parts):
        if isinstance(part, TextPart) and unfenced(part.text) != part.text:
            changes.add("fence_removed", f"{path}/parts/{place}")


def _own(part: Part, undo: Undo) -> Part:
    """A part as the caller's own schema has it."""
    if isinstance(part, ToolCall) and not part.freeform and part.name in undo.arguments:
        return with_arguments(part, undo.arguments[part.name].text_to_own(part.arguments_json))
    if isinstance(part, TextPart) and (undo.fenced or undo.output is not None):
        text = unfenced(part.text) if undo.fenced else part.text
        return msgspec.structs.replace(part, text=text if undo.output is None else undo.output.text_to_own(text))
    return part


class ConvertingDecoder:
    """A decoder whose events hold the caller's own form; what a schema converts waits until it is whole."""

    def __init__(self, decoder: StreamDecoder, undo: Undo) -> None:
        """A decoder around the dialect's own."""
        self._decoder = decoder
        self._undo = undo
        self._pending_blocks: set[tuple[int, int]] = set()
        self._unfencers: dict[tuple[int, int], Unfencer] = {}

    @property
    def terminal(self) -> bool:
        """Whether the wire's terminal signal came."""
        return self._decoder.terminal

    @property
    def ended(self) -> bool:
        """Whether the terminal event was given out."""
        return self._decoder.ended

    @property
    def changes(self) -> Changes:
        """The changes of reading so far."""
        return self._decoder.changes

    @property
    def compared(self) -> bytes:
        """Nothing: what is converted is read anew."""
        return b""

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        return self._turned(self._decoder.feed(data))

    def close(self) -> list[Event]:
        """The events that the end of the bytes completes."""
        return self._turned(self._decoder.close())

    def fail(self, error: Error) -> list[Event]:
        """The events of a stream that the transport broke."""
        return self._turned(self._decoder.fail(error))

    def _turned(self, events: list[Event]) -> list[Event]:
        return [turned for event in events for turned in self._event(event)]

    def _event(self, event: Event) -> tuple[Event, ...]:
        match event:
            case BlockStart():
                self._starts(event)
            case ToolCallDelta(index=index, choice=choice) if (choice, index) in self._pending_blocks:
                return ()
            case TextDelta():
                place = event.choice, event.index
                if place in self._pending_blocks:
                    return ()
                unfencer = self._unfencers.get(place)
                text = event.text if unfencer is None else unfencer.feed(event.text)
                return (TextDelta(event.index, text, event.choice),) if text else ()
            case BlockEnd():
                return self._end(event)
            case ToolCallReady(index=index, call=call, choice=choice):
                return (ToolCallReady(index, cast("ToolCall", _own(call, self._undo)), choice),)
            case StreamEnd(response=response):
                return (StreamEnd(turned_back(response, self._undo, self.changes.dialect)),)
            case StreamError(partial=partial) if partial is not None:
                own = turned_back(partial, self._undo, self.changes.dialect)
                return (msgspec.structs.replace(event, partial=own),)
            case _:
                pass
        return (event,)

    def _starts(self, event: BlockStart) -> None:
        place = event.choice, event.index
        if event.block == "tool_call":
            waits = not event.freeform and event.name in self._undo.arguments
        else:
            waits = event.block == "text" and self._undo.output is not None
        if waits:
            self._pending_blocks.add(place)
        elif event.block == "text" and self._undo.fenced:
            self._unfencers[place] = Unfencer()

    def _end(self, event: BlockEnd) -> tuple[Event, ...]:
        index, choice = event.index, event.choice
        part = _own(event.part, self._undo)
        end = BlockEnd(index, part, choice)
        if (choice, index) in self._pending_blocks:
            return *_whole(part, index, choice), end
        unfencer = self._unfencers.pop((choice, index), None)
        rest = "" if unfencer is None else unfencer.close()
        return (TextDelta(index, rest, choice), end) if rest else (end,)


def _whole(part: Part, index: int, choice: int) -> tuple[Event, ...]:
    """The one delta that a block has which was held back."""
    match part:
        case ToolCall(arguments_json=text):
            return (ToolCallDelta(index, text, choice),)
        case BrokenToolCall(raw_arguments=text):
            return (ToolCallDelta(index, text, choice),) if text else ()
        case TextPart(text=text):
            return (TextDelta(index, text, choice),) if text else ()
        case _:
            return ()
