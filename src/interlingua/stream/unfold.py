"""From a response to the events of a stream that folds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.errors import UsageError, kind_of
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    DataDelta,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.types.content import Part
    from interlingua.types.event import BlockKind, Event

__all__ = ["unfold"]


def unfold(response: Response[Any]) -> Iterator[Event]:
    """The events of `response`, one delta a block: `fold(unfold(response)) == response`."""
    if not isinstance(response, Response):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"unfold takes an il.Response, not {kind_of(response)}")
    yield StreamStart(response.model, response.wire_model, response.id, response.extra)
    choices = [response.parts, *(alternative.parts for alternative in response.alternatives)]
    for choice, parts in enumerate(choices):
        for index, part in enumerate(parts):
            yield _opening(index, part, choice)
            delta = _delta(index, part, choice)
            if delta is not None:
                yield delta
            for annotation in part.annotations if isinstance(part, TextPart) else ():
                yield Annotation(index, annotation, choice)
            sealed = getattr(part, "sealed", None)
            if sealed is not None:
                yield Seal(index, sealed, choice)
            yield BlockEnd(index, part, choice)
            if isinstance(part, ToolCall):
                yield ToolCallReady(index, part, choice)
    if response.usage is not None:
        yield UsageUpdate(response.usage)
    yield StreamEnd(response)


_BLOCKS: dict[type, BlockKind] = {
    RefusalPart: "refusal",
    AudioPart: "audio",
    ImagePart: "image",
    DocumentPart: "document",
    ServerToolPart: "server_tool",
    OpaquePart: "opaque",
    ToolResult: "opaque",
}


def _opening(index: int, part: Part, choice: int) -> BlockStart:
    match part:
        case (
            ToolCall(id=call_id, name=name, freeform=freeform, extra=extra)
            | BrokenToolCall(id=call_id, name=name, freeform=freeform, extra=extra)
        ):
            return BlockStart(index, "tool_call", call_id, name, choice, freeform, extra)
        case TextPart(extra=extra):
            return BlockStart(index, "text", None, None, choice, extra=extra)
        case ThinkingPart(extra=extra):
            return BlockStart(index, "thinking", None, None, choice, extra=extra)
        case _:
            return BlockStart(index, _BLOCKS[type(part)], None, None, choice)


def _delta(index: int, part: Part, choice: int) -> Event | None:
    """All that a block says, in one delta; None for a block that says nothing."""
    match part:
        case TextPart(text=text) if text:
            return TextDelta(index, text, choice)
        case ThinkingPart(text=text) if text:
            return ThinkingDelta(index, text, choice)
        case RefusalPart(text=text) if text:
            return RefusalDelta(index, text, choice)
        case ToolCall(arguments_json=text) | BrokenToolCall(raw_arguments=text) if text:
            return ToolCallDelta(index, text, choice)
        case AudioPart(data=data, transcript=transcript) if data or transcript:
            return DataDelta(index, data, transcript or "", choice)
        case ImagePart(data=data) | DocumentPart(data=data) if data:
            return DataDelta(index, data, "", choice)
        case _:
            return None
