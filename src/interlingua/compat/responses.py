"""Answers in the shape of Responses: what is declared here is what editors and type checkers know of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from interlingua.compat.answer import Answer
from interlingua.compat.body import Body

__all__ = [
    "Content",
    "InputTokensDetails",
    "OutputItem",
    "OutputTokensDetails",
    "ParsedResponse",
    "PartialResponse",
    "ResponseObject",
    "ResponseStreamEvent",
    "ResponseUsage",
    "text_of",
]

T = TypeVar("T")


class Content(Body):
    """A part of a message or of a thought."""

    type: str
    """`output_text`, `refusal`, `summary_text` …"""
    text: str
    """Its text."""
    refusal: str
    """The words of a refusal."""
    annotations: list[dict[str, Any]]
    """Citations."""


class OutputItem(Body):
    """One thing that the model gave: a message, a call, a thought."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"content": Content, "summary": Content}

    type: str
    """`message`, `function_call`, `reasoning` …"""
    id: str | None
    """Names the item."""
    status: str | None
    """`completed` or `incomplete`."""
    role: str
    """The speaker of a message."""
    content: list[Content]
    """The parts of a message."""
    call_id: str
    """Names a call; its result names it too."""
    name: str
    """Name of the tool that a call calls."""
    arguments: str
    """Arguments of a call, JSON text."""
    input: str
    """The input of a freeform tool."""
    summary: list[Content]
    """The readable parts of a thought."""
    encrypted_content: str | None
    """The sealed form of a thought."""


class InputTokensDetails(Body):
    """Token counts of a request, in detail."""

    cached_tokens: int
    """Of those, read from the cache."""


class OutputTokensDetails(Body):
    """Token counts of an answer, in detail."""

    reasoning_tokens: int
    """Of those, thinking."""


class ResponseUsage(Body):
    """Token counts."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {
        "input_tokens_details": InputTokensDetails,
        "output_tokens_details": OutputTokensDetails,
    }

    input_tokens: int
    """Of the request."""
    output_tokens: int
    """Of the answer."""
    total_tokens: int
    """Of both."""
    input_tokens_details: InputTokensDetails
    """The details of the request's tokens."""
    output_tokens_details: OutputTokensDetails
    """The details of the answer's tokens."""


def text_of(output: list[OutputItem]) -> str:
    """The text of all messages among the items."""
    parts = [part for item in output for part in item.content or () if item.type == "message"]
    return "".join([part.text for part in parts if part.type == "output_text"])


class ResponseObject(Answer):
    """A whole answer."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"output": OutputItem, "usage": ResponseUsage}

    id: str
    """The provider's id of the answer, or one of ours."""
    object: str
    """`response`."""
    created_at: float
    """When, in Unix seconds."""
    model: str
    """The provider's own id of the model."""
    status: str | None
    """`completed`, `incomplete` or `failed`."""
    output: list[OutputItem]
    """The output of the model, in order."""
    usage: ResponseUsage | None
    """Token counts."""
    incomplete_details: dict[str, Any] | None
    """Why the answer is not whole."""
    error: dict[str, Any] | None
    """The error."""
    instructions: str | list[Any] | None
    """The system text that the provider was given."""
    metadata: dict[str, str] | None
    """Labels stored with the exchange."""
    tools: list[dict[str, Any]]
    """The tools that the provider was given."""
    previous_response_id: str | None
    """The answer that this one goes on from."""

    @property
    def output_text(self) -> str:
        """The text of all messages."""
        return text_of(self.output)


class ParsedResponse(ResponseObject, Generic[T]):
    """A whole answer, with the value that it stands for."""

    _parsed: object = None

    @property
    def output_parsed(self) -> T | None:
        """The value of the type that `parse` was given; None for a refusal or a call."""
        return cast("T | None", self._parsed)

    def hold(self, value: T | None) -> None:
        """Remember the value; who makes the answer says so, once."""
        self._parsed = value


class PartialResponse(Body):
    """The answer as far as it has come: `ResponseObject` without what is only known at the end."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"output": OutputItem, "usage": ResponseUsage}

    id: str
    """The provider's id of the answer, or one of ours."""
    status: str | None
    """`in_progress`, `completed`, `incomplete` or `failed`."""
    model: str
    """The provider's own id of the model."""
    output: list[OutputItem]
    """The output of the model, in order."""
    usage: ResponseUsage | None
    """Token counts."""
    incomplete_details: dict[str, Any] | None
    """Why the answer is not whole."""
    error: dict[str, Any] | None
    """The error."""

    @property
    def output_text(self) -> str:
        """The text of all messages."""
        return text_of(self.output)


class ResponseStreamEvent(Body):
    """One event of a streamed answer."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {"response": PartialResponse, "item": OutputItem, "part": Content}

    type: str
    """`response.output_text.delta`, `response.completed` …"""
    sequence_number: int
    """Its place in the stream."""
    delta: str
    """The new piece."""
    text: str
    """The whole text, when it has ended."""
    arguments: str
    """The whole arguments of a call, when they have ended."""
    output_index: int
    """Which item it is about."""
    content_index: int
    """Which part of the item."""
    item_id: str
    """The item's id."""
    item: OutputItem
    """The item, when it begins and ends."""
    part: Content
    """The part, when it begins and ends."""
    response: PartialResponse
    """The answer as far as it has come."""
