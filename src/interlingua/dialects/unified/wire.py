"""The shapes of our own HTTP format: one request, one answer, one error, one stream event.

Rules
- Members have the names of the contract, so that a pointer in `changes` leads into the body itself; what differs is
  said in docs/dialects/unified.md.
- A request with a member that is not listed here is refused. An answer may have more members than we know: they are
  kept in `extra` under the dialect's name.
- `arguments` is an object whose text survives exactly; `extra` on the wire is `members` here, since `extra` of a wire
  struct is where unknown members go.
- The published JSON Schema is made from these structs (`schema.py`): their docstrings are its descriptions.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from interlingua import errors
from interlingua.types.capability import Effort
from interlingua.types.change import Change
from interlingua.types.content import BrokenReason, Cache, ServerToolStatus
from interlingua.types.event import (
    Annotation,
    BlockStart,
    DataDelta,
    Extra,
    RefusalDelta,
    Seal,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageUpdate,
)
from interlingua.types.message import Role
from interlingua.types.request import ThinkingSummary
from interlingua.types.response import Attempt, FinishReason
from interlingua.types.usage import Count
from interlingua.wire.json import WireStruct

__all__ = [
    "ERROR_TYPES", "AllowedToolsWire", "AlternativeWire", "AudioWire", "BlockEndWire",
    "BrokenToolCallWire", "CallWire", "ChoiceWire", "CitationWire", "DocumentWire", "ErrorBodyWire", "ErrorWire",
    "EventWire", "Extras", "FreeformWire", "ImageWire", "JsonWire", "MessageWire", "MessagesWire", "NamedToolWire",
    "OpaqueWire", "PartWire", "ReceivedWire", "RefusalWire", "RequestWire", "ResponseWire", "ResultPartWire",
    "SealedWire", "ServerStateWire", "ServerToolWire", "SourceWire", "StreamEndWire", "StreamErrorWire",
    "TextWire", "ThinkingWire",
    "ToolCallReadyWire", "ToolCallWire", "ToolResultWire", "ToolWire", "ToolsWire", "UsageWire", "type_of_error",
]  # fmt: skip

JsonObject: TypeAlias = dict[str, Any]
Extras: TypeAlias = Annotated[
    dict[str, dict[str, Any]], Meta(description="Members that only the named dialect knows, by dialect.")
]
Base64: TypeAlias = Annotated[str, Meta(extra_json_schema={"contentEncoding": "base64"})]
Arguments: TypeAlias = Annotated[
    Raw, Meta(description="The arguments: one JSON object.", extra_json_schema={"type": "object"})
]


def type_of_error(kind: type[errors.Error]) -> str:
    """The `type` of an error on the wire: its class name in snake_case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.__name__).lower()


def _error_types() -> dict[str, type[errors.Error]]:
    named = [getattr(errors, name) for name in errors.__all__]
    return {type_of_error(kind): kind for kind in named if isinstance(kind, type) and issubclass(kind, errors.Error)}


ERROR_TYPES: dict[str, type[errors.Error]] = _error_types()
"""Every `type` that an error can have, and its class."""


# Parts


class SealedWire(WireStruct):
    """Opaque reasoning state, to be sent back as it came; `dialect` and `data` say whose and what it is."""

    dialect: str
    data: JsonObject
    provider: str | None = None
    model: str | None = None


class CitationWire(WireStruct):
    """A source of a text, or another annotation; `raw` is the value of the dialect that made it."""

    dialect: str
    raw: JsonObject = {}
    url: str | None = None
    title: str | None = None
    file: str | None = None
    quote: str | None = None
    start: int | None = None
    end: int | None = None


class TextWire(WireStruct, tag="text", tag_field="type"):
    """Text; `cache` marks the end of a prefix that is worth caching."""

    text: str
    annotations: list[CitationWire] = []
    cache: Cache | None = None
    sealed: SealedWire | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class ImageWire(WireStruct, tag="image", tag_field="type"):
    """An image: base64 of its bytes, and its MIME type."""

    data: Base64
    media_type: str
    detail: str | None = None
    cache: Cache | None = None
    sealed: SealedWire | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class AudioWire(WireStruct, tag="audio", tag_field="type"):
    """Audio: base64 of its bytes, and its MIME type."""

    data: Base64
    media_type: str
    transcript: str | None = None
    cache: Cache | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class DocumentWire(WireStruct, tag="document", tag_field="type"):
    """A document: base64 of its bytes, its MIME type and its file name."""

    data: Base64
    media_type: str
    name: str | None = None
    cache: Cache | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class ThinkingWire(WireStruct, tag="thinking", tag_field="type"):
    """Reasoning: the readable text, the sealed state, or both."""

    text: str = ""
    sealed: SealedWire | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class RefusalWire(WireStruct, tag="refusal", tag_field="type"):
    """The model's own words of refusal."""

    text: str
    members: Extras = msgspec.field(default={}, name="extra")


