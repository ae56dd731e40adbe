"""The shapes of Converse bodies and of the events of ConverseStream.

Rules
- A block is an object with one member, whose name says what it is; one struct has all of them.
- `input` and `json` stay JSON text: what is in them goes on as it came.
- What only passes through is untyped; what is not listed lands in `extra` of its object and is written back.
Source: service model `bedrock-runtime/2023-09-30` of botocore 1.44, recorded traffic, November 2026.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

from interlingua.errors import DecodeError
from interlingua.wire.json import ExactStruct, WireStruct

__all__ = [
    "AnswerWire",
    "BlockWire",
    "DeltaWire",
    "EventWire",
    "MessageWire",
    "MessagesWire",
    "OutputWire",
    "PlainAnswerWire",
    "PlainBlockWire",
    "PlainMessageWire",
    "PlainOutputWire",
    "PlainResultWire",
    "PlainTextWire",
    "PlainUseWire",
    "ReasoningDeltaWire",
    "ReasoningTextWire",
    "ReasoningWire",
    "ReceivedToolConfigWire",
    "ReceivedWire",
    "RequestWire",
    "ResultWire",
    "SpecWire",
    "StartWire",
    "ToolConfigWire",
    "ToolResultWire",
    "ToolUseWire",
    "ToolWire",
    "ToolsWire",
    "check_union",
]

JsonObject: TypeAlias = dict[str, Any]


class ToolUseWire(WireStruct):
    """A call; `type` says that the service runs it by itself."""

    toolUseId: str | None = None
    name: str | None = None
    input: Raw | UnsetType = UNSET
    type: str | None = None


class ResultWire(WireStruct):
    """One block of a tool's result."""

    text: str | None = None
    json: Raw | UnsetType = UNSET
    image: JsonObject | None = None
    document: JsonObject | None = None
    video: JsonObject | None = None
    searchResult: JsonObject | None = None


class ToolResultWire(WireStruct):
    """The answer of a tool."""

    toolUseId: str | None = None
    content: list[ResultWire] | None = None
    status: str | None = None
    type: str | None = None


class ReasoningTextWire(WireStruct):
    """Reasoning that can be read, and its signature."""

    text: str | None = None
    signature: str | None = None


class ReasoningWire(WireStruct):
    """Reasoning: readable, or redacted."""

    reasoningText: ReasoningTextWire | None = None
    redactedContent: str | None = None


class BlockWire(WireStruct):
    """One content block of any kind."""

    plain_text: ClassVar[dict[str, str]] = {"text": ""}

    text: str | None = None
    image: JsonObject | None = None
    document: JsonObject | None = None
    video: JsonObject | None = None
    audio: JsonObject | None = None
    toolUse: ToolUseWire | None = None
    toolResult: ToolResultWire | None = None
    reasoningContent: ReasoningWire | None = None
    cachePoint: JsonObject | None = None
    guardContent: JsonObject | None = None
    citationsContent: JsonObject | None = None


class MessageWire(WireStruct):
    """One message of a request, or the message of an answer."""

    role: str | None = None
    content: list[BlockWire] | None = None


class PlainUseWire(ExactStruct):
    """A call of a tool of the caller's own."""

    type: ClassVar[None] = None
    extra: ClassVar[None] = None

    toolUseId: str
    name: str
    input: Raw


class PlainTextWire(ExactStruct):
    """The one text that a plain result is."""

    json: ClassVar[UnsetType] = UNSET
    extra: ClassVar[None] = None

    text: str


class PlainResultWire(ExactStruct, omit_defaults=True):
    """The answer of a tool, where that is a text."""

    type: ClassVar[None] = None
    extra: ClassVar[None] = None

    toolUseId: str
    content: tuple[PlainTextWire]
    status: Literal["success", "error"] | None = None


class PlainBlockWire(ExactStruct, omit_defaults=True):
    """A text, a plain call or a plain result; it has the members of `BlockWire`, most of them for the class."""

    image: ClassVar[None] = None
    document: ClassVar[None] = None
    video: ClassVar[None] = None
    audio: ClassVar[None] = None
    reasoningContent: ClassVar[None] = None
    cachePoint: ClassVar[None] = None
    guardContent: ClassVar[None] = None
    citationsContent: ClassVar[None] = None
    extra: ClassVar[None] = None

    text: str | None = None
    toolUse: PlainUseWire | None = None
    toolResult: PlainResultWire | None = None


class PlainMessageWire(ExactStruct):
    """A message as nearly all of them are: it has the members of `MessageWire`."""

    extra: ClassVar[None] = None

    role: Literal["user", "assistant"]
    content: list[PlainBlockWire]


