"""Whether the media of a request have to be fitted to a target: a look at each message, and nothing else.

Who has no media in a conversation pays for that look alone (less than a microsecond for ten messages); all else is
loaded when the first media part comes along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.types.content import (
    BrokenToolCall,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from interlingua.media.plan import MediaPlan
    from interlingua.registry.endpoint import Endpoint
    from interlingua.types.capability import Capability
    from interlingua.types.message import Message
    from interlingua.types.request import Request

__all__ = ["has_media", "plan_media"]

_WITHOUT = frozenset({BrokenToolCall, OpaquePart, RefusalPart, ServerToolPart, TextPart, ThinkingPart, ToolCall})
"""Parts that hold no media."""


def plan_media(request: Request, endpoint: Endpoint, allow: frozenset[Capability] = frozenset()) -> MediaPlan | None:
    """The plan for the media of a request before a target takes it; None where there is nothing to do.

    Raises: UnsupportedError where the target cannot take them; UsageError for a file that is broken, cut off or larger
        than any image may be, whoever is asked.
    """
    if not has_media(request.messages):
        return None
    from interlingua.media.plan import make_plan  # only requests with media need it

    return make_plan(request, endpoint, allow)


def has_media(messages: tuple[Message, ...]) -> bool:
    """Whether a message, or a tool result in one, holds an image, audio or a document."""
    for message in messages:
        for part in message.parts:
            if type(part) not in _WITHOUT and (not isinstance(part, ToolResult) or type(part.content) is tuple):
                return True
    return False
