"""Answers in the shape of Chat Completions: what is declared here is what editors and type checkers know of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from interlingua.compat.answer import Answer
from interlingua.compat.body import Body

__all__ = [
    "ChatCompletion",
    "ChatCompletionChunk",
    "Choice",
    "ChunkChoice",
    "Completion",
    "CompletionTokensDetails",
    "CompletionUsage",
    "Function",
    "Message",
    "ParsedChatCompletion",
    "ParsedChoice",
    "ParsedMessage",
    "PromptTokensDetails",
    "ToolCall",
]

T = TypeVar("T")


class Function(Body):
    """The function of a call."""

    name: str
    """Name of the tool."""
    arguments: str
    """Its arguments, JSON text."""


class ToolCall(Body):
    """One call, or a piece of one in a stream."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"function": Function}

    id: str
    """Names the call; its result names it too."""
    type: str
    """`function` or `custom`."""
    function: Function
    """The function that is called."""
    index: int
    """In a stream: which call this is a piece of."""
    custom: dict[str, Any] | None
    """The freeform tool that is called."""


class Message(Body):
    """The message of the model; in a stream, a piece of it."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"tool_calls": ToolCall}

    role: str
    """`assistant`."""
    content: str | None
    """The text."""
    refusal: str | None
    """The words of a refusal."""
    tool_calls: list[ToolCall] | None
    """The calls; None for none."""
    reasoning_content: str | None
    """Readable thinking, where compatible servers tell it."""
    annotations: list[dict[str, Any]] | None
    """Citations."""
    audio: dict[str, Any] | None
    """Spoken audio."""
    function_call: dict[str, Any] | None
    """The call, in the form that came before tools."""


class ParsedMessage(Message, Generic[T]):
    """The message of the model, with the value that it stands for."""

    _parsed: object = None

    @property
    def parsed(self) -> T | None:
        """The value of the type that `parse` was given; None for a refusal or a call."""
        return cast("T | None", self._parsed)


class Choice(Body):
    """One answer."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"message": Message}

    index: int
    """Its place."""
    message: Message
    """The message of the model."""
    finish_reason: str
    """`stop`, `length`, `tool_calls` or `content_filter`."""
    logprobs: dict[str, Any] | None
    """Log probabilities, where they were asked for."""


class ParsedChoice(Body, Generic[T]):
    """One answer, with the value that it stands for."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"message": ParsedMessage}

    index: int
    """Its place."""
    message: ParsedMessage[T]
    """The message of the model."""
    finish_reason: str
    """`stop`, `length`, `tool_calls` or `content_filter`."""
    logprobs: dict[str, Any] | None
    """Log probabilities, where they were asked for."""


class ChunkChoice(Body):
    """A piece of one answer."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"delta": Message}

    index: int
    """Its place."""
    delta: Message
    """The new piece."""
    finish_reason: str | None
    """Why it ended, in its last piece."""
    logprobs: dict[str, Any] | None
    """Log probabilities, where they were asked for."""


class PromptTokensDetails(Body):
    """Token counts of a request, in detail."""

    cached_tokens: int | None
    """Of those, read from the cache."""
    audio_tokens: int | None
    """Of those, sound."""


class CompletionTokensDetails(Body):
    """Token counts of an answer, in detail."""

    reasoning_tokens: int | None
    """Of those, thinking."""
    audio_tokens: int | None
    """Of those, sound."""


class CompletionUsage(Body):
    """Token counts."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {
        "prompt_tokens_details": PromptTokensDetails,
        "completion_tokens_details": CompletionTokensDetails,
    }

    prompt_tokens: int
    """Of the request."""
    completion_tokens: int
    """Of the answer."""
    total_tokens: int
    """Of both."""
    prompt_tokens_details: PromptTokensDetails | None
    """The details of the request's tokens."""
    completion_tokens_details: CompletionTokensDetails | None
    """The details of the answer's tokens."""


class Completion(Answer):
    """The members of a whole answer beside its choices."""

    id: str
    """The provider's id of the answer, or one of ours."""
    object: str
    """`chat.completion`."""
    created: int
    """When, in Unix seconds."""
    model: str
    """The provider's own id of the model."""
    usage: CompletionUsage | None
    """Token counts."""
    service_tier: str | None
    """Which class of service was used."""
    system_fingerprint: str | None
    """The provider's mark of its configuration."""


class ChatCompletion(Completion):
    """A whole answer."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"choices": Choice, "usage": CompletionUsage}

    choices: list[Choice]
    """The answers."""


class ParsedChatCompletion(Completion, Generic[T]):
    """A whole answer, with the value that it stands for."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"choices": ParsedChoice, "usage": CompletionUsage}

    choices: list[ParsedChoice[T]]
    """The answers."""

    def hold(self, value: T | None) -> None:
        """Remember the value; who makes the answer says so, once."""
        self.choices[0].message._parsed = value  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # of the same room


class ChatCompletionChunk(Body):
    """A piece of a streamed answer."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"choices": ChunkChoice, "usage": CompletionUsage}

    id: str
    """The provider's id of the answer, or one of ours."""
    object: str
    """`chat.completion.chunk`."""
    created: int
    """When, in Unix seconds."""
    model: str
    """The provider's own id of the model."""
    choices: list[ChunkChoice]
    """Pieces of the answers; none in the piece that holds the counts."""
    usage: CompletionUsage | None
    """Token counts, in the last piece, where they were asked for."""
    service_tier: str | None
    """Which class of service was used."""
    system_fingerprint: str | None
    """The provider's mark of its configuration."""
