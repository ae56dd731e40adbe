"""Losses in the events of a stream: pieces, ends, and what comes beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageUpdate,
)
from interlingua.types.response import Response
from sabotage.answers import ANSWERS
from sabotage.requests import Spoil

__all__ = ["STREAMS"]

Events = Sequence[Any]
DELTAS = (TextDelta, ThinkingDelta, ToolCallDelta)


def _without(events: Events, places: Sequence[int]) -> list[Any]:
    return [event for place, event in enumerate(events) if place not in places]


def _places(events: Events, *kinds: type) -> list[int]:
    return [place for place, event in enumerate(events) if isinstance(event, kinds)]


def _lose(number: int, *kinds: type) -> Spoil:
    def spoil(events: Any) -> Any:
        places = _places(events, *kinds)
        return _without(events, [places[number]]) if places else events

    return spoil


def _twice(*kinds: type) -> Spoil:
    def spoil(events: Any) -> Any:
        places = [place for place in _places(events, *kinds) if getattr(events[place], "text", "x").strip()]
        return [*events[: places[-1] + 1], *events[places[-1] :]] if places else events

    return spoil


def _swapped(kind: type) -> Spoil:
    def spoil(events: Any) -> Any:
        places = _places(events, kind)
        pairs = [(one, one + 1) for one in places if one + 1 in places and events[one] != events[one + 1]]
        if not pairs or events[pairs[0][0]].index != events[pairs[0][1]].index:
            return events
        one, other = pairs[0]
        return [*events[:one], events[other], events[one], *events[other + 1 :]]

    return spoil


def _cut(events: Any) -> Any:
    """Without the second half of the pieces, but with a clean end."""
    places = _places(events, *DELTAS)
    return _without(events, places[(len(places) + 1) // 2 :]) if len(places) > 1 else events


def _empty(events: Any) -> Any:
    """Nothing but a clean end."""
    if not isinstance(events[-1], StreamEnd) or not events[-1].response.parts:
        return events
    start = [event for event in events if isinstance(event, StreamStart)]
    return [*start, StreamEnd(replace(events[-1].response, parts=()))]


def _silent(events: Any) -> Any:
    """Nothing at all."""
    return [] if events else events


def _endless(events: Any) -> Any:
    return events[:-1] if isinstance(events[-1], StreamEnd) else events


def _clean(events: Any) -> Any:
    """A clean end where the stream broke off."""
    last = events[-1]
    if not isinstance(last, StreamError):
        return events
    return [*events[:-1], StreamEnd(last.partial or Response(finish_reason="stop"))]


def _broken(events: Any) -> Any:
    """An error where the stream ended well."""
    last = events[-1]
    if not isinstance(last, StreamEnd):
        return events
    return [*events[:-1], StreamError(error="InternalServerError", message="no", partial=last.response)]


def _error(change: Callable[[StreamError], StreamError]) -> Spoil:
    def spoil(events: Any) -> Any:
        return [*events[:-1], change(events[-1])] if isinstance(events[-1], StreamError) else events

    return spoil


def _end(spoil_answer: Spoil) -> Spoil:
    """A loss in the answer that the end holds, and in the parts of the blocks."""

    def spoil(events: Any) -> Any:
        last = events[-1]
        if not isinstance(last, StreamEnd):
            return events
        changed = spoil_answer(last.response)
        return events if changed is last.response or changed == last.response else [*events[:-1], StreamEnd(changed)]

    return spoil


def _start(events: Any) -> Any:
    return [replace(event, id=None) if isinstance(event, StreamStart) else event for event in events]


def _modelless(events: Any) -> Any:
    return [replace(one, model="", wire_model=None) if isinstance(one, StreamStart) else one for one in events]


def _block(events: Any) -> Any:
    """Without the last block, deltas and all."""
    starts = [events[place] for place in _places(events, BlockStart)]
    if len(starts) < 2:
        return events
    lost = (starts[-1].index, starts[-1].choice)
    return [one for one in events if (getattr(one, "index", None), getattr(one, "choice", None)) != lost]


def _names(events: Any) -> Any:
    return [replace(one, name=f"{one.name}_2") if isinstance(one, BlockStart) and one.name else one for one in events]


def _ids(events: Any) -> Any:
    return [replace(one, id=f"{one.id}x") if isinstance(one, BlockStart) and one.id else one for one in events]


FROM_END = (
    "length sent as stop", "tool_calls sent as stop", "content_filter sent as stop", "stop sent as length",
    "usage lost", "output_tokens lost", "input_tokens lost", "reasoning_tokens lost",
)  # fmt: skip
"""Losses of an answer that the end of a stream alone can have."""


def _catalogue() -> Iterator[tuple[str, Spoil]]:
    yield "empty stream with a clean end", _empty
    yield "nothing sent at all", _silent
    yield "last piece of text lost", _lose(-1, TextDelta)
    yield "first piece of text lost", _lose(0, TextDelta)
    yield "last piece of thinking lost", _lose(-1, ThinkingDelta)
    yield "last piece of a call lost", _lose(-1, ToolCallDelta)
    yield "piece of text sent twice", _twice(TextDelta)
    yield "two pieces of text swapped", _swapped(TextDelta)
    yield "two pieces of a call swapped", _swapped(ToolCallDelta)
    yield "second half lost", _cut
    yield "last block lost", _block
    yield "end of a block lost", _lose(-1, BlockEnd)
    yield "end lost", _endless
    yield "broken stream ended cleanly", _clean
    yield "clean end sent as an error", _broken
    yield "class of the error changed", _error(lambda one: replace(one, error="BadRequestError", status=400))
    yield "message of the error lost", _error(lambda one: replace(one, message="failed"))
    yield "citation lost", _lose(-1, Annotation)
    yield "signature lost", _lose(-1, Seal)
    yield "usage in passing lost", _lose(-1, UsageUpdate)
    yield "id of the answer lost at the start", _start
    yield "model lost at the start", _modelless
    yield "name of a call changed", _names
    yield "id of a call changed", _ids
    for name in FROM_END:
        yield f"{name} at the end", _end(ANSWERS[name])


STREAMS: dict[str, Spoil] = dict(_catalogue())
"""Every loss, by name."""
