"""The shapes of the bodies of `/v2/chat`.

Rules
- Types are as wide as what was recorded: `content` is text, a list of blocks or null.
- What only passes through is untyped; what is not listed lands in `extra` of its object and is written back.
- `arguments` stays JSON text, whether it came as a string or as an object.
- In a stream, `content`, `tool_calls` and `citations` of a delta are single objects, and may be lists of them, as in a
  message; the first event has empty lists.
Source: cohere-python 7.3.1, `cohere/types` and `cohere/v2/types`; recorded traffic, November 2026.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.types.usage import Count
from interlingua.wire.json import ExactStruct, WireStruct

__all__ = [
    "BlockWire",
    "DeltaMessageWire",
    "DeltaWire",
    "EventWire",
    "FunctionCallWire",
    "FunctionWire",
    "MessageWire",
    "MessagesWire",
    "PlainAnswerWire",
    "PlainBlockWire",
    "PlainCallWire",
    "PlainFunctionWire",
    "PlainMessageWire",
    "PlainResponseWire",
    "PlainResultWire",
    "PlainSystemWire",
    "PlainTextWire",
    "PlainTurnWire",
    "PlainUserWire",
    "ReceivedWire",
    "RequestWire",
    "ResponseFormatWire",
    "ResponseWire",
    "ThinkingWire",
    "TokensWire",
    "ToolCallWire",
    "ToolWire",
    "ToolsWire",
    "UsageWire",
]

JsonObject: TypeAlias = dict[str, Any]


class FunctionCallWire(WireStruct):
    """`{"name", "arguments"}` of a call, whole or a fragment."""

    name: str | None = None
    arguments: Raw | UnsetType = UNSET


class ToolCallWire(WireStruct):
    """One call, whole or a fragment."""

    id: str | None = None
    type: str | None = None
    function: FunctionCallWire | None = None


class BlockWire(WireStruct):
    """One block of content; `type` decides which members count."""

    plain_text: ClassVar[dict[str, str]] = {"type": "text", "text": ""}

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    image_url: str | JsonObject | None = None
    document: Any = None


class MessageWire(WireStruct):
    """One message of a request, or the assistant's message of an answer."""

    plain_text: ClassVar[dict[str, str]] = {"content": ""}

    role: str | None = None
    content: str | list[BlockWire] | None = None
    tool_plan: str | None = None
    tool_calls: list[ToolCallWire] | None = None
    tool_call_id: str | None = None
    citations: list[JsonObject] | None = None


class PlainFunctionWire(ExactStruct):
    """Name and arguments of a plain call."""

    extra: ClassVar[None] = None

    name: str
    arguments: str


class PlainCallWire(ExactStruct):
    """A call with nothing to it but its function."""

    extra: ClassVar[None] = None

    id: str
    type: Literal["function"]
    function: PlainFunctionWire


class PlainTextWire(ExactStruct):
    """A message of one text; its role is its type."""

    tool_plan: ClassVar[None] = None
    tool_calls: ClassVar[None] = None
    tool_call_id: ClassVar[None] = None
    citations: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str


class PlainSystemWire(PlainTextWire, tag_field="role", tag="system"):
    """A system message of one text."""

    role: ClassVar[str] = "system"


class PlainUserWire(PlainTextWire, tag_field="role", tag="user"):
    """The message of a user, where that is one text."""

    role: ClassVar[str] = "user"


class PlainResultWire(ExactStruct, tag_field="role", tag="tool"):
    """The result of a call, where that is a text."""

    role: ClassVar[str] = "tool"
    tool_plan: ClassVar[None] = None
    tool_calls: ClassVar[None] = None
    citations: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str
    tool_call_id: str


class PlainTurnWire(ExactStruct, tag_field="role", tag="assistant", omit_defaults=True):
    """A turn of the model: a text, or a plan and plain calls."""

    role: ClassVar[str] = "assistant"
    tool_call_id: ClassVar[None] = None
    citations: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str | None = None
    tool_plan: str | None = None
    tool_calls: list[PlainCallWire] | None = None


