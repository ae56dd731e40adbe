"""The shapes of Responses bodies and events, as the reference server and those compatible with it send them.

Rules
- One item type for all kinds of items: `type` decides which members count, and hosted kinds keep theirs in `extra`.
- What only passes through is untyped; what is not listed lands in `extra` of its object and is written back.
- `arguments`, `output`, `input` and `summary` stay JSON text until their kind is known.
Source: vendor reference "Responses", official SDK types, recorded traffic of 6 providers, November 2026.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.types.usage import Count, Total
from interlingua.wire.json import ExactStruct, WireStruct

__all__ = [
    "EventWire",
    "FormatWire",
    "InputDetailsWire",
    "InputWire",
    "ItemWire",
    "JsonObject",
    "OutputDetailsWire",
    "PartWire",
    "PlainCallWire",
    "PlainInputWire",
    "PlainItemWire",
    "PlainMessageWire",
    "PlainReasoningWire",
    "PlainResponseWire",
    "PlainTextWire",
    "ReceivedWire",
    "RequestWire",
    "ResponseWire",
    "TextWire",
    "ToolWire",
    "ToolsWire",
    "UsageWire",
]

JsonObject: TypeAlias = dict[str, Any]


class PartWire(WireStruct):
    """One content part of a message, a result or a reasoning item."""

    plain_text: ClassVar[dict[str, str]] = {"type": "output_text", "text": ""}

    type: str | None = None
    text: str | None = None
    annotations: list[JsonObject] | None = None
    logprobs: list[Any] | None = None
    refusal: str | None = None
    image_url: Any = None
    detail: str | None = None
    file_id: str | None = None
    file_data: str | None = None
    filename: str | None = None
    file_url: str | None = None
    input_audio: JsonObject | None = None


class ItemWire(WireStruct):
    """One item of the input or the output."""

    plain_text: ClassVar[dict[str, str]] = {"type": "message", "content": ""}

    type: str | None = None
    id: str | None = None
    role: str | None = None
    status: str | None = None
    content: str | list[PartWire] | None = None
    phase: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Raw | UnsetType = UNSET
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    summary: Raw | UnsetType = UNSET
    encrypted_content: str | None = None


class PlainInputWire(ExactStruct, kw_only=True, omit_defaults=True):
    """An item of an input as nearly all are: a message of one text, a call, or a result that is a text.

    It has the members of `ItemWire`, some of them for the class as a whole.
    """

    id: ClassVar[None] = None
    phase: ClassVar[None] = None
    input: ClassVar[UnsetType] = UNSET
    summary: ClassVar[UnsetType] = UNSET
    encrypted_content: ClassVar[None] = None
    extra: ClassVar[None] = None

    type: Literal["message", "function_call", "function_call_output"] | None = None
    role: str | None = None
    status: str | None = None
    content: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | UnsetType = UNSET
    output: str | UnsetType = UNSET


class ToolWire(WireStruct):
    """One entry of `tools`; `function` is there when somebody sends the nested shape of another dialect."""

    type: str | None = None
    name: str | None = None
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None
    format: JsonObject | None = None
    function: JsonObject | None = None


class FormatWire(WireStruct):
    """`text`, `json_object` or `json_schema`."""

    type: str | None = None
    name: str | None = None
    description: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None


class TextWire(WireStruct):
    """How the text of the answer is to be."""

    format: FormatWire | None = None
    verbosity: str | None = None


class RequestWire(WireStruct):
    """A request body."""

    model: str | None = None
    instructions: Any = None
    input: str | list[ItemWire] | None = None
    tools: list[ToolWire] | None = None
    tool_choice: str | JsonObject | None = None
    parallel_tool_calls: bool | None = None
    text: TextWire | None = None
    reasoning: JsonObject | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    service_tier: str | None = None
    user: str | None = None
    metadata: JsonObject | None = None
    prompt_cache_key: str | None = None
    store: bool | None = None
    include: list[Any] | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    prompt: Any = None
    stream: bool | None = None


class ReceivedWire(RequestWire):
    """A request body as it is read: input and tools are left as text, since most likely they are known."""

    input: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed
    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class InputWire(WireStruct):
    """The input of a request body alone."""

    input: str | list[ItemWire] | None = None


class ToolsWire(WireStruct):
    """The tools of a request body alone."""

    tools: list[ToolWire] | None = None


class InputDetailsWire(WireStruct):
    """The parts of the input tokens."""

    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class OutputDetailsWire(WireStruct):
    """The parts of the output tokens."""

    reasoning_tokens: Count | None = None


class UsageWire(WireStruct):
    """Token counts."""

    input_tokens: Count | None = None
    input_tokens_details: InputDetailsWire | None = None
    output_tokens: Count | None = None
    output_tokens_details: OutputDetailsWire | None = None
    total_tokens: Total | None = None


class ResponseWire(WireStruct):
    """An answer, whole or as it stands in an event; most of it repeats the request.

    Members that clients insist on, null or not, are unset where they are absent.
    """

    id: str | None = None
    object: str | None = None
    created_at: Any = None
    status: str | None = None
    background: Any = None
    billing: Any = None
    completed_at: Any = None
    error: Any = UNSET
    frequency_penalty: Any = None
    incomplete_details: JsonObject | UnsetType | None = UNSET
    instructions: Any = UNSET
    max_output_tokens: Any = None
    max_tool_calls: Any = None
    model: str | None = None
    moderation: Any = None
    output: list[ItemWire] | None = None
    parallel_tool_calls: Any = None
    presence_penalty: Any = None
    previous_response_id: Any = None
    prompt_cache_key: Any = None
    prompt_cache_retention: Any = None
    reasoning: Any = None
    safety_identifier: Any = None
    service_tier: Any = None
    store: Any = None
    temperature: Any = UNSET
    text: Any = None
    tool_choice: Any = None
    tools: Any = None
    top_logprobs: Any = None
    top_p: Any = UNSET
    truncation: Any = None
    usage: UsageWire | UnsetType | None = UNSET
    user: Any = None
    metadata: Any = None


class PlainTextWire(ExactStruct, kw_only=True):
    """A text of an answer with nothing beside it."""

    type: Literal["output_text"]
    text: str
    annotations: tuple[()] | None = None
    logprobs: tuple[()] | None = None


class PlainMessageWire(ExactStruct, tag="message", tag_field="type", kw_only=True):
    """A whole message of texts."""

    id: str
    role: Literal["assistant"] | None = None
    status: Literal["completed"] | None = None
    content: list[PlainTextWire]


class PlainCallWire(ExactStruct, tag="function_call", tag_field="type", kw_only=True):
    """A whole call of a function."""

    id: str | None = None
    status: Literal["completed"] | None = None
    call_id: str
    name: str
    arguments: str


class PlainReasoningWire(ExactStruct, tag="reasoning", tag_field="type", kw_only=True, omit_defaults=True):
    """A piece of reasoning with its summary."""

    id: str | None = None
    status: str | None = None
    summary: list[dict[str, str]]
    encrypted_content: str | None = None


PlainItemWire: TypeAlias = PlainMessageWire | PlainCallWire | PlainReasoningWire
"""An item as nearly all of an answer are."""


class PlainResponseWire(ResponseWire):
    """An answer of plain items."""

    output: list[PlainItemWire] = []  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, narrower


class EventWire(WireStruct):
    """One event of a stream; `obfuscation` is random padding and is dropped, `sequence_number` is counted anew."""

    type: str = ""
    sequence_number: Any = None
    item_id: str | None = None
    output_index: Any = None
    content_index: Any = None
    summary_index: Any = None
    delta: Any = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    item: ItemWire | None = None
    part: PartWire | None = None
    annotation: JsonObject | None = None
    annotation_index: Any = None
    response: ResponseWire | None = None
    error: Any = None
    code: Any = None
    message: str | None = None
    param: Any = None
    name: str | None = None
    logprobs: list[Any] | None = None
    obfuscation: Any = None
