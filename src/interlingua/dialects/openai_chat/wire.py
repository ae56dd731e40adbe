"""The shapes of Chat Completions bodies, as the compatible servers of the field really send them.

Rules
- Types are as wide as what was seen: `content` is text, a list of parts or null; an `index` may be anything.
- What only passes through is untyped; what is not listed lands in `extra` of its object and is written back.
- `arguments` stays JSON text, whether it came as a string or as an object.
Source: vendor reference "Chat Completions", official SDK types, recorded traffic of 12 providers, November 2026.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.types.usage import Count, Total
from interlingua.wire.json import ExactStruct, WireStruct

__all__ = [
    "AudioWire",
    "ChoiceWire",
    "ChunkChoiceWire",
    "ChunkWire",
    "CustomWire",
    "DeltaWire",
    "FunctionCallWire",
    "FunctionWire",
    "JsonSchemaWire",
    "MessageWire",
    "MessagesWire",
    "PartWire",
    "PlainCallWire",
    "PlainChoiceWire",
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
    "TokenDetailsWire",
    "ToolCallWire",
    "ToolWire",
    "ToolsWire",
    "UsageWire",
]

JsonObject: TypeAlias = dict[str, Any]


class FunctionCallWire(WireStruct):
    """`{"name", "arguments"}` of a call, whole or a fragment; `id` is where one server misplaces it."""

    name: str | None = None
    arguments: Raw | UnsetType = UNSET
    id: str | None = None


class CustomWire(WireStruct):
    """`{"name", "input"}` of a freeform call; `{"name", "description", "format"}` of a freeform tool."""

    name: str | None = None
    input: str | None = None
    description: str | None = None
    format: JsonObject | None = None


class ToolCallWire(WireStruct):
    """One call, whole or a fragment."""

    index: Any = None
    id: str | None = None
    type: str | None = None
    function: FunctionCallWire | None = None
    custom: CustomWire | None = None
    extra_content: JsonObject | None = None


class AudioWire(WireStruct):
    """Audio that the assistant spoke."""

    id: str | None = None
    data: str | None = None
    transcript: str | None = None
    expires_at: int | None = None


class PartWire(WireStruct):
    """One content part; `type` decides which members count."""

    plain_text: ClassVar[dict[str, str]] = {"type": "text", "text": ""}

    type: str | None = None
    text: str | None = None
    image_url: str | JsonObject | None = None
    input_audio: JsonObject | None = None
    file: JsonObject | None = None
    refusal: str | None = None
    thinking: list[JsonObject] | str | None = None
    signature: str | None = None
    cache_control: JsonObject | None = None


class MessageWire(WireStruct):
    """One message of a request, or the assistant message of a reply."""

    plain_text: ClassVar[dict[str, str]] = {"content": ""}

    role: str | None = None
    content: str | list[PartWire] | UnsetType | None = UNSET
    name: str | None = None
    tool_calls: list[ToolCallWire] | None = None
    tool_call_id: str | None = None
    function_call: FunctionCallWire | None = None
    refusal: str | UnsetType | None = UNSET
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    annotations: list[JsonObject] | None = None
    audio: AudioWire | None = None
    images: list[PartWire | str] | None = None


class PlainFunctionWire(ExactStruct):
    """Name and arguments of a plain call."""

    id: ClassVar[None] = None
    extra: ClassVar[None] = None

    name: str
    arguments: str


class PlainCallWire(ExactStruct, kw_only=True, omit_defaults=True):
    """A call with nothing to it but its function."""

    custom: ClassVar[None] = None
    extra_content: ClassVar[None] = None
    extra: ClassVar[None] = None

    id: str
    type: Literal["function"] | None = None
    function: PlainFunctionWire
    index: int | None = None


class PlainTextWire(ExactStruct):
    """A message of one text; its role is its type."""

    name: ClassVar[None] = None
    images: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str


class PlainSystemWire(PlainTextWire, tag_field="role", tag="system"):
    """A system message of one text."""

    role: ClassVar[str] = "system"


class PlainUserWire(PlainTextWire, tag_field="role", tag="user"):
    """The message of a user, where that is one text."""

    role: ClassVar[str] = "user"


class PlainResultWire(PlainTextWire, tag_field="role", tag="tool"):
    """The result of a call, where that is a text."""

    role: ClassVar[str] = "tool"

    tool_call_id: str


class PlainTurnWire(ExactStruct, tag_field="role", tag="assistant", omit_defaults=True):
    """A turn of one text, plain calls, or both; in an answer with its thinking, and the members clients insist on."""

    role: ClassVar[str] = "assistant"
    name: ClassVar[None] = None
    reasoning: ClassVar[None] = None
    reasoning_details: ClassVar[None] = None
    images: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str | UnsetType | None = UNSET
    tool_calls: list[PlainCallWire] | None = None
    refusal: UnsetType | None = UNSET
    reasoning_content: str | None = None
    annotations: tuple[()] | None = None
    audio: None = None
    function_call: None = None


PlainMessageWire: TypeAlias = PlainUserWire | PlainTurnWire | PlainResultWire | PlainSystemWire
"""A message as nearly all of them are: it has the members of `MessageWire`, most of them for the class as a whole."""


class FunctionWire(WireStruct):
    """A function that may be called."""

    name: str = ""
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class ToolWire(WireStruct):
    """One entry of `tools`; `name` and `parameters` are there when somebody sends the flat shape of another dialect."""

    type: str | None = None
    function: FunctionWire | None = None
    custom: CustomWire | None = None
    cache_control: JsonObject | None = None
    name: str | None = None
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class JsonSchemaWire(WireStruct):
    """The schema of a structured answer."""

    name: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None
    description: str | None = None


class ResponseFormatWire(WireStruct):
    """`text`, `json_object` or `json_schema`."""

    type: str
    json_schema: JsonSchemaWire | None = None
    schema: JsonObject | None = None


class RequestWire(WireStruct):
    """A request body."""

    model: str | None = None
    messages: list[MessageWire] = []
    tools: list[ToolWire] | None = None
    tool_choice: str | JsonObject | None = None
    parallel_tool_calls: bool | None = None
    functions: list[FunctionWire] | None = None
    function_call: str | JsonObject | None = None
    response_format: ResponseFormatWire | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    random_seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    n: int | None = None
    reasoning_effort: str | None = None
    reasoning: JsonObject | None = None
    verbosity: str | None = None
    service_tier: str | None = None
    prompt_cache_key: str | None = None
    user: str | None = None
    metadata: JsonObject | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: JsonObject | None = None


class ReceivedWire(RequestWire):
    """A request body as it is read: messages and tools are left as text, since most likely they are known."""

    messages: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed
    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class MessagesWire(WireStruct):
    """The messages of a request body alone."""

    messages: list[MessageWire] = []


class ToolsWire(WireStruct):
    """The tools of a request body alone."""

    tools: list[ToolWire] | None = None


class TokenDetailsWire(WireStruct):
    """The parts of a token count."""

    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    audio_tokens: Count | None = None
    text_tokens: Count | None = None
    image_tokens: Count | None = None
    video_tokens: Count | None = None
    accepted_prediction_tokens: Count | None = None
    rejected_prediction_tokens: Count | None = None


class UsageWire(WireStruct):
    """Token counts; everything from `num_cached_tokens` on are other servers' names and figures."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    total_tokens: Total | None = None
    prompt_tokens_details: TokenDetailsWire | None = None
    completion_tokens_details: TokenDetailsWire | None = None
    num_cached_tokens: Count | None = None
    cached_tokens: Count | None = None
    prompt_cache_hit_tokens: Count | None = None
    prompt_cache_miss_tokens: Count | None = None
    queue_time: float | None = None
    prompt_time: float | None = None
    completion_time: float | None = None
    total_time: float | None = None


