"""The usual forms of histories and tools in request bodies: structs of which every member is known and none is data.

A body that has them needs no look at its names (`wire.body`), and what a gateway wants to know of it is told by the
types: the ids of calls, and the words, which are names of members and values of `role` and `type`. Whatever fits none
of these forms is read as plain values.

Rules
- A member that may be absent is `UNSET` then, so that what is written again has as many members as what was read.
- What a provider of the dialect would refuse, and its writer says properly, has no place here: an empty text, arguments
  that are no text, a cache mark on thinking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from interlingua.wire.json import ExactStruct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["SHAPES", "Shape"]

Said: TypeAlias = Annotated[str, Meta(min_length=1)]
"""A text that says something."""


class Shape(Struct, frozen=True):
    """The usual form of one member of a body."""

    kind: object
    """Its type."""
    words: Callable[[Any], frozenset[str]]
    """Which names, roles and types are in it, as far as they tell requests apart."""
    ids: Callable[[Any], list[str]] = lambda _: []
    """The ids of its calls and results."""


def _words(of_types: dict[type, frozenset[str]], values: Iterable[object]) -> frozenset[str]:
    """The words of structs, by their types."""
    return frozenset[str]().union(*[of_types[kind] for kind in set(map(type, values))])


# Chat Completions


class _ChatText(ExactStruct, tag_field="type", tag="text"):
    text: str


class _ImageUrl(ExactStruct):
    url: str
    detail: str | UnsetType = UNSET


class _ChatImage(ExactStruct, tag_field="type", tag="image_url"):
    image_url: _ImageUrl


class _Function(ExactStruct):
    name: str
    arguments: str


class _ChatCall(ExactStruct):
    id: str
    type: Literal["function"]
    function: _Function


class _System(ExactStruct, tag_field="role", tag="system"):
    content: str | list[_ChatText]
    name: str | UnsetType = UNSET


class _Developer(ExactStruct, tag_field="role", tag="developer"):
    content: str | list[_ChatText]
    name: str | UnsetType = UNSET


class _ChatUser(ExactStruct, tag_field="role", tag="user"):
    content: str | list[_ChatText | _ChatImage]
    name: str | UnsetType = UNSET


class _ChatAssistant(ExactStruct, tag_field="role", tag="assistant"):
    content: str | list[_ChatText] | UnsetType | None = UNSET
    refusal: UnsetType | None = UNSET
    annotations: list[Any] | UnsetType | None = UNSET
    audio: UnsetType | None = UNSET
    function_call: UnsetType | None = UNSET
    tool_calls: list[_ChatCall] | UnsetType | None = UNSET
    name: str | UnsetType = UNSET


class _ChatResult(ExactStruct, tag_field="role", tag="tool"):
    tool_call_id: str
    content: str | list[_ChatText]
    name: str | UnsetType = UNSET


class _ChatFunction(ExactStruct):
    name: str
    description: str | UnsetType | None = UNSET
    parameters: dict[str, Any] | UnsetType | None = UNSET
    strict: bool | UnsetType | None = UNSET


class _ChatTool(ExactStruct):
    type: Literal["function"]
    function: _ChatFunction


_FUNCTION, _STRICT = frozenset({"function"}), frozenset({"function", "strict"})
_CHAT_WORDS: dict[type, frozenset[str]] = {
    _System: frozenset({"system"}),
    _Developer: frozenset({"developer"}),
    _ChatUser: frozenset({"user"}),
    _ChatAssistant: frozenset({"assistant"}),
    _ChatResult: frozenset({"tool", "tool_call_id"}),
}


def _chat_words(messages: list[Any]) -> frozenset[str]:
    words = _words(_CHAT_WORDS, messages)
    for message in messages:
        if type(message) is _ChatUser and type(message.content) is list and _ChatImage in map(type, message.content):
            return words | {"image_url"}
    return words


def _chat_ids(messages: list[Any]) -> list[str]:
    ids = [message.tool_call_id for message in messages if type(message) is _ChatResult]
    turns = [message.tool_calls for message in messages if type(message) is _ChatAssistant]
    return ids + [call.id for calls in turns if calls for call in calls]


def _chat_tool_words(tools: list[_ChatTool]) -> frozenset[str]:
    return _STRICT if any([tool.function.strict is not UNSET for tool in tools]) else _FUNCTION


# Messages


class _Mark(ExactStruct):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | UnsetType = UNSET


class _Text(ExactStruct, tag_field="type", tag="text"):
    text: Said
    cache_control: _Mark | UnsetType = UNSET


class _Thinking(ExactStruct, tag_field="type", tag="thinking"):
    thinking: str
    signature: Said


class _Redacted(ExactStruct, tag_field="type", tag="redacted_thinking"):
    data: str


class _Call(ExactStruct, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]
    cache_control: _Mark | UnsetType = UNSET


class _ResultText(ExactStruct):
    type: Literal["text"]  # where one struct alone can stand, msgspec would take a block without its tag
    text: Said
    cache_control: _Mark | UnsetType = UNSET


class _Result(ExactStruct, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | list[_ResultText] | UnsetType = UNSET
    is_error: bool | UnsetType = UNSET
    cache_control: _Mark | UnsetType = UNSET


class _User(ExactStruct, tag_field="role", tag="user"):
    content: Said | list[_Text | _Result]


class _Assistant(ExactStruct, tag_field="role", tag="assistant"):
    content: Said | list[_Text | _Call | _Thinking | _Redacted]


class _Tool(ExactStruct):
    name: str
    description: str | UnsetType = UNSET
    input_schema: dict[str, Any] | UnsetType = UNSET
    cache_control: _Mark | UnsetType = UNSET


def _block_words(messages: list[_User | _Assistant]) -> frozenset[str]:
    blocks: list[Any] = [block for message in messages if type(message.content) is list for block in message.content]
    marked = any([block.cache_control is not UNSET for block in blocks if type(block) not in _THOUGHTS])
    inner = [block.content for block in blocks if type(block) is _Result and type(block.content) is list]
    marked = marked or any([text.cache_control is not UNSET for texts in inner for text in texts])
    words = _words(_ROLES, messages)
    return words | {"cache_control"} if marked else words


def _tool_words(tools: list[_Tool]) -> frozenset[str]:
    return frozenset({"cache_control"} if any([tool.cache_control is not UNSET for tool in tools]) else ())


_THOUGHTS = frozenset({_Thinking, _Redacted})
_ROLES: dict[type, frozenset[str]] = {_User: frozenset({"user"}), _Assistant: frozenset({"assistant"})}


def _block_ids(messages: list[_User | _Assistant]) -> list[str]:
    blocks = [block for message in messages if type(message.content) is list for block in message.content]
    calls = [block.id for block in blocks if type(block) is _Call]
    return calls + [block.tool_use_id for block in blocks if type(block) is _Result]


# Responses


class _InputText(ExactStruct, tag_field="type", tag="input_text"):
    text: str


class _OutputText(ExactStruct, tag_field="type", tag="output_text"):
    text: str
    annotations: tuple[()] | UnsetType = UNSET
    logprobs: tuple[()] | UnsetType = UNSET


class _Item(ExactStruct, tag_field="type", tag="message"):
    role: str
    content: str | list[_InputText | _OutputText]
    id: str | UnsetType = UNSET
    status: str | UnsetType | None = UNSET
    phase: str | UnsetType | None = UNSET


class _FunctionCall(ExactStruct, tag_field="type", tag="function_call"):
    call_id: str
    name: str
    arguments: str
    id: str | UnsetType = UNSET
    status: str | UnsetType | None = UNSET


class _FunctionOutput(ExactStruct, tag_field="type", tag="function_call_output"):
    call_id: str
    output: str
    id: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET


class _Summary(ExactStruct):
    type: Literal["summary_text"]
    text: str


class _Reasoning(ExactStruct, tag_field="type", tag="reasoning"):
    summary: list[_Summary]
    id: str | UnsetType = UNSET
    content: UnsetType | None = UNSET
    encrypted_content: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET


class _ResponsesTool(ExactStruct):
    type: Literal["function"]
    name: str
    description: str | UnsetType | None = UNSET
    parameters: dict[str, Any] | UnsetType | None = UNSET
    strict: bool | UnsetType | None = UNSET


def _responses_tool_words(tools: list[_ResponsesTool]) -> frozenset[str]:
    return _STRICT if any([tool.strict is not UNSET for tool in tools]) else _FUNCTION


def _item_ids(items: Any) -> list[str]:
    if type(items) is str:
        return []
    own = [item.id for item in items if type(item.id) is str]
    return own + [item.call_id for item in items if type(item) is _FunctionCall or type(item) is _FunctionOutput]


def _item_words(items: Any) -> frozenset[str]:
    return frozenset() if type(items) is str else _words(_ITEM_WORDS, items)


_ITEM_WORDS: dict[type, frozenset[str]] = {
    _Item: frozenset({"message"}),
    _FunctionCall: frozenset({"function_call"}),
    _FunctionOutput: frozenset({"function_call_output"}),
    _Reasoning: frozenset({"reasoning"}),
}


SHAPES: dict[str, dict[str, Shape]] = {
    "openai-chat": {
        "messages": Shape(
            list[_System | _Developer | _ChatUser | _ChatAssistant | _ChatResult],
            _chat_words,
            _chat_ids,
        ),
        "tools": Shape(list[_ChatTool], _chat_tool_words),
    },
    "openai-responses": {
        "input": Shape(str | list[_Item | _FunctionCall | _FunctionOutput | _Reasoning], _item_words, _item_ids),
        "tools": Shape(list[_ResponsesTool], _responses_tool_words),
    },
    "anthropic": {
        "messages": Shape(list[_User | _Assistant], _block_words, _block_ids),
        "tools": Shape(list[_Tool], _tool_words),
    },
}
"""The usual members of bodies, by dialect and name."""
