"""What the vendors' own SDKs think of a body: every member known, every value of its type; else a sentence.

Vendors' models take members that they do not know, so each parsed value is searched for such members. What is legal on
the wire all the same, because a service sends or takes it beyond its SDK's types, is in `BEYOND`, with its source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from interlingua.testing.framed import stream_text
from tests.support.converse import converse_problems

__all__ = ["JUDGED", "answer_problems", "request_problems", "stream_problems"]

JUDGED = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock")
"""The dialects that have an official SDK."""

BEYOND: dict[str, re.Pattern[str]] = {
    # wire/compat-quirks.md §4: OpenRouter's own members, which OpenAI's SDK hands through.
    "openai-chat": re.compile(r"/(reasoning|reasoning_details|reasoning_content|provider)(/|$)"),
    # wire/openai-responses.md: the service says whether it stores an answer; a failure's code is any word on the wire.
    "openai-responses": re.compile(r"^(/response)?/(store|error/code)$"),
    "anthropic": re.compile(r"$^"),
    "google": re.compile(r"$^"),
    # wire/cohere.md §3: the lists of the first event. Our own: status and code beside the sentence of an error.
    "cohere": re.compile(r"^/delta/(message/(content|tool_plan|tool_calls|citations)|status|code)$"),
    # wire/ollama.md §1: the server's ids and places of calls are unknown to the SDK 0.6.3; `additionalProperties` too.
    "ollama": re.compile(r"/tool_calls/\d+/(id|function/index)$|/tool_call_id$|/parameters/"),
}
"""What a service knows beyond its SDK's types."""


@cache
def _adapters(dialect: str) -> dict[str, TypeAdapter[Any]]:
    """The adapters of one SDK: the request, the answer, an event of a stream."""
    strict = ConfigDict(extra="forbid")
    match dialect:
        case "openai-chat":
            from openai.types.chat import ChatCompletion, ChatCompletionChunk
            from openai.types.chat.completion_create_params import CompletionCreateParams as Chat

            return _three(TypeAdapter(Chat, config=strict), ChatCompletion, ChatCompletionChunk)
        case "openai-responses":
            from openai.types.responses import Response, ResponseStreamEvent
            from openai.types.responses.response_create_params import ResponseCreateParams

            return _three(TypeAdapter(ResponseCreateParams, config=strict), Response, *_members(ResponseStreamEvent))
        case "anthropic":
            from anthropic.types import Message, RawMessageStreamEvent
            from anthropic.types.message_create_params import MessageCreateParams

            return _three(TypeAdapter(MessageCreateParams, config=strict), Message, *_members(RawMessageStreamEvent))
        case "google":
            from google.genai.types import GenerateContentResponse

            return _three(TypeAdapter(dict[str, Any]), GenerateContentResponse, GenerateContentResponse)
        case "cohere":
            from cohere import V2ChatResponse
            from cohere.v2.types import V2ChatStreamResponse

            return _three(TypeAdapter(dict[str, Any]), V2ChatResponse, *_members(V2ChatStreamResponse))
        case _:
            from ollama import ChatResponse

            return _three(TypeAdapter(dict[str, Any]), ChatResponse, ChatResponse)


def _members(union: Any) -> tuple[Any, ...]:
    """The classes of a union, out of its annotation."""
    return get_args(get_args(union)[0])


def _three(request: TypeAdapter[Any], answer: Any, *events: Any) -> dict[str, TypeAdapter[Any]]:
    """The adapters by what they judge; of several kinds of events each by its type."""
    named = {} if len(events) == 1 else {_type_of(event): TypeAdapter(event) for event in events}
    return {"request": request, "answer": TypeAdapter(answer), "event": TypeAdapter(events[0]), **named}


def _type_of(event: type[BaseModel]) -> str:
    return get_args(event.model_fields["type"].annotation)[0]


def request_problems(dialect: str, body: bytes) -> list[str]:
    """What the SDK's types say against a request."""
    if dialect not in JUDGED:
        return []
    value = json.loads(body)
    if dialect == "bedrock":
        return converse_problems("ConverseRequest", {**value, "modelId": "m"})
    if dialect in PARTWISE:
        return [problem for adapter, part in PARTWISE[dialect](value) for problem in _problems(dialect, adapter, part)]
    return _problems(dialect, _adapters(dialect)["request"], _known(dialect, value))


def answer_problems(dialect: str, body: bytes) -> list[str]:
    """What the SDK's types say against a whole answer."""
    if dialect == "bedrock":
        return converse_problems("ConverseResponse", json.loads(body))
    return _problems(dialect, _adapters(dialect)["answer"], json.loads(body)) if dialect in JUDGED else []


def stream_problems(dialect: str, data: bytes) -> list[str]:
    """What the SDK's types say against the events of a stream; those that tell an error are the clients' own matter."""
    if dialect not in JUDGED:
        return []
    if dialect == "bedrock":
        events = [json.loads(line) for line in stream_text(dialect, data).splitlines()]
        told = [event for event in events if not next(iter(event)).endswith("Exception")]
        return [problem for event in told for problem in converse_problems("ConverseStreamOutput", _bare(event))]
    found: list[str] = []
    for event in _events(data.decode()):
        if not _is_error(event) and event.get("type") != "ping":
            kinds = _adapters(dialect)
            found += _problems(dialect, kinds.get(event.get("type", "event"), NOTHING), event)
    return found


def _bare(event: dict[str, Any]) -> dict[str, Any]:
    """An event without its padding, which the SDK passes over."""
    return {name: {key: value for key, value in inner.items() if key != "p"} for name, inner in event.items()}


