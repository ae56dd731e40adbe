"""The server's role, streamed: events to chunks.

Rules
- The first chunk of a choice has the role and empty content; every tool call has its dense ordinal.
- The finish reason stands in a chunk of its own with an empty delta; usage follows with `choices: []`, then `[DONE]`.
- An error ends the stream as an error object, without `[DONE]`.
- Text costs a prefix that was encoded once and one encoded string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from interlingua.dialects._contract import Target
from interlingua.dialects._foreign import adopt_answer, note_event
from interlingua.dialects._members import is_list, object_in
from interlingua.dialects._openai.calls import freeform_input
from interlingua.dialects._openai.errors import encode_error_body
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._serve import hand_over
from interlingua.dialects._steps import at_home, thinking_events
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.openai_chat.assistant import AssistantEncoder, annotations_of, audio_members, note_audio
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.server import finish_word, reply_members
from interlingua.dialects.openai_chat.usage import encode_usage
from interlingua.stream.failure import failed_end
from interlingua.stream.fold import error_of
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, ImagePart, OpaquePart, ServerToolPart, TextPart, ToolCall
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    DataDelta,
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
from interlingua.types.response import Alternative
from interlingua.wire.json import decode_any, encode, encode_text, encode_wire, write_text
from interlingua.wire.media import to_base64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.dialects._contract import ServerContext
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["ChatStreamEncoder"]

DONE = b"data: [DONE]\n\n"
_STRING_END = b'},"finish_reason":null}]}\n\n'
_ARGUMENTS_END = b"}}]" + _STRING_END
_HEAD = b'data: {"id":%b,"object":"chat.completion.chunk","created":%d,"model":%b'
"""The beginning of every chunk of an answer."""
_OPENING = b',"choices":[{"index":%d,"delta":{"role":"assistant","content":""' + _STRING_END
"""The beginning of the first chunk of a choice, behind its head."""


class _Choice:
    """The state of one choice."""

    __slots__ = ("audio", "freeform", "length", "ordinals", "reasoning_field", "thinking")

    def __init__(self) -> None:
        self.audio: set[int] = set()
        self.length = 0
        self.ordinals: dict[int, int] = {}
        self.freeform: set[int] = set()
        self.reasoning_field = "reasoning_content"
        self.thinking: int | None = None


class ChatStreamEncoder(ResumingEncoder):
    """Chunks for the events of one answer."""

    def __init__(self, context: ServerContext) -> None:
        """An encoder for one answer."""
        self.context = context
        self.changes: Changes = Changes(NAME, "encode_response")
        self._head = b""
        self._provider: Any = None
        self._text_heads: dict[int, bytes] = {}
        self._heads: dict[tuple[int, str | int], bytes] = {}
        self._choices: dict[int, _Choice] = {}
        self._annotated: dict[tuple[int, int], int] = {}
        self._detailed: set[tuple[int, int]] = set()
        self._resumed = False

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if type(event) is TextDelta:
            choice = event.choice
            head = self._text_heads.get(choice)
            try:
                if head is not None:
                    return head + write_text(event.text) + _STRING_END
                chunk = self._string("content", event.text, choice)
                self._text_heads[choice] = self._heads[choice, "content"]  # it is the same for all texts that follow
                return chunk
            except UnicodeEncodeError:
                return encode_text(event.text)  # says what is wrong with it
        write = self._writers.get(type(event))
        return b"" if write is None else write(self, event)

    def opening(self) -> bytes:
        """The role of the first choice."""
        return self._opening(0)

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events`; annotations and details of reasoning that were told there are not told again."""
        self._resumed = True
        earlier = list(events)
        super().resume(earlier, last_frame)
        for event in earlier:
            if type(event) is Annotation:
                key = event.choice, event.index
                self._annotated[key] = self._annotated.get(key, 0) + 1
            elif type(event) is BlockStart and event.block == "thinking":
                self._detailed.add((event.choice, event.index))

    # Chunks

    def _start(self, event: StreamStart) -> bytes:
        context, own = self.context, event.extra.get(NAME)
        made = context.make_id() if event.id is None and context.make_id else event.id
        created = own["created"] if own and "created" in own else context.created or None
        model = context.model or event.wire_model or event.model or None
        provider = self._provider = own.get("provider") if own else None
        if type(created) is int and made is not None and model is not None and provider is None:
            self._head = _HEAD % (encode_text(made), created, encode_text(model))
            return b""
        members = {
            "id": made, "object": "chat.completion.chunk", "created": created, "model": model, "provider": provider,
        }  # fmt: skip
        head = {name: value for name, value in members.items() if value is not None}
        self._head = b"data: " + encode(head)[:-1]
        return b""

    def _chunk(
        self, choice: int, delta: dict[str, Any], finish: str | None = None, members: dict[str, Any] | None = None
    ) -> bytes:
        opening = self._opening(choice)
        body = {"index": choice, "delta": delta, **(members or {}), "finish_reason": finish}
        return opening + self._head + b',"choices":[' + encode(body, nulls=finish is None) + b"]}\n\n"

    def _opening(self, choice: int) -> bytes:
        """The first chunk of a choice, once."""
        if choice in self._choices:
            return b""
        self._choices[choice] = _Choice()
        return self._head + _OPENING % choice

    def _string(self, member: str, text: str, choice: int) -> bytes:
        head = self._heads.get((choice, member))
        if head is None:
            opening = self._opening(choice)
            start = f',"choices":[{{"index":{choice},"delta":{{"{member}":'.encode()
            head = self._heads[choice, member] = self._head + start
            return opening + head + encode_text(text) + _STRING_END
        return head + encode_text(text) + _STRING_END

    # Blocks

    def _block_start(self, event: BlockStart) -> bytes:
        opening = self._opening(event.choice)
        state = self._choices[event.choice]
        if event.block == "thinking":
            # Where it was read, for a client of the server that said it; details have their text in them.
            read = event.extra.get(NAME, {}).get("field")
            is_ours = isinstance(read, str) and (self.context.source == NAME or read == "reasoning_details")
            state.reasoning_field = str(read) if is_ours else "reasoning_content"
        if event.block == "audio":
            state.audio.add(event.index)
        if event.block != "tool_call":
            return opening
        ordinal = state.ordinals[event.index] = len(state.ordinals)
        if event.freeform:
            state.freeform.add(event.index)
            return opening
        function = {"name": event.name, "arguments": ""}
        call = {"index": ordinal, "id": event.id, "type": "function", "function": function}
        return opening + self._chunk(event.choice, {"tool_calls": [call]})

    def _audio(self, event: DataDelta) -> bytes:
        """A piece of audio; other media go out whole, when their block ends."""
        if event.index not in self._choices[event.choice].audio:
            return b""
        members = {"data": to_base64(event.data), "transcript": event.transcript}
        return self._chunk(event.choice, {"audio": {name: value for name, value in members.items() if value}})

    def _arguments(self, event: ToolCallDelta) -> bytes:
        state = self._choices[event.choice]
        if event.index in state.freeform:
            return b""
        head = self._heads.get((event.choice, event.index))
        if head is None:
            call = f'{{"index":{state.ordinals[event.index]},"function":{{"arguments":'
            start = f',"choices":[{{"index":{event.choice},"delta":{{"tool_calls":[{call}'
            head = self._heads[event.choice, event.index] = self._head + start.encode()
        return head + encode_text(event.arguments) + _ARGUMENTS_END

    def _refusal(self, event: RefusalDelta) -> bytes:
        return self._string("refusal", event.text, event.choice)

    def _thinking(self, event: ThinkingDelta) -> bytes:
        text, choice = event.text, event.choice
        state = self._choices[choice]
        field = state.reasoning_field
        match field:
            case "thinking_chunks":
                chunk = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
                return self._chunk(choice, {"content": [chunk]})
            case "reasoning_details":
                return b""
            case _:
                if text and state.thinking != event.index:
                    text = text if state.thinking is None else f"\n\n{text}"  # as a whole answer joins its blocks
                    state.thinking = event.index
                return self._string(field, text, choice)

    def _seal(self, event: Seal) -> bytes:
        if not seal_fits(event.sealed, NAME, Target()):
            note_seal(self.changes, event.sealed, _place(event))
            return b""
        ordinal = self._choices[event.choice].ordinals.get(event.index)
        if (event.choice, event.index) in self._detailed:
            return b""
        if ordinal is None:
            return self._chunk(event.choice, event.sealed.data)
        return self._chunk(event.choice, {"tool_calls": [{"index": ordinal, **event.sealed.data}]})

    def _block_end(self, event: BlockEnd) -> bytes:
        before = 0
        if type(event.part) is TextPart:
            state = self._choices[event.choice]
            before = state.length
            state.length += len(event.part.text)
            if not (event.part.annotations or event.part.extra):
                return b""
        if isinstance(event.part, OpaquePart | ServerToolPart | ImagePart):
            return self._whole(event, event.part)
        match event.part:
            case ToolCall(freeform=True, id=call_id, name=name, arguments_json=text):
                ordinal = self._choices[event.choice].ordinals[event.index]
                custom = {"name": name, "input": freeform_input(text)}
                call = {"index": ordinal, "id": call_id, "type": "custom", "custom": custom}
                return self._chunk(event.choice, {"tool_calls": [call]})
            case TextPart(annotations=annotations) as part if annotations:
                own = annotations_of(part, self.changes, f"{_place(event)}/annotations", before)
                own = own[self._annotated.get((event.choice, event.index), 0) :]
                return self._chunk(event.choice, {"annotations": own}) if own else b""
            case AudioPart() as part:
                note_audio(part, self.changes, _place(event))
                members = audio_members(part)
                return self._chunk(event.choice, {"audio": members}) if members else b""
            case ToolCall(extra=extra) if NAME in extra:
                ordinal = self._choices[event.choice].ordinals[event.index]
                return self._chunk(event.choice, {"tool_calls": [{"index": ordinal, **extra[NAME]}]})
            case _:
                return b""

    def _whole(self, event: BlockEnd, part: OpaquePart | ServerToolPart | ImagePart) -> bytes:
        """A part that comes in one piece; a step of another dialect's tool as thinking."""
        if isinstance(part, ServerToolPart) and not at_home(part, NAME, Target()):
            events = thinking_events(part, self.changes, _place(event), event)
            return b"".join([self.encode(one) for one in events])
        if isinstance(part, ImagePart) and part.sealed is not None:  # noted at its own place among the parts
            note_seal(self.changes, part.sealed, _place(event))
            part = replace(part, sealed=None)
        encoder = AssistantEncoder(Target(), self.changes)
        message = encoder.encode((part,), _choice_path(event), reply=True, first=event.index)
        body = decode_any(encode_wire(message))
        fields = {name: value for name, value in body.items() if name != "role"}
        delta = {name: value for name, value in fields.items() if name != "content" or is_list(value)}
        if is_list(calls := delta.get("tool_calls")):
            ordinals = self._choices[event.choice].ordinals
            ordinal = ordinals[event.index] = len(ordinals)
            delta["tool_calls"] = [{**call, "index": ordinal} for call in calls]
        return self._chunk(event.choice, delta) if delta else b""

    # The end

    def _end(self, event: StreamEnd) -> bytes:
        if not self.context.says_own(NAME) and (failed := failed_end(event)):
            return self._error(failed)
        chunks = self._last_chunks(event.response)
        hand_over(self.changes, self.context)
        return chunks + DONE

    def _error(self, event: StreamError) -> bytes:
        """The error object; an answer that came in this dialect brings what it had besides its blocks.

        A client that has its beginning as it came has that already.
        """
        _, body = encode_error_body(error_of(event))
        brings = self.context.source == NAME and not self._resumed
        chunks = self._last_chunks(event.partial) if brings and event.partial is not None else b""
        hand_over(self.changes, self.context)
        return chunks + b"data: " + encode(body) + b"\n\n"

    def _last_chunks(self, response: Response[Any]) -> bytes:
        response = adopt_answer(response, self.changes)
        members, first_extra = reply_members(response.extra)
        first = Alternative(
            parts=response.parts,
            finish_reason=response.finish_reason,
            finish_reason_raw=response.finish_reason_raw,
            extra={NAME: first_extra},
        )
        pieces: list[bytes] = []
        for place, choice in enumerate((first, *response.alternatives)):
            path = f"/alternatives/{place - 1}" if place else ""
            word = finish_word(choice, self.changes, path, own=self.context.says_own(NAME))
            extra = choice.extra.get(NAME, {})
            pieces.append(self._chunk(place, object_in(extra, "message"), word, object_in(extra, "choice")))
        members.pop("created", None)
        if self._provider is not None and members.get("provider") == self._provider:
            del members["provider"]  # every chunk has it
        if members:
            pieces.append(self._head + b',"choices":[],' + encode(members)[1:-1] + b"}\n\n")
        if response.usage is not None and self.context.stream_usage:
            usage = encode(encode_usage(response.usage, self.changes, own=self.context.says_own(NAME)))
            pieces.append(self._head + b',"choices":[],"usage":' + usage + b"}\n\n")
        return b"".join(pieces)

    def _extra(self, event: Extra) -> bytes:
        note_event(self.changes, event)
        return b""

    _writers: ClassVar[dict[type[Any], Callable[[ChatStreamEncoder, Any], bytes]]] = {
        ThinkingDelta: _thinking,
        RefusalDelta: _refusal,
        ToolCallDelta: _arguments,
        StreamStart: _start,
        BlockStart: _block_start,
        BlockEnd: _block_end,
        Seal: _seal,
        DataDelta: _audio,
        Extra: _extra,
        StreamEnd: _end,
        StreamError: _error,
    }
    """The writers of events that add something; a match over their classes takes ten times as long."""


def _choice_path(event: BlockEnd | Seal) -> str:
    return f"/alternatives/{event.choice - 1}" if event.choice else ""


def _place(event: BlockEnd | Seal) -> str:
    """Where the part of a block stands in the answer."""
    return f"{_choice_path(event)}/parts/{event.index}"
