"""The server's role, streamed: events to lines.

Rules
- Every line is a whole object with model, time and `done`; calls are whole in one line each, whatever white space
  stands in their arguments.
- The last line has no text, `done: true`, the reason, the counts and what only passes through.
- An error ends the stream as a line with the sentence and the status.
- Text costs a head that was encoded once and one encoded string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_event
from interlingua.dialects._members import object_in
from interlingua.dialects._serve import hand_over
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.ollama.assistant import AssistantEncoder
from interlingua.dialects.ollama.parts import NAME
from interlingua.dialects.ollama.reasons import done_reason, encode_error_body
from interlingua.dialects.ollama.server import answer_members, created_at, is_older_form
from interlingua.dialects.ollama.usage import encode_usage
from interlingua.dialects.ollama.wire import ChunkWire
from interlingua.stream.failure import failed_end
from interlingua.stream.fold import error_of
from interlingua.stream.order import InOrder
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, BrokenToolCall, ImagePart, ServerToolPart, ToolCall
from interlingua.types.event import (
    BlockEnd,
    Extra,
    RefusalDelta,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
)
from interlingua.wire.json import encode, encode_text, encode_wire, one_line, write_text

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.types.event import Event

__all__ = ["OllamaStreamEncoder"]


class OllamaStreamEncoder(ResumingEncoder):
    """Lines for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self._own = context.source == NAME
        self._order = InOrder()
        self._older = False
        self._common: dict[str, Any] = {}
        self._head = b"{"
        self._text = b""
        self._thinking = b""
        self._thinking_block: int | None = None
        self._tail = b""
        self._calls = 0

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if type(event) is TextDelta and not event.choice and not self._order.waiting:
            try:
                return self._text + write_text(event.text) + self._tail
            except UnicodeEncodeError:
                return encode_text(event.text)  # says what is wrong with it
        return b"".join([self._other(one) for one in self._order.take(event)])

    def _other(self, event: Event) -> bytes:
        match event:
            case TextDelta(text=text, choice=0) | RefusalDelta(text=text, choice=0):
                return self._text + encode_text(text) + self._tail
            case ThinkingDelta(text=text, choice=0, index=index):
                if text and self._thinking_block != index:
                    text = text if self._thinking_block is None else f"\n\n{text}"  # as a whole answer joins them
                    self._thinking_block = index
                return self._thinking + encode_text(text) + self._tail
            case StreamStart():
                # What every line has in common is prepared.
                members = {
                    "model": self.context.model or event.wire_model or event.model or None,
                    "created_at": event.extra.get(NAME, {}).get("created_at") or created_at(self.context),
                }
                self._common = {name: value for name, value in members.items() if value is not None}
                self._head = encode(self._common)[:-1] + (b"," if self._common else b"")
                self._older = is_older_form(event.extra, self.context)
                opening = b"" if self._older else b'"message":{"role":"assistant",'
                member = b'"response":' if self._older else b'"content":'
                self._text = self._head + opening + member
                self._thinking = self._head + opening + member + b'"","thinking":'
                self._tail = b',"done":false}\n' if self._older else b'},"done":false}\n'
                return b""
            case BlockEnd(choice=0):
                return self._block_end(event)
            case Extra():
                note_event(self.changes, event)
                return b""
            case StreamEnd():
                return self._end(event)
            case StreamError():
                return self._error(event)
            case _:
                return b""

    def _block_end(self, event: BlockEnd) -> bytes:
        """The frames of whole parts: calls and images; an entry for everything that has no place here."""
        encoder = AssistantEncoder(self.changes, "", reply=True, own=self._own, first_call=self._calls)
        encoder.add(event.part, event.index)
        if isinstance(event.part, ServerToolPart):
            return b"".join([self._thinking + encode_text(text) + self._tail for text in encoder.thinking])
        if isinstance(event.part, AudioPart):
            return b"".join([self._text + encode_text(text) + self._tail for text in encoder.texts])
        if not isinstance(event.part, ToolCall | BrokenToolCall | ImagePart):
            return b""
        wire = encoder.message()
        self._calls += len(wire.tool_calls or ())
        if self._older:
            line = ChunkWire(response=wire.content, tool_calls=wire.tool_calls, done=False)
        else:
            line = ChunkWire(message=wire, done=False)
        return self._head + one_line(encode_wire(line)[1:]) + b"\n"  # arguments keep their exact text

    # The end

    def _end(self, event: StreamEnd) -> bytes:
        if not self.context.says_own(NAME) and (failed := failed_end(event)):
            return self._error(failed)
        response = event.response
        members = answer_members(response, self.changes)
        if response.alternatives:
            self.changes.add("alternatives_unsupported", "/alternatives")
        last = {**self._common}
        if self._older:
            last["response"] = ""
        else:
            last["message"] = {"role": "assistant", "content": "", **object_in(members, "message")}
        members.pop("message", None)
        last |= {"done": True, "done_reason": done_reason(response, self.changes, own=self.context.says_own(NAME))}
        last |= {**members, **encode_usage(response.usage, self.changes)}
        hand_over(self.changes, self.context)
        return encode({name: value for name, value in last.items() if value is not None}) + b"\n"

    def _error(self, event: StreamError) -> bytes:
        status, body = encode_error_body(error_of(event))
        hand_over(self.changes, self.context)
        return encode({**body, "status": status}) + b"\n"
