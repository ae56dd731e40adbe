"""The client's role, streamed: events to events.

Rules
- An event says its type in its data; the name beside it says the same.
- The terminal signal is `message-end`; `[DONE]` may stand behind it, and nothing else is read there. `message-end` with
  an error is that error.
- Blocks of content and calls are numbered apart. A text stays open until something else begins, since its citations
  may come behind it.
- Once an event of text was parsed, events that differ in that text alone are read by comparing bytes.
- An event of an unknown type passes on as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import id_source
from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._members import is_list, is_object, plain
from interlingua.dialects._streams.runs import BuildingDecoder, run_of
from interlingua.dialects._streams.templates import template_of
from interlingua.dialects.cohere.assistant import CallReader
from interlingua.dialects.cohere.citations import is_of_plan, is_of_thinking, read_citation
from interlingua.dialects.cohere.parts import NAME, PLAN, decode_block
from interlingua.dialects.cohere.reasons import decode_finish, error_of_body
from interlingua.dialects.cohere.usage import decode_usage
from interlingua.dialects.cohere.wire import (
    BlockWire,
    DeltaMessageWire,
    DeltaWire,
    EventWire,
    ResponseWire,
    ToolCallWire,
)
from interlingua.errors import DecodeError, Error, IncompleteStreamError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.types.content import OpaquePart
from interlingua.wire.json import decode_any, decode_wire
from interlingua.wire.sse import DONE, SseDecoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.templates import Template
    from interlingua.stream.build import Block

__all__ = ["CohereStreamDecoder"]

CONTENT = (b"event: content-delta\ndata: ", b"\n\n")
"""The bytes around the data of an event of content."""
_NO_DELTA, _NO_MESSAGE = DeltaWire(), DeltaMessageWire()


class CohereStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        changes = Changes(NAME, "decode_response")
        self.builder: StreamBuilder = StreamBuilder(changes, id_source(context))
        self._reader = CallReader(context.undo, changes)
        self._framing = SseDecoder()
        self._members: dict[str, Any] = {}
        self._template: Template | None = None
        self._block: Block | None = None
        self._content: dict[int, Block] = {}
        self._plan: Block | None = None
        self._calls: dict[int, Block] = {}
        self._opaque: set[int] = set()
        self._finished = False
        self._handlers: dict[str, Callable[[EventWire, bytes], None]] = {
            "message-start": self._message_start,
            "content-start": self._content_start,
            "content-delta": self._content_delta,
            "content-end": self._content_end,
            "tool-plan-delta": self._plan_delta,
            "tool-call-start": self._call_start,
            "tool-call-delta": self._call_delta,
            "tool-call-end": self._call_end,
            "citation-start": self._citation,
            "citation-end": self._nothing,
            "message-end": self._message_end,
        }

    @property
    def terminal(self) -> bool:
        """Whether `message-end` came."""
        return self._finished or self.builder.ended

    def _feed(self, data: bytes) -> None:
        for event in self._framing.feed(data):
            self._event(event.data)

    def _close(self) -> None:
        for event in self._framing.close():
            self._event(event.data)
        if self._finished:
            self.builder.end()
        elif not self.builder.ended:
            raise IncompleteStreamError("the stream ended without message-end")

    def _abort(self, error: Error) -> None:
        self._template = self._run = None
        self._tell_members()
        self.builder.fail(error)

    def _tell_members(self) -> None:
        if self._members:
            self.builder.extra[NAME] = self._members

    def _event(self, data: bytes) -> None:
        if self._finished and data.strip() == DONE:
            self.builder.end()
        if self._finished or self.builder.ended or data.strip() == DONE:
            return
        template, block = self._template, self._block
        text = None if template is None else template.text_in(data)
        if text and block is not None:
            self.builder.grow(block, text)
            return
        self._template = self._run = None
        repairs: list[str] = []
        event = decode_wire(data, EventWire, repairs=repairs, lenient=True)
        self.changes.repaired(repairs)
        handler = self._handlers.get(event.type or "")
        if handler is not None:
            handler(event, data)
            return
        # none of the dialect's: a bare error, a whole answer, or an event to pass on
        value = decode_any(data, repairs=[])
        if is_object(value) and not value.get("type"):
            if is_object(value.get("message")):
                self._whole(data)
                return
            if value.get("message") or value.get("error"):
                raise error_of_body(error_body(value), None)
        self.builder.start()
        self.builder.extra_event(NAME, value)

    def _nothing(self, event: EventWire, data: bytes) -> None:
        """An event that says nothing that is not known."""

    # The answer as a whole

    def _message_start(self, event: EventWire, data: bytes) -> None:
        message = _message_delta(event)
        self.builder.start(id=event.id)
        if message.extra:
            self._members["message"] = dict(message.extra)
        self._note(event)
        # what stands in a message at once is taken as if each of its blocks and calls had come in one piece
        for index, block in enumerate(_blocks_of(message)):
            self._content_start(EventWire(index=index, delta=_delta(DeltaMessageWire(content=block))), data)
            self._content_end(EventWire(index=index), data)
        if message.tool_plan:
            self._say_plan(message.tool_plan)
        if message.citations is not None:
            self._cite_all(message.citations)
        for index, call in enumerate(_calls_of(message)):
            self._call_start(EventWire(index=index, delta=_delta(DeltaMessageWire(tool_calls=call))), data)
            self._call_end(EventWire(index=index), data)

    def _note(self, event: EventWire) -> None:
        """Keep the members of an event that the answer itself has without a field."""
        if event.extra:
            self._members.update(event.extra)
        if event.delta is not None and event.delta.extra:
            self._members.update(event.delta.extra)

    def _message_end(self, event: EventWire, data: bytes) -> None:
        delta = event.delta or _NO_DELTA
        if delta.usage is not None:
            self.builder.update_usage(decode_usage(delta.usage))
        raw = delta.finish_reason
        if delta.error:
            value = decode_any(data, repairs=[])["delta"]
            error = value["error"] if is_object(value["error"]) else {"message": str(value["error"])}
            raise error_of_body(error_body({**value, **error}), None)
        self._note(event)
        holds = bool(self._content or self._plan or self._calls)
        self.builder.finish(decode_finish(raw, holds=holds), raw)
        self._tell_members()
        self._finished = True

    def _whole(self, data: bytes) -> None:
        """A whole answer: as if each of its blocks had come in one piece."""
        repairs: list[str] = []
        wire = decode_wire(data, ResponseWire, repairs=repairs, lenient=True)
        self.changes.repaired(repairs)
        message = wire.message
        if message is None:
            raise DecodeError("the answer has no message", path="/message")
        opening = DeltaMessageWire(
            content=message.content,
            tool_plan=message.tool_plan,
            tool_calls=message.tool_calls,
            citations=message.citations,
        )
        self._message_start(EventWire(id=wire.id, delta=_delta(opening)), data)
        self._members |= {"message": dict(message.extra)} if message.extra else {}
        self._members |= {"logprobs": wire.logprobs} if wire.logprobs is not None else {}
        delta = DeltaWire(finish_reason=wire.finish_reason, usage=wire.usage)
        self._message_end(EventWire(delta=delta), data)

    # Content

    def _content_start(self, event: EventWire, data: bytes) -> None:
        del data
        self.builder.start()
        self.builder.close_prose()
        index = event.index or 0
        self._plan = None
        self._content.pop(index, None)
        for block in _blocks_of(_message_delta(event)):
            self._take_block(index, block)

    def _take_block(self, index: int, block: BlockWire) -> None:
        """Take a block, or a piece of one, at an index; one of a kind that is not known stays as it came."""
        kind = block.type or ("thinking" if block.thinking is not None else "text")
        if kind not in ("text", "thinking"):
            self._opaque.add(index)
            part = decode_block(block)
            if isinstance(part, OpaquePart):
                self.builder.whole(part, "opaque")
            return
        for member, text in (("thinking", block.thinking), ("text", block.text)):
            if not text and not (block.extra and member == block.type):
                continue
            content = self._content.get(index)
            if content is None or content.part is not None or content.kind != member:
                self.builder.close_prose()
                extra = {NAME: dict(block.extra)} if block.extra else {}
                opened = self.builder.thinking if member == "thinking" else self.builder.text
                self._content[index] = opened(text or "", extra=extra)
                self._plan = None
            else:
                self.builder.grow(content, text or "")

    def _content_delta(self, event: EventWire, data: bytes) -> None:
        index, message = event.index or 0, _message_delta(event)
        if index in self._opaque:
            self.builder.extra_event(NAME, plain(event))
            return
        if event.logprobs is not None:
            logprobs = event.logprobs if is_list(event.logprobs) else [event.logprobs]
            self._members["logprobs"] = [*self._members.get("logprobs", ()), *logprobs]
        for block in _blocks_of(message):
            self._take_block(index, block)
        block = message.content
        if not isinstance(block, BlockWire) or (block.text and block.thinking):
            return
        if event.logprobs is event.extra is block.extra is None:
            member, text = ("thinking", block.thinking) if block.thinking else ("text", block.text)
            self._learn(data, member, text, self._content.get(index), run=True)

    def _content_end(self, event: EventWire, data: bytes) -> None:
        del data
        block = self._content.get(event.index or 0)
        if block is not None and block.kind == "thinking" and self.builder.open_prose() is block:
            self.builder.close_prose()

    # Plan and calls

    def _plan_delta(self, event: EventWire, data: bytes) -> None:
        text = _message_delta(event).tool_plan
        if text:
            self._say_plan(text)
            self._learn(data, PLAN, text, self._plan)

    def _say_plan(self, text: str) -> None:
        plan = self._plan
        if plan is not None and plan.part is None and self.builder.open_prose() is plan:
            self.builder.grow(plan, text)
            return
        self.builder.close_prose()
        self._plan = self.builder.text(text, extra={NAME: {"field": PLAN}})

    def _call_start(self, event: EventWire, data: bytes) -> None:
        del data
        for index, wire in enumerate(_calls_of(_message_delta(event)) or [ToolCallWire()], event.index or 0):
            path = self.builder.next_path()
            name = self._reader.name(wire, path)
            extra, freeform = self._reader.members(wire), self._reader.freeform(name)
            block = self.builder.open_call(wire.id, name, freeform=freeform, extra=extra)
            self._calls[index] = block
            self.builder.call_arguments(block, self._reader.arguments(wire, block.path))

    def _call_delta(self, event: EventWire, data: bytes) -> None:
        calls = _calls_of(_message_delta(event)) or [ToolCallWire()]
        for index, wire in enumerate(calls, event.index or 0):
            block = self._calls.get(index)
            if block is None or block.part is not None:
                raise DecodeError(f"a delta for call {index}, which is not open", path="/index")
            text = self._reader.arguments(wire, block.path)
            self.builder.call_arguments(block, text)
            if block.pieces and len(calls) == 1:
                self._learn(data, "arguments", text, block)

    def _call_end(self, event: EventWire, data: bytes) -> None:
        del data
        block = self._calls.get(event.index or 0)
        if block is not None:
            self.builder.close_call(block)

    # Citations

    def _citation(self, event: EventWire, data: bytes) -> None:
        del data
        self._cite_all(_message_delta(event).citations)

    def _cite_all(self, citations: object) -> None:
        """Hang on their texts the citations of a list, or the one that stands for it; what is no object is none."""
        for raw in citations if is_list(citations) else [citations]:
            if not is_object(raw):
                continue
            index = raw.get("content_index")
            latest = next((block for block in reversed(self._content.values()) if block.kind == "text"), None)
            block = self._plan if is_of_plan(raw) else self._content.get(index) if type(index) is int else latest
            if block is None or block.part is not None or block.kind != "text" or is_of_thinking(raw):
                # its text is closed or not there: it stays a member of the answer
                self._members.setdefault("citations", []).append(raw)
                continue
            for citation in read_citation(raw):
                self.builder.annotate(block, citation)

    # Templates

    def _learn(self, data: bytes, member: str, text: str | None, block: Block | None, *, run: bool = False) -> None:
        """Take an event that says one piece of text, and nothing else, as the template of those to come."""
        if not text or block is None or block.part is not None:
            return
        template = template_of(data, member, text)
        if template is None:
            return
        self._template, self._block = template, block
        if run:
            self._run = run_of(template, CONTENT, self._framing, block)


def _delta(message: DeltaMessageWire) -> DeltaWire:
    return DeltaWire(message=message)


def _message_delta(event: EventWire) -> DeltaMessageWire:
    """The part of the message that an event adds."""
    return (event.delta or _NO_DELTA).message or _NO_MESSAGE


def _blocks_of(message: DeltaMessageWire) -> list[BlockWire]:
    """The blocks of content in a delta: one as a rule, or a list of them, or a text alone."""
    content = message.content
    if isinstance(content, str):
        return [BlockWire(type="text", text=content)]
    return [content] if isinstance(content, BlockWire) else content or []


def _calls_of(message: DeltaMessageWire) -> list[ToolCallWire]:
    """The calls in a delta: one as a rule, or a list of them."""
    calls = message.tool_calls
    return [calls] if isinstance(calls, ToolCallWire) else calls or []