class ChoiceWire(WireStruct):
    """One choice of a reply; two servers send a `delta` even there, and clients insist on `logprobs`, null or not."""

    index: Any = None
    message: MessageWire | None = None
    delta: MessageWire | None = None
    finish_reason: str | None = None
    logprobs: JsonObject | UnsetType | None = UNSET
    native_finish_reason: str | None = None
    content_filter_results: JsonObject | None = None


class PlainChoiceWire(ExactStruct, kw_only=True):
    """A choice of a plain turn, with no member that passes through."""

    index: int | None = None
    message: PlainTurnWire
    logprobs: None = None
    finish_reason: str | None = None


class ResponseWire(WireStruct):
    """A reply body; `error` and `message` are there when a 200 hides an error."""

    id: str | None = None
    object: str | None = None
    created: int | float | None = None
    model: str | None = None
    choices: list[ChoiceWire] | None = None
    usage: UsageWire | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    provider: str | None = None
    x_groq: JsonObject | None = None
    timings: JsonObject | None = None
    error: Any = None


class PlainResponseWire(ExactStruct, kw_only=True):
    """A reply body as nearly all of them are, of which nothing has to be interpreted."""

    provider: ClassVar[None] = None
    x_groq: ClassVar[None] = None
    timings: ClassVar[None] = None
    extra: ClassVar[None] = None

    id: str | None = None
    object: str | None = None
    created: int | None = None
    model: str | None = None
    choices: tuple[PlainChoiceWire]
    usage: UsageWire | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None


class DeltaWire(WireStruct):
    """The members that a chunk adds to a choice."""

    plain_text: ClassVar[dict[str, str]] = {"content": ""}

    content: str | list[PartWire] | None = None
    tool_calls: list[ToolCallWire] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[JsonObject] | None = None
    refusal: str | None = None
    role: str | None = None
    function_call: FunctionCallWire | None = None
    annotations: list[JsonObject] | None = None
    audio: AudioWire | None = None
    images: list[PartWire | str] | None = None


class ChunkChoiceWire(WireStruct):
    """One choice of a chunk; `message` repeats on one server what the deltas said."""

    index: Any = None
    delta: DeltaWire | None = None
    finish_reason: str | None = None
    logprobs: JsonObject | None = None
    native_finish_reason: str | None = None
    content_filter_results: JsonObject | None = None
    message: Any = None


class ChunkWire(WireStruct):
    """One event of a stream; `obfuscation` and `p` are random padding and are dropped."""

    id: str | None = None
    object: str | None = None
    created: int | float | None = None
    model: str | None = None
    choices: list[ChunkChoiceWire] | None = None
    usage: UsageWire | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    provider: str | None = None
    x_groq: JsonObject | None = None
    timings: JsonObject | None = None
    obfuscation: Any = None
    p: Any = None
    error: Any = None
