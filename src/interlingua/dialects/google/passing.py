"""Frames and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- Members are in camel case, parts are a list, a call has a name, and an object of arguments, pieces of it, or none.
- Calls have ids or not, as the model has it: nobody needs one here.
- The end of the bytes ends a stream.
Source: the vendor's reference "Generating content", and the types of the official SDK, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, event_in, normal_reader
from interlingua.dialects.google.spelling import is_in_snake_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]


class _Call(NormalStruct, kw_only=True):
    name: str | None = None
    id: str | None = None
    args: Raw | UnsetType = UNSET
    partialArgs: list[dict[str, Any]] | None = None
    willContinue: bool | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has a name, and an object of arguments or none."""
        return bool(self.name) and (self.args is UNSET or bytes(self.args)[:1] == b"{")


class _Part(NormalStruct):
    text: str | None = None
    thought: bool | None = None
    thoughtSignature: str | None = None
    functionCall: _Call | None = None


class _Content(NormalStruct):
    parts: list[_Part] | None = None
    role: str | None = None


class _Candidate(NormalStruct):
    content: _Content | None = None
    finishReason: str | None = None
    index: int = 0


class _Usage(NormalStruct):
    promptTokenCount: int | None = None
    candidatesTokenCount: int | None = None
    thoughtsTokenCount: int | None = None
    cachedContentTokenCount: int | None = None
    totalTokenCount: int | None = None


class _Frame(NormalStruct):
    candidates: list[_Candidate] | None = None
    usageMetadata: _Usage | None = None
    modelVersion: str | None = None
    responseId: str | None = None
    error: None = None


_read = normal_reader(_Frame)


class Frames(FrameCheck):
    """Looks at the frames of one stream."""

    ends_with_body: bool = True
    """Nothing but the end of the bytes ends a stream."""
    harmless: frozenset[str] = frozenset({"call_id_made", "arguments_empty"})
    """Calls need no ids and no arguments."""

    def __init__(self) -> None:
        """No frame came yet."""
        self._goes_on = False

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next frame is in normal form."""
        del events
        event = event_in(frame)
        calls = None if event is None or event[0] else _calls_in(event[1])
        return calls is not None and all([self._is_sound(call) for call in calls])

    def _is_sound(self, call: _Call) -> bool:
        """Whether a call is whole, or a piece of one that comes in pieces."""
        is_piece, self._goes_on = self._goes_on or bool(call.willContinue), bool(call.willContinue)
        return is_piece or call.is_whole


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form."""
    calls = _calls_in(body)
    return calls is not None and all([call.is_whole for call in calls])


def _calls_in(body: bytes) -> list[_Call] | None:
    """The calls in an answer or a frame; None where it is not in normal form."""
    frame = _read(body)
    if frame is None or is_in_snake_case(body):
        return None
    contents = [candidate.content for candidate in frame.candidates or ()]
    parts = [part for content in contents if content is not None for part in content.parts or ()]
    return [part.functionCall for part in parts if part.functionCall is not None]
