"""The server's role, streamed: events to events of the wire.

Rules
- Items come one after the other, as OpenAI's do: of an answer of another dialect, whose blocks may interleave, a block
  waits for those before it.
- Every item has its whole life: added, parts added, deltas, parts done, done; a message stays open until something else
  comes, since the next text may belong to it.
- An item opens when its seal or its first piece comes. In an answer of this very dialect only the seal knows its id, so
  pieces that come before it wait for it.
- Everything is numbered from 0 without a gap; the number stands last, so that the bytes before a text stay the same.
- The last event holds the very items that were done: it equals the answer that would not have been streamed.
- A stream that broke ends in `response.failed`, or in `error` where the answer never began; what was cut is not done.
- Progress of hosted tools passes under the numbers of this stream.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from msgspec.structs import replace

from interlingua.dialects._foreign import adopt_answer, note_event
from interlingua.dialects._logprobs import text_logprobs
from interlingua.dialects._members import is_list, is_object, merge_members, object_in, plain
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._serve import hand_over
from interlingua.dialects._steps import at_home, thinking_events
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects._transcripts import transcript_events
from interlingua.dialects.openai_responses.assistant import COMPLETED
from interlingua.dialects.openai_responses.items import NOBODY, ItemEncoder, ItemIds
from interlingua.dialects.openai_responses.parts import NAME, SPOKEN, write_annotation
from interlingua.dialects.openai_responses.reasons import failure_members, message_status
from interlingua.dialects.openai_responses.repeated import answer_text
from interlingua.dialects.openai_responses.server import answer_wire
from interlingua.dialects.openai_responses.wire import ItemWire, PartWire
from interlingua.stream.fold import error_of
from interlingua.stream.order import InOrder
from interlingua.types.change import Changes
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    ImagePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    Extra,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from interlingua.types.response import Response
from interlingua.wire.json import encode, encode_text, encode_wire, write_text
from interlingua.wire.sse import is_event_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.dialects._contract import ServerContext
    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.response import FinishReason

__all__ = ["ResponsesStreamEncoder"]

PREFIXES = {"text": "msg", "refusal": "msg", "thinking": "rs", "tool_call": "fc"}
"""How the ids of items begin that are made here, by the kind of block."""
BREAK = "\n\n"
"""The break between the summaries of one piece of reasoning."""
MEANT = 1 << 30
"""Every null is meant."""
ADDED, DONE = b"response.output_item.added", b"response.output_item.done"
EMPTY_TEXT = b'"part":{"type":"output_text","text":"","annotations":[]}'
EMPTY_REFUSAL = b'"part":{"type":"refusal","refusal":""}'


KNOWN_NUMBERS = 4_096
"""Texts up to this number end with bytes that were written once."""
_NUMBER = re.compile(rb'"sequence_number":\s*(\d{1,18})')
_LONGEST_NAME = 128
"""So many bytes of a frame hold its type."""
_AFTER_TEXT = b',"logprobs":[],"sequence_number":%d}\n\n'


@cache
def _ends() -> tuple[bytes, ...]:
    """How the event of a text ends, by its number."""
    return tuple([_AFTER_TEXT % number for number in range(KNOWN_NUMBERS)])


class _Item:
    """An item under way."""

    __slots__ = ("deltas", "head", "id", "index", "key", "members", "named", "pieces", "place", "start", "wire")

    def __init__(self, start: BlockStart, index: int, item_id: str | None, members: dict[str, Any]) -> None:
        self.start = start
        self.index = index
        self.id = item_id
        self.key = members.get("id")
        self.members = members
        self.place = -1
        self.head = b""
        self.deltas = 0
        self.pieces: list[str] = []
        self.wire = ItemWire()
        self.named = b'"item_id":%b,"output_index":%d' % (encode_text(item_id or ""), index)
        """How events name it."""

    @property
    def names(self) -> dict[str, Any]:
        """How events name the item, as members."""
        return {"item_id": self.id or "", "output_index": self.index}


class ResponsesStreamEncoder(ResumingEncoder):
    """Wire events for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self._own = context.source == NAME
        self._order = InOrder()
        self._encoder = ItemEncoder(self.changes, reply=True)
        self._number = 0
        self._answer_id: str | None = None
        self._make_id: Callable[[str], str] | None = None
        self._output: list[ItemWire | None] = []
        self._pending: dict[int, list[Event]] = {}
        self._items: dict[int, _Item] = {}
        self._message: _Item | None = None
        self._later: list[tuple[_Item, BlockEnd]] = []
        self._announced: dict[str | int, int] = {}
        self._started = False
        self._text_index = -1
        self._text_head = b""
        self._ends = _ends()

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if type(event) is TextDelta and event.index == self._text_index and not event.choice:
            number = self._number
            self._number = number + 1
            try:
                end = self._ends[number] if number < KNOWN_NUMBERS else _AFTER_TEXT % number
                return self._text_head + write_text(event.text) + end
            except UnicodeEncodeError:
                return encode_text(event.text)  # says what is wrong with it
        if self._own:
            return self._write(event)
        return b"".join([self._write(one) for one in self._order.take(event)])

    def _write(self, event: Event) -> bytes:
        """The bytes that an event adds when its turn has come."""
        if getattr(event, "choice", 0):
            return b""
        self._text_index = -1
        write = self._writers.get(type(event))
        return b"" if write is None else write(self, event)

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events` under the number that follows; a message whose end was told stays ended."""
        super().resume(events, last_frame)
        if DONE in last_frame[:_LONGEST_NAME]:
            self._close_message()
        number = _NUMBER.findall(last_frame)
        self._number = int(number[-1]) + 1 if number else 0

    def _open_block(self, event: BlockStart) -> bytes:
        if event.block not in _OPENERS:
            return b""
        self._pending[event.index] = [event]
        own = event.extra.get(NAME, {})
        # Of some items more is known than their first piece will say.
        if event.block == "thinking" and "id" in own:
            return self._opening(event.index, {"id": own["id"]})
        if event.block == "refusal" and "item" in own:
            return self._opening(event.index, object_in(own, "item"))
        return b""

    def _seal(self, event: Seal) -> bytes:
        """A seal that fits tells how the item is called; one that does not says so at the end of its block."""
        events = self._pending.get(event.index)
        if events is None or not seal_fits(event.sealed, NAME, NOBODY):
            return b""
        return self._opening(event.index, event.sealed.data)

    def _extra(self, event: Extra) -> bytes:
        """An event of a hosted tool, under our own numbers."""
        raw, frames = event.raw, b""
        kind = raw.get("type") if event.dialect == NAME and is_object(raw) else None
        if not is_event_name(kind):
            note_event(self.changes, event)
            return b""
        members = {name: value for name, value in raw.items() if name not in ("type", "sequence_number")}
        if kind == "response.output_item.added":
            frames = self._close_message()
            index = len(self._output)
            self._output.append(None)
            item = raw.get("item")
            for key in (item.get("id") if is_object(item) else None, raw.get("output_index")):
                if isinstance(key, str | int):
                    self._announced[key] = index
            members["output_index"] = index
        elif "output_index" in raw:
            key = raw.get("item_id", raw["output_index"])
            announced = self._announced.get(key) if isinstance(key, str | int) else None
            members["output_index"] = raw["output_index"] if announced is None else announced
        return frames + self._say(kind, **members)

    def _say(self, kind: str, /, **members: Any) -> bytes:
        """One event, under the next number."""
        body = {"type": kind, **members, "sequence_number": self._number}
        self._number += 1
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), encode(body, nulls=MEANT))

    def _tell(self, kind: bytes, members: bytes) -> bytes:
        """One event whose members are JSON already, under the next number."""
        number = self._number
        self._number = number + 1
        return b'event: %b\ndata: {"type":"%b",%b,"sequence_number":%d}\n\n' % (kind, kind, members, number)

    def _tell_item(self, kind: bytes, index: int, wire: ItemWire) -> bytes:
        return self._tell(kind, b'"output_index":%d,"item":%b' % (index, encode_wire(wire)))

    def _tell_part(self, kind: bytes, item: _Item, part: bytes) -> bytes:
        return self._tell(kind, b'%b,"content_index":%d,%b' % (item.named, item.place, part))

    # The answer as a whole

    def _start(self, event: StreamStart) -> bytes:
        self._answer_id = event.id or (self.context.make_id() if self.context.make_id else None)
        if not self._own:
            self._make_id = ItemIds(self._answer_id or "")
        self._started = True
        early: Response[Any] = Response(
            model=event.model, wire_model=event.wire_model, extra=event.extra, finish_reason="stop"
        )
        wire = answer_wire(early, self._answer_id, [], self.context, self.changes)
        wire.status, wire.completed_at = "in_progress", None
        snapshot = answer_text(wire, self.context)
        return self._shown("response.created", snapshot) + self._shown("response.in_progress", snapshot)

    def _shown(self, kind: str, answer: bytes) -> bytes:
        return self._tell(kind.encode(), b'"response":' + answer)

    def _end(self, event: StreamEnd) -> bytes:
        response = adopt_answer(event.response, self.changes)
        frames = self._close_message(response.finish_reason)
        later, self._later = self._later, []
        frames += b"".join([self._finish(item, block_end) for item, block_end in later])
        self._add_logprobs(response)
        if response.alternatives:
            self.changes.add("alternatives_unsupported", "/alternatives")
        wire = answer_wire(response, self._answer_id or response.id, self._done_items(), self.context, self.changes)
        kind = wire.status if wire.status in ("incomplete", "failed") else COMPLETED
        hand_over(self.changes, self.context)
        return frames + self._shown(f"response.{kind}", answer_text(wire, self.context))

    def _add_logprobs(self, response: Response[Any]) -> None:
        """Log probabilities of another dialect, which are known at the end of its stream, for the answer as a whole."""
        tokens = None if self._own else next(filter(None, map(text_logprobs, response.parts)), None)
        for item in self._done_items() if tokens else ():
            for content in item.content if is_list(item.content) else ():
                if isinstance(content, PartWire) and content.type == "output_text":
                    content.logprobs = tokens
                    return

    def _error(self, event: StreamError) -> bytes:
        failure = failure_members(error_of(event))
        frames = self._close_message("error")
        if self._started:  # the answer as far as it came; why it would have finished is told by nothing in it
            partial = replace(event.partial or Response[Any](), finish_reason="stop")
            wire = answer_wire(partial, self._answer_id or partial.id, self._done_items(), self.context, self.changes)
            wire.status, wire.error, wire.completed_at = "failed", failure, None
            frames += self._shown("response.failed", answer_text(wire, self.context))
        else:
            frames += self._say("error", **failure, param=None)
        hand_over(self.changes, self.context)
        return frames

    def _done_items(self) -> list[ItemWire]:
        return [item for item in self._output if item is not None]

    # Items open

    def _hold(self, event: Annotation | TextDelta | RefusalDelta | ThinkingDelta | ToolCallDelta) -> bytes:
        self._pending[event.index].append(event)
        return b""

    def _opening(self, index: int, members: dict[str, Any]) -> bytes:
        """Open the item of a block, and say what waited for it."""
        events = self._pending.pop(index)
        start = cast("BlockStart", events[0])
        frames = _OPENERS[start.block](self, start, members)
        return frames + b"".join([self._write(event) for event in events[1:]])

    def _added(self, start: BlockStart, members: dict[str, Any], wire: ItemWire) -> tuple[_Item, bytes]:
        frames = self._close_message()
        item_id = members.get("id")
        if item_id is None and self._make_id is not None:
            item_id = self._make_id("ctc" if start.freeform else PREFIXES[start.block])
        item = self._items[start.index] = _Item(start, len(self._output), item_id, members)
        self._output.append(None)
        wire.id = item_id
        item.wire = wire
        return item, frames + self._tell_item(ADDED, item.index, wire)

    def open_prose(self, start: BlockStart, members: dict[str, Any]) -> bytes:
        """Open a content part, in the open message or in a new one."""
        frames = b""
        item = self._message
        if item is None or item.key != members.get("id"):
            wire = ItemWire(type="message", role="assistant")
            merge_members(wire, {**members, "status": "in_progress"})
            wire.content = []
            item, frames = self._added(start, members, wire)
            self._message = item
        self._items[start.index] = item
        item.place += 1
        item.head = b""
        empty = EMPTY_TEXT if start.block == "text" else EMPTY_REFUSAL
        return frames + self._tell_part(b"response.content_part.added", item, empty)

    def open_thinking(self, start: BlockStart, members: dict[str, Any]) -> bytes:
        """Open a piece of reasoning."""
        wire = ItemWire(type="reasoning")
        merge_members(wire, {"summary": []})
        return self._added(start, {"id": members.get("id")}, wire)[1]

    def open_call(self, start: BlockStart, members: dict[str, Any]) -> bytes:
        """Open a call."""
        kind, holder = ("custom_tool_call", "input") if start.freeform else ("function_call", "arguments")
        wire = ItemWire(type=kind, call_id=start.id, name=start.name, status="in_progress")
        own = start.extra.get(NAME, {})
        merge_members(wire, {holder: "", **({"namespace": own["namespace"]} if "namespace" in own else {})})
        return self._added(start, members, wire)[1]

    # Items grow

    def _delta(self, event: TextDelta | RefusalDelta | ThinkingDelta | ToolCallDelta) -> bytes:
        item = self._items.get(event.index)
        if item is None:
            if self._own:
                return self._hold(event)
            frames = self._opening(event.index, {})
            return frames + self._delta(event)
        match event:
            case TextDelta(text=text):
                frames = self._piece(item, "response.output_text.delta", text, b',"logprobs":[]')
                self._text_index, self._text_head = event.index, item.head
                return frames
            case RefusalDelta(text=text):
                return self._piece(item, "response.refusal.delta", text)
            case ThinkingDelta(text=text):
                frames = b""
                if self._own and text == BREAK and item.pieces:
                    return self._end_summary(item)
                if not item.pieces:
                    item.place += 1
                    item.head = b""
                    frames = self._summary(item, "added", "")
                item.pieces.append(text)
                return frames + self._piece(item, "response.reasoning_summary_text.delta", text)
            case ToolCallDelta(arguments=text):
                if item.start.freeform:
                    return b""
                return self._piece(item, "response.function_call_arguments.delta", text)

    def _piece(self, item: _Item, kind: str, text: str, tail: bytes = b"") -> bytes:
        if not item.head:
            name, place = kind.encode(), b""
            if item.start.block == "thinking":
                place = b',"summary_index":%d' % item.place
            elif item.start.block != "tool_call":
                place = b',"content_index":%d' % item.place
            item.head = b'event: %b\ndata: {"type":"%b",%b%b,"delta":' % (name, name, item.named, place)
        number = self._number
        self._number += 1
        item.deltas += 1
        return b'%b%b%b,"sequence_number":%d}\n\n' % (item.head, encode_text(text), tail, number)

    def _summary(self, item: _Item, what: str, text: str) -> bytes:
        part = {"type": "summary_text", "text": text}
        kind = f"response.reasoning_summary_part.{what}"
        return self._say(kind, **item.names, summary_index=item.place, part=part)

    def _end_summary(self, item: _Item) -> bytes:
        text = "".join(item.pieces)
        if not text:
            return b""
        item.pieces = []
        kind = "response.reasoning_summary_text.done"
        frames = self._say(kind, **item.names, summary_index=item.place, text=text)
        return frames + self._summary(item, "done", text)

    def _annotation(self, event: Annotation) -> bytes:
        if event.index not in self._items:
            return self._hold(event)
        if event.annotation.dialect != NAME:
            return b""  # where it ends is told when the text has ended
        return self._annotated(self._items[event.index], event.annotation.raw)

    def _annotated(self, item: _Item, annotation: dict[str, Any]) -> bytes:
        names = {**item.names, "content_index": item.place, "annotation_index": len(item.pieces)}
        item.pieces.append("")
        return self._say("response.output_text.annotation.added", **names, annotation=annotation)

    # Items end

    def _end_block(self, event: BlockEnd) -> bytes:
        frames = b""
        part = event.part
        if isinstance(part, ServerToolPart) and not at_home(part, NAME, NOBODY):
            events = thinking_events(part, self.changes, f"/parts/{event.index}", event)
            return b"".join([self._write(one) for one in events])
        if isinstance(part, AudioPart) and SPOKEN not in part.extra.get(NAME, {}):
            transcript = transcript_events(event, self.changes)
            return b"".join([self._write(one) for one in transcript]) if transcript else self._end_other(event)
        if event.index in self._pending:
            frames = self._opening(event.index, _members(part))
        item = self._items.get(event.index)
        if item is None:
            return frames + self._end_other(event)
        if _is_cut(part) or (self._own and isinstance(part, ThinkingPart) and part.sealed is None):
            self._later.append((item, event))  # nobody knows yet whether the stream breaks here
            return frames
        return frames + self._finish(item, event)

    def _finish(self, item: _Item, event: BlockEnd) -> bytes:
        path = f"/parts/{event.index}"
        match event.part:
            case TextPart() | RefusalPart():
                return self._end_prose(item, event.part, path)
            case ThinkingPart():
                return self._end_summary(item) + self._item_done(item, self._final(item, event, path))
            case ToolCall() | BrokenToolCall():
                wire = self._final(item, event, path)
                if item.start.freeform:
                    text = cast("str", plain(wire).get("input", ""))
                    frames = self._piece(item, "response.custom_tool_call_input.delta", text) if text else b""
                    return (
                        frames
                        + self._say("response.custom_tool_call_input.done", **item.names, input=text)
                        + self._item_done(item, wire)
                    )
                text = cast("str", plain(wire).get("arguments", ""))
                frames = (
                    b""
                    if item.deltas or not text
                    else self._piece(item, "response.function_call_arguments.delta", text)
                )
                done = self._say("response.function_call_arguments.done", **item.names, arguments=text)
                return frames + done + self._item_done(item, wire)
            case _:
                return b""

    def _end_prose(self, item: _Item, part: TextPart | RefusalPart, path: str) -> bytes:
        content = self._encoder.content(part, path)
        if isinstance(part, TextPart):
            if part.sealed is not None and not seal_fits(part.sealed, NAME, NOBODY):
                note_seal(self.changes, part.sealed, path)
            logprobs = encode(content.logprobs, nulls=MEANT) if content.logprobs else b"[]"
            content_text = b'"text":%b,"logprobs":%b' % (encode_text(part.text), logprobs)
            frames = b""
            for citation in part.annotations:  # those of this dialect were told when they came
                value = write_annotation(citation, part.text) if citation.dialect != NAME else None
                if value is not None:
                    frames += self._annotated(item, value)
            frames += self._tell_part(b"response.output_text.done", item, content_text)
        else:
            frames = self._tell_part(b"response.refusal.done", item, b'"refusal":' + encode_text(part.text))
        members = _members(part)
        item.members = {**members, "id": item.id} if item.id is not None else members
        cast("list[Any]", item.wire.content).append(content)
        item.pieces = []
        return frames + self._tell_part(b"response.content_part.done", item, b'"part":' + encode_wire(content))

    def _close_message(self, reason: FinishReason = "stop") -> bytes:
        """The end of the open message, in which the answer ended by `reason`; one of our dialect has its own status."""
        item, self._message = self._message, None
        if item is None:
            return b""
        item.wire.status = COMPLETED if self._own else message_status(reason)
        merge_members(item.wire, item.members)
        return self._item_done(item, item.wire)

    def _final(self, item: _Item, event: BlockEnd, path: str) -> ItemWire:
        """The whole item of a block that is one."""
        self._encoder.part(event.part, path)
        wire = self._encoder.items.pop()
        wire.id = item.id if item.id is not None else wire.id
        if not self._own and _is_cut(event.part):
            wire.status = "incomplete"
        return wire

    def _item_done(self, item: _Item, wire: ItemWire) -> bytes:
        self._output[item.index] = wire
        return self._tell_item(DONE, item.index, wire)

    # Items that come in one piece

    def _end_other(self, event: BlockEnd) -> bytes:
        self._encoder.part(event.part, f"/parts/{event.index}")
        if not self._encoder.items:
            return b""
        wire = self._encoder.items.pop()
        frames = self._close_message()
        index = self._announced.get(wire.id if isinstance(wire.id, str) else "")
        if wire.id is None and self._make_id is not None and isinstance(event.part, ImagePart):
            wire.id = self._make_id("ig")
        if index is None:
            index = len(self._output)
            self._output.append(None)
            frames += self._tell_item(ADDED, index, wire)
        self._output[index] = wire
        return frames + self._tell_item(DONE, index, wire)

    _writers: ClassVar[dict[type[Any], Callable[[ResponsesStreamEncoder, Any], bytes]]] = {
        **dict.fromkeys((TextDelta, RefusalDelta, ThinkingDelta, ToolCallDelta), _delta),
        StreamStart: _start,
        BlockStart: _open_block,
        Seal: _seal,
        Annotation: _annotation,
        BlockEnd: _end_block,
        Extra: _extra,
        StreamEnd: _end,
        StreamError: _error,
    }


def _is_cut(part: Part) -> bool:
    return isinstance(part, BrokenToolCall) and part.reason == "cut_off"


def _members(part: Part) -> dict[str, Any]:
    """The members of the item around a part, where this dialect made it."""
    if isinstance(part, TextPart | ThinkingPart | ToolCall):
        return part.sealed.data if part.sealed is not None and seal_fits(part.sealed, NAME, NOBODY) else {}
    return object_in(part.extra.get(NAME, {}), "item") if isinstance(part, RefusalPart | BrokenToolCall) else {}


_OPENERS: dict[str, Callable[[ResponsesStreamEncoder, BlockStart, dict[str, Any]], bytes]] = {
    "text": ResponsesStreamEncoder.open_prose,
    "refusal": ResponsesStreamEncoder.open_prose,
    "thinking": ResponsesStreamEncoder.open_thinking,
    "tool_call": ResponsesStreamEncoder.open_call,
}
