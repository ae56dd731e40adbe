"""The client's role, streamed: lines to events.

Rules
- Every line is read like a whole answer and adds to what came before; calls come whole, in any line.
- The terminal signal is `done: true`; nothing follows it. One object alone is a whole stream.
- Once a line of text was parsed, lines that differ in time and text alone are read by comparing bytes (`lines`).
- Members that only pass through are kept as the last line said them; log probabilities are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import id_source
from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._streams.runs import BuildingDecoder, run_of
from interlingua.dialects.ollama.assistant import CallReader
from interlingua.dialects.ollama.client import answer_members, is_counted, turn_of
from interlingua.dialects.ollama.lines import LINE, template_of, time_of
from interlingua.dialects.ollama.parts import NAME, decode_images
from interlingua.dialects.ollama.reasons import decode_finish, error_of_body
from interlingua.dialects.ollama.usage import decode_usage
from interlingua.dialects.ollama.wire import ChunkWire, MessageWire
from interlingua.errors import DecodeError, Error, IncompleteStreamError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.wire.json import decode_any, decode_wire
from interlingua.wire.ndjson import NdjsonDecoder

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.templates import Template
    from interlingua.stream.build import Block

__all__ = ["OllamaStreamDecoder"]

_SILENT = MessageWire()
_SAYABLE = ("content", "thinking", "images", "tool_calls")
START_MEMBERS = ("created_at", "field")
"""Members that the first line already states."""


class OllamaStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        changes = Changes(NAME, "decode_response")
        self.builder: StreamBuilder = StreamBuilder(changes, id_source(context))
        self._reader = CallReader(context.undo, changes)
        self._framing = NdjsonDecoder()
        self._members: dict[str, Any] = {}
        self._called = False
        self._template: Template | None = None
        self._block: Block | None = None

    def _feed(self, data: bytes) -> None:
        self._lines(self._framing.feed(data))

    def _close(self) -> None:
        self._lines(self._framing.close())
        if not self.builder.ended:
            raise IncompleteStreamError("the stream ended without a line that says done")

    def _abort(self, error: Error) -> None:
        self._note_time()
        self._template = self._run = None
        if self._members:
            self.builder.extra[NAME] = self._members
        self.builder.fail(error)

    def _note_time(self) -> None:
        """Take the time of the last line from the run, before other lines are read."""
        template = self._template
        if template is not None and self.compared:
            self._members["created_at"] = time_of(template, self.compared)
            self.compared = b""

    def _lines(self, lines: list[bytes]) -> None:
        self._note_time()
        for line in lines:
            template, block = self._template, self._block
            text = None if template is None else template.text_in(line)
            if text is not None and template is not None and block is not None:
                self._members["created_at"] = time_of(template, line)
                self.builder.grow(block, text)
            elif not self.builder.ended:
                self._line(line)

    def _line(self, line: bytes) -> None:
        repairs: list[str] = []
        wire = decode_wire(line, ChunkWire, repairs=repairs, lenient=True)
        self.changes.repaired(repairs)
        if wire.error:
            raise error_of_body(error_body(decode_any(line, repairs=[])), None)
        message = turn_of(wire)
        if message is None and not wire.done:
            raise DecodeError("a line of the stream has no message")
        self._learn(wire)
        if message is not None:
            self._turn(message)
        if not wire.done:
            # A line that says one piece of text, and nothing else, is the template of those to come.
            turn = turn_of(wire) or _SILENT
            says = [name for name in _SAYABLE if getattr(turn, name)]
            quiet = not (wire.done_reason or wire.logprobs or wire.extra or turn.extra)
            self._template = self._run = None
            if quiet and wire.created_at and says in (["content"], ["thinking"]):
                member = "response" if wire.message is None and says == ["content"] else says[0]
                template = self._template = template_of(line, wire.created_at, member, getattr(turn, says[0]))
                block = self._block = self.builder.open_prose()
                if template is not None and block is not None:
                    self._run = run_of(template, LINE, self._framing, block)
            return
        self._template = self._run = None
        usage = decode_usage(wire)
        if usage is not None:
            self.builder.update_usage(usage)
        reason = decode_finish(wire.done_reason, called=self._called, counted=is_counted(wire))
        self.builder.finish(reason, wire.done_reason or None)
        if self._members:
            self.builder.extra[NAME] = self._members
        self.builder.end()

    def _learn(self, wire: ChunkWire) -> None:
        """Take the members that only pass through, and begin the stream with those of its first line."""
        members = answer_members(wire)
        if self.builder.start_event is None:
            first = {name: members[name] for name in START_MEMBERS if name in members}
            extra = {NAME: first} if first else {}
            self.builder.start(model=wire.model or "", wire_model=wire.model or None, extra=extra)
        for name in ("logprobs", "message"):  # the first of two lines follow each other, the second are merged
            before, more = self._members.get(name), members.get(name)
            if is_list(before) and is_list(more):
                members[name] = [*before, *more]
            elif is_object(before) and is_object(more):
                members[name] = {**before, **more}
        self._members.update(members)

    def _turn(self, message: MessageWire) -> None:
        if message.thinking:
            self.builder.thinking(message.thinking)
        if message.content:
            self.builder.text(message.content)
        if message.images:
            for part in decode_images(message.images, self.changes, self.builder.next_path()):
                self.builder.whole(part, "image")
        for call in message.tool_calls or ():
            name = self._reader.name(call)
            self._called = True
            block = self.builder.open_call(call.id, name, freeform=self._reader.freeform(name))
            self.builder.call_arguments(block, self._reader.arguments(call, block.path))
            block.extra = self._reader.members(call)
            self.builder.close_call(block)
