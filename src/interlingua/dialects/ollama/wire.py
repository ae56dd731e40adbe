"""The shapes of Ollama's bodies, `/api/chat` and `/api/generate` together.

Rules
- One struct covers both forms of a request, and one both forms of an answer and every line of a stream.
- What only passes through is untyped; what is not listed lands in `extra` of its object and is written back.
- `arguments` is an object whose text survives exactly.
Source: vendor pages "API" and "Thinking", server source of August 2026, SDK types 0.6.3, recorded traffic.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from interlingua.types.usage import Count
from interlingua.wire.json import ExactStruct, WireStruct

__all__ = [
    "ChunkWire",
    "FunctionCallWire",
    "FunctionWire",
    "MessageWire",
    "MessagesWire",
    "PlainCallWire",
    "PlainFunctionWire",
    "PlainMessageWire",
    "PlainResultWire",
    "PlainSystemWire",
    "PlainTextWire",
    "PlainTurnWire",
    "PlainUserWire",
    "ReceivedWire",
    "RequestWire",
    "ToolCallWire",
    "ToolWire",
    "ToolsWire",
]

JsonObject: TypeAlias = dict[str, Any]


class FunctionCallWire(WireStruct):
    """`{"name", "arguments"}` of a call; `index` is its place among the calls of the turn."""

    index: Any = None
    name: str | None = None
    arguments: Raw | UnsetType = UNSET


class ToolCallWire(WireStruct):
    """One call; older servers send the function alone."""

    id: str | None = None
    type: str | None = None
    function: FunctionCallWire | None = None


class MessageWire(WireStruct):
    """One message of a request, the message of an answer, or what a line adds to it."""

    plain_text: ClassVar[dict[str, str]] = {"content": ""}
    is_plain: ClassVar[bool] = False

    role: str | None = None
    content: str | None = None
    thinking: str | None = None
    images: list[str] | None = None
    tool_calls: list[ToolCallWire] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    name: str | None = None


class PlainFunctionWire(ExactStruct, omit_defaults=True):
    """Name and arguments of a plain call."""

    extra: ClassVar[None] = None

    index: int | None = None
    name: str | None = None
    arguments: Raw | UnsetType = UNSET


class PlainCallWire(ExactStruct, omit_defaults=True):
    """A call with nothing to it but its function."""

    extra: ClassVar[None] = None

    id: str | None = None
    type: Literal["function"] | None = None
    function: PlainFunctionWire | None = None


class PlainTextWire(ExactStruct):
    """A message of one text; its role is its type."""

    is_plain: ClassVar[bool] = True
    thinking: ClassVar[None] = None
    images: ClassVar[None] = None
    tool_calls: ClassVar[None] = None
    tool_name: ClassVar[None] = None
    tool_call_id: ClassVar[None] = None
    name: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str


class PlainSystemWire(PlainTextWire, tag_field="role", tag="system"):
    """A system message of one text."""

    role: ClassVar[str] = "system"


class PlainUserWire(PlainTextWire, tag_field="role", tag="user"):
    """The message of a user, where that is one text."""

    role: ClassVar[str] = "user"


class PlainResultWire(ExactStruct, tag_field="role", tag="tool", omit_defaults=True):
    """The result of a call."""

    role: ClassVar[str] = "tool"
    is_plain: ClassVar[bool] = True
    thinking: ClassVar[None] = None
    images: ClassVar[None] = None
    tool_calls: ClassVar[None] = None
    name: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class PlainTurnWire(ExactStruct, tag_field="role", tag="assistant", omit_defaults=True):
    """A turn of the model: a text, plain calls, or both, with its thinking."""

    role: ClassVar[str] = "assistant"
    is_plain: ClassVar[bool] = True
    images: ClassVar[None] = None
    tool_name: ClassVar[None] = None
    tool_call_id: ClassVar[None] = None
    name: ClassVar[None] = None
    extra: ClassVar[None] = None

    content: str | None = None
    thinking: str | None = None
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


class RequestWire(WireStruct):
    """A request body; `prompt`, `system` and `images` are the older form."""

    model: str | None = None
    messages: list[MessageWire] | None = None
    prompt: str | None = None
    system: str | None = None
    images: list[str] | None = None
    tools: list[ToolWire] | None = None
    think: bool | str | None = None
    format: str | JsonObject | None = None
    options: JsonObject | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    context: Any = None
    keep_alive: Any = None
    truncate: Any = None
    shift: Any = None
    raw: Any = None
    template: Any = None
    suffix: Any = None
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


class ChunkWire(WireStruct):
    """An answer, or one line of a stream; `response` and `thinking` are the older form, `error` ends everything."""

    model: str | None = None
    created_at: str | None = None
    message: MessageWire | None = None
    response: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCallWire] | None = None
    done: bool | None = None
    done_reason: str | None = None
    context: Any = None
    total_duration: Any = None
    load_duration: Any = None
    prompt_eval_count: Count | None = None
    prompt_eval_duration: Any = None
    eval_count: Count | None = None
    eval_duration: Any = None
    logprobs: Any = None
    error: Any = None
