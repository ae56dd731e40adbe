"""From a response to the events of a stream that folds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["unfold"]


def unfold(response: Response[Any]) -> Iterator[Event]:
    """The events of `response`, one delta a block: `fold(unfold(response)) == response`."""
    yield StreamStart(response.model, response.wire_model, response.id, response.extra)
    choices = [response.parts, *(alternative.parts for alternative in response.alternatives)]
    for choice, parts in enumerate(choices):
        for index, part in enumerate(parts):
            yield from _block(index, part, choice)
    if response.usage is not None:
        yield UsageUpdate(response.usage)
    yield StreamEnd(response)


def _block(index: int, part: Part, choice: int) -> Iterator[Event]:
    yield from _opening(index, part, choice)
    sealed = getattr(part, "sealed", None)
    if sealed is not None:
        yield Seal(index, sealed, choice)
    yield BlockEnd(index, part, choice)
    if isinstance(part, ToolCall):
        yield ToolCallReady(index, part, choice)


def _opening(index: int, part: Part, choice: int) -> Iterator[Event]:
    match part:
        case TextPart(text=text, annotations=annotations):
            yield BlockStart(index, "text", None, None, choice)
            if text:
                yield TextDelta(index, text, choice)
            for annotation in annotations:
                yield Annotation(index, annotation, choice)
        case ThinkingPart(text=text, extra=extra):
            yield BlockStart(index, "thinking", None, None, choice, extra=extra)
            if text:
                yield ThinkingDelta(index, text, choice)
        case RefusalPart(text=text):
            yield BlockStart(index, "refusal", None, None, choice)
            if text:
                yield RefusalDelta(index, text, choice)
        case (
            ToolCall(id=call_id, name=name, arguments_json=text, freeform=freeform)
            | BrokenToolCall(id=call_id, name=name, raw_arguments=text, freeform=freeform)
        ):
            yield BlockStart(index, "tool_call", call_id, name, choice, freeform)
            if text:
                yield ToolCallDelta(index, text, choice)
        case AudioPart(data=data, transcript=transcript):
            yield BlockStart(index, "audio", None, None, choice)
            yield DataDelta(index, data, transcript or "", choice)
        case ImagePart(data=data):
            yield BlockStart(index, "image", None, None, choice)
            yield DataDelta(index, data, "", choice)
        case DocumentPart(data=data):
            yield BlockStart(index, "document", None, None, choice)
            yield DataDelta(index, data, "", choice)
        case OpaquePart() | ToolResult():
            yield BlockStart(index, "opaque", None, None, choice)
