"""The client's role, streamed: events of the wire to canonical events.

Strategy: one method per wire event; blocks go by their index; `stream.build` makes the events lawful. A block that goes
on unread is gathered and comes whole when it stops.

Rules
- Token counts come in two halves and are put together by name; later ones replace earlier ones.
- A call's arguments are the joined `partial_json`; where none came, the input of the block's start counts.
- The terminal signal is `message_stop`. `ping` says nothing; an event of an unknown type goes on as it is.
- A whole answer in place of a stream is taken for what it is.
- Nearly all deltas of a block are the same bytes around another piece of text: these are compared, not parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from interlingua.dialects._answer import id_source
from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._members import is_object, members_of, plain
from interlingua.dialects._streams.runs import BuildingDecoder, run_of
from interlingua.dialects._streams.templates import template_of
from interlingua.dialects.anthropic.assistant import call_extra, seal_of
from interlingua.dialects.anthropic.citations import read_citation
from interlingua.dialects.anthropic.client import answer_members, blocks_of
from interlingua.dialects.anthropic.marks import decode_mark
from interlingua.dialects.anthropic.parts import NAME, citations_in
from interlingua.dialects.anthropic.reasons import decode_finish, error_of_body
from interlingua.dialects.anthropic.steps import is_step, read_step
from interlingua.dialects.anthropic.usage import decode_usage
from interlingua.dialects.anthropic.wire import BlockWire, DeltaWire, EventWire, ResponseWire
from interlingua.errors import DecodeError, Error, IncompleteStreamError, LimitExceededError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart, Sealed
from interlingua.wire.cache import ByteCache
from interlingua.wire.json import decode_any, decode_wire
from interlingua.wire.sse import SseDecoder

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.templates import Template
    from interlingua.stream.build import Block

__all__ = ["MessagesStreamDecoder"]


DELTA = (b"event: content_block_delta\ndata: ", b"\n\n")
"""The bytes before the data of a delta."""
_starts = ByteCache[bytes, EventWire](100_000)
"""Starts of text blocks, which are the same bytes in every stream; nobody changes what was read of them."""
_latest: list[tuple[Template, int]] = []
"""The template of a text that a stream learned last, and the index of its block: the next stream begins with it."""


class _Open:
    """A block of the wire that has not stopped."""

    __slots__ = ("block", "is_text", "pieces", "raw", "wire")

    def __init__(self, wire: BlockWire) -> None:
        self.wire = wire
        self.block: Block | None = None
        self.pieces: list[str] = []
        self.is_text = False
        self.raw: dict[str, Any] | None = None


class MessagesStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self.context = context
        changes = Changes(NAME, "decode_response")
        self.builder: StreamBuilder = StreamBuilder(changes, id_source(context))
        self._framing = SseDecoder()
        self._message = ResponseWire()
        self._open: dict[int, _Open] = {}
        self._usage: dict[str, Any] = {}
        self._members: dict[str, Any] = {}
        self._template: Template | None = None
        self._block: Block | None = None

    def _feed(self, data: bytes) -> None:
        for event in self._framing.feed(data):
            self._event(event.data)

    def _close(self) -> None:
        for event in self._framing.close():
            self._event(event.data)
        if not self.builder.ended:
            raise IncompleteStreamError("the stream ended without message_stop")

    def _abort(self, error: Error) -> None:
        self._template = self._run = None
        if self.builder.ended:
            return
        for state in self._open.values():
            self._tell_text(state)
        self._open.clear()
        self._finish_members()
        self.builder.fail(error)

    def _event(self, data: bytes) -> None:
        if self.builder.ended:
            return
        template, block = self._template, self._block
        if template is not None and block is not None:
            text = template.text_in(data)
            if text:
                self.builder.grow(block, text)
                return
            self._template = self._run = None
        elif self._open and _latest and self._begins_as_before(data, *_latest[0]):
            return
        repairs: list[str] = []
        event = _read(data, repairs)
        self.changes.repaired(repairs)
        if event is not None:
            self._read_event(event, data)
            return
        # none of the dialect's: a bare error, or an event to pass on
        value = decode_any(data, repairs=[])
        if is_object(value) and value.get("error") and "type" not in value:
            raise error_of_body(error_body(value), None)
        self._begin()
        self.builder.extra_event(NAME, value)

    def _read_event(self, event: EventWire, data: bytes) -> None:
        match event.type:
            case "content_block_delta":
                self._block_delta(event, data)
            case "content_block_start":
                self._block_start(event)
            case "content_block_stop":
                self._block_stop(event)
            case "message_start":
                self._message_start(event)
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                self._message_stop()
            case "message":
                # A whole answer is read as if each of its blocks had come in one piece.
                repairs: list[str] = []
                message = decode_wire(data, ResponseWire, repairs=repairs, lenient=True)
                self.changes.repaired(repairs)
                self._message_start(EventWire(message=message))
                for index, block in enumerate(blocks_of(message)):
                    self._block_start(EventWire(index=index, content_block=block))
                    self._block_stop(EventWire(index=index))
                reason = message.stop_reason if isinstance(message.stop_reason, str) else None
                self._message_delta(EventWire(delta=DeltaWire(stop_reason=reason)))
                self._message_stop()
            case "ping":
                pass  # a sign of life
            case _:
                raise error_of_body(error_body(decode_any(data, repairs=[])), None)

    # The answer as a whole

    def _message_start(self, event: EventWire) -> None:
        if self.builder.start_event is None and event.message is not None:
            self._message = event.message
            self._count(event.message.usage)
            self._begin()

    def _message_delta(self, event: EventWire) -> None:
        self._begin()
        self._count(event.usage)
        delta = event.delta or DeltaWire()
        self._members.update(answer_members(delta))
        if event.context_management:
            self._members["context_management"] = event.context_management
        if event.extra:
            self._members.update(event.extra)
        if delta.stop_reason:
            self.builder.finish(decode_finish(delta.stop_reason), delta.stop_reason)

    def _message_stop(self) -> None:
        self._begin()
        for index in list(self._open):
            self._flush(self._open.pop(index))
        self._finish_members()
        self.builder.end()

    def _begin(self) -> None:
        """The start of the answer, which has its name, if the wire has it; else its first content."""
        if self.builder.start_event is not None:
            return
        message = self._message
        self._members = {**answer_members(message), **self._members}
        self.builder.start(model=message.model or "", wire_model=message.model or None, id=message.id or None)
        self._tell_usage()

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Counts put over the earlier ones; told when content has begun."""
        if usage:
            self._usage.update({name: count for name, count in usage.items() if count is not None})
            if self.builder.start_event is not None:
                self._tell_usage()

    def _tell_usage(self) -> None:
        if self._usage:
            self.builder.update_usage(decode_usage(self._usage, self.changes))

    def _finish_members(self) -> None:
        if self._members:
            self.builder.extra[NAME] = self._members

    # Blocks

    def _block_start(self, event: EventWire) -> None:
        wire = event.content_block or BlockWire()
        before = self._open.get(event.index or 0)
        if before is not None and before.wire == wire and wire.type == "tool_use":
            return  # it says again what it said: the call is one
        self._begin()
        self.builder.close_prose()
        state = self._open[event.index or 0] = _Open(wire)
        match wire.type:
            case "text":
                if wire.text or wire.extra:
                    self._text(state, wire.text or "")
                for citation in citations_in(wire):
                    self._annotate(state, citation)
            case "thinking" | "redacted_thinking":
                decode_mark(wire)
                state.block = self.builder.thinking(wire.thinking or "", extra=members_of(wire, NAME))
                sealed = seal_of(wire, self.context.target)
                if sealed is not None:
                    self.builder.seal(state.block, sealed)
            case "tool_use":
                if not wire.name:
                    raise DecodeError("a tool call must have a name", path="/content_block/name")
                undo = self.context.undo
                name = undo.names.get(wire.name, wire.name)
                freeform, extra = name in undo.freeform, call_extra(wire)
                state.block = self.builder.open_call(wire.id, name, freeform=freeform, extra=extra)
            case _:
                state.raw = plain(wire)

    def _block_stop(self, event: EventWire) -> None:
        state = self._open.pop(event.index or 0, None)
        if state is not None:
            self._flush(state)

    def _flush(self, state: _Open) -> None:
        """Close a block, as far as it came."""
        block = state.block
        if state.raw is not None:
            self._whole(state, state.raw)
        elif block is None:
            return
        elif block.kind == "tool_call":
            if not state.pieces and isinstance(state.wire.input, Raw):
                text = bytes(state.wire.input).decode()
                self.builder.call_arguments(block, text if text != "{}" else "")
            if state.is_text:
                self._tell_text(state)
            self.builder.close_call(block)
        elif self.builder.open_prose() is block:
            self.builder.close_prose()

    def _whole(self, state: _Open, raw: dict[str, Any]) -> None:
        """A block that goes on unread, with what its deltas said."""
        if state.pieces:
            text = "".join(state.pieces)
            try:
                raw = {**raw, "input": decode_any(text)}
            except (DecodeError, LimitExceededError):
                raw = {**raw, "input": text}
        kind = str(raw.get("type", "unknown"))
        if is_step(kind):
            self.builder.whole(read_step(raw, self.context.target.provider or None), "server_tool")
        else:
            self.builder.whole(OpaquePart(NAME, kind, raw), "opaque")

    # Deltas

    def _block_delta(self, event: EventWire, data: bytes) -> None:
        state, delta = self._open.get(event.index or 0), event.delta
        if state is None or delta is None:
            raise DecodeError(f"a delta for block {event.index}, which is not open", path="/index")
        if state.raw is not None:
            self._grow_raw(state, state.raw, delta)
            return
        match delta.type:
            case "text_delta":
                self._text(state, delta.text or "")
                self._learn(data, "text", delta.text, self.builder.open_prose())
                if self._template is not None:
                    _latest[:] = [(self._template, event.index or 0)]
            case "input_json_delta":
                self._input(state, delta.partial_json)
                self._learn(data, "partial_json", delta.partial_json, None if state.is_text else state.block)
            case "thinking_delta":
                self._thinking(state, delta)
                block = None if delta.signature else self.builder.open_prose()
                self._learn(data, "thinking", delta.thinking, block)
            case "signature_delta":
                self._sign(state, delta.signature)
            case "citations_delta" if delta.citation is not None:
                self._annotate(state, delta.citation)
            case _:
                self.builder.extra_event(NAME, plain(event))

    def _text(self, state: _Open, text: str) -> None:
        if state.block is None:
            if text or state.wire.extra:
                state.block = self.builder.text(text, extra=members_of(state.wire, NAME))
        elif text:
            self.builder.text(text)

    def _learn(self, data: bytes, member: str, text: str | None, block: Block | None) -> None:
        """Take a delta that says one piece of text, and nothing else, as the template of what follows in its block."""
        template = template_of(data, member, text) if text and block is not None else None
        if template is not None and block is not None:
            self._follow(template, block)

    def _follow(self, template: Template, block: Block) -> None:
        self._template, self._block = template, block
        self._run = run_of(template, DELTA, self._framing, block)

    def _begins_as_before(self, data: bytes, template: Template, index: int) -> bool:
        """Take the first delta of a text, if it is like those of the latest text; whether it is."""
        state = self._open.get(index)
        text = None if state is None or state.raw is not None else template.text_in(data)
        if state is None or not text:
            return False
        self._text(state, text)
        block = self.builder.open_prose()
        if block is not None:
            self._follow(template, block)
        return True

    def _input(self, state: _Open, piece: str | None) -> None:
        if piece and state.wire.type != "tool_use":
            raise DecodeError("arguments for a block that is no call", path="/index")
        if piece and state.block is not None:
            state.pieces.append(piece)
            if len(state.pieces) == 1:
                state.is_text = piece[:1] == '"'  # it is told when it is whole
            if not state.is_text:
                self.builder.call_arguments(state.block, piece)

    def _tell_text(self, state: _Open) -> None:
        """Say an input that is text, as other dialects have it: for what it says, once it is whole."""
        block, text = state.block, "".join(state.pieces)
        if block is None or not state.is_text:
            return
        try:
            value = decode_any(text)
        except (DecodeError, LimitExceededError):
            value = None
        if isinstance(value, str):
            self.changes.add("foreign_shape", f"{block.path}/arguments_json", "the input is text")
        self.builder.call_arguments(block, value if isinstance(value, str) else text)

    def _thinking(self, state: _Open, delta: DeltaWire) -> None:
        """More thinking; a delta that brings the signature too may say the whole thinking once more."""
        block, text = state.block, delta.thinking
        if delta.signature and block is not None:
            self._sign(state, delta.signature)
            if text == block.content:
                return
        if text:
            self.builder.thinking(text)

    def _sign(self, state: _Open, signature: str | None) -> None:
        if state.block is not None and signature:
            target = self.context.target
            sealed = Sealed(NAME, {"signature": signature}, target.provider or None, target.model or None)
            self.builder.seal(_still_open(state.block), sealed)

    def _annotate(self, state: _Open, citation: dict[str, Any]) -> None:
        if state.block is None:
            state.block = self.builder.text("", extra=members_of(state.wire, NAME))
        if state.block.kind == "text":
            self.builder.annotate(_still_open(state.block), read_citation(citation))

    def _grow_raw(self, state: _Open, raw: dict[str, Any], delta: DeltaWire) -> None:
        """A delta of a block that goes on unread: pieces of input, or members whose texts are joined."""
        if delta.type == "input_json_delta":
            state.pieces.append(delta.partial_json or "")
            return
        for name, value in plain(delta).items():
            previous = raw.get(name)
            if name != "type":
                raw[name] = previous + value if isinstance(previous, str) and isinstance(value, str) else value


def _still_open(block: Block) -> Block:
    """The block; a DecodeError where another one began behind it, and what it is has been told."""
    if block.part is not None:
        raise DecodeError(f"a delta for block {block.index}, which is not open", path="/index")
    return block


_EVENTS = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "message_start",
        "message_delta",
        "message_stop",
        "message",
        "ping",
        "error",
    }
)
"""The events that are read; any other goes on as it is."""


def _read(data: bytes, repairs: list[str]) -> EventWire | None:
    """The event in `data`; None for JSON that is none of those that are read."""
    start = _starts.get(data)
    if start is not None:
        return start
    try:
        event = decode_wire(data, EventWire, repairs=repairs, lenient=True)
    except DecodeError:
        value = decode_any(data, repairs=repairs)
        if is_object(value) and str(value.get("type")) not in _EVENTS:
            return None
        raise
    if event.type == "content_block_start" and not repairs:
        block = event.content_block
        # A text begins that has nothing yet.
        if block is not None and block.type == "text" and not (block.text or block.citations or block.extra):
            _starts.put(data, event)
    return event if event.type in _EVENTS else None
