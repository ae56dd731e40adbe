"""Events and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- An event has the name that is its type, since SDKs look at the name.
- `message_start` comes first and once, and `message_stop` behind a stop reason.
- Blocks are numbered from 0 without a gap, and one is open at a time. A block begins empty and grows by its own deltas.
- The stop reason agrees with the calls; counts are there.
Source: the vendor's page "Streaming messages", and what the official SDK does with events, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, adds, event_in, normal_reader, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]

_ENDS = frozenset({"end_turn", "stop_sequence"})
"""Stop reasons that no answer with calls has."""
_DELTAS = {
    ("text", "text_delta"): "text",
    ("text", "citations_delta"): "citation",
    ("thinking", "thinking_delta"): "thinking",
    ("thinking", "signature_delta"): "signature",
    ("tool_use", "input_json_delta"): "partial_json",
}
"""The member of a delta, by the kinds of block and delta; blocks that are not named here grow by anything."""
_KINDS = frozenset([block for block, _ in _DELTAS])


class _Usage(NormalStruct):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _LastUsage(NormalStruct):
    output_tokens: int
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Start(NormalStruct, kw_only=True):
    id: str
    type: Literal["message"]
    role: Literal["assistant"]
    model: str
    content: tuple[()]
    usage: _Usage


class _Block(NormalStruct, kw_only=True):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw | UnsetType = UNSET

    @property
    def is_call(self) -> bool:
        """Whether it is a call with its id, its name and an object, as far as that came."""
        return bool(self.id and self.name) and self.input is not UNSET and bytes(self.input)[:1] == b"{"


class _Delta(NormalStruct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    citation: dict[str, Any] | None = None
    stop_reason: str | None = None


class _Event(NormalStruct, kw_only=True):
    type: str
    index: int = -1
    message: _Start | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _LastUsage | None = None


_read_event = normal_reader(_Event)


class Frames(FrameCheck):
    """Looks at the events of one stream."""

    harmless: frozenset[str] = frozenset({"arguments_empty"})
    """A call begins with an empty object, and needs no delta."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._began = self._ended = False
        self._blocks = 0
        self._open: str | None = None
        self._calls = False
        self._starts = 0

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next event is in normal form."""
        named = event_in(frame)
        event = None if named is None else _read_event(named[1])
        if named is None or event is None or named[0] != event.type.encode():
            return False
        judge = self._judges.get(event.type)
        if judge is not None and not judge(self, event):
            return False
        self._starts += opened(events)
        return not adds(events) or self._starts == self._blocks

    def _start(self, event: _Event) -> bool:
        is_first, self._began = not self._began, True
        return event.message is not None and is_first

    def _block_start(self, event: _Event) -> bool:
        block = event.content_block
        if block is None or event.index != self._blocks or self._open is not None or not self._began:
            return False
        self._open = block.type
        self._blocks += 1
        if block.type == "tool_use":
            self._calls = True
            return block.is_call and bytes(block.input) == b"{}"  # pyright: ignore[reportArgumentType]  # it is no call unset
        member = {"text": block.text, "thinking": block.thinking}
        return not (block.text or block.thinking) and member.get(block.type, "") is not None

    def _block_delta(self, event: _Event) -> bool:
        delta, kind = event.delta, self._open
        if delta is None or kind is None or event.index != self._blocks - 1:
            return False
        member = _DELTAS.get((kind, delta.type or ""))
        return kind not in _KINDS if member is None else getattr(delta, member) is not None

    def _block_stop(self, event: _Event) -> bool:
        kind, self._open = self._open, None
        return kind is not None and event.index == self._blocks - 1

    def _end(self, event: _Event) -> bool:
        reason = None if event.delta is None else event.delta.stop_reason
        if reason is None or self._open is not None or event.usage is None or not self._began:
            return False
        self._ended = True
        return reason not in _ENDS if self._calls else reason != "tool_use"

    def _stop(self, event: _Event) -> bool:
        del event
        return self._ended

    _judges: ClassVar[dict[str, Callable[[Frames, _Event], bool]]] = {
        "message_start": _start,
        "content_block_start": _block_start,
        "content_block_delta": _block_delta,
        "content_block_stop": _block_stop,
        "message_delta": _end,
        "message_stop": _stop,
    }


class _Answer(NormalStruct, kw_only=True):
    id: str
    type: Literal["message"]
    role: Literal["assistant"]
    model: str
    content: list[_Block]
    stop_reason: str
    usage: _Usage


_read_answer = normal_reader(_Answer)


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form; ids, inputs and the stop reason are judged where it is decoded."""
    answer = _read_answer(body)
    return answer is not None and all([_is_whole(block) for block in answer.content])


def _is_whole(block: _Block) -> bool:
    match block.type:
        case "text":
            return block.text is not None
        case "thinking":
            return block.thinking is not None
        case "tool_use":
            return block.is_call
        case _:
            return True
