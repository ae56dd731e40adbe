"""From events to the response they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua import errors
from interlingua.errors import Error, IncompleteStreamError, MalformedArgumentsError, UpstreamError, UsageError, kind_of
from interlingua.types.content import AudioPart, BrokenToolCall, RefusalPart, TextPart, ThinkingPart
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    DataDelta,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageUpdate,
)
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage, merge_usage

if TYPE_CHECKING:
    from interlingua.types.content import Citation, Part
    from interlingua.types.event import Delta, Event

__all__ = ["Folder", "error_of", "fold"]

_PLACE = itemgetter(0)
_DELTAS = frozenset({TextDelta, ThinkingDelta, RefusalDelta, ToolCallDelta, DataDelta, Annotation, Seal})


class _Open:
    """The sum of the deltas of one block so far."""

    __slots__ = ("annotations", "data", "pieces", "sealed", "start")

    def __init__(self, start: BlockStart) -> None:
        self.start = start
        self.pieces: list[str] = []
        self.data: list[bytes] = []
        self.annotations: list[Citation] = []
        self.sealed: Any = None

    def grow(self, event: Delta) -> None:
        if type(event) is TextDelta:  # nearly all are, and a look at a type costs a fifth of a look at what is one
            self.pieces.append(event.text)
            return
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text) | RefusalDelta(text=text):
                self.pieces.append(text)
            case ToolCallDelta(arguments=text):
                self.pieces.append(text)
            case DataDelta(data=data, transcript=text):
                self.data.append(data)
                self.pieces.append(text)
            case Annotation(annotation=annotation):
                self.annotations.append(annotation)
            case Seal(sealed=sealed):
                self.sealed = sealed

    def part(self) -> Part | None:
        """The part as far as it came; None for a block of which nothing can be shown yet."""
        content = "".join(self.pieces)
        match self.start.block:
            case "text":
                return TextPart(content, tuple(self.annotations), sealed=self.sealed)
            case "thinking":
                return ThinkingPart(content, self.sealed)
            case "refusal":
                return RefusalPart(content)
            case "tool_call":
                return BrokenToolCall(self.start.id or "", self.start.name or "", content, "cut_off")
            case "audio":
                return AudioPart(b"".join(self.data), "application/octet-stream", content or None)
            case _:
                return None


class Folder:
    """Folds events one by one; `partial()` is what came so far."""

    __slots__ = ("_end", "_open", "_parts", "_start", "_usage")

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._start = StreamStart()
        self._end: Response[Any] | None = None
        self._usage: Usage | None = None
        self._open: dict[tuple[int, int], _Open] = {}
        self._parts: dict[tuple[int, int], Part] = {}

    def feed(self, event: Event) -> None:
        """Take the next event."""
        if type(event) in _DELTAS:
            delta = cast("Delta", event)
            self._open[delta.choice, delta.index].grow(delta)
        elif type(event) is BlockStart:
            self._open[event.choice, event.index] = _Open(event)
        elif type(event) is BlockEnd:
            self._open.pop((event.choice, event.index), None)
            self._parts[event.choice, event.index] = event.part
        elif type(event) is UsageUpdate:
            self._usage = merge_usage(self._usage, event.usage)
        elif type(event) is StreamStart:
            self._start = event
        elif type(event) is StreamEnd:
            self._end = event.response

    def pieces(self, choice: int, index: int) -> list[str]:
        """The texts of an open block: that of another delta may be put there instead of feeding it."""
        return self._open[choice, index].pieces

    @property
    def usage(self) -> Usage | None:
        """The counts so far."""
        return self._usage

    def response(self) -> Response[Any]:
        """The response that the events add up to.

        Raises: IncompleteStreamError when no end came.
        """
        if self._end is None:
            raise IncompleteStreamError("the stream ended before its end event", partial=self.partial())
        return self._fold(self._end)

    def partial(self) -> Response[Any]:
        """The response so far, open calls as broken ones."""
        return self._fold(Response(finish_reason="error"))

    def _fold(self, end: Response[Any]) -> Response[Any]:
        """Parts, counts and names from the events; what only the end knows from there: reasons, extras, late names."""
        grown = max([choice for choice, _ in (*self._parts, *self._open)], default=0)
        number = 1 + max(grown, len(end.alternatives))  # a choice may be empty
        first, *others = [self._choice_parts(choice) for choice in range(number)]
        # A choice of which the end says nothing broke off.
        unsaid = [Alternative(finish_reason="error") for _ in others[len(end.alternatives) :]]
        return msgspec.structs.replace(
            end,
            parts=first,
            alternatives=tuple(
                [
                    msgspec.structs.replace(alternative, parts=parts)
                    for alternative, parts in zip((*end.alternatives, *unsaid), others, strict=True)
                ]
            ),
            usage=self._usage,
            model=self._start.model or end.model,
            wire_model=self._start.wire_model or end.wire_model,
            id=self._start.id or end.id,
        )

    def _choice_parts(self, choice: int) -> tuple[Part, ...]:
        parts: dict[int, Part | None] = {
            index: part for (number, index), part in self._parts.items() if number == choice
        }
        for (number, index), block in self._open.items():
            if number == choice:
                parts[index] = block.part()
        return tuple([part for _, part in sorted(parts.items(), key=_PLACE) if part is not None])


def fold(events: Iterable[Event]) -> Response[Any]:
    """The response that a whole stream adds up to.

    Raises: IncompleteStreamError, with `.partial`, when the events end without a terminal one; the error that
    a `StreamError` event stands for.
    """
    if not isinstance(events, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"fold takes the events of a stream, not {kind_of(events)}")
    folder = Folder()
    for event in events:
        if isinstance(event, StreamError):
            raise error_of(event)
        folder.feed(event)
    return folder.response()


def error_of(event: StreamError) -> Error:
    """The exception that a `StreamError` event stands for."""
    kind = getattr(errors, event.error, None)
    if not (isinstance(kind, type) and issubclass(kind, Error)):
        kind = UpstreamError
    error = kind(
        event.message,
        status=event.status,
        code=event.code,
        retry_after_s=event.retry_after_s,
        request_id=event.request_id,
    )
    if isinstance(error, IncompleteStreamError):
        error.partial = event.partial
    if isinstance(error, UpstreamError) and event.partial is not None and event.partial.parts:
        error.response = event.partial
    if isinstance(error, MalformedArgumentsError) and event.partial is not None:
        broken = [part for part in event.partial.parts if isinstance(part, BrokenToolCall) and part.reason != "cut_off"]
        error.response = event.partial
        error.call = broken[0] if broken else None
    return error