PlainMessageWire: TypeAlias = PlainUserWire | PlainTurnWire | PlainResultWire | PlainSystemWire
"""A message as nearly all of them are: it has the members of `MessageWire`, most of them for the class as a whole."""


class FunctionWire(WireStruct):
    """A function that may be called."""

    name: str = ""
    description: str | None = None
    parameters: JsonObject | None = None


class ToolWire(WireStruct):
    """One entry of `tools`."""

    type: str | None = None
    function: FunctionWire | None = None


class ResponseFormatWire(WireStruct):
    """The format that binds the answer; `schema` is the older name of the member."""

    type: str | None = None
    json_schema: JsonObject | None = None
    schema: JsonObject | None = None


class ThinkingWire(WireStruct):
    """Whether to think, and with how many tokens."""

    type: str | None = None
    token_budget: int | None = None


class RequestWire(WireStruct):
    """A request body."""

    model: str | None = None
    messages: list[MessageWire] | None = None
    tools: list[ToolWire] | None = None
    strict_tools: bool | None = None
    tool_choice: str | None = None
    documents: list[Any] | None = None
    citation_options: Any = None
    response_format: ResponseFormatWire | None = None
    safety_mode: Any = None
    max_tokens: int | None = None
    stop_sequences: list[str] | None = None
    temperature: float | int | None = None
    seed: int | None = None
    frequency_penalty: float | int | None = None
    presence_penalty: float | int | None = None
    k: float | int | None = None
    p: float | int | None = None
    logprobs: bool | None = None
    thinking: ThinkingWire | None = None
    priority: Any = None
    stream: bool | None = None


class ReceivedWire(RequestWire):
    """A request body as it is read: messages and tools are left as text, since most likely they are known."""

    messages: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed
    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class MessagesWire(WireStruct):
    """The messages of a request body alone."""

    messages: list[MessageWire] | None = None


class ToolsWire(WireStruct):
    """The tools of a request body alone."""

    tools: list[ToolWire] | None = None


class TokensWire(WireStruct):
    """Tokens as the model counts them."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None


class UsageWire(WireStruct):
    """The counts of an answer: what is charged, and what the model read and wrote."""

    billed_units: JsonObject | None = None
    tokens: TokensWire | None = None
    cached_tokens: Count | None = None


class ResponseWire(WireStruct):
    """A whole answer."""

    id: str | None = None
    message: MessageWire | None = None
    finish_reason: str | None = None
    usage: UsageWire | None = None
    logprobs: Any = None


class PlainBlockWire(ExactStruct, tag_field="type", tag="text"):
    """A block of text."""

    text: str


class PlainAnswerWire(ExactStruct, omit_defaults=True):
    """The message of a plain answer: texts, a plan and plain calls."""

    role: Literal["assistant"]
    content: list[PlainBlockWire] | None = None
    tool_plan: str | None = None
    tool_calls: list[PlainCallWire] | None = None


class PlainResponseWire(ExactStruct):
    """A whole answer as nearly all of them are."""

    message: PlainAnswerWire
    finish_reason: str
    id: str | None = None
    usage: UsageWire | None = None


class DeltaMessageWire(WireStruct):
    """The part of a message that an event adds: one object of a kind, or a list of them."""

    role: str | None = None
    content: BlockWire | list[BlockWire] | str | None = None
    tool_plan: str | None = None
    tool_calls: ToolCallWire | list[ToolCallWire] | None = None
    citations: Any = None


class DeltaWire(WireStruct):
    """The members that an event adds to the answer."""

    message: DeltaMessageWire | None = None
    finish_reason: str | None = None
    usage: UsageWire | None = None
    error: Any = None


class EventWire(WireStruct):
    """One event of a stream."""

    type: str | None = None
    id: str | None = None
    index: int | None = None
    delta: DeltaWire | None = None
    logprobs: Any = None
