"""The client's role, streamed: events of the wire to events of ours.

Strategy: one handler for each type of event; `live` knows how the items grow, `stream.build` makes the events lawful.

Rules
- An item is found by its `output_index`, where that is missing or unknown by its id, and else it is the newest.
- The type is in the data; where it is missing, the name of the event counts.
- `response.completed` and `response.incomplete` end the stream. An item that only the last snapshot holds is told then.
- `response.failed` and `error`, flat or nested, break it off. `[DONE]` says nothing.
- Progress of hosted tools passes as it is, the opening of their items among it.
Loss: padding (`obfuscation`) and numbering; log probabilities come with the whole text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from interlingua.dialects._answer import id_source, is_complaint
from interlingua.dialects._members import plain
from interlingua.dialects._streams.runs import DATA, BuildingDecoder, run_of
from interlingua.dialects.openai_responses.client import has_failed, output_of, top_members
from interlingua.dialects.openai_responses.live import CallItem, MessageItem, OtherItem, ReasoningItem, open_item
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.reasons import decode_finish, error_of_failure, raw_finish
from interlingua.dialects.openai_responses.template import numbered_template_of
from interlingua.dialects.openai_responses.usage import decode_usage
from interlingua.dialects.openai_responses.wire import EventWire, ItemWire, ResponseWire
from interlingua.errors import DecodeError, Error, IncompleteStreamError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.wire.json import decode_any, decode_wire
from interlingua.wire.sse import DONE, SseDecoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.runs import Run
    from interlingua.dialects._streams.templates import Template
    from interlingua.dialects.openai_responses.live import Item
    from interlingua.stream.build import Block
    from interlingua.wire.sse import SseEvent

__all__ = ["ResponsesStreamDecoder"]

_TEXT_DELTA = "response.output_text.delta"
_NAMED = (f"event: {_TEXT_DELTA}\ndata: ".encode(), b"\n\n")
"""The bytes around the data of a text, where the event has a name."""


class ResponsesStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self._framing = SseDecoder()
        self._answer = _Answer(context, self._framing)
        self.builder: StreamBuilder = self._answer.builder

    def _feed(self, data: bytes) -> None:
        for event in self._framing.feed(data):
            self._answer.event(event)
        self._run = self._answer.run

    def _close(self) -> None:
        self._run = None
        for event in self._framing.close():
            self._answer.event(event)
        if not self.builder.ended:
            raise IncompleteStreamError("the stream ended before its answer was completed")

    def _abort(self, error: Error) -> None:
        self._run = None
        self._answer.abort(error)


class _Answer:
    """The answer as far as it came."""

    def __init__(self, context: DecodeContext, framing: SseDecoder) -> None:
        self.context = context
        self._framing = framing
        self.changes = Changes(NAME, "decode_response")
        self.builder = StreamBuilder(self.changes, id_source(context))
        self.by_index: dict[int, Item] = {}
        self.by_id: dict[str, Item] = {}
        self.newest: Item | None = None
        self.snapshot: ResponseWire | None = None
        self.called = False
        self._template: Template | None = None
        self._text_block: Block | None = None
        self.run: Run | None = None

    def event(self, event: SseEvent) -> None:
        template, block = self._template, self._text_block
        text = template.text_in(event.data) if template is not None else None
        if text:
            if block is not None:
                self.builder.grow(block, text)
            return
        self._template = self.run = None
        if self.builder.ended or event.data.strip() == DONE:
            return
        repairs: list[str] = []
        wire = decode_wire(event.data, EventWire, repairs=repairs, lenient=True)
        self.changes.repaired(repairs)
        kind = wire.type or event.event or _untyped(wire)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, wire)
            if kind == _TEXT_DELTA:
                # A piece of text, and nothing else, is the template of those to come for the same block.
                block = self._text_block = self.message(wire).block
                quiet = block is not None and not (wire.extra or wire.logprobs)
                template = self._template = numbered_template_of(event.data, _delta(wire)) if quiet else None
                if template is not None and block is not None:
                    self.run = run_of(template, DATA if event.event is None else _NAMED, self._framing, block)
        elif kind == "keepalive":
            return
        elif kind == "response":
            more_repairs: list[str] = []
            answer = decode_wire(event.data, ResponseWire, repairs=more_repairs, lenient=True)
            self.changes.repaired(more_repairs)
            output_of(answer)
            self.end(answer)
        else:
            self.start()
            self.builder.extra_event(NAME, decode_any(event.data, repairs=[]))

    def abort(self, error: Error) -> None:
        self._template = self.run = None
        if self.snapshot is not None and not self.builder.ended:
            self.start()
        self.tell_quoted()
        self.tell_members()
        self.builder.fail(error)

    # The answer as a whole

    def learn(self, wire: EventWire) -> None:
        """Keep the answer's facts so far."""
        snapshot, response = self.snapshot, wire.response
        if response is None:
            return
        if snapshot is not None:  # some servers name the answer once
            response.id, response.model = response.id or snapshot.id, response.model or snapshot.model
        self.snapshot = response

    def begun(self, wire: EventWire) -> None:
        """The start of the answer, or more of what is known of it."""
        self.learn(wire)
        if self.snapshot is not None:
            self.start()

    def start(self, last: ResponseWire | None = None) -> None:
        """The start of the answer; one that only has a last word begins with that."""
        if self.builder.start_event is not None:
            return
        response = self.snapshot or last or ResponseWire()
        members = top_members(response)
        extra = {NAME: members} if members else {}
        self.builder.start(
            model=response.model or "", wire_model=response.model or None, id=response.id or None, extra=extra
        )

    def tell_members(self) -> None:
        snapshot = self.snapshot
        if snapshot is None:
            return
        started = self.builder.start_event
        if started is not None and not (started.model and started.id):
            self.builder.name(model=snapshot.model or "", wire_model=snapshot.model or None, id=snapshot.id or None)
        members = top_members(snapshot)
        if members:
            self.builder.extra[NAME] = members

    def tell_quoted(self) -> None:
        """Say the arguments that are still held back."""
        for live in dict.fromkeys([*self.by_index.values(), *self.by_id.values(), self.newest]):
            if isinstance(live, CallItem):
                live.tell_quoted()

    def completed(self, wire: EventWire) -> None:
        response = wire.response or ResponseWire()
        response.status = response.status or wire.type.removeprefix("response.")
        self.end(response)

    def end(self, response: ResponseWire) -> None:
        if has_failed(response):
            raise error_of_failure(response.error)
        self.start(response)
        self.snapshot = response
        self.reconcile(response.output or [])
        if self.called:
            self.tell_quoted()
        if response.usage is not None and response.usage is not UNSET:
            self.builder.update_usage(decode_usage(response.usage))
        raw = raw_finish(response.status, response.incomplete_details)
        self.builder.finish(decode_finish(raw, called=self.called, background=response.background is True), raw)
        self.tell_members()
        self.builder.end()

    def reconcile(self, items: list[ItemWire]) -> None:
        """Tell what only the last snapshot holds: all of it where no item came before, else the ends of open items."""
        if self.newest is None:
            for item in items:
                self.done(EventWire(item=item))
            return
        for place, item in enumerate(items):
            live = self.by_id.get(item.id or "") or self.by_index.get(place)
            if live is not None and not live.settled and live.wire.type == item.type:
                live.settled = True
                live.settle(item)
        for live in self.by_index.values():
            if not live.settled and not isinstance(live, MessageItem | ReasoningItem):
                live.abandon()

    def failed(self, wire: EventWire) -> None:
        self.learn(wire)
        raise error_of_failure(wire.response.error if wire.response is not None else None)

    def error(self, wire: EventWire) -> None:
        if wire.error:
            raise error_of_failure({"error": wire.error})
        reason = wire.message if _complains(wire) else "the stream failed"
        raise error_of_failure({"message": reason, "code": wire.code, **(wire.extra or {})})

    # Items

    def added(self, wire: EventWire) -> None:
        if wire.item is None:
            raise DecodeError("response.output_item.added without an item")
        item = self.by_id.get(wire.item.id or "")
        if item is not None and not item.settled and item.wire.type == wire.item.type:
            return  # it began before, with one of its parts
        self.open(wire.item, wire)
        if isinstance(self.newest, OtherItem):
            raw: dict[str, Any] = {"type": wire.type, "output_index": wire.output_index}
            raw["item"] = plain(wire.item)
            self.builder.extra_event(NAME, {name: value for name, value in raw.items() if value is not None})

    def open(self, item: ItemWire, wire: EventWire) -> Item:
        self.start()
        opened = self.newest = open_item(item, self.builder, self.context)
        self.called = self.called or isinstance(opened, CallItem)
        if type(wire.output_index) is int:
            self.by_index[wire.output_index] = opened
        if item.id:
            self.by_id[item.id] = opened
        return opened

    def item(self, wire: EventWire, item_id: str | None) -> Item | None:
        item = self.by_index.get(wire.output_index) if type(wire.output_index) is int else None
        return item or self.by_id.get(item_id or "")

    def done(self, wire: EventWire) -> None:
        item = wire.item or ItemWire()
        is_empty = not (item.type or item.id)
        live = self.item(wire, item.id or wire.item_id)
        if live is not None and live.settled:
            return
        if live is None:
            if is_empty:
                raise DecodeError("response.output_item.done without an item")
            live = self.open(item, wire)
        live.settled = True
        item.id = item.id or live.wire.id
        live.settle(live.final_wire() if is_empty else item)  # an empty one says that the item is over, no more

    def message(self, wire: EventWire) -> MessageItem:
        """The message that an event is about; one that never began, begins."""
        item = self.item(wire, wire.item_id) or self.newest
        if not isinstance(item, MessageItem) or item.settled:
            return cast("MessageItem", self.open(ItemWire(type="message", id=wire.item_id, role="assistant"), wire))
        return item

    def reasoning(self, wire: EventWire) -> ReasoningItem:
        item = self.item(wire, wire.item_id) or self.newest
        if not isinstance(item, ReasoningItem) or item.settled:
            return cast("ReasoningItem", self.open(ItemWire(type="reasoning", id=wire.item_id), wire))
        return item

    def call(self, wire: EventWire) -> CallItem:
        item = self.item(wire, wire.item_id) or self.newest
        if not isinstance(item, CallItem):
            raise DecodeError(f"arguments for the unknown item {wire.item_id!r}", path="/item_id")
        if wire.name and not item.wire.name:
            item.wire.name = wire.name
        return item

    # What items say

    def part_added(self, wire: EventWire) -> None:
        part = wire.part
        if part is not None and part.type != "reasoning_text":
            self.message(wire).begin(_place(wire.content_index), part)

    def part_done(self, wire: EventWire) -> None:
        part = wire.part
        if part is not None and part.type != "reasoning_text":
            self.message(wire).part(_place(wire.content_index), part)

    def text(self, wire: EventWire) -> None:
        self.message(wire).say("text", _place(wire.content_index), _delta(wire))

    def text_done(self, wire: EventWire) -> None:
        self.message(wire).whole_text("text", _place(wire.content_index), wire.text or "")

    def annotation(self, wire: EventWire) -> None:
        if wire.annotation is not None:
            self.message(wire).annotate(_place(wire.content_index), wire.annotation)

    def refusal(self, wire: EventWire) -> None:
        self.message(wire).say("refusal", _place(wire.content_index), _delta(wire))

    def refusal_done(self, wire: EventWire) -> None:
        self.message(wire).whole_text("refusal", _place(wire.content_index), wire.refusal or "")

    def summary(self, wire: EventWire) -> None:
        self.reasoning(wire).text("summary", _place(wire.summary_index), _delta(wire))

    def summary_done(self, wire: EventWire) -> None:
        self.reasoning(wire).whole_text("summary", _place(wire.summary_index), wire.text or "")

    def thought(self, wire: EventWire) -> None:
        self.reasoning(wire).text("content", _place(wire.content_index), _delta(wire))

    def thought_done(self, wire: EventWire) -> None:
        self.reasoning(wire).whole_text("content", _place(wire.content_index), wire.text or "")

    def arguments(self, wire: EventWire) -> None:
        self.call(wire).grow(_delta(wire))

    def arguments_done(self, wire: EventWire) -> None:
        self.call(wire).whole_text(wire.arguments or "")

    def input_done(self, wire: EventWire) -> None:
        self.call(wire).whole_text(wire.input or "")

    def nothing(self, wire: EventWire) -> None:
        """An event that only says again what others say."""