def _events(text: str) -> Iterator[Any]:
    """The JSON of every frame or line."""
    for line in text.splitlines():
        data = line.removeprefix("data: ")
        if data.startswith("{"):
            yield json.loads(data)


def _is_error(event: Any) -> bool:
    return event.get("type") == "error" or isinstance(event.get("error"), dict | str)


def _problems(dialect: str, adapter: TypeAdapter[Any], value: Any) -> list[str]:
    try:
        parsed = adapter.validate_python(value)
    except ValidationError as error:
        found = [f"/{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    else:
        found = [f"{path}: not a member that the SDK knows" for path in _unknown(value, _whole(parsed), "")]
    return [problem for problem in found if not BEYOND[dialect].search(problem.partition(": ")[0])]


def _known(dialect: str, value: Any, path: str = "") -> Any:
    """The value without what the service knows beyond its SDK's types."""
    match value:
        case dict():
            members = cast("dict[str, Any]", value).items()
            kept = {name: member for name, member in members if not BEYOND[dialect].search(f"{path}/{name}")}
            return {name: _known(dialect, member, f"{path}/{name}") for name, member in kept.items()}
        case list():
            items = cast("list[Any]", value)
            return [_known(dialect, item, f"{path}/{place}") for place, item in enumerate(items)]
        case _:
            return value


def _whole(value: Any) -> Any:
    """The value with every lazily checked list read to its end: only then has it been checked."""
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | BaseModel):
        return [_whole(member) for member in cast("Iterable[Any]", value)]
    return value


def _unknown(given: Any, parsed: Any, path: str) -> Iterator[str]:
    """The paths of members that a model took without knowing them."""
    if isinstance(parsed, BaseModel):
        names = {field.alias or name: name for name, field in type(parsed).model_fields.items()}
        for name, member in given.items():
            if name in names:
                yield from _unknown(member, getattr(parsed, names[name]), f"{path}/{name}")
            else:
                yield f"{path}/{name}"
    elif isinstance(parsed, list):
        for place, item in enumerate(cast("list[Any]", parsed)):
            yield from _unknown(given[place], item, f"{path}/{place}")


# SDKs whose request is not one type


class _Nothing(BaseModel):
    """No member at all."""

    model_config = ConfigDict(extra="forbid", title="a member that the SDK does not send")


NOTHING = TypeAdapter(_Nothing)


@cache
def _google_members() -> dict[str, TypeAdapter[Any]]:
    from google.genai import types

    return {
        "contents": TypeAdapter(list[types.Content]),
        "systemInstruction": TypeAdapter(types.Content),
        "tools": TypeAdapter(list[types.Tool]),
        "toolConfig": TypeAdapter(types.ToolConfig),
        "generationConfig": TypeAdapter(types.GenerationConfig),
    }


def _google_parts(body: Any) -> Iterator[tuple[TypeAdapter[Any], Any]]:
    for name, member in body.items():
        yield _google_members().get(name, NOTHING), member


@cache
def _ollama_members() -> dict[str, TypeAdapter[Any]]:
    from ollama import Message, Options, Tool

    return {
        "messages": TypeAdapter(list[Message]),
        "tools": TypeAdapter(list[Tool]),
        "options": TypeAdapter(Options),
        "model": TypeAdapter(str),
        "stream": TypeAdapter(bool),
        "think": TypeAdapter(bool | str),
        "format": TypeAdapter(dict[str, Any] | Literal["json"]),
        "keep_alive": TypeAdapter(float | str),
    }


def _ollama_parts(body: Any) -> Iterator[tuple[TypeAdapter[Any], Any]]:
    for name, member in body.items():
        # The SDK's type of an image is a path or bytes, the wire's is base64: left to the strict upstream.
        bare = [{key: one[key] for key in one if key != "images"} for one in member] if name == "messages" else member
        yield _ollama_members().get(name, NOTHING), bare


@cache
def _cohere_members() -> dict[str, TypeAdapter[Any]]:
    from cohere import CitationOptions, ResponseFormatV2, Thinking, ToolV2
    from cohere.types import ChatMessages

    return {
        "messages": TypeAdapter(ChatMessages),
        "tools": TypeAdapter(list[ToolV2]),
        "response_format": TypeAdapter(ResponseFormatV2),
        "thinking": TypeAdapter(Thinking),
        "citation_options": TypeAdapter(CitationOptions),
        "tool_choice": TypeAdapter(Literal["REQUIRED", "NONE"]),
        "documents": TypeAdapter(list[Any]),
        "model": TypeAdapter(str),
        "stop_sequences": TypeAdapter(list[str]),
        **dict.fromkeys(("stream", "strict_tools", "logprobs"), TypeAdapter(bool)),
        **dict.fromkeys(("max_tokens", "seed", "k", "priority"), TypeAdapter(int)),
        **dict.fromkeys(("temperature", "p", "frequency_penalty", "presence_penalty"), TypeAdapter(float)),
    }


def _cohere_parts(body: Any) -> Iterator[tuple[TypeAdapter[Any], Any]]:
    for name, member in body.items():
        yield _cohere_members().get(name, NOTHING), member


PARTWISE: dict[str, Callable[[Any], Iterator[tuple[TypeAdapter[Any], Any]]]] = {
    "google": _google_parts,
    "ollama": _ollama_parts,
    "cohere": _cohere_parts,
}
"""Dialect -> the members of a request, each with its type."""