class ToolCallWire(WireStruct, tag="tool_call", tag_field="type"):
    """A call that the model makes."""

    id: str
    name: str
    arguments: Arguments
    freeform: bool = False
    sealed: SealedWire | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class BrokenToolCallWire(WireStruct, tag="broken_tool_call", tag_field="type"):
    """A call whose arguments are not one JSON object: never to be executed. In a history it may have a result."""

    id: str
    name: str
    raw_arguments: str
    reason: BrokenReason
    freeform: bool = False
    members: Extras = msgspec.field(default={}, name="extra")


class SourceWire(WireStruct):
    """A page or a file that a tool of the provider found or read."""

    url: str | None = None
    title: str | None = None
    file: str | None = None


class ServerToolWire(WireStruct, tag="server_tool", tag_field="type"):
    """A step of a tool that a provider ran: a call, what came of it, or both; `raw` is the value of its dialect."""

    dialect: str
    kind: str
    raw: Any
    name: str = ""
    call_id: str | None = None
    input: Any = None
    output: str | None = None
    sources: list[SourceWire] = []
    status: ServerToolStatus = "completed"
    provider: str | None = None
    cache: Cache | None = None


class OpaqueWire(WireStruct, tag="opaque", tag_field="type"):
    """A part that only its own dialect understands, verbatim; `media_ref` is the kind of a URL or a file id."""

    dialect: str
    kind: str
    raw: Any
    cache: Cache | None = None


class JsonWire(WireStruct, tag="json", tag_field="type"):
    """A JSON value among the parts of a result."""

    value: Any


ResultPartWire: TypeAlias = TextWire | ImageWire | AudioWire | DocumentWire | OpaqueWire | JsonWire


class ToolResultWire(WireStruct, tag="tool_result", tag_field="type"):
    """The answer of a tool: `content` is a string or any other JSON value; media come as `parts` in its place."""

    tool_call_id: str
    name: str | None = None
    content: Any | UnsetType = UNSET
    parts: list[ResultPartWire] | None = None
    is_error: bool = False
    cache: Cache | None = None
    members: Extras = msgspec.field(default={}, name="extra")


PartWire: TypeAlias = (
    TextWire
    | ImageWire
    | AudioWire
    | DocumentWire
    | ThinkingWire
    | RefusalWire
    | ToolCallWire
    | BrokenToolCallWire
    | ToolResultWire
    | ServerToolWire
    | OpaqueWire
)
"""The parts of a message of a request or an answer."""


# Requests


class MessageWire(WireStruct):
    """One message; `content` is short for one text part and stands in the place of `parts`."""

    role: Role
    name: str | None = None
    content: str | None = None
    parts: list[PartWire] | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class FreeformWire(WireStruct):
    """The input of a freeform tool: plain text, perhaps bound by a grammar."""

    syntax: str = "text"
    definition: str | None = None


class ToolWire(WireStruct):
    """A tool: `name`, `description` and `parameters`; or `type: opaque_tool` for one that only one dialect knows."""

    type: Literal["tool", "opaque_tool"] = "tool"
    name: Annotated[str, Meta(extra_json_schema={"pattern": "^[a-zA-Z0-9_]{1,64}$"})] | None = None
    description: str | None = None
    parameters: Annotated[JsonObject, Meta(description="JSON Schema of the arguments.")] | None = None
    strict: bool | None = None
    cache: Cache | None = None
    freeform: FreeformWire | None = None
    dialect: str | None = None
    kind: str | None = None
    raw: Any | UnsetType = UNSET
    members: Extras = msgspec.field(default={}, name="extra")


class NamedToolWire(WireStruct, tag="named_tool", tag_field="type"):
    """The model must call this tool."""

    name: str


class AllowedToolsWire(WireStruct, tag="allowed_tools", tag_field="type"):
    """The model may, or must, call one of these tools."""

    names: list[str]
    mode: Literal["auto", "required"] = "auto"


ChoiceWire: TypeAlias = Literal["auto", "none", "required"] | NamedToolWire | AllowedToolsWire


class ServerStateWire(WireStruct):
    """A conversation that a provider keeps, in the words of its dialect."""

    dialect: str
    raw: JsonObject


