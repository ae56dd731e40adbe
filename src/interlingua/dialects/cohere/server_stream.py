"""The server's role, streamed: events to events of the wire.

Rules
- Every event has the name that is its type. `message-start` comes first, `message-end` and `[DONE]` last.
- Blocks of content are numbered in the order in which they begin, calls apart from them; one is open at a time.
- Citations of a text stand before its end.
- An error ends the stream as a `message-end` with the finish reason `ERROR`, the sentence, its status and its code.
- Text costs a head that was encoded once and one encoded string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_event
from interlingua.dialects._members import is_object, object_in
from interlingua.dialects._serve import hand_over
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.cohere.assistant import AssistantEncoder
from interlingua.dialects.cohere.parts import NAME, PLAN
from interlingua.dialects.cohere.reasons import ERROR, encode_error_body, finish_word
from interlingua.dialects.cohere.server import answer_members
from interlingua.dialects.cohere.usage import encode_usage
from interlingua.stream.failure import failed_end
from interlingua.stream.fold import error_of
from interlingua.stream.order import InOrder
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
)
from interlingua.wire.json import decode_any, encode, encode_text, encode_wire, write_text
from interlingua.wire.sse import is_event_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects.cohere.wire import BlockWire
    from interlingua.types.event import Event

__all__ = ["CohereStreamEncoder"]

DONE = b"data: [DONE]\n\n"
_MEMBERS = {"text": "text", "refusal": "text", "thinking": "thinking"}
"""Kind of block -> type and member of its content on the wire."""
_DELTA_END, _PLAN_END, _CALL_END = b"}}}}\n\n", b"}}}\n\n", b"}}}}}\n\n"
_OPENING: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}


class CohereStreamEncoder(ResumingEncoder):
    """Events of the wire for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self._order = InOrder()
        self._started = False
        self._text: bytes = b""
        self._blocks = 0
        self._plans: set[int] = set()
        self._heads: dict[int, bytes] = {}
        self._turn = AssistantEncoder(self.changes, "", reply=True)
        self._calls: dict[int, int] = {}
        self._cited = 0
        self._told_citations: dict[int, int] = {}
        self._ended_block: int | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if type(event) is TextDelta and not event.choice and not self._order.waiting:
            head = self._heads.get(event.index)
            if head is not None:
                try:
                    return head + write_text(event.text) + (_PLAN_END if event.index in self._plans else _DELTA_END)
                except UnicodeEncodeError:
                    return encode_text(event.text)  # says what is wrong with it
        return b"".join([self._other(one) for one in self._order.take(event)])

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events`; what the open text has of citations and of its end is not told again."""
        earlier = list(events)
        super().resume(earlier, last_frame)
        open_texts = [event.index for event in earlier if type(event) is BlockStart and event.block == "text"]
        if not open_texts or any([type(event) is BlockEnd and event.index == open_texts[-1] for event in earlier]):
            return
        index = open_texts[-1]
        cited = [
            event for event in earlier if type(event) is Annotation and event.index == index and event.annotation.raw
        ]
        self._told_citations[index] = len(cited)
        self._cited += len(cited)
        self._ended_block = index if b"content-end" in last_frame else None

    def _other(self, event: Event) -> bytes:
        match event:
            case TextDelta(choice=0) | RefusalDelta(choice=0) | ThinkingDelta(choice=0):
                end = _PLAN_END if event.index in self._plans else _DELTA_END
                return self._heads[event.index] + encode_text(event.text) + end
            case ToolCallDelta(choice=0):
                return self._heads[event.index] + encode_text(event.arguments) + _CALL_END
            case StreamStart():
                made = event.id or (self.context.make_id() if self.context.make_id else None)
                members = {} if made is None else {"id": made}
                self._started = True
                return _named("message-start", {**members, "delta": {"message": _OPENING}}, id_first=True)
            case BlockStart(choice=0):
                return self._block_start(event)
            case BlockEnd(choice=0):
                return self._block_end(event)
            case _:
                return self._beside(event)

    def _beside(self, event: Event) -> bytes:
        """The members of an event that is about no block."""
        match event:
            case Extra():
                return self._extra(event)
            case StreamEnd():
                return self._end(event)
            case StreamError():
                return self._error(event)
            case _:
                return b""

    def _extra(self, event: Extra) -> bytes:
        """An event of the service that we do not know, as it came; the number of its block may be another here."""
        raw = event.raw
        kind = raw.get("type") if event.dialect == NAME and is_object(raw) else None
        if is_event_name(kind) and kind != "content-delta":
            return _named(kind, raw)
        note_event(self.changes, event)
        return b""

    # Blocks

    def _block_start(self, event: BlockStart) -> bytes:
        if event.block == "tool_call":
            place = self._calls[event.index] = len(self._calls)
            head = b'"index":%d,' % place
            self._heads[event.index] = _head("tool-call-delta", head, b'"tool_calls":{"function":{"arguments":')
            call: dict[str, Any] = {
                "id": event.id,
                "type": "function",
                "function": {"name": event.name, "arguments": ""},
            }
            own = dict(event.extra.get(NAME, {}))
            call["function"] |= object_in(own, "function")
            own.pop("function", None)
            return _named("tool-call-start", {"index": place, "delta": {"message": {"tool_calls": {**call, **own}}}})
        member = _MEMBERS.get(event.block)
        if member is None:
            return b""  # it is told whole
        own = event.extra.get(NAME, {})
        if own.get("field") == PLAN:
            self._plans.add(event.index)
            self._heads[event.index] = _head("tool-plan-delta", b"", b'"tool_plan":')
            return b""
        return self._content_start(event.index, member, {name: own[name] for name in own if name != "field"})

    def _content_start(self, index: int, member: str, extra: dict[str, Any]) -> bytes:
        place = self._blocks
        self._blocks += 1
        self._heads[index] = _head("content-delta", b'"index":%d,' % place, b'"content":{"%b":' % member.encode())
        content = {"type": member, member: "", **extra}
        return _named("content-start", {"index": place, "delta": {"message": {"content": content}}})

    def _block_end(self, event: BlockEnd) -> bytes:
        turn, part = self._turn, event.part
        count, cited = len(turn.blocks), len(turn.citations)
        turn.add(part, event.index)
        if isinstance(part, ToolCall | BrokenToolCall):
            return _named("tool-call-end", {"index": self._calls[event.index]})
        cited += self._told_citations.get(event.index, 0)
        citations = b"".join([self._citation(raw) for raw in turn.citations[cited:]])
        if event.index in self._plans:
            return citations
        if event.index in self._heads and isinstance(part, TextPart | ThinkingPart | RefusalPart):
            is_over = event.index == self._ended_block
            return citations + (b"" if is_over else _named("content-end", {"index": self._blocks - 1}))
        return b"".join([self._whole(event.index, block) for block in turn.blocks[count:]])

    def _whole(self, index: int, block: BlockWire) -> bytes:
        """A block that comes in one piece."""
        member = block.type if block.type in ("text", "thinking") else None
        if member is None:
            place = self._blocks
            self._blocks += 1
            content = decode_any(encode_wire(block))
            start = _named("content-start", {"index": place, "delta": {"message": {"content": content}}})
            return start + _named("content-end", {"index": place})
        start = self._content_start(index, member, dict(block.extra or {}))
        text = self._heads[index] + encode_text(getattr(block, member)) + _DELTA_END
        return start + text + _named("content-end", {"index": self._blocks - 1})

    def _citation(self, raw: dict[str, Any]) -> bytes:
        place = self._cited
        self._cited += 1
        start = _named("citation-start", {"index": place, "delta": {"message": {"citations": raw}}})
        return start + _named("citation-end", {"index": place})

    # The end

    def _end(self, event: StreamEnd) -> bytes:
        own = self.context.says_own(NAME)
        if not own and (failed := failed_end(event)):
            return self._error(failed)
        response = event.response
        if response.alternatives:
            self.changes.add("alternatives_unsupported", "/alternatives")
        members = answer_members(response, self.changes)
        late = b"".join([self._citation(raw) for raw in members.pop("citations", ())])
        members |= object_in(members, "message")
        members.pop("message", None)
        delta: dict[str, Any] = {"finish_reason": finish_word(response, self.changes, own=own), **members}
        if response.usage is not None:
            delta["usage"] = encode_usage(response.usage, self.changes)
        hand_over(self.changes, self.context)
        return late + _named("message-end", {"delta": delta}) + DONE

    def _error(self, event: StreamError) -> bytes:
        status, body = encode_error_body(error_of(event))
        sentence = body.pop("message")
        body.pop("id", None)  # an event has the id of its answer alone
        hand_over(self.changes, self.context)
        return _named("message-end", {"delta": {"finish_reason": ERROR, "error": sentence, "status": status, **body}})


def _named(kind: str, members: dict[str, Any], *, id_first: bool = False) -> bytes:
    """An event; its id stands before its type, as the service has it."""
    event = (
        {"id": members["id"], "type": kind, **members} if id_first and "id" in members else {"type": kind, **members}
    )
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), encode(event))


def _head(kind: str, index: bytes, inside: bytes) -> bytes:
    """The bytes of every event of a kind before its text."""
    name = kind.encode()
    return b'event: %b\ndata: {"type":"%b",%b"delta":{"message":{%b' % (name, name, index, inside)
