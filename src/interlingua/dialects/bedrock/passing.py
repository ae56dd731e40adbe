"""Frames and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- A frame has a name that the dialect knows, and its block is the one that the events speak of.
- Padding, and members that are not named here, change nothing.
Source: service model `bedrock-runtime/2023-09-30` of botocore 1.44, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, adds, normal_reader, opened
from interlingua.errors import WireError
from interlingua.wire.eventstream import EventStreamDecoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.event import Event
    from interlingua.wire.eventstream import EventFrame

__all__ = ["Frames", "is_normal"]


class _Call(NormalStruct):
    toolUseId: str
    name: str
    input: Raw


class _Block(NormalStruct):
    text: str | None = None
    toolUse: _Call | None = None


class _Message(NormalStruct):
    role: str
    content: list[_Block]


class _Output(NormalStruct):
    message: _Message


class _Usage(NormalStruct):
    inputTokens: int
    outputTokens: int
    totalTokens: int


class _Answer(NormalStruct):
    output: _Output
    stopReason: str
    usage: _Usage


class _Payload(NormalStruct):
    contentBlockIndex: int | None = None
    start: dict[str, Any] | None = None
    delta: dict[str, Any] | None = None
    stopReason: str | None = None
    usage: _Usage | None = None


_read_answer = normal_reader(_Answer)
_read_payload = normal_reader(_Payload)
_NAMES = frozenset({
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
})  # fmt: skip


class Frames(FrameCheck):
    """Looks at the frames of one stream."""

    ends_with_body: bool = True
    """An answer may end behind its stop reason."""
    harmless: frozenset[str] = frozenset({"arguments_empty"})
    """A call needs no delta."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._blocks = self._starts = 0
        self._open: int | None = None

    def is_silent(self, frame: bytes) -> bool:
        """Whether a frame says nothing: an event of a name that no client knows."""
        read = _frame(frame)
        return read is not None and read.headers.get(":event-type") == "ping"

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next frame is in normal form."""
        read = _frame(frame)
        name = "" if read is None else read.headers.get(":event-type", "")
        payload = None if read is None or name not in _NAMES else _read_payload(read.payload)
        if payload is None or not self._is_in_place(name, payload):
            return False
        self._starts += opened(events)
        return not adds(events) or self._starts == self._blocks

    def _is_in_place(self, name: str, payload: _Payload) -> bool:
        index = payload.contentBlockIndex
        match name:
            case "contentBlockStart" | "contentBlockDelta":
                if index is None or len(payload.start or payload.delta or {}) != 1:
                    return False
                if self._open is None and index == self._blocks:
                    self._open, self._blocks = index, self._blocks + 1
                return index == self._open
            case "contentBlockStop":
                was, self._open = self._open, None
                return index == was
            case "messageStop":
                return payload.stopReason is not None and self._open is None
            case "metadata":
                return payload.usage is not None
            case _:
                return True


def _frame(data: bytes) -> EventFrame | None:
    """The one frame that these bytes are; None for anything else."""
    try:
        frames = EventStreamDecoder().feed(data)
    except WireError:
        return None
    return frames[0] if len(frames) == 1 else None


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form."""
    answer = _read_answer(body)
    if answer is None or answer.output.message.role != "assistant":
        return False
    calls = [block.toolUse for block in answer.output.message.content if block.toolUse is not None]
    return all([call.name and bytes(call.input)[:1] == b"{" for call in calls])