class SpecWire(WireStruct):
    """A tool of the caller's own."""

    name: str | None = None
    description: str | None = None
    inputSchema: JsonObject | None = None
    strict: bool | None = None


class ToolWire(WireStruct):
    """One entry of `tools`: a tool, a mark for the prompt cache, or a tool of the service's."""

    toolSpec: SpecWire | None = None
    cachePoint: JsonObject | None = None


class ToolConfigWire(WireStruct):
    """The tools, and how the model may choose among them."""

    tools: list[ToolWire] | None = None
    toolChoice: JsonObject | None = None


class RequestWire(WireStruct):
    """A request body; the conversation comes last, so that a longer one begins with the same bytes."""

    inferenceConfig: JsonObject | None = None
    toolConfig: ToolConfigWire | None = None
    outputConfig: JsonObject | None = None
    additionalModelRequestFields: Any = None
    serviceTier: JsonObject | None = None
    requestMetadata: JsonObject | None = None
    system: list[BlockWire] | None = None
    messages: list[MessageWire] | None = None


class ReceivedToolConfigWire(ToolConfigWire):
    """The tools as they are read: left as text."""

    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class ReceivedWire(RequestWire):
    """A request body as it is read: the messages and the tools are left as text."""

    toolConfig: ReceivedToolConfigWire | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  # as there
    messages: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class ToolsWire(WireStruct):
    """The tools of a request body alone."""

    tools: list[ToolWire] | None = None


class MessagesWire(WireStruct):
    """The messages of a request body alone."""

    messages: list[MessageWire] | None = None


class OutputWire(WireStruct):
    """Where an answer has its message."""

    message: MessageWire | None = None


class AnswerWire(WireStruct):
    """A whole answer."""

    output: OutputWire | None = None
    stopReason: str | None = None
    usage: JsonObject | None = None
    metrics: Any = None
    additionalModelResponseFields: Any = None
    trace: Any = None
    performanceConfig: Any = None
    serviceTier: Any = None


class PlainOutputWire(ExactStruct):
    """Where a plain answer has its message."""

    message: PlainMessageWire


class PlainAnswerWire(ExactStruct):
    """A whole answer as nearly all of them are."""

    additionalModelResponseFields: ClassVar[None] = None
    trace: ClassVar[None] = None
    performanceConfig: ClassVar[None] = None
    serviceTier: ClassVar[None] = None
    extra: ClassVar[None] = None

    output: PlainOutputWire
    stopReason: str
    usage: JsonObject | None = None
    metrics: Any = None


class ReasoningDeltaWire(WireStruct):
    """More of a block of reasoning."""

    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None


class DeltaWire(WireStruct):
    """The members that an event adds to a block."""

    text: str | None = None
    toolUse: JsonObject | None = None
    toolResult: Any = None
    reasoningContent: ReasoningDeltaWire | None = None
    citation: JsonObject | None = None
    image: JsonObject | None = None


class StartWire(WireStruct):
    """How a block begins that is neither text nor reasoning."""

    toolUse: ToolUseWire | None = None
    toolResult: JsonObject | None = None
    image: JsonObject | None = None


class EventWire(WireStruct):
    """The payload of any event; `p` is padding against those who count bytes."""

    contentBlockIndex: int | None = None
    delta: DeltaWire | None = None
    start: StartWire | None = None
    role: str | None = None
    stopReason: str | None = None
    additionalModelResponseFields: Any = None
    usage: JsonObject | None = None
    metrics: Any = None
    trace: Any = None
    performanceConfig: Any = None
    serviceTier: Any = None
    p: Any = None


_UNIONS: dict[type, tuple[str, ...]] = {
    kind: tuple([name for name in kind.__struct_fields__ if name != "extra"])
    for kind in (BlockWire, PlainBlockWire, ResultWire, ToolWire, ReasoningWire, DeltaWire, StartWire)
}
"""Shape of a union -> its members."""
_values: dict[type, Callable[[Struct], tuple[Any, ...]]] = {kind: attrgetter(*names) for kind, names in _UNIONS.items()}
"""Shape of a union -> what reads all of them."""


def check_union(wire: Struct) -> None:
    """Nothing for a value of a union; the official SDK reads none that has more than one member, either.

    Raises: DecodeError for a second member, which nobody could tell apart from the first.
    """
    if type(wire) is PlainTextWire:
        return
    values = _values[type(wire)](wire)
    if len(values) - values.count(None) - values.count(UNSET) > 1:
        pairs = zip(_UNIONS[type(wire)], values, strict=True)
        names = [name for name, value in pairs if value is not None and value is not UNSET]
        raise DecodeError(f"one member is allowed here, and there are {' and '.join(names)}", path=f"/{names[1]}")
