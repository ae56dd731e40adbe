"""The server's role, streamed: events to frames, as server-sent events or as one JSON array.

Rules
- Every frame holds something; there are no empty parts. What came last is kept back until something follows, of a text
  its last character, so that the last frame has content, the finish reason and the counts together.
- A call is sent whole, when it is; a signature stands on its part, or follows its text as a part of its own.
- An error ends the stream as an error object.
- Text costs a prefix that was encoded once and one encoded string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from interlingua.dialects._contract import Target
from interlingua.dialects._foreign import adopt_answer, note_event
from interlingua.dialects._members import merge_members, object_in
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._serve import hand_over
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.google.assistant import AssistantEncoder
from interlingua.dialects.google.citations import Grounding
from interlingua.dialects.google.enums import EnumTexts
from interlingua.dialects.google.parts import NAME
from interlingua.dialects.google.reasons import encode_error_body
from interlingua.dialects.google.server import finish_word, is_blocked, reply_members
from interlingua.dialects.google.usage import encode_usage
from interlingua.dialects.google.wire import PartWire, ResponseWire
from interlingua.stream.failure import failed_end
from interlingua.stream.fold import error_of
from interlingua.stream.order import InOrder
from interlingua.types.change import Changes
from interlingua.types.content import RefusalPart, TextPart, ThinkingPart
from interlingua.types.event import (
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
)
from interlingua.types.response import Alternative
from interlingua.wire.json import encode, encode_text, encode_wire, one_line, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.dialects._contract import ServerContext
    from interlingua.types.event import Event

__all__ = ["GoogleStreamEncoder"]


class _Choice:
    """The state of one candidate: its pieces so far, and those that it keeps back."""

    __slots__ = ("beside", "grounding", "kept_thought", "number", "pending", "prose", "signature", "size", "text")

    def __init__(self, number: int) -> None:
        self.number = number
        self.text = ""
        self.kept_thought = False
        self.pending: list[bytes] = []
        self.signature: str | None = None
        self.beside: dict[str, Any] | None = None
        self.prose = -1
        self.grounding = Grounding()
        self.size = 0


class GoogleStreamEncoder(ResumingEncoder):
    """Frames for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self.own: bool = context.source == NAME
        self._enums = EnumTexts() if context.enum_text and not self.own else None
        self._order = InOrder()
        self._choices: dict[int, _Choice] = {}
        self._tail = b"}"
        self._begun = False
        self._plain_choice = -1
        self._pending_text = ""
        self._text_head = self._text_tail = b""

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if self._enums is not None:
            return b"".join([self._write(one) for now in self._enums.take(event) for one in self._order.take(now)])
        if type(event) is TextDelta and event.choice == self._plain_choice and (text := event.text):
            ready, self._pending_text = self._pending_text + text[:-1], text[-1]
            try:
                return self._text_head + write_text(ready) + self._text_tail
            except UnicodeEncodeError:
                return encode_text(ready)  # says what is wrong with it
        return b"".join([self._write(one) for one in self._order.take(event)])

    def _write(self, event: Event) -> bytes:
        """The bytes that an event adds when its turn has come."""
        if self._plain_choice >= 0:
            self._choices[self._plain_choice].text = self._pending_text
            self._plain_choice = -1
        write = self._writers.get(type(event))
        return b"" if write is None else write(self, event)

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events`: whoever passed them kept nothing back."""
        super().resume(events, last_frame)
        self._begun, self._plain_choice = True, -1
        for choice in self._choices.values():
            choice.text, choice.signature, choice.beside = "", None, None
            choice.pending.clear()

    def _text_delta(self, event: TextDelta) -> bytes:
        frame = self._text(event.text, event.choice, thought=False)
        choice = self._choice(event.choice)
        if not choice.text or choice.pending or choice.kept_thought or (self.context.json_array and not self._begun):
            return frame
        # It keeps back a character of plain text and no more: what follows can be written in one step.
        self._text_head, self._text_tail = self._parts(choice.number, b'{"text":\0}').split(b"\0")
        self._plain_choice, self._pending_text = choice.number, choice.text
        return frame

    def _thought(self, event: ThinkingDelta) -> bytes:
        return self._text(event.text, event.choice, thought=True)

    def _refused(self, event: RefusalDelta) -> bytes:
        return self._text(event.text, event.choice, thought=False)

    # Frames

    def _start(self, event: StreamStart) -> bytes:
        made = self.context.make_id() if event.id is None and self.context.make_id else event.id
        model = self.context.model or event.wire_model or event.model or None
        members = encode_wire(ResponseWire(modelVersion=model, responseId=made))[1:]
        self._tail = b"," + members if len(members) > 1 else members
        return b""

    def _frame(self, body: bytes) -> bytes:
        if not self.context.json_array:
            return b"data: " + one_line(body) + b"\r\n\r\n"  # arguments keep their exact text
        opener = b",\r\n" if self._begun else b"["
        self._begun = True
        return opener + body

    def _parts(self, choice: int, parts: bytes) -> bytes:
        content = b'{"candidates":[{"content":{"parts":[' + parts + b'],"role":"model"},"index":%d}]' % choice
        return self._frame(content + self._tail)

    def _choice(self, number: int) -> _Choice:
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = _Choice(number)
        return choice

    # Blocks

    def _open(self, event: BlockStart) -> bytes:
        """Nothing yet: the members of a text go with its first words, or with an empty text in its place."""
        if event.block in ("text", "thinking"):
            choice = self._choice(event.choice)
            choice.prose, choice.beside = event.index, event.extra.get(NAME)
        return b""

    def _text(self, text: str, number: int, *, thought: bool) -> bytes:
        """Text but for its last character; a signature and members that came before it go with it, as one part."""
        choice = self._choice(number)
        if choice.signature is not None or choice.beside:
            return self._whole_text(choice, text, thought=thought)
        flushed = b"" if choice.text and choice.kept_thought == thought else self._flush(choice)
        whole = choice.text + text
        choice.text, choice.kept_thought = whole[-1:], thought
        return flushed + (self._parts(number, _text_part(whole[:-1], thought=thought)) if len(whole) > 1 else b"")

    def _whole_text(self, choice: _Choice, text: str, *, thought: bool) -> bytes:
        """A part of its own: text with a signature and members."""
        wire = PartWire(text=text, thought=thought or None, thoughtSignature=choice.signature)
        merge_members(wire, choice.beside or {})
        choice.signature = choice.beside = None
        return self._keep(choice, encode_wire(wire))

    def _flush(self, choice: _Choice) -> bytes:
        """The pieces that were kept back, as a frame of its own."""
        pending = self._take_pending(choice)
        return self._parts(choice.number, pending) if pending else b""

    def _take_pending(self, choice: _Choice) -> bytes:
        if choice.text:
            choice.pending.append(_text_part(choice.text, thought=choice.kept_thought))
            choice.text = ""
        pending = b",".join(choice.pending)
        choice.pending.clear()
        return pending

    def _keep(self, choice: _Choice, part: bytes) -> bytes:
        """Keep a part back, after what was kept before it."""
        flushed = self._flush(choice)
        choice.pending.append(part)
        return flushed

    def _seal(self, event: Seal) -> bytes:
        """A signature: on the text that is to come, or behind the text that was sent; calls bring their own."""
        choice = self._choice(event.choice)
        if event.index == choice.prose and seal_fits(event.sealed, NAME, Target()):
            choice.signature = event.sealed.data.get("thoughtSignature")
        return b""

    def _block_end(self, event: BlockEnd) -> bytes:
        choice = self._choice(event.choice)
        head = f"/alternatives/{event.choice - 1}" if event.choice else ""
        part, path = event.part, f"{head}/parts/{event.index}"
        if isinstance(part, RefusalPart):
            self.changes.add("refusal_as_text", path)
            return b""
        if not isinstance(part, TextPart | ThinkingPart):
            wire = AssistantEncoder(Target(), self.changes, "", reply=True, own=self.own).part(part, path)
            return self._keep(choice, encode_wire(wire)) if wire is not None else b""
        if part.sealed is not None and not seal_fits(part.sealed, NAME, Target()):
            note_seal(self.changes, part.sealed, path)
        if isinstance(part, TextPart):
            if part.annotations:
                place = f"{path}/annotations"
                choice.grounding.cite(part.annotations, part.text, self.changes, place, offset=choice.size)
            choice.size += len(part.text.encode("utf-8", "replace"))
        if choice.signature is None and not choice.beside:
            return b""
        return self._whole_text(choice, "", thought=isinstance(part, ThinkingPart))

    # The end

    def _end(self, event: StreamEnd) -> bytes:
        if not self.context.says_own(NAME) and (failed := failed_end(event)):
            return self._error(failed)
        response = adopt_answer(event.response, self.changes)
        members, first_extra = reply_members(response.extra)
        first = Alternative(
            parts=response.parts,
            finish_reason=response.finish_reason,
            finish_reason_raw=response.finish_reason_raw,
            extra={NAME: first_extra},
        )
        choices = (first, *response.alternatives)
        pieces = [] if is_blocked(members, response) else [self._last(part, at) for at, part in enumerate(choices)]
        wire = ResponseWire()
        if response.usage is not None and self.context.stream_usage:
            wire.usageMetadata = encode_usage(response.usage, self.changes)
        merge_members(wire, members)
        rest = encode_wire(wire)[1:-1]
        hand_over(self.changes, self.context)
        tail = self._tail
        if pieces:
            body = b'{"candidates":[' + b",".join(pieces) + (b"]," + rest if rest else b"]") + tail
        else:
            body = b"{" + rest + (tail if rest or tail == b"}" else tail[1:])
        frame = self._frame(body)
        return frame + b"]" if self.context.json_array else frame

    def _last(self, alternative: Alternative, place: int) -> bytes:
        """A candidate of the last frame, with what it kept back."""
        choice = self._choice(place)
        extra = alternative.extra.get(NAME, {})
        path = f"/alternatives/{place - 1}" if place else ""
        word = finish_word(alternative, self.changes, path, own=self.context.says_own(NAME))
        members = {"finishReason": word, "index": place, **choice.grounding.members(), **object_in(extra, "candidate")}
        own_members = encode({name: value for name, value in members.items() if value is not None})
        content = {"role": "model", **object_in(extra, "content")}
        pending = self._take_pending(choice)
        parts = b'"parts":[' + pending + b"]," if pending else b""
        return b'{"content":{' + parts + encode(content)[1:] + b"," + own_members[1:]

    def _error(self, event: StreamError) -> bytes:
        """The pieces that were kept back, and the error object."""
        frames = b"".join([self._flush(choice) for choice in self._choices.values()])
        _, body = encode_error_body(error_of(event))
        frames += self._frame(encode(body))
        hand_over(self.changes, self.context)
        return frames + b"]" if self.context.json_array else frames

    def _extra(self, event: Extra) -> bytes:
        note_event(self.changes, event)
        return b""

    _writers: ClassVar[dict[type[Any], Callable[[GoogleStreamEncoder, Any], bytes]]] = {
        TextDelta: _text_delta,
        ThinkingDelta: _thought,
        RefusalDelta: _refused,
        BlockStart: _open,
        BlockEnd: _block_end,
        StreamStart: _start,
        Seal: _seal,
        Extra: _extra,
        StreamEnd: _end,
        StreamError: _error,
    }


def _text_part(text: str, *, thought: bool) -> bytes:
    return b'{"text":' + encode_text(text) + (b',"thought":true}' if thought else b"}")
