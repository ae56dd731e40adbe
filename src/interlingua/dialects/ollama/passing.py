"""Lines and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- A line has model, time and either a message or the text of the older form; a call has a name and an object.
- Calls have ids or not, as the server has it: nobody needs one here.
Source: the vendor's page "Generate a chat message", and the types of the official SDK, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Raw

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, normal_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]


class _Function(NormalStruct):
    name: str
    arguments: Raw


class _Call(NormalStruct):
    function: _Function
    id: str | None = None


class _Message(NormalStruct):
    role: Literal["assistant"]
    content: str
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(NormalStruct, kw_only=True):
    model: str
    created_at: str
    message: _Message | None = None
    response: str | None = None
    tool_calls: list[_Call] | None = None
    done: bool
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: None = None


_read = normal_reader(_Line)


class Frames(FrameCheck):
    """Looks at the lines of one stream."""

    harmless: frozenset[str] = frozenset({"call_id_made"})
    """Calls need no ids."""

    def is_silent(self, frame: bytes) -> bool:
        """Whether a line is blank."""
        return not frame.strip()

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next line is in normal form."""
        del events
        return is_normal(frame)


def is_normal(body: bytes) -> bool:
    """Whether a whole answer, or a line, is in normal form."""
    line = _read(body)
    if line is None or (line.message is None) is (line.response is None):
        return False
    calls = line.tool_calls if line.message is None else line.message.tool_calls
    return all([call.function.name and bytes(call.function.arguments)[:1] == b"{" for call in calls or ()])
