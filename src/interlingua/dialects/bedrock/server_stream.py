"""The server's role, streamed: canonical events to frames of ConverseStream.

Rules
- One block is open on the wire at a time, under a dense index; a block that has no place on the wire takes none.
- Text and reasoning begin with their first delta, a call with an event of its own; a signature comes before its stop.
- What cannot grow comes whole, in the form of a delta; what has no form in a stream is told in words, or noted.
- The stop reason comes first, then the counts in `metadata`. An error ends the stream as an exception instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_event
from interlingua.dialects._members import is_object
from interlingua.dialects._seals import note_seal
from interlingua.dialects._serve import hand_over
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.bedrock.assistant import REDACTED, SIGNATURE, is_redacted
from interlingua.dialects.bedrock.parts import NAME
from interlingua.dialects.bedrock.reasons import encode_error_body, exception_name, stop_word
from interlingua.dialects.bedrock.server import NO_METRICS, reply_encoder, reply_members
from interlingua.dialects.bedrock.service import EVENT
from interlingua.dialects.bedrock.usage import encode_usage
from interlingua.stream.failure import failed_end
from interlingua.stream.fold import error_of
from interlingua.stream.order import InOrder
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, RefusalPart, TextPart, ThinkingPart, ToolCall
from interlingua.types.event import (
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
)
from interlingua.wire.eventstream import encode_event_frame, encode_headers, frame_of
from interlingua.wire.json import decode_any, encode, encode_text, encode_wire
from interlingua.wire.sse import is_event_name

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.types.content import Part
    from interlingua.types.event import Event

__all__ = ["ConverseStreamEncoder"]

_DELTA = encode_headers({**EVENT, ":event-type": "contentBlockDelta"})


class ConverseStreamEncoder(ResumingEncoder):
    """Frames for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self._order = InOrder()
        self._turns = reply_encoder(self.changes, own=context.source == NAME)
        self._started = False
        self._next = 0
        self._number: int | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        return b"".join([self._one(ready) for ready in self._order.take(event)])

    def opening(self) -> bytes:
        """The start of the answer, which says no more than that there is one."""
        if self._started:
            return b""
        self._started = True
        return _frame("messageStart", {"role": "assistant"})

    def _one(self, event: Event) -> bytes:
        match event:
            case TextDelta(text=text, choice=0) | RefusalDelta(text=text, choice=0):
                return self._string(b'"text":', text, b"")
            case ThinkingDelta(text=text, choice=0):
                return self._string(b'"reasoningContent":{"text":', text, b"}")
            case ToolCallDelta(arguments=text, choice=0):
                return self._string(b'"toolUse":{"input":', text, b"}")
            case BlockStart(choice=0):
                self._number = None
                if event.block != "tool_call":
                    return b""
                call = {"toolUseId": event.id, "name": event.name, **event.extra.get(NAME, {}).get("toolUse", {})}
                return self._opened() + self._event("contentBlockStart", {"start": {"toolUse": call}})
            case BlockEnd(choice=0):
                return self._block_end(event)
            case _:
                return self._beside(event)

    def _beside(self, event: Event) -> bytes:
        """The members of an event that is about no block."""
        match event:
            case StreamStart():
                return self.opening()
            case Extra(dialect=dialect, raw=raw) if dialect == NAME and is_object(raw) and len(raw) == 1:
                name, payload = next(iter(raw.items()))
                if name == "contentBlockDelta" or not is_event_name(name):  # the block of a delta may not be open
                    note_event(self.changes, event)
                    return b""
                return self.opening() + _frame(name, payload)
            case Extra():
                note_event(self.changes, event)
                return b""
            case StreamEnd():
                return self._end(event)
            case StreamError():
                return self._error(event)
            case _:
                return b""

    # Blocks

    def _opened(self) -> bytes:
        """The start of the answer where nothing was said yet; the block has its number from here on."""
        before = self.opening()
        if self._number is None:
            self._number, self._next = self._next, self._next + 1
        return before

    def _string(self, head: bytes, text: str, tail: bytes) -> bytes:
        if not text:
            return b""
        before = self._opened()
        number = str(self._number).encode()
        payload = b'{"contentBlockIndex":%b,"delta":{%b%b%b}}' % (number, head, encode_text(text), tail)
        return before + frame_of(_DELTA, payload)

    def _event(self, name: str, members: dict[str, Any]) -> bytes:
        return _frame(name, {"contentBlockIndex": self._number, **members})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._opened() + self._event("contentBlockDelta", {"delta": delta})

    def _block_end(self, event: BlockEnd) -> bytes:
        part, path = event.part, f"/parts/{event.index}"
        match part:
            case TextPart():
                frames = self._cited(part, path)
            case RefusalPart():
                self.changes.add("refusal_as_text", path)
                frames = b""
            case ThinkingPart():
                frames = self._sealed(part, path)
            case ToolCall():
                self._turns.call(part, path)  # a seal that stays behind is noted
                frames = b""
            case BrokenToolCall():
                frames = b""
            case _:
                frames = self._whole(part, path)
        return frames if self._number is None else frames + self._event("contentBlockStop", {})

    def _cited(self, part: TextPart, path: str) -> bytes:
        """The citations of a text; those without a place are noted."""
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        if not part.annotations:
            return b""
        wires = self._turns.part(part, path)
        content = wires[0].citationsContent if wires else None
        return b"".join([self._delta({"citation": one}) for one in (content or {}).get("citations", ())])

    def _sealed(self, part: ThinkingPart, path: str) -> bytes:
        sealed = part.sealed
        if sealed is None:
            return b""
        if sealed.dialect != NAME:
            note_seal(self.changes, sealed, path)
            return b""
        name = REDACTED if is_redacted(part) else SIGNATURE
        return self._delta({"reasoningContent": {name: sealed.data[name]}}) if name in sealed.data else b""

    def _whole(self, part: Part, path: str) -> bytes:
        """A part that came in one piece, as far as a stream has a form for it."""
        pieces: list[bytes] = []
        for wire in self._turns.part(part, path):
            block = decode_any(encode_wire(wire))
            match block:
                case {"text": text}:
                    pieces.append(self._string(b'"text":', str(text), b""))
                case {"reasoningContent": {"reasoningText": {"text": text}}}:
                    pieces.append(self._string(b'"reasoningContent":{"text":', str(text), b"}"))
                case {"image": {"format": form, "source": source}}:
                    pieces.append(
                        self._opened() + self._event("contentBlockStart", {"start": {"image": {"format": form}}})
                    )
                    pieces.append(self._delta({"image": {"source": source}}))
                case {"toolUse": {**call}}:
                    value = call.pop("input", {})
                    pieces.append(self._opened() + self._event("contentBlockStart", {"start": {"toolUse": call}}))
                    pieces.append(self._delta({"toolUse": {"input": encode(value).decode()}}))
                case {"toolResult": {**result}}:
                    content = result.pop("content", [])
                    pieces.append(self._opened() + self._event("contentBlockStart", {"start": {"toolResult": result}}))
                    pieces.append(self._delta({"toolResult": content}))
                case _:
                    self.changes.add("opaque_part", path, "a stream has no form for it", action="dropped")
        return b"".join(pieces)

    # The end

    def _end(self, event: StreamEnd) -> bytes:
        own = self.context.says_own(NAME)
        if not own and (failed := failed_end(event)):
            return self._error(failed)
        response = event.response
        before = self.opening()
        members = reply_members(response, self.changes)
        members.pop("message", None)
        stop: dict[str, Any] = {"stopReason": stop_word(response, self.changes, own=own)}
        if "additionalModelResponseFields" in members:
            stop["additionalModelResponseFields"] = members.pop("additionalModelResponseFields")
        metadata: dict[str, Any] = {}
        if response.usage is not None or not own:
            metadata["usage"] = encode_usage(response.usage, self.changes, own=own)
        if not own:
            metadata["metrics"] = NO_METRICS
        hand_over(self.changes, self.context)
        metadata |= members
        return before + _frame("messageStop", stop) + (_frame("metadata", metadata) if metadata else b"")

    def _error(self, event: StreamError) -> bytes:
        _, exception, body = encode_error_body(error_of(event))
        hand_over(self.changes, self.context)
        headers = {
            ":exception-type": exception_name(exception),
            ":content-type": "application/json",
            ":message-type": "exception",
        }
        return encode_event_frame(headers, encode(body))


def _frame(name: str, payload: Any) -> bytes:
    return encode_event_frame({**EVENT, ":event-type": name}, encode(payload))
