"""The server's role, streamed: canonical events to events of the wire.

Strategy: one block is open on the wire at a time. Canonical blocks may interleave, so the events of a block that is not
the open one wait until all blocks before it have stopped.

Rules
- Wire indexes are dense, in the order of the canonical blocks; a block that has no place on the wire takes none.
- A call opens with `input: {}` and grows by at least one `input_json_delta`; its stop waits for the next event, so that
  a call that was cut off by an error is never sent as whole.
- A signature comes once, just before its block stops.
- The input tokens stand at the start: those that came, else an estimate, which the counts at the end correct.
- The stop reason and the counts stand in one `message_delta`; then `message_stop`. An error ends the stream instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import adopt_answer, note_event
from interlingua.dialects._members import is_object
from interlingua.dialects._seals import note_seal
from interlingua.dialects._serve import hand_over
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.anthropic.assistant import is_redacted, signature_of
from interlingua.dialects.anthropic.citations import own_value
from interlingua.dialects.anthropic.parts import NAME, block_citations
from interlingua.dialects.anthropic.reasons import encode_error_body
from interlingua.dialects.anthropic.server import reply_encoder, stop_word
from interlingua.dialects.anthropic.usage import encode_usage
from interlingua.dialects.anthropic.whole import DELTA, DELTA_USAGE, MESSAGE, USAGE, required_of
from interlingua.stream.failure import failed_end
from interlingua.stream.fold import error_of
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, RefusalPart, TextPart, ThinkingPart, ToolCall
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    Extra,
    RefusalDelta,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageUpdate,
)
from interlingua.types.usage import Usage, merge_usage
from interlingua.wire.json import decode_any, encode, encode_text, encode_wire, write_text
from interlingua.wire.sse import is_event_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.dialects._contract import ServerContext
    from interlingua.types.content import Part
    from interlingua.types.event import Event

__all__ = ["MessagesStreamEncoder"]

PING = b'event: ping\ndata: {"type":"ping"}\n\n'
STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
STARTS: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "text": ""},
    "refusal": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}
"""How prose blocks open."""
COUNTS = frozenset({
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "output_tokens_details",
    "server_tool_use",
})  # fmt: skip
"""The counts that are told once more at the end; what else the start has told of the usage is not said again."""


HOT = frozenset({TextDelta, ThinkingDelta, ToolCallDelta})
"""Deltas that come by the thousand: each is a prefix that was made once and one encoded string."""


class _Block:
    """One canonical block on its way to the wire."""

    __slots__ = ("grown", "number", "pending", "start")

    def __init__(self, start: BlockStart) -> None:
        self.start = start
        self.number: int | None = None
        self.grown = False
        self.pending: list[Event] = []


class MessagesStreamEncoder(ResumingEncoder):
    """Events of the wire for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self._turns = reply_encoder(self.changes, own=context.source == NAME)
        self._start: StreamStart | None = StreamStart()
        self._usage: Usage | None = None
        self._counted: dict[str, Any] = {}
        self._own: bool = context.says_own(NAME)
        self._whole_shapes: bool = context.request is not None
        self._blocks: dict[int, _Block] = {}
        self._active: int | None = None
        self._next = 0
        self._owed = b""
        self._hot_kind: type | None = None
        self._hot_head = b""

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        hot = self._hot_kind
        if type(event) is TextDelta and hot is TextDelta and event.index == self._active and not event.choice:
            try:
                return self._hot_head + write_text(event.text) + b"}}\n\n"
            except UnicodeEncodeError:
                return encode_text(event.text)  # says what is wrong with it
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text) | ToolCallDelta(arguments=text):
                if type(event) is hot and event.index == self._active and not event.choice:
                    return self._hot_head + encode_text(text) + b"}}\n\n"
                return self._delta(event)
            case RefusalDelta() | Annotation():
                return self._delta(event)
            case _:
                return self._other(event)

    def opening(self) -> bytes:
        """The start of the answer, with the counts that are known."""
        return self._settle()

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events`: a block that began there was opened, though perhaps nothing was said in it."""
        super().resume(events, last_frame)
        self._settle()
        block = None if self._active is None else self._blocks.get(self._active)
        if block is not None and block.start.block in (*STARTS, "tool_call"):
            self._opened(block)

    def _other(self, event: Event) -> bytes:
        match event:
            case BlockStart(choice=0):
                self._blocks[event.index] = _Block(event)
                if self._active is None:
                    self._active = event.index
            case BlockEnd(choice=0):
                return self._block_end(event)
            case StreamStart():
                self._start = event
            case UsageUpdate(usage=usage):
                self._usage = merge_usage(self._usage, usage)
            case Extra():
                return self._extra(event)
            case StreamEnd():
                return self._end(event)
            case StreamError():
                return self._error(event)
            case _:
                pass
        return b""

    def _extra(self, event: Extra) -> bytes:
        """An event of the service that we do not know, as it came; the block of a delta may not be open here."""
        raw = event.raw
        name = raw.get("type") if event.dialect == NAME and is_object(raw) else None
        if is_event_name(name) and name != "content_block_delta":
            return self._settle() + _event(name, raw)
        note_event(self.changes, event)
        return b""

    # The answer as a whole

    def _settle(self) -> bytes:
        """The frames before anything else: the start of the answer, or the stop that a call still owes."""
        owed, self._owed = self._owed, b""
        start = self._start
        if start is None:
            return owed
        self._start = None
        made = self.context.make_id() if start.id is None and self.context.make_id else start.id
        message: dict[str, Any] = {
            "id": made,
            "type": "message",
            "role": "assistant",
            "model": self.context.model or start.wire_model or start.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        if self._usage is not None or not self._own:
            usage, estimate = self._usage, self.context.input_tokens
            is_unknown = usage is None or usage.input_tokens is None
            if is_unknown and estimate is not None and not self._own:  # nobody has told the input yet
                usage = merge_usage(usage, Usage(input_tokens=estimate()))
            message["usage"] = self._counted = encode_usage(usage, Changes(NAME, "encode_response"), own=self._own)
        if self._whole_shapes:
            message = {**MESSAGE, **message, "usage": {**USAGE, **self._counted}}
        if made is None:
            del message["id"]
        return _event("message_start", {"type": "message_start", "message": message}) + PING

    def _end(self, event: StreamEnd) -> bytes:
        if not self._own and (failed := failed_end(event)):
            return self._error(failed)
        response = adopt_answer(event.response, self.changes)
        settled = self._settle()
        members = dict(response.extra.get(NAME, {}))
        delta: dict[str, Any] = {
            "stop_reason": stop_word(response, self.changes, own=self._own),
            "stop_sequence": None,
        }
        message: dict[str, Any] = {"type": "message_delta", "delta": delta}
        if response.usage is not None or not self._own:
            usage, begun = encode_usage(response.usage, self.changes, own=self._own), self._counted
            message["usage"] = {name: usage[name] for name in usage if name in COUNTS or begun.get(name) != usage[name]}
        if "context_management" in members:
            message["context_management"] = members.pop("context_management")
        delta |= members
        if self._whole_shapes:
            message |= {
                "delta": {**DELTA, **delta},
                "usage": {**DELTA_USAGE, **message.get("usage", {"output_tokens": 0})},
            }
        for place in range(len(response.alternatives)):
            self.changes.add("alternatives_unsupported", f"/alternatives/{place}")
        hand_over(self.changes, self.context)
        return settled + _event("message_delta", message) + STOP

    def _error(self, event: StreamError) -> bytes:
        _, body = encode_error_body(error_of(event))
        hand_over(self.changes, self.context)
        return _event("error", body)

    # Blocks

    def _open(self, block: _Block, content: dict[str, Any]) -> bytes:
        settled = self._settle()
        if self._whole_shapes:
            content = {**required_of(content), **content}
        block.number, self._next = self._next, self._next + 1
        body = {"type": "content_block_start", "index": block.number, "content_block": content}
        return settled + _event("content_block_start", body)

    def _opened(self, block: _Block) -> bytes:
        """The opening of a block, once, when there is something to say in it."""
        if block.number is not None:
            return b""
        start = block.start
        call: dict[str, Any] = {"type": "tool_use", "id": start.id, "name": start.name, "input": {}}
        members = start.extra.get(NAME, {}) if start.extra else {}
        return self._open(block, {**(STARTS.get(start.block) or call), **members})

    def _delta(self, event: TextDelta | ThinkingDelta | ToolCallDelta | RefusalDelta | Annotation) -> bytes:
        if event.choice:
            return b""
        block = self._blocks[event.index]
        if event.index != self._active:
            block.pending.append(event)
            return b""
        return self._grow(block, event)

    def _grow(self, block: _Block, event: Event) -> bytes:
        self._hot_kind = type(event) if type(event) in HOT else None
        match event:
            case TextDelta(text=text) | RefusalDelta(text=text):
                return self._string(block, "text_delta", "text", text)
            case ThinkingDelta(text=text):
                return self._string(block, "thinking_delta", "thinking", text)
            case ToolCallDelta(arguments=text):
                block.grown = True
                return self._string(block, "input_json_delta", "partial_json", text)
            case Annotation(annotation=annotation):
                value = own_value(annotation)
                if value is None:
                    return b""
                delta = {"type": "citations_delta", "citation": value}
                return self._opened(block) + self._block_delta(block, delta)
            case _:
                return b""

    def _string(self, block: _Block, kind: str, member: str, text: str) -> bytes:
        """A delta of one string: what stands before it is the same for the whole block."""
        opening = self._opened(block)
        start = f'{{"type":"content_block_delta","index":{block.number},"delta":{{"type":"{kind}","{member}":'
        head = self._hot_head = b"event: content_block_delta\ndata: " + start.encode()
        return opening + head + encode_text(text) + b"}}\n\n"

    def _block_delta(self, block: _Block, delta: dict[str, Any]) -> bytes:
        return _event("content_block_delta", {"type": "content_block_delta", "index": block.number, "delta": delta})

    def _block_end(self, event: BlockEnd) -> bytes:
        if event.index != self._active:
            self._blocks[event.index].pending.append(event)
            return b""
        pieces = [self._finish(self._blocks.pop(event.index), event.part)]
        self._active = self._hot_kind = None
        while self._active is None and self._blocks:
            # The next block comes, with everything that waited for its turn.
            index = min(self._blocks)
            block = self._blocks[index]
            self._active = index
            for waiting in block.pending:
                if isinstance(waiting, BlockEnd):
                    pieces.append(self._finish(self._blocks.pop(index), waiting.part))
                    self._active = None
                else:
                    pieces.append(self._grow(block, waiting))
            block.pending = []
        return b"".join(pieces)

    # Ends

    def _finish(self, block: _Block, part: Part) -> bytes:
        path = f"/parts/{block.start.index}"
        match part:
            case TextPart():
                block_citations(part, self.changes, path)  # those without a place are noted
                self._note_seal(part.sealed, path)
                return self._stop(block)
            case RefusalPart():
                self.changes.add("refusal_as_text", path)
                return self._stop(block)
            case ThinkingPart():
                signature = signature_of(part)
                if signature:
                    signed = self._opened(block) + self._block_delta(
                        block, {"type": "signature_delta", "signature": signature}
                    )
                    return signed + self._stop(block)
                if block.number is None and is_redacted(part):
                    return self._whole(block, part, path)
                self._note_seal(part.sealed, path)
                return self._stop(block)
            case ToolCall() | BrokenToolCall():
                return self._finish_call(block, part, path)
            case _:
                return self._whole(block, part, path)

    def _note_seal(self, sealed: Any, path: str) -> None:
        if sealed is not None:
            note_seal(self.changes, sealed, path)

    def _finish_call(self, block: _Block, part: ToolCall | BrokenToolCall, path: str) -> bytes:
        frames = b""
        if isinstance(part, ToolCall):
            self._note_seal(part.sealed, path)
        elif not (part.raw_arguments or self._turns.own) and block.number is None:  # a call would be one to run
            return self._whole(block, part, path)
        if not block.grown:
            text = part.arguments_json if isinstance(part, ToolCall) else part.raw_arguments
            frames = self._string(block, "input_json_delta", "partial_json", text)
        stop = self._stop(block)
        if isinstance(part, ToolCall):
            return frames + stop
        self._owed = stop
        return frames

    def _stop(self, block: _Block) -> bytes:
        if block.number is None:
            return b""
        return _event("content_block_stop", {"type": "content_block_stop", "index": block.number})

    def _whole(self, block: _Block, part: Part, path: str) -> bytes:
        """A part that comes in one piece; the input of a call that the provider makes comes as a delta, as ever."""
        wire = self._turns.part(part, path)
        if wire is None:
            return b""
        content = decode_any(encode_wire(wire))
        piece: dict[str, Any] | None = None
        if content.get("type") == "text" and "text" in content:
            piece = {"type": "text_delta", "text": content["text"]}
            content["text"] = ""
        elif content.get("type") == "thinking":
            piece = {"type": "thinking_delta", "thinking": content["thinking"]}
            content["thinking"] = ""
        elif isinstance(content.get("input"), dict):
            piece = {"type": "input_json_delta", "partial_json": encode(content["input"]).decode()}
            content["input"] = {}
        opening = self._open(block, content)
        return opening + (self._block_delta(block, piece) if piece is not None else b"") + self._stop(block)


def _event(name: str, body: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), encode(body))
