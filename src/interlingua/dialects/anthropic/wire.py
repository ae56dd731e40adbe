"""The shapes of Messages bodies and stream events, as services of the field really send them.

Rules
- One struct for every block: `type` decides which members count; a member without a field lands in `extra`.
- `input` and the `content` of a block stay JSON text: what is in them is read where it is known, or goes on unread.
- Token counts are plain objects, since they come in two halves and are put together by name.
Source: vendor reference "Messages", official SDK types 2.12.0, recorded traffic, November 2026.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.wire.json import WireStruct

__all__ = [
    "BlockWire",
    "BlocksWire",
    "DeltaWire",
    "EventWire",
    "FunctionWire",
    "MessageWire",
    "MessagesWire",
    "ReceivedWire",
    "RequestWire",
    "ResponseWire",
    "ToolWire",
    "ToolsWire",
]

JsonObject: TypeAlias = dict[str, Any]


class BlockWire(WireStruct):
    """One content block of any kind."""

    plain_text: ClassVar[dict[str, str]] = {"type": "text", "text": ""}

    type: str | None = None
    text: str | None = None
    citations: Any = None
    source: JsonObject | str | None = None
    title: str | None = None
    context: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw | UnsetType = UNSET
    caller: JsonObject | None = None
    tool_use_id: str | None = None
    content: Raw | UnsetType = UNSET
    is_error: bool | None = None
    cache_control: JsonObject | None = None


class BlocksWire(WireStruct):
    """Blocks by themselves: the list in a result."""

    content: list[BlockWire] = []


class MessageWire(WireStruct):
    """One message of a request."""

    role: str | None = None
    content: str | list[BlockWire] | None = None


class FunctionWire(WireStruct):
    """A tool in the shape of another dialect, understood when somebody sends it."""

    name: str | None = None
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class ToolWire(WireStruct):
    """One entry of `tools`: the caller's own, or one that the provider runs."""

    type: str | None = None
    name: str | None = None
    description: str | None = None
    input_schema: JsonObject | None = None
    strict: bool | None = None
    cache_control: JsonObject | None = None
    defer_loading: bool | None = None
    eager_input_streaming: bool | None = None
    input_examples: list[Any] | None = None
    allowed_callers: list[Any] | None = None
    function: FunctionWire | None = None


class RequestWire(WireStruct):
    """A request body; the conversation comes last, so that a longer one begins with the same bytes."""

    model: str | None = None
    max_tokens: int | None = None
    tools: list[ToolWire] | None = None
    tool_choice: Any = None
    thinking: JsonObject | None = None
    output_config: JsonObject | None = None
    output_format: JsonObject | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    metadata: JsonObject | None = None
    service_tier: str | None = None
    cache_control: JsonObject | None = None
    mcp_servers: list[JsonObject] | None = None
    container: Any = None
    context_management: Any = None
    stream: bool | None = None
    system: str | list[BlockWire] | None = None
    messages: list[MessageWire] = []


class ReceivedWire(RequestWire):
    """A request body as it is read: messages and tools are left as text, since most likely they are known."""

    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed
    messages: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class MessagesWire(WireStruct):
    """The messages of a request body alone."""

    messages: list[MessageWire] = []


class ToolsWire(WireStruct):
    """The tools of a request body alone."""

    tools: list[ToolWire] | None = None


class ResponseWire(WireStruct):
    """An answer's body, or its beginning in a stream; `error` is there when a 200 hides an error."""

    id: str | None = None
    type: str | None = None
    role: str | None = None
    model: str | None = None
    content: list[BlockWire] | None = None
    stop_reason: str | UnsetType | None = UNSET
    stop_sequence: str | UnsetType | None = UNSET
    stop_details: JsonObject | None = None
    container: JsonObject | None = None
    context_management: JsonObject | None = None
    usage: JsonObject | None = None
    error: Any = None
    request_id: str | None = None


class DeltaWire(WireStruct):
    """The members that an event adds to a block, or to the answer as a whole."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: JsonObject | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: JsonObject | None = None
    container: JsonObject | None = None


class EventWire(WireStruct):
    """One event of a stream."""

    type: str | None = None
    index: int | None = None
    delta: DeltaWire | None = None
    content_block: BlockWire | None = None
    message: ResponseWire | None = None
    usage: JsonObject | None = None
    context_management: JsonObject | None = None
    error: Any = None
    request_id: str | None = None
