"""The builder that every stream decoder speaks to: it makes lawful events out of what a wire says.

Strategy: a decoder calls one method per thing that its wire says (`text`, `open_call`, `finish`, …) and takes the
events with `take()`. The builder numbers the blocks, opens them before they grow, closes them once, checks the
arguments of calls, and ends with the whole response; so the stream laws hold for every dialect by construction.

Rules
- At most one prose block (text, thinking, refusal) is open per choice; a tool call closes it.
- A call block opens when its name is known, and stays open until it is closed or the stream ends: calls interleave.
- A broken call stays open until the finish reason is known, which decides between broken and cut off.
- Nothing is emitted before the first content but `StreamStart`, and nothing after the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.stream.calls import (
    CallIdSource,
    is_empty_arguments,
    make_call,
    may_be_empty_arguments,
    note_finish,
    settle_finish,
)
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
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
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage, merge_usage
from interlingua.wire.media import audio_type

if TYPE_CHECKING:
    from interlingua.errors import Error
    from interlingua.types.change import Changes
    from interlingua.types.content import Citation, Part, Sealed
    from interlingua.types.event import BlockKind, Event
    from interlingua.types.response import FinishReason

__all__ = ["DELTAS", "Block", "StreamBuilder", "stream_error"]


DELTAS: dict[BlockKind, type[TextDelta | ThinkingDelta | RefusalDelta | ToolCallDelta]] = {
    "text": TextDelta,
    "thinking": ThinkingDelta,
    "refusal": RefusalDelta,
    "tool_call": ToolCallDelta,
}
"""The type of delta by which a block grows by some text."""


class Block:
    """One block under construction."""

    __slots__ = (
        "annotations", "broken_extra", "choice", "cut_off", "data", "extra", "freeform", "id", "index", "kind", "name",
        "part", "pending", "pieces", "sealed",
    )  # fmt: skip

    def __init__(self, kind: BlockKind, index: int, choice: int) -> None:
        """An empty block at its final place."""
        self.kind: BlockKind = kind
        self.index: int = index
        self.choice: int = choice
        self.pieces: list[str] = []
        self.data: list[bytes] = []
        self.annotations: list[Citation] = []
        self.sealed: Sealed | None = None
        self.extra: dict[str, dict[str, Any]] = {}
        self.part: Part | None = None
        self.id: str = ""
        self.name: str = ""
        self.freeform: bool = False
        self.cut_off: bool = False
        self.pending: str = ""
        """Arguments that are not told yet, since they may come to nothing (`null`, `[]`)."""
        self.broken_extra: dict[str, dict[str, Any]] | None = None

    @property
    def content(self) -> str:
        """Everything that came so far, joined once."""
        pieces = self.pieces
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]  # whoever puts pieces there has this very list
        return pieces[0] if pieces else ""

    @property
    def path(self) -> str:
        """The pointer to its part in the response."""
        return _path(self.choice, self.index)


class _Choice:
    __slots__ = ("blocks", "empty_call", "extra", "finish", "finish_raw", "number", "prose")

    def __init__(self, number: int) -> None:
        self.number = number
        self.blocks: list[Block] = []
        self.prose: Block | None = None
        self.empty_call: Block | None = None
        self.finish: FinishReason | None = None
        self.finish_raw: str | None = None
        self.extra: dict[str, dict[str, Any]] = {}

    def parts(self) -> tuple[Part, ...]:
        return tuple([block.part for block in self.blocks if block.part is not None])


class StreamBuilder:
    """Makes the events of one stream."""

    __slots__ = ("_choices", "_events", "_ids", "_named", "changes", "ended", "extra", "start_event", "usage")

    def __init__(self, changes: Changes, ids: CallIdSource) -> None:
        """A builder that records repairs in `changes` and takes call ids from `ids`."""
        self.changes: Changes = changes
        self.extra: dict[str, dict[str, Any]] = {}
        """Members of the answer, by dialect; the end carries them."""
        self.usage: Usage | None = None
        self.start_event: StreamStart | None = None
        self.ended: bool = False
        self._ids = ids
        self._named: StreamStart | None = None
        self._events: list[Event] = []
        self._choices: dict[int, _Choice] = {}

    # Reading

    def take(self) -> list[Event]:
        """The events made since the last call."""
        events, self._events = self._events, []
        return events

    @property
    def finished(self) -> bool:
        """Whether the wire named a finish reason for every choice that it opened."""
        for choice in self._choices.values():  # asked for after each piece
            if choice.finish is None:
                return False
        return bool(self._choices)

    # The answer as a whole

    def start(
        self,
        *,
        model: str = "",
        wire_model: str | None = None,
        id: str | None = None,
        extra: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """Say that content has begun; later calls change nothing."""
        if self.start_event is None:
            self.start_event = StreamStart(model, wire_model, id, extra or {})
            self._events.append(self.start_event)
            if self.usage is not None:  # counts that came before the content
                self._events.append(UsageUpdate(self.usage))

    def name(self, *, model: str, wire_model: str | None, id: str | None) -> None:
        """Set the names of an answer that come after its first content; the end says those that the start did not."""
        self._named = StreamStart(model, wire_model, id)

    def update_usage(self, usage: Usage) -> None:
        """Cumulative counts so far; nothing is said when they say nothing new."""
        merged = usage if self.usage is None else merge_usage(self.usage, usage)
        if merged != self.usage:
            self.usage = merged
            if self.start_event is not None:
                self._events.append(UsageUpdate(usage))

    def extra_event(self, dialect: str, raw: object) -> None:
        """Pass an upstream event on that has no canonical form."""
        self._events.append(Extra(dialect, raw))

    def choice_extra(self, choice: int, dialect: str) -> dict[str, Any]:
        """The members of a choice without a canonical field, to be filled in."""
        return self._choice(choice).extra.setdefault(dialect, {})

    def finish(self, reason: FinishReason, raw: str | None, choice: int = 0) -> None:
        """The finish reason of a choice; the last one counts."""
        state = self._choice(choice)
        state.finish = reason
        state.finish_raw = raw

    # Prose

    def text(self, text: str, choice: int = 0, extra: dict[str, dict[str, Any]] | None = None) -> Block:
        """Text that goes on, or a new text block."""
        state = self._choices.get(choice)
        block = state.prose if state is not None else None
        if block is None or block.kind != "text":
            block = self._prose("text", choice, extra)
        if text:
            block.pieces.append(text)
            self._events.append(TextDelta(block.index, text, choice))
        return block

    def thinking(self, text: str, choice: int = 0, extra: dict[str, dict[str, Any]] | None = None) -> Block:
        """Thinking that goes on, or a new thinking block; it may stay empty and only be sealed."""
        block = self._prose("thinking", choice, extra)
        if text:
            block.pieces.append(text)
            self._events.append(ThinkingDelta(block.index, text, choice))
        return block

    def refusal(self, text: str, choice: int = 0) -> Block:
        """A refusal that goes on, or a new refusal block."""
        block = self._prose("refusal", choice)
        if text:
            block.pieces.append(text)
            self._events.append(RefusalDelta(block.index, text, choice))
        return block

    def audio(self, data: bytes, transcript: str, choice: int = 0) -> Block:
        """Audio that goes on, or a new audio block."""
        block = self._prose("audio", choice)
        if data or transcript:
            block.data.append(data)
            block.pieces.append(transcript)
            self._events.append(DataDelta(block.index, data, transcript, choice))
        return block

    def annotate(self, block: Block, annotation: Citation) -> None:
        """A citation or another annotation of a text block."""
        block.annotations.append(annotation)
        self._events.append(Annotation(block.index, annotation, block.choice))

    def seal(self, block: Block, sealed: Sealed) -> None:
        """Sealed state of a block; it replaces what was there."""
        block.sealed = sealed
        self._events.append(Seal(block.index, sealed, block.choice))

    def open_prose(self, choice: int = 0) -> Block | None:
        """The open prose block of a choice, if there is one."""
        return self._choice(choice).prose

    def close_prose(self, choice: int = 0) -> None:
        """Close the open prose block, if there is one."""
        state = self._choice(choice)
        if state.prose is not None:
            self._close(state.prose, cut_off=False)
            state.prose = None

    # Prose of wires whose items interleave

    def open_beside(self, kind: BlockKind, choice: int = 0, extra: dict[str, dict[str, Any]] | None = None) -> Block:
        """A new block of text, thinking or refusal that stays open beside others until `close_beside`."""
        self.close_prose(choice)
        block = self._open(kind, self._choice(choice))
        block.extra = extra or {}
        self._events.append(BlockStart(block.index, kind, None, None, choice, False, block.extra))
        return block

    def grow(self, block: Block, text: str) -> None:
        """More of an open block's text, or of a call's arguments."""
        if text:
            block.pieces.append(text)
            self._events.append(DELTAS[block.kind](block.index, text, block.choice))

    def close_beside(self, block: Block) -> None:
        """Close a block that was opened by `open_beside`; a closed one stays closed."""
        if block.part is None:
            self._close(block, cut_off=False)

    # Calls

    def next_path(self, choice: int = 0) -> str:
        """The pointer to the part that the next block of a choice becomes."""
        return _path(choice, len(self._choice(choice).blocks))

    def open_call(
        self,
        wire_id: str | None,
        name: str,
        choice: int = 0,
        *,
        freeform: bool = False,
        extra: dict[str, dict[str, Any]] | None = None,
    ) -> Block:
        """A new call block; `name` is known by now."""
        self.close_prose(choice)
        block = self._open("tool_call", self._choice(choice))
        block.id, code = self._ids.assign(wire_id)
        block.name, block.freeform, block.extra = name, freeform, extra or {}
        if code is not None:
            self.changes.add(code, f"{block.path}/id")
        self._events.append(BlockStart(block.index, "tool_call", block.id, name, choice, freeform, block.extra))
        return block

    def call_arguments(self, block: Block, fragment: str) -> None:
        """More of the arguments' text; what may stand for none waits until it is more than that, or whole."""
        if not block.pieces and (block.pending or fragment[:1] != "{"):
            fragment, block.pending = block.pending + fragment, ""
            if may_be_empty_arguments(fragment):
                block.pending = fragment
                return
        if fragment:
            block.pieces.append(fragment)
            self._events.append(ToolCallDelta(block.index, fragment, block.choice))

    def _tell_held(self, block: Block) -> None:
        """Say the arguments that waited, as they are."""
        fragment, block.pending = block.pending, ""
        if fragment:
            block.pieces.append(fragment)
            self._events.append(ToolCallDelta(block.index, fragment, block.choice))

    def close_call(self, block: Block) -> None:
        """The wire says that this call is whole; a broken one, and the last one without arguments, wait for the finish.

        At the length limit nobody knows whether arguments were to come.
        """
        if block.part is not None or block.cut_off:
            return
        state = self._choice(block.choice)
        if not block.content and block is state.blocks[-1]:
            state.empty_call = block
            return
        part = self._call_part(block, cut_off=False)
        if type(part) is ToolCall:
            self._end_block(block, part)

    # Whole parts

    def whole(self, part: Part, kind: BlockKind, choice: int = 0) -> None:
        """A part that comes in one piece: media, or an opaque one."""
        self.close_prose(choice)
        block = self._open(kind, self._choice(choice))
        self._events.append(BlockStart(block.index, kind, None, None, choice))
        transcript = (part.transcript if isinstance(part, AudioPart) else None) or ""
        if isinstance(part, ImagePart | DocumentPart | AudioPart) and (part.data or transcript):
            self._events.append(DataDelta(block.index, part.data, transcript, choice))
        self._end_block(block, part)

    # The end

    def settle_unsaid(self, choice: int) -> None:
        """Finish a choice that ended without a word by what it holds: something, or nothing."""
        state = self._choice(choice)
        if state.finish is None:
            state.finish = "stop" if state.blocks else "error"

    def end(self) -> None:
        """The proper end: close everything and say what it all adds up to."""
        if self.ended:
            return
        self.start()
        self._close_all(cut=False)
        self.ended = True
        self._events.append(StreamEnd(self._response("other")))

    def fail(self, error: Error) -> None:
        """The end by an error, with what came; open calls are kept as broken ones."""
        if self.ended:
            return
        self._close_all(cut=True)
        self.ended = True
        self._events.append(stream_error(error, self._response("error")))

    # Inside

    def _choice(self, number: int) -> _Choice:
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = _Choice(number)
        return choice

    def _prose(self, kind: BlockKind, choice: int, extra: dict[str, dict[str, Any]] | None = None) -> Block:
        state = self._choice(choice)
        block = state.prose
        if block is not None:
            if block.kind == kind:
                return block
            self._close(block, cut_off=False)
        block = state.prose = self._open(kind, state)
        if extra:
            block.extra = extra
        self._events.append(BlockStart(block.index, kind, None, None, choice, False, block.extra))
        return block

    def _open(self, kind: BlockKind, state: _Choice) -> Block:
        if self.start_event is None:
            self.start()
        empty = state.empty_call
        if empty is not None:  # it is not the last one any more
            state.empty_call = None
            self._close(empty, cut_off=False)
        block = Block(kind, len(state.blocks), state.number)
        state.blocks.append(block)
        return block

    def _close(self, block: Block, *, cut_off: bool) -> None:
        part: Part
        match block.kind:
            case "thinking":
                part = ThinkingPart(block.content, block.sealed, block.extra)
            case "refusal":
                part = RefusalPart(block.content, block.extra)
            case "tool_call":
                part = self._call_part(block, cut_off=cut_off)
            case "audio":
                data = b"".join(block.data)
                part = AudioPart(data, audio_type(data), block.content or None, extra=block.extra)
            case _:
                part = TextPart(block.content, tuple(block.annotations), sealed=block.sealed, extra=block.extra)
        self._end_block(block, part)

    def _end_block(self, block: Block, part: Part) -> None:
        block.part = part
        self._events.append(BlockEnd(block.index, part, block.choice))
        if type(part) is ToolCall:
            self._events.append(ToolCallReady(block.index, part, block.choice))

    def _call_part(self, block: Block, *, cut_off: bool) -> ToolCall | BrokenToolCall:
        if not cut_off and not block.pieces and is_empty_arguments(block.pending):
            block.pending = "{}"
            self.changes.add("arguments_empty", f"{block.path}/arguments_json")
        self._tell_held(block)
        text = block.content
        part = make_call(
            block.id, block.name, text,
            cut_off=cut_off, freeform=block.freeform, sealed=block.sealed, extra=block.extra,
        )  # fmt: skip
        return _broken(part, block) if isinstance(part, BrokenToolCall) else part

    def _close_all(self, *, cut: bool) -> None:
        for state in self._choices.values():
            still_open = [block for block in state.blocks if block.part is None]
            for block in still_open:
                if cut and block.kind == "tool_call":
                    self._tell_held(block)
                    # Nobody knows whether a call that was open when the stream broke is whole, so it is never run.
                    call = BrokenToolCall(block.id, block.name, block.content, "cut_off", block.freeform, block.extra)
                    self._end_block(block, _broken(call, block))
                else:
                    is_last = block is state.blocks[-1]
                    self._close(block, cut_off=block.cut_off or (is_last and state.finish == "length"))
            state.prose = None

    def _response(self, unsaid: FinishReason) -> Response[Any]:
        started = self.start_event or self._named or StreamStart()
        named = self._named or started
        number = 1 + max(self._choices, default=0)
        first, *others = [self._alternative(place, unsaid) for place in range(number)]
        extra = {dialect: dict(members) for dialect, members in first.extra.items()}
        for dialect, members in self.extra.items():
            extra.setdefault(dialect, {}).update(members)
        return Response(
            parts=first.parts,
            finish_reason=first.finish_reason,
            finish_reason_raw=first.finish_reason_raw,
            usage=self.usage,
            model=started.model or named.model,
            wire_model=started.wire_model or named.wire_model,
            id=started.id or named.id,
            alternatives=tuple(others),
            changes=self.changes.done(),
            extra=extra,
        )

    def _alternative(self, number: int, unsaid: FinishReason) -> Alternative:
        state = self._choices.get(number)
        if state is None:  # a choice that said nothing
            return Alternative(finish_reason=unsaid)
        parts = state.parts()
        reason = state.finish or unsaid
        settled = settle_finish(reason, parts)
        prefix = f"/alternatives/{number - 1}" if number else ""
        note_finish(reason, settled, state.finish_raw, self.changes, f"{prefix}/finish_reason")
        return Alternative(parts=parts, finish_reason=settled, finish_reason_raw=state.finish_raw, extra=state.extra)


def _path(choice: int, index: int) -> str:
    head = f"/alternatives/{choice - 1}" if choice else ""
    return f"{head}/parts/{index}"


def _broken(call: BrokenToolCall, block: Block) -> BrokenToolCall:
    """A broken call, with what a whole one is sealed with among its members."""
    return call if block.broken_extra is None else msgspec.structs.replace(call, extra=block.broken_extra)


def stream_error(error: Error, partial: Response[Any] | None) -> StreamError:
    """The terminal event of an error."""
    return StreamError(
        type(error).__name__,
        error.message,
        error.status,
        error.code,
        error.retry_after_s,
        error.request_id,
        partial,
    )
