"""The client's role, streamed: frames to events.

Strategy: a frame is a whole answer, so its parts are read by the same code as those of a whole answer; only texts that
go on, and calls that come in pieces, are told apart here. The framing is told by the first byte: server-sent events, or
one JSON array.

Rules
- The stream is complete when every candidate has a finish reason, or the prompt was blocked; then only the drain time
  is waited for the end of the bytes, which ends it. The last reason counts.
- Some servers name a reason in every frame and go on: once something was said after a reason, reasons end nothing, and
  the end of the bytes is awaited like any other piece.
- Neighbouring texts of one kind are one block; a signed one is a block of its own.
- Counts repeat: the input is told with the first content, everything at the end.
- Members of a candidate are kept as the last frame said them; log probabilities and citations are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._answer import id_source
from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._streams.runs import BuildingDecoder, run_of
from interlingua.dialects._streams.templates import template_of
from interlingua.dialects.google.citations import CITATIONS, read_citations
from interlingua.dialects.google.client import (
    candidate_members,
    finish_with_calls,
    top_members,
)
from interlingua.dialects.google.partial import PartialArguments
from interlingua.dialects.google.parts import (
    NAME,
    PartDecoder,
    arguments_text,
    beside,
    call_extra,
    part_list,
    text_arguments,
)
from interlingua.dialects.google.reasons import error_of_body
from interlingua.dialects.google.spelling import read_answer
from interlingua.dialects.google.usage import decode_usage, merge_counts, uncounted
from interlingua.dialects.google.wire import PartWire, ResponseWire
from interlingua.errors import Error, IncompleteStreamError, LimitExceededError
from interlingua.stream.build import StreamBuilder
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, ServerToolPart
from interlingua.types.usage import Usage
from interlingua.wire.ndjson import JsonArrayDecoder
from interlingua.wire.sse import DONE, SseDecoder

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.templates import Template
    from interlingua.dialects.google.wire import CallWire, CandidateWire, UsageWire
    from interlingua.stream.build import Block
    from interlingua.types.event import BlockKind, Event

__all__ = ["GoogleStreamDecoder"]

MAX_CHOICES = 128
"""The most candidates of one answer."""
_BOM = b"\xef\xbb\xbf"
_FRAME = (b"data: ", b"\r\n\r\n")
_JOINED = {"logprobsResult", "citationMetadata"}
_KINDS: dict[type, BlockKind] = {
    ImagePart: "image", AudioPart: "audio", DocumentPart: "document", ServerToolPart: "server_tool",
}  # fmt: skip


class _Candidate:
    """The state of one candidate besides its blocks."""

    __slots__ = ("arguments", "block", "has_calls", "members", "number", "raw")

    def __init__(self, number: int) -> None:
        self.number = number
        self.raw: str | None = None
        self.has_calls = False
        self.members: dict[str, Any] = {}
        self.block: Block | None = None
        self.arguments = PartialArguments()


class GoogleStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self.context = context
        changes = Changes(NAME, "decode_response")
        self.builder: StreamBuilder = StreamBuilder(changes, id_source(context))
        self._parts = PartDecoder(id_source(context), context.target, context.undo, changes)
        self._framing: SseDecoder | JsonArrayDecoder | None = None
        self._head = b""
        self._candidates: dict[int, _Candidate] = {}
        self._blocked: str | None = None
        self._members: dict[str, Any] = {}
        self._usage: UsageWire | None = None
        self._goes_on = False
        self._template: Template | None = None
        self._block: Block | None = None

    @property
    def terminal(self) -> bool:
        """Whether all finish reasons came, from a server whose finish reasons are to be believed."""
        return self.builder.ended or (self.complete and not self._goes_on)

    @property
    def complete(self) -> bool:
        """Whether every candidate has its finish reason, or the prompt was blocked."""
        if self._blocked is not None:
            return True
        return bool(self._candidates) and all(candidate.raw is not None for candidate in self._candidates.values())

    def _feed(self, data: bytes) -> None:
        for frame in self._frames(data):
            template, block = self._template, self._block
            text = None if template is None else template.text_in(frame)
            if text and block is not None:
                self.builder.grow(block, text)
            else:
                self._frame(frame)

    def fail(self, error: Error) -> list[Event]:
        """The end of a stream that the transport broke; after the last finish reason that is no failure."""
        return self.close() if self.complete else super().fail(error)

    # Framing

    def _frames(self, data: bytes) -> list[bytes]:
        framing = self._framing
        if framing is None:  # the first byte tells it
            head = self._head = self._head + data
            first = head.removeprefix(_BOM).lstrip()[:1]
            if not first or (len(head) < len(_BOM) and _BOM.startswith(head)):
                return []
            framing = self._framing = JsonArrayDecoder() if first in b"[{" else SseDecoder()
            data, self._head = head, b""
        if isinstance(framing, SseDecoder):
            return [event.data for event in framing.feed(data)]
        return framing.feed(data)

    def _close(self) -> None:
        framing = self._framing
        if isinstance(framing, SseDecoder):
            for event in framing.close():
                self._frame(event.data)
        elif framing is not None:
            for frame in framing.close():
                self._frame(frame)
        if self.builder.ended:
            return
        if not self.complete:
            raise IncompleteStreamError("the stream ended without a finish reason")
        self._settle()
        self.builder.end()

    def _abort(self, error: Error) -> None:
        self._template = self._run = None
        self._settle()
        self.builder.fail(error)

    # Frames

    def _frame(self, data: bytes) -> None:
        if self.builder.ended or data == DONE:
            return
        repairs: list[str] = []
        frame = read_answer(data, ResponseWire, repairs)
        self.changes.repaired(repairs)
        if frame.error:
            raise error_of_body(error_body({"error": frame.error}), None)
        if frame.usageMetadata is not None:
            self._usage = merge_counts(self._usage, frame.usageMetadata)
        if frame.promptFeedback is not None or frame.createTime is not None or frame.extra is not None:
            members = top_members(frame)
            self._members.update(members)
            feedback = members.get("promptFeedback")
            if is_object(feedback) and feedback.get("blockReason") is not None:
                self._blocked = str(feedback["blockReason"])
        for candidate in frame.candidates or ():
            self._candidate(candidate, frame)
        self._learn(frame, data)

    def _learn(self, frame: ResponseWire, data: bytes) -> None:
        """Take a frame that says one piece of text, and nothing else, as the template of those to come."""
        self._template = self._run = None
        wire = frame.candidates[0] if frame.candidates is not None and len(frame.candidates) == 1 else None
        part = _only_text(wire) if wire is not None else None
        if wire is None or part is None or not part.text:
            return
        named = ResponseWire(candidates=frame.candidates, modelVersion=frame.modelVersion, responseId=frame.responseId)
        if frame != named:  # it says more than that
            return
        number, framing = wire.index or 0, self._framing
        block = self._block = self.builder.open_prose(number)
        if self._candidates[number].raw is not None or block is None:
            return
        template = self._template = template_of(data, "text", part.text)
        if template is not None and isinstance(framing, SseDecoder):
            self._run = run_of(template, _FRAME, framing, block)

    def _candidate(self, wire: CandidateWire, frame: ResponseWire) -> None:
        number = wire.index or 0
        candidate = self._candidates.get(number)
        if candidate is None:
            candidate = self._open(number, frame)
        members = candidate_members(wire)
        if members:
            _join(candidate.members, members)
        if wire.content is not None:
            parts = part_list(wire.content.parts)
            says_more = candidate.raw is not None and any(part.text != "" for part in parts)
            self._goes_on = self._goes_on or says_more
            for part in parts:
                text = part.text
                if (
                    text is not None
                    and part.thoughtSignature is None
                    and part.extra is None
                    and not part.mediaResolution
                ):
                    if text:
                        say = self.builder.thinking if part.thought else self.builder.text
                        say(text, candidate.number)
                elif part.functionCall is not None:
                    self._call(part, part.functionCall, candidate)
                else:
                    self._rare(part, candidate)
            if wire.content.extra:
                self.builder.choice_extra(number, NAME).setdefault("content", {}).update(wire.content.extra)
        if wire.finishReason is not None:
            candidate.raw = str(wire.finishReason)

    def _open(self, number: int, frame: ResponseWire) -> _Candidate:
        if not 0 <= number < MAX_CHOICES:
            raise LimitExceededError(f"the answer has a candidate {number}, beyond the {MAX_CHOICES} that are read")
        candidate = self._candidates[number] = _Candidate(number)
        if self.builder.start_event is not None:
            return candidate
        # The first content: from here on the name of the answer and the size of its prompt are known.
        version = frame.modelVersion
        self.builder.start(model=version or "", wire_model=version or None, id=frame.responseId or None)
        usage = None if self._usage is None else decode_usage(self._usage)
        if usage is not None:
            early = Usage(input_tokens=usage.input_tokens, cache_read_tokens=usage.cache_read_tokens)
            self.builder.update_usage(early)
        return candidate

    # Parts

    def _rare(self, wire: PartWire, candidate: _Candidate) -> None:
        """A part that is no plain text and no call: a signed text, media, what goes back unread."""
        builder, number = self.builder, candidate.number
        part = self._parts.part(wire, 0)
        if part is None:
            return
        if wire.inlineData is not None or not hasattr(part, "text"):
            builder.whole(part, _KINDS.get(type(part), "opaque"), number)
            return
        if not wire.text:
            self._cite(candidate)  # this part says nothing, so what is known belongs to the text before it
        builder.close_prose(number)
        say = builder.thinking if wire.thought else builder.text
        block = say("", number, beside(wire))
        sealed = self._parts.sealed(wire)
        if sealed is not None:
            builder.seal(block, sealed)
        say(wire.text or "", number)
        builder.close_prose(number)

    def _call(self, wire: PartWire, call: CallWire, candidate: _Candidate) -> None:
        """A call, or a piece of the one that is still open."""
        block = candidate.block
        if block is None:
            if not call.name and call.args is msgspec.UNSET and not call.id:
                return
            number = candidate.number
            candidate.has_calls = True
            name = self.context.undo.names.get(call.name or "", call.name or "")
            if not name:
                self._parts.opening(call, "")
            block = self.builder.open_call(call.id, name, number, freeform=name in self.context.undo.freeform)
            extra = call_extra(wire, call)
            if extra:
                block.extra = extra
            sealed = self._parts.sealed(wire)
            if sealed is not None:
                self.builder.seal(block, sealed)
            candidate.arguments = PartialArguments()
        for piece in call.partialArgs or ():
            candidate.arguments.add(piece)
        if call.willContinue:
            candidate.block = block
            return
        whole = arguments_text(call) if call.args is not msgspec.UNSET else candidate.arguments.text
        if whole[:1] == '"':
            whole = text_arguments(whole, self.changes, block.path)
        self.builder.call_arguments(block, whole)
        self.builder.close_call(block)
        candidate.block = None

    # The end

    def _settle(self) -> None:
        """Everything that is only known at the end: reasons, members, citations, counts."""
        if self.builder.ended:
            return
        members = {**self._members, **uncounted(self._usage)}
        self.builder.extra = {NAME: members} if members else {}
        if not self._candidates and self._blocked is not None:
            self.builder.finish("content_filter", self._blocked)
        for candidate in self._candidates.values():
            if candidate.block is not None and candidate.arguments.value:
                self.builder.call_arguments(candidate.block, candidate.arguments.text[:-1])
            self._cite(candidate)
            if candidate.members:
                self.builder.choice_extra(candidate.number, NAME)["candidate"] = candidate.members
            if candidate.raw is None and self._blocked is not None:
                self.builder.finish("content_filter", self._blocked, candidate.number)
            elif candidate.raw is not None:
                reason = finish_with_calls(candidate.raw, has_calls=candidate.has_calls)
                self.builder.finish(reason, candidate.raw, candidate.number)
        usage = None if self._usage is None else decode_usage(self._usage)
        if usage is not None:
            self.builder.start()
            self.builder.update_usage(usage)

    def _cite(self, candidate: _Candidate) -> None:
        """Hang the citations that came on the text that is open, if there is one that says something."""
        block = self.builder.open_prose(candidate.number)
        if block is None or block.kind != "text" or not block.content:
            return
        for name in CITATIONS:
            if name in candidate.members:
                for citation in read_citations(name, candidate.members.pop(name), block.content):
                    self.builder.annotate(block, citation)


def _only_text(wire: CandidateWire) -> PartWire | None:
    """The one part that a candidate holds, where it is a plain text and the candidate says nothing else."""
    parts = part_list(wire.content.parts) if wire.content is not None and wire.content.extra is None else ()
    if len(parts) != 1 or wire.finishReason is not None or candidate_members(wire):
        return None
    part = parts[0]
    return part if part == PartWire(text=part.text, thought=part.thought) else None


def _join(members: dict[str, Any], more: dict[str, Any]) -> None:
    """Put the members of a frame over those of the frames before it; their lists go on where they do on the wire."""
    for name, value in more.items():
        old = members.get(name)
        if name not in _JOINED or not is_object(old) or not is_object(value):
            members[name] = value
            continue
        joined = members[name] = dict(old)
        for key, new in value.items():
            before = joined.get(key)
            if is_list(before) and is_list(new) and before != new[: len(before)]:
                joined[key] = [*before, *new]
            else:
                joined[key] = new