class RequestWire(WireStruct, kw_only=True):
    """A request. The messages come last, so that a further turn changes no byte before it."""

    model: Annotated[str, Meta(extra_json_schema={"minLength": 1})]
    stream: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    stop: list[str] = []
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: int | None = None
    n: int | None = None
    effort: Effort | None = None
    thinking: bool | None = None
    thinking_summary: ThinkingSummary | None = None
    thinking_budget: int | None = None
    parallel_tool_calls: bool | None = None
    verbosity: str | None = None
    service_tier: str | None = None
    user: str | None = None
    metadata: JsonObject | None = None
    store: bool | None = None
    cache: Cache | None = None
    cache_key: str | None = None
    continues: ServerStateWire | None = None
    members: Extras = msgspec.field(default={}, name="extra")
    output_schema: Annotated[JsonObject, Meta(description="JSON Schema of the answer.")] | None = None
    schema_name: str | None = None
    schema_description: str | None = None
    schema_strict: bool | None = None
    json_mode: bool = False
    tools: list[ToolWire] = []
    tool_choice: ChoiceWire | None = None
    system: str | list[TextWire] | None = None
    messages: list[MessageWire]


class ReceivedWire(RequestWire, kw_only=True):
    """A request as it is read: messages and tools are left as text, since most likely they are known."""

    messages: Raw  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed
    tools: Raw | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]  # the same member, unparsed


class MessagesWire(WireStruct):
    """The messages of a request alone."""

    messages: list[MessageWire]


class ToolsWire(WireStruct):
    """The tools of a request alone."""

    tools: list[ToolWire]


# Answers


class CallWire(WireStruct):
    """A whole call, as it also stands in `parts`."""

    id: str
    name: str
    arguments: Arguments


class UsageWire(WireStruct):
    """Token counts; input includes cached, output includes reasoning, absent is unknown."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class AlternativeWire(WireStruct):
    """A further choice of the same answer."""

    text: str | None = None
    tool_calls: list[CallWire] | None = None
    parts: list[PartWire] = []
    finish_reason: FinishReason = "other"
    finish_reason_raw: str | None = None
    members: Extras = msgspec.field(default={}, name="extra")


class ResponseWire(WireStruct, kw_only=True):
    """An answer. `parts` say everything in order; `text` and `tool_calls` are views of them."""

    id: str | None = None
    model: str
    wire_model: str | None = None
    text: str | None = None
    tool_calls: list[CallWire] | None = None
    parts: list[PartWire]
    finish_reason: FinishReason
    finish_reason_raw: str | None = None
    usage: UsageWire | None = None
    alternatives: list[AlternativeWire] = []
    changes: list[Change] = []
    attempts: list[Attempt] = []
    cost_usd: float | None = None
    members: Extras = msgspec.field(default={}, name="extra")


# Errors


class ErrorWire(WireStruct):
    """The error: `type` for programs, `message` for people, `code` the rule that was broken."""

    type: Annotated[str, Meta(extra_json_schema={"enum": list(ERROR_TYPES)})]
    message: str
    status: int | None = None
    code: str | None = None
    path: str | None = None
    retryable: bool | None = None
    retry_after_s: float | None = None
    request_id: str | None = None
    phase: str | None = None
    fault: str | None = None
    changes: list[Change] = []
    attempts: list[Attempt] = []


class ErrorBodyWire(WireStruct):
    """The body of a failed answer; `partial` is what had come, the broken call included."""

    error: ErrorWire
    partial: ResponseWire | None = None


# Events


class BlockEndWire(WireStruct, tag="block_end", tag_field="type"):
    """A block is whole."""

    index: int
    part: PartWire
    choice: int = 0


class ToolCallReadyWire(WireStruct, tag="tool_call_ready", tag_field="type"):
    """A call is whole, checked and executable."""

    index: int
    call: ToolCallWire
    choice: int = 0


class StreamEndWire(WireStruct, tag="stream_end", tag_field="type"):
    """The end: the whole answer."""

    response: ResponseWire


class StreamErrorWire(WireStruct, tag="stream_error", tag_field="type"):
    """The end by an error; `partial` is what had come."""

    error: ErrorWire
    partial: ResponseWire | None = None


EventWire: TypeAlias = (
    StreamStart
    | BlockStart
    | TextDelta
    | ThinkingDelta
    | ToolCallDelta
    | RefusalDelta
    | DataDelta
    | Annotation
    | Seal
    | BlockEndWire
    | ToolCallReadyWire
    | UsageUpdate
    | Extra
    | StreamEndWire
    | StreamErrorWire
)
"""One event of a stream; most are canonical as they are."""
