"""The server's role, streamed: one server-sent event for each canonical event.

Rules
- The event's name is the `type` of its data. Most events are written as they are; a whole call has its arguments as an
  object, and the end has the whole answer, with its views.
- An answer with a broken call, unless its length ended it, ends in an error, which carries what came.
- Arguments are on one line: what was a line break between two members is a space. Their deltas are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.unified.answer import encode_answer
from interlingua.dialects.unified.parts import encode_call, encode_parts
from interlingua.dialects.unified.reasons import encode_error_body, fault
from interlingua.dialects.unified.wire import BlockEndWire, StreamEndWire, StreamErrorWire, ToolCallReadyWire
from interlingua.stream.fold import error_of
from interlingua.types.event import (
    BlockEnd,
    Extra,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.wire.json import encode, encode_text, encode_wire, one_line, write_text
from interlingua.wire.sse import is_event_name

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.errors import Error
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["UnifiedStreamEncoder"]

_PIECES: dict[type, tuple[bytes, bytes]] = {
    TextDelta: (b"text_delta", b"text"),
    ThinkingDelta: (b"thinking_delta", b"text"),
    ToolCallDelta: (b"tool_call_delta", b"arguments"),
}
"""The deltas that come most often: name of the event, name of the text."""


class UnifiedStreamEncoder(ResumingEncoder):
    """Bytes from the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one stream."""
        self.context = context
        self._model = ""
        self._id: str | None = None
        self._text_index = -1
        self._text_head = b""

    def encode(self, event: Event) -> bytes:
        """The bytes of `event`: one server-sent event."""
        if type(event) is TextDelta and event.index == self._text_index and not event.choice:
            try:
                return self._text_head + write_text(event.text) + b"}\n\n"
            except UnicodeEncodeError:
                return encode_text(event.text)  # says what is wrong with it
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text) | ToolCallDelta(arguments=text):
                name, member = _PIECES[type(event)]
                head = b'event: %b\ndata: {"type":"%b","index":%d,"%b":' % (name, name, event.index, member)
                if type(event) is TextDelta:
                    self._text_index, self._text_head = event.index, head
                choice = b',"choice":%d' % event.choice if event.choice else b""
                return b"%b%b%b}\n\n" % (head, encode_text(text), choice)
            case _:
                return self._other(event)

    def _other(self, event: Event) -> bytes:
        match event:
            case StreamStart():
                self._model = self.context.model or event.model
                self._id = event.id or (self.context.make_id() if self.context.make_id else None)
                return _framed("stream_start", encode(msgspec.structs.replace(event, model=self._model, id=self._id)))
            case BlockEnd(index=index, part=part, choice=choice):
                return _framed("block_end", encode_wire(BlockEndWire(index, encode_parts((part,), {}, {})[0], choice)))
            case ToolCallReady(index=index, call=call, choice=choice):
                return _framed("tool_call_ready", encode_wire(ToolCallReadyWire(index, encode_call(call), choice)))
            case StreamEnd(response=response):
                error = fault(response, self.context)
                if error is not None:
                    return self._error(error, response, error.http_status)
                answer = encode_answer(response, model=self._model or response.model, id=self._id)
                return _framed("stream_end", encode_wire(StreamEndWire(answer)))
            case StreamError(partial=partial, status=status):
                return self._error(error_of(event), partial, status)
            case Extra(dialect="unified", raw={"type": str(name)} as raw) if is_event_name(name):
                return _framed(name, encode(raw))
            case _:
                return _framed(cast("str", type(event).__struct_config__.tag), encode(event))

    def _error(self, error: Error, partial: Response[Any] | None, status: int | None) -> bytes:
        facts = encode_error_body(error).error
        facts.status = status
        answer = None if partial is None else encode_answer(partial, model=self._model or partial.model, id=self._id)
        return _framed("stream_error", encode_wire(StreamErrorWire(facts, answer)))


def _framed(name: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), one_line(data))
