"""Parts and messages as requests can share them: nobody can change what is in them.

Rules
- Members, JSON values and seals become read-only, all the way down.
- What cannot be made so is not shared: media, opaque parts, text with annotations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.types.content import Json, OpaquePart, ServerToolPart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.shared import NO_EXTRA, read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.content import Part

__all__ = ["can_be_shared", "frozen", "frozen_part", "memory_of", "shareable", "shareable_system"]

_OBJECT_BYTES = 400
"""What is kept of a message, a part or a schema, beside its text."""


def shareable(messages: Sequence[Message]) -> list[Message] | None:
    """The same messages, as requests can share them; None where something in them cannot be shared."""
    if not all([can_be_shared(part) for message in messages for part in message.parts]):
        return None
    return [frozen(message) for message in messages]


def shareable_system(system: tuple[TextPart, ...]) -> tuple[TextPart, ...] | None:
    """System text as requests can share it; None where it cannot be shared."""
    if not all([can_be_shared(part) for part in system]):
        return None
    return cast("tuple[TextPart, ...]", tuple([frozen_part(part) for part in system]))


def frozen(message: Message) -> Message:
    """The same message; nobody can change what is in it."""
    parts = tuple([frozen_part(part) for part in message.parts])
    return Message(message.role, parts, message.name, read_only(message.extra) if message.extra else NO_EXTRA)


def frozen_part(part: Part) -> Part:
    """The same part; nobody can change what is in it."""
    extra = NO_EXTRA if isinstance(part, OpaquePart | ServerToolPart) else part.extra
    members: dict[str, Any] = {"extra": read_only(extra) if extra else NO_EXTRA}
    sealed = getattr(part, "sealed", None)
    if sealed is not None:
        members["sealed"] = msgspec.structs.replace(sealed, data=read_only(sealed.data))
    if type(part) is ToolResult and isinstance(part.content, Json):
        members["content"] = Json(read_only(part.content.value))
    elif type(part) is ToolResult and isinstance(part.content, tuple):
        members["content"] = tuple([frozen_part(cast("TextPart", one)) for one in part.content])
    return msgspec.structs.replace(part, **members)


def memory_of(text: bytes) -> int:
    """About how many bytes of memory the text of messages or tools takes with what was read of it."""
    return len(text) + _OBJECT_BYTES * text.count(b"{")


def can_be_shared(part: Part) -> bool:
    """Whether everything in a part can be made read-only."""
    match part:
        case TextPart(annotations=annotations):
            return not annotations
        case ToolResult(content=content):
            return not isinstance(content, tuple) or all([_is_shareable_text(one) for one in content])
        case _:
            return isinstance(part, ThinkingPart | ToolCall)


def _is_shareable_text(part: object) -> bool:
    return type(part) is TextPart and can_be_shared(part)
