"""The client's role, streamed: server-sent events to canonical ones.

Rules
- An event stands for the canonical event of its `type`. Calls get their ids and the caller's own tool names when their
  block opens; the text of their arguments is what the deltas add up to.
- The peer is not trusted: an event that breaks a stream law ends the stream with an error. So what comes out is lawful,
  and the response of the end is what the events add up to.
- An event of a type that we do not know is passed on as `Extra`. A bare error object is an error, a bare answer a
  whole stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.dialects._members import is_object
from interlingua.dialects._streams.runs import RunDecoder, run_of
from interlingua.dialects._streams.templates import template_of
from interlingua.dialects.unified.answer import decode_answer
from interlingua.dialects.unified.client import PartReader, decode_response, settled
from interlingua.dialects.unified.parts import NAME, decode_part
from interlingua.dialects.unified.reasons import decode_error_body, error_of_wire
from interlingua.dialects.unified.wire import BlockEndWire, EventWire, StreamEndWire, StreamErrorWire, ToolCallReadyWire
from interlingua.errors import DecodeError, Error, IncompleteStreamError
from interlingua.stream.build import Block, stream_error
from interlingua.stream.calls import make_call
from interlingua.stream.check import Checker
from interlingua.stream.fold import Folder
from interlingua.stream.unfold import unfold
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, ToolCall
from interlingua.types.event import (
    BlockEnd,
    BlockStart,
    Extra,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.usage import merge_usage
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any, decode_wire
from interlingua.wire.sse import SseDecoder

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.templates import Template
    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["UnifiedStreamDecoder"]


DELTA = (b"event: text_delta\ndata: ", b"\n\n")
"""The bytes before the data of a text."""


class UnifiedStreamDecoder(RunDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self._context = context
        self._framing = SseDecoder()
        self._made = Changes(NAME, "decode_response")
        self._reader: PartReader | None = None
        self._checker = Checker()
        self._folder = Folder()
        self._events: list[Event] = []
        self._number = 0
        self._calls: dict[tuple[int, int], BlockStart] = {}
        self._texts: dict[tuple[int, int], list[str]] = {}
        self._ended = False
        self._template: Template | None = None
        self._counted = 0
        self._text = TextDelta(0, "")
        self._pieces: list[str] = []

    @property
    def terminal(self) -> bool:
        """Whether the end event came."""
        return self._ended

    @property
    def ended(self) -> bool:
        """Whether the terminal event was given out."""
        return self._ended

    @property
    def changes(self) -> Changes:
        """The changes of reading so far."""
        return self._made

    def _read(self, data: bytes) -> list[Event]:
        try:
            for event in self._framing.feed(data):
                self._take(event.data)
        except Error as error:
            self._abort(error)
        return self._take_events()

    def close(self) -> list[Event]:
        """The events that the end of the bytes completes."""
        try:
            for event in self._framing.close():
                self._take(event.data)
            if not self._ended:
                raise IncompleteStreamError("the stream ended without its end event")
        except Error as error:
            self._abort(error)
        return self._take_events()

    def fail(self, error: Error) -> list[Event]:
        """The end of a stream that the transport broke; after the end event that is no failure."""
        self._abort(error)
        return self._take_events()

    def _take_events(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _abort(self, error: Error, answer: Response[Any] | None = None) -> None:
        """End by an error, with what the events add up to and what the peer says of the `answer` beside them."""
        self._template = self._run = None
        if self._ended:
            return
        self._ended = True
        partial = msgspec.structs.replace(self._folder.partial(), changes=self._made.done())
        if answer is not None:
            partial = msgspec.structs.replace(
                partial,
                finish_reason=answer.finish_reason,
                finish_reason_raw=answer.finish_reason_raw,
                changes=(*answer.changes, *partial.changes),
                extra=answer.extra,
            )
        self._events.append(stream_error(error, partial))

    # One event

    def _take(self, data: bytes) -> None:
        if self._ended or self._read_text_delta(data):
            return
        repairs: list[str] = []
        try:
            event = cast("EventWire", decode_wire(data, cast("Any", EventWire), repairs=repairs, lenient=True))
        except DecodeError as error:
            self._strange(data, error)
            return
        self._made.repaired(repairs)
        if type(event) is BlockStart:
            if event.block == "tool_call":
                choice = f"/alternatives/{event.choice - 1}" if event.choice else ""
                path = f"{choice}/parts/{event.index}"
                reader = self._reader = self._reader or PartReader(self._context, self._made)
                name = reader.name(event.name, path)
                event = msgspec.structs.replace(event, id=reader.call_id(event.id, path), name=name)
                self._calls[event.choice, event.index] = event
            self._say(event)
        elif type(event) is BlockEndWire:
            self._end_block(event, (event.choice, event.index))
        elif type(event) is StreamEndWire:
            self._end(decode_answer(event.response))
        elif type(event) is StreamErrorWire:
            partial = None if event.partial is None else decode_answer(event.partial)
            self._abort(error_of_wire(event.error, None, None), partial)
        elif type(event) is not ToolCallReadyWire:  # said already, when its block ended
            self._delta(cast("Event", event), data)

    def _delta(self, event: Event, data: bytes) -> None:
        self._say(event)
        if type(event) is TextDelta:
            self._text = event
            self._pieces = self._folder.pieces(event.choice, event.index)
            self._counted = len(self._pieces)
            template = self._template = template_of(data, "text", event.text)
            if template is not None:
                block = Block("text", event.index, event.choice)
                block.pieces = self._pieces
                self._run = run_of(template, DELTA, self._framing, block)
        elif isinstance(event, ToolCallDelta):
            self._texts.setdefault((event.choice, event.index), []).append(event.arguments)

    def _read_text_delta(self, data: bytes) -> bool:
        """Whether `data` differs from the text before it in the text alone, and was told."""
        template = self._template
        if template is None:
            return False
        text = template.text_in(data)
        if text:  # it breaks no law if that broke none
            self._pieces.append(text)
            self._events.append(TextDelta(self._text.index, text, self._text.choice))
            return True
        # the run of texts ends: the laws hold for it as for one text
        self._template = self._run = None
        pieces = self._pieces[self._counted :]
        if pieces:
            index, choice = self._text.index, self._text.choice
            self._checker.grown(choice, index).append(TextDelta(index, "".join(pieces), choice))
            self._number += len(pieces)
        return False

    def _strange(self, data: bytes, error: DecodeError) -> None:
        """Data that is no event that we know: another one, an error, a whole answer, or nothing lawful."""
        value = decode_any(data, repairs=[])
        if not is_object(value):
            raise error
        kind = value.get("type")
        if isinstance(kind, str) and error.path == "/type":
            self._say(Extra(NAME, value))
        elif "error" in value:
            self._abort(decode_error_body(data, None, ()))
        elif kind is None and "parts" in value:
            for event in unfold(decode_response(HttpReply(status=200, body=data), self._context)):
                self._say(event)
        else:
            raise error

    def _end_block(self, event: BlockEndWire, key: tuple[int, int]) -> None:
        part = decode_part(event.part)
        if isinstance(part, ToolCall | BrokenToolCall):
            part = self._call(part, key)
        self._say(BlockEnd(event.index, part, event.choice))
        if isinstance(part, ToolCall):
            self._say(ToolCallReady(event.index, part, event.choice))

    def _call(self, part: ToolCall | BrokenToolCall, key: tuple[int, int]) -> Part:
        """The call under the id and name of its block, with the text that its deltas add up to."""
        start = self._calls.get(key)
        if start is None:
            raise DecodeError("the stream ends a call that did not begin")
        pieces = self._texts.pop(key, None)
        if isinstance(part, BrokenToolCall):
            return msgspec.structs.replace(part, id=start.id or "", name=start.name or "")
        if pieces is None:
            self._say(ToolCallDelta(key[1], part.arguments_json, key[0]))
        text = part.arguments_json if pieces is None else "".join(pieces)
        return make_call(
            start.id or "", start.name or "", text, freeform=part.freeform, sealed=part.sealed, extra=part.extra
        )  # fmt: skip

    def _end(self, end: Response[Any]) -> None:
        """The end: counts that only it knows, then what all events add up to."""
        usage = self._folder.usage
        if end.usage is not None and merge_usage(usage, end.usage) != usage:
            self._say(UsageUpdate(end.usage))
        if not self._number:
            raise DecodeError("the stream ends before it began")
        if len(self._checker.blocks) > len(self._checker.closed):
            raise DecodeError("the stream ends while a block is open")
        self._folder.feed(StreamEnd(end))
        response = settled(self._folder.response(), self._made)
        made = self._made.done()
        if made:
            response = msgspec.structs.replace(response, changes=(*end.changes, *made))
        self._ended = True
        self._events.append(StreamEnd(response))

    def _say(self, event: Event) -> None:
        """Give an event out.

        Raises: DecodeError for one that breaks a law.
        """
        if self._ended:
            return
        self._checker.feed(self._number, event)
        if self._checker.broken:
            raise DecodeError(f"the stream breaks its own laws: {self._checker.broken[0]}")
        self._folder.feed(event)
        self._number += 1
        self._ended = type(event) is StreamEnd
        self._events.append(event)
