"""The client's role, streamed: chunks to events.

Strategy: one method per member of a delta; `stream.build` makes the events lawful, `slots` says which call a fragment
belongs to. A call's block opens when its name is known and something else is too: arguments, another call, the end.

Rules
- The terminal signal is a finish reason for every choice, or `[DONE]`; the last non-empty finish reason counts.
- Members that only pass through are kept as the last chunk said them; log probabilities are joined.
- Reasoning details are joined per entry and seal the thinking block they came with.
Loss: padding (`obfuscation`, `p`), and what a server repeats in whole beside its deltas (`choices[].message`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._answer import failed_base, id_source, no_answer
from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._members import is_object
from interlingua.dialects._openai.calls import arguments_text, clean_name, freeform_arguments
from interlingua.dialects._openai.citations import read_annotation
from interlingua.dialects._openai.errors import error_of_body
from interlingua.dialects._parallel import inner_calls, is_wrapper
from interlingua.dialects._streams.runs import DATA, BuildingDecoder, run_of
from interlingua.dialects._streams.templates import template_of
from interlingua.dialects.openai_chat.assistant import REASONING_FIELDS, audio_id, hosted_call, nest, reasoning_text
from interlingua.dialects.openai_chat.client import choice_members, failed_choice, is_bare_error, top_members
from interlingua.dialects.openai_chat.parts import NAME, decode_content, decode_images
from interlingua.dialects.openai_chat.reasons import decode_finish, finish_word
from interlingua.dialects.openai_chat.slots import Fragment, Slots, usable_index
from interlingua.dialects.openai_chat.usage import decode_usage
from interlingua.dialects.openai_chat.wire import ChunkWire, DeltaWire, FunctionCallWire, ToolCallWire, UsageWire
from interlingua.errors import DecodeError, Error, IncompleteStreamError, LimitExceededError
from interlingua.stream.build import StreamBuilder
from interlingua.stream.calls import decoded_twice
from interlingua.types.change import Changes
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
)
from interlingua.wire.json import decode_any, decode_wire, encode
from interlingua.wire.media import from_base64
from interlingua.wire.sse import DONE, SseDecoder

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects._streams.templates import Template
    from interlingua.dialects.openai_chat.slots import Slot
    from interlingua.dialects.openai_chat.wire import ChunkChoiceWire
    from interlingua.stream.build import Block
    from interlingua.types.content import Part
    from interlingua.types.event import BlockKind

__all__ = ["ChatStreamDecoder"]

_WHOLE: dict[type, BlockKind] = {ImagePart: "image", DocumentPart: "document"}
"""Blocks of parts that come in one piece; any other is opaque."""
MAX_CHOICES = 128
"""The most choices of one answer; the reference server makes no more."""
_RUNNING = frozenset({"content", "reasoning_content", "reasoning"})
"""Members of a delta that are texts of which mostly more comes."""
_DELTA_FIELDS = tuple(name for name in DeltaWire.__struct_fields__ if name != "role")


class _Choice:
    """The state of one choice besides its blocks."""

    __slots__ = ("annotations", "details", "number", "says_text", "slots", "thinking")

    def __init__(self, number: int) -> None:
        self.number = number
        self.slots = Slots()
        self.annotations: list[dict[str, Any]] = []
        self.says_text = False
        self.details: list[dict[str, Any]] = []
        self.thinking: Block | None = None


class ChatStreamDecoder(BuildingDecoder):
    """Events from the bytes of one streamed answer."""

    def __init__(self, context: DecodeContext) -> None:
        """A decoder for the answer to the request that `context` tells of."""
        super().__init__()
        self.context = context
        changes = Changes(NAME, "decode_response")
        self.builder: StreamBuilder = StreamBuilder(changes, id_source(context))
        self._framing = SseDecoder()
        self._choices: dict[int, _Choice] = {}
        self._done = False
        self._template: Template | None = None
        self._block: Block | None = None
        self._members: dict[str, Any] = {}

    @property
    def terminal(self) -> bool:
        """Whether every choice has its finish reason, or `[DONE]` came."""
        return self._done or self.builder.finished

    def _feed(self, data: bytes) -> None:
        for event in self._framing.feed(data):
            template, block = self._template, self._block
            text = None if template is None else template.text_in(event.data)
            if text and block is not None:
                self.builder.grow(block, text)
            else:
                self._event(event.data)

    def _close(self) -> None:
        for event in self._framing.close():
            self._event(event.data)
        if self.builder.ended:
            return
        if not self.terminal:
            raise IncompleteStreamError("the stream ended without a finish reason and without [DONE]")
        self._end()

    def _abort(self, error: Error) -> None:
        self._template = self._run = None
        self._flush()
        self.builder.fail(error)

    def _event(self, data: bytes) -> None:
        if self.builder.ended:
            return
        if data == DONE or data.strip() == DONE:
            self._done = True
            self._end()
            return
        repairs: list[str] = []
        chunk = decode_wire(data, ChunkWire, repairs=repairs, lenient=True)
        self.changes.repaired(repairs)
        if chunk.error or chunk.object == "error" or is_bare_error(chunk) or failed_base(chunk.extra):
            raise error_of_body(error_body(decode_any(data, repairs=[])), None)
        if chunk.x_groq and chunk.x_groq.get("error"):
            raise error_of_body(error_body(chunk.x_groq), None)
        members = top_members(chunk)
        if members:
            members.pop("created", None)
            self._members.update(members)
        for choice in chunk.choices or ():
            self._choice(choice, chunk)
        if chunk.usage is not None:
            self.builder.update_usage(decode_usage(chunk.usage))
        elif chunk.x_groq and isinstance(chunk.x_groq.get("usage"), dict):
            self.builder.update_usage(decode_usage(decode_wire(encode(chunk.x_groq["usage"]), UsageWire)))
        self._learn(chunk, data)

    def _learn(self, chunk: ChunkWire, data: bytes) -> None:
        """Take a chunk that says one piece of text, and nothing else, as the template of those to come."""
        self._template = self._run = None
        choice = chunk.choices[0] if chunk.choices and len(chunk.choices) == 1 else None
        if choice is None or choice.delta is None or chunk.usage is not None:
            return
        fields = [name for name in _DELTA_FIELDS if getattr(choice.delta, name)]
        if len(fields) != 1 or choice.finish_reason or choice.logprobs or choice.extra or choice.index:
            return
        member, text, block = self._delta_text(fields[0], choice.delta)
        template = template_of(data, member, text) if text and block is not None else None
        if template is not None and block is not None:
            if block.kind == "tool_call":
                template.inside = Fragment(template.inside)
            self._template, self._block = template, block
            self._run = run_of(template, DATA, self._framing, block)

    def _delta_text(self, name: str, delta: DeltaWire) -> tuple[str, str, Block | None]:
        """The one text that a delta of the first choice says: its member, the text, and the open block that it grew."""
        choice, text = self._choices[0], getattr(delta, name)
        if name != "tool_calls":
            if not isinstance(text, str) or (name == "content" and choice.annotations) or name not in _RUNNING:
                return name, "", None
            return name, text, self.builder.open_prose()
        calls: list[ToolCallWire] = text
        call, index = calls[0], usable_index(calls[0].index)
        function = call.function
        if len(calls) > 1 or index is None or call.custom or call.extra_content or call.extra or function is None:
            return "arguments", "", None
        if function.name or function.id or function.extra:
            return "arguments", "", None
        slot = choice.slots.find(index, call.id or "", "")
        more, was_object = arguments_text(function.arguments)
        is_held = slot.block is not None and bool(slot.block.pending)
        return "arguments", more, None if slot.custom or was_object or is_held else slot.block

    # Chunks

    def _choice(self, wire: ChunkChoiceWire, chunk: ChunkWire) -> None:
        number = usable_index(wire.index) or 0
        choice, delta = self._choices.get(number), wire.delta
        if choice is None:
            if number >= MAX_CHOICES:
                raise LimitExceededError(f"the answer has a choice {number}, beyond the {MAX_CHOICES} that are read")
            choice = self._choices[number] = _Choice(number)
            if self.builder.start_event is None:  # from here on the time and the name of the answer are known
                created = {"created": chunk.created} if chunk.created is not None else {}
                self._members.update(created)
                extra, model = {NAME: created} if created else {}, chunk.model
                self.builder.start(model=model or "", wire_model=model or None, id=chunk.id or None, extra=extra)
            if delta is None and is_object(wire.message):  # a whole answer that came in place of a stream
                delta = decode_wire(encode(wire.message), DeltaWire)
        if delta is not None:
            self._delta(delta, choice)
        self._choice_members(wire, number)
        if word := finish_word(wire.finish_reason, wire.native_finish_reason):
            self.builder.finish(decode_finish(word), word, number)
        if wire.extra and (failure := failed_choice(wire)):
            raise failure

    def _choice_members(self, wire: ChunkChoiceWire, number: int) -> None:
        fields = choice_members(wire)
        if not fields:
            return
        members = self.builder.choice_extra(number, NAME).setdefault("choice", {})
        before, logprobs = members.get("logprobs"), fields.pop("logprobs", None)
        if before is not None and logprobs is not None:  # lists follow each other, anything else is replaced
            joined = dict(before)
            for name, value in logprobs.items():
                mine = joined.get(name)
                joined[name] = [*mine, *value] if isinstance(mine, list) and isinstance(value, list) else value
            logprobs = joined
        if logprobs is not None:
            members["logprobs"] = logprobs
        members.update(fields)

    # Deltas

    def _delta(self, delta: DeltaWire, choice: _Choice) -> None:
        if delta.reasoning_details or delta.reasoning_content or delta.reasoning:
            self._reasoning(delta, choice)
        if delta.content and isinstance(delta.content, str):
            self._text(delta.content, choice)
        elif delta.content:
            for part in decode_content(delta.content):
                self._part(part, choice)
        if delta.refusal:
            self._seal(choice)
            self.builder.refusal(delta.refusal, choice.number)
        if delta.tool_calls or delta.function_call:
            self._seal(choice)
            for call in delta.tool_calls or ():
                self._call(call, choice)
            if delta.function_call is not None and (delta.function_call.name or delta.function_call.arguments):
                self._call(ToolCallWire(index=0, function=delta.function_call), choice)
        if delta.annotations or delta.audio or delta.images or delta.extra:
            self._rare(delta, choice)

    def _reasoning(self, delta: DeltaWire, choice: _Choice) -> None:
        field, text = next(((name, text) for name in REASONING_FIELDS if (text := getattr(delta, name))), ("", ""))
        choice.says_text = choice.says_text or bool(text)
        if delta.reasoning_details:
            choice.details = _joined_details(choice.details, delta.reasoning_details)
            if not choice.says_text:
                field, text = "reasoning_details", reasoning_text(delta.reasoning_details)
        extra = {NAME: {"field": field}} if field and field != REASONING_FIELDS[0] else None
        choice.thinking = self.builder.thinking(text, choice.number, extra)

    def _part(self, part: Part, choice: _Choice) -> None:
        if not isinstance(part, ThinkingPart):
            self._seal(choice)
        match part:
            case TextPart(text=text):
                self._text(text, choice)
            case ThinkingPart(text=text, extra=extra):
                self.builder.thinking(text, choice.number, extra)
            case RefusalPart(text=text):
                self.builder.refusal(text, choice.number)
            case AudioPart(data=data, transcript=transcript):
                self.builder.audio(data, transcript or "", choice.number)
            case _:
                self.builder.whole(part, _WHOLE.get(type(part), "opaque"), choice.number)

    def _text(self, text: str, choice: _Choice) -> None:
        if choice.thinking is not None:
            self._seal(choice)
        block = self.builder.text(text, choice.number)
        if choice.annotations:
            for annotation in choice.annotations:
                self.builder.annotate(block, read_annotation(NAME, annotation))
            choice.annotations = []

    def _seal(self, choice: _Choice) -> None:
        """Seal the thinking block with what came for it, before something else begins."""
        if choice.details and choice.thinking is not None:
            target = self.context.target
            data = {"reasoning_details": choice.details}
            self.builder.seal(choice.thinking, Sealed(NAME, data, target.provider or None, target.model or None))
            choice.details = []
        choice.thinking = None

    def _rare(self, delta: DeltaWire, choice: _Choice) -> None:
        for annotation in delta.annotations or ():
            block = self.builder.open_prose(choice.number)
            if block is not None and block.kind == "text":
                self.builder.annotate(block, read_annotation(NAME, annotation))
            else:
                choice.annotations.append(annotation)  # it comes before its text and waits for it
        if delta.audio is not None:
            self._seal(choice)
            data = from_base64(delta.audio.data, "/choices/delta/audio/data") if delta.audio.data else b""
            block = self.builder.audio(data, delta.audio.transcript or "", choice.number)
            members = audio_id(delta.audio.id, self.context.target.provider)
            if delta.audio.expires_at is not None:
                members["expires_at"] = delta.audio.expires_at
            if members:
                block.extra = {NAME: {**block.extra.get(NAME, {}), **members}}
        for image in delta.images or ():
            for part in decode_images([image]):
                self._part(part, choice)
        if delta.extra:
            message = self.builder.choice_extra(choice.number, NAME).setdefault("message", {})
            for name, value in delta.extra.items():
                previous = message.get(name)
                message[name] = [*previous, *value] if isinstance(previous, list) and isinstance(value, list) else value

    # Calls

    def _call(self, wire: ToolCallWire, choice: _Choice) -> None:
        if nest(wire):
            detail = "a call without a function around its name"
            self.changes.add("foreign_shape", self.builder.next_path(choice.number), detail)
        elif (hosted := hosted_call(wire)) is not None:
            self._open_earlier(choice, None)
            self.builder.whole(hosted, "server_tool", choice.number)
            return
        function = wire.function or FunctionCallWire()
        call_id = wire.id or function.id or ""
        name, fragment, was_object = function.name or "", "", False
        if wire.custom is not None and (wire.custom.name or wire.custom.input):
            name, fragment = wire.custom.name or "", wire.custom.input or ""
        elif function.arguments:
            fragment, was_object = arguments_text(function.arguments)
        slot = choice.slots.find(usable_index(wire.index), call_id, name)
        self._open_earlier(choice, slot)
        if slot.block is None and (wire.type == "custom" or (wire.custom is not None and wire.function is None)):
            slot.custom = True
        slot.was_object = slot.was_object or was_object
        slot.learn(call_id, name, self.context.undo)
        if wire.extra_content:
            slot.extra_content = wire.extra_content
        if wire.extra:
            slot.extra.update(wire.extra)
        if fragment and not slot.is_repeat(fragment):
            self._grow(slot, fragment, choice)

    def _grow(self, slot: Slot, fragment: str, choice: _Choice) -> None:
        if slot.block is not None and not slot.custom:
            self.builder.call_arguments(slot.block, fragment)
            return
        slot.pieces.append(fragment)
        if slot.name and not slot.custom:  # the text of a custom call becomes a JSON string when it is whole
            self._open(slot, choice)

    def _open(self, slot: Slot, choice: _Choice) -> None:
        """Open the call's block and say everything that waited for it; what may wrap calls waits until it is whole."""
        if self._waits(slot, choice):
            return
        path = f"{self.builder.next_path(choice.number)}/name"
        name = clean_name(slot.name, self.context.undo, self.changes, path)
        freeform = slot.custom or name in self.context.undo.freeform
        slot.block = self.builder.open_call(slot.id, name, choice.number, freeform=freeform)
        if not slot.custom:
            self.builder.call_arguments(slot.block, slot.text)
            slot.pieces = slot.block.pieces  # from here on they grow together

    def _waits(self, slot: Slot, choice: _Choice) -> bool:
        """Whether a call, or one before it, may wrap others or be encoded twice, and is not taken apart yet."""
        for one in choice.slots.all:
            waits = one.block is None and not one.custom and not one.settled
            if waits and (is_wrapper(one.name, self.context.undo) or (one.pieces and one.pieces[0][:1] == '"')):
                return True
            if one is slot:
                return False
        return False

    def _settle(self, slot: Slot, choice: _Choice) -> None:
        """Open a call that is whole: the calls that it wraps, the first with its id, or else itself."""
        slot.settled = True
        undo = self.context.undo
        inner = inner_calls(slot.name, slot.text, undo)
        if not inner:
            text = None if slot.custom else decoded_twice(slot.text)
            if text is not None:
                slot.pieces = [text]
                self.changes.add("arguments_twice", f"{self.builder.next_path(choice.number)}/arguments_json")
            self._open(slot, choice)
            return
        detail = f"{slot.name} with {len(inner)} calls"
        self.changes.add("calls_expanded", self.builder.next_path(choice.number), detail)
        for call in inner:
            call_id = slot.id if slot.block is None else None
            block = self.builder.open_call(call_id, call.name, choice.number, freeform=call.name in undo.freeform)
            self.builder.call_arguments(block, call.arguments_json)
            slot.block = slot.block or block

    def _open_earlier(self, choice: _Choice, slot: Slot | None) -> None:
        """Open the calls before this one, or all of them, so that the order of the blocks is the order of the calls."""
        for earlier in choice.slots.all:
            if earlier is slot:
                return
            if earlier.block is None and earlier.name:
                self._open(earlier, choice)

    # The end

    def _flush(self) -> None:
        """Say what is still held back: members, seals, and calls that wait for their arguments."""
        if self._members:
            self.builder.extra[NAME] = self._members
        for choice in self._choices.values():
            self._seal(choice)
            if choice.annotations:
                message = self.builder.choice_extra(choice.number, NAME).setdefault("message", {})
                message["annotations"] = choice.annotations
                choice.annotations = []
            for slot in choice.slots.all:
                if slot.block is None and slot.name:
                    self._settle(slot, choice)
                self._finish_call(slot)

    def _finish_call(self, slot: Slot) -> None:
        block = slot.block
        if block is None:
            return
        if slot.custom and not block.pieces:
            self.builder.call_arguments(block, freeform_arguments(slot.text))
        if slot.was_object:
            self.changes.add("arguments_object", f"{block.path}/arguments_json")
        target = self.context.target
        if slot.extra_content:
            data = {"extra_content": slot.extra_content}
            self.builder.seal(block, Sealed(NAME, data, target.provider or None, target.model or None))
        if slot.extra:
            block.extra = {NAME: dict(slot.extra)}

    def _end(self) -> None:
        self._template = self._run = None
        if not self._choices:
            raise no_answer("choices", "choice", in_dialect=True)
        if any(not slot.name for choice in self._choices.values() for slot in choice.slots.all):
            raise DecodeError("a tool call never got a name")
        self._flush()
        for number in self._choices:
            self.builder.settle_unsaid(number)
        self.builder.end()


def _joined_details(first: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reasoning details with fragments of one entry joined: same type, and the same index or id."""
    joined = list(first)
    for detail in more:
        last: dict[str, Any] = joined[-1] if joined else {}
        same_kind = last.get("type") == detail.get("type") and detail.get("type") != "reasoning.encrypted"
        same_place = last.get("index") == detail.get("index") and detail.get("id") in (None, last.get("id"))
        if not (joined and same_kind and same_place):
            joined.append(detail)
            continue
        both = {**last, **{name: value for name, value in detail.items() if value is not None}}
        for name in ("text", "summary"):
            if isinstance(last.get(name), str) and isinstance(detail.get(name), str):
                both[name] = last[name] + detail[name]
        joined[-1] = both
    return joined