def _place(index: object) -> int:
    return index if type(index) is int else 0


def _delta(wire: EventWire) -> str:
    return wire.delta if isinstance(wire.delta, str) else ""


def _untyped(wire: EventWire) -> str:
    """The type of an event without one: an error, or the whole answer of a server that did not stream."""
    if wire.extra and wire.extra.get("object") == "response":
        return "response"
    return "error" if wire.error or _complains(wire) else ""


def _complains(wire: EventWire) -> bool:
    return bool(wire.message) or is_complaint(wire.extra)


_HANDLERS: dict[str, Callable[[_Answer, EventWire], None]] = {
    _TEXT_DELTA: _Answer.text,
    "response.function_call_arguments.delta": _Answer.arguments,
    "response.reasoning_summary_text.delta": _Answer.summary,
    "response.reasoning_text.delta": _Answer.thought,
    "response.custom_tool_call_input.delta": _Answer.arguments,
    "response.refusal.delta": _Answer.refusal,
    "response.created": _Answer.begun,
    "response.in_progress": _Answer.begun,
    "response.queued": _Answer.begun,
    "response.output_item.added": _Answer.added,
    "response.output_item.done": _Answer.done,
    "response.content_part.added": _Answer.part_added,
    "response.content_part.done": _Answer.part_done,
    "response.output_text.done": _Answer.text_done,
    "response.output_text.annotation.added": _Answer.annotation,
    "response.refusal.done": _Answer.refusal_done,
    "response.reasoning_summary_part.added": _Answer.nothing,
    "response.reasoning_summary_part.done": _Answer.nothing,
    "response.reasoning_summary_text.done": _Answer.summary_done,
    "response.reasoning_text.done": _Answer.thought_done,
    "response.function_call_arguments.done": _Answer.arguments_done,
    "response.custom_tool_call_input.done": _Answer.input_done,
    "response.completed": _Answer.completed,
    "response.incomplete": _Answer.completed,
    "response.cancelled": _Answer.completed,
    "response.failed": _Answer.failed,
    "error": _Answer.error,
}
