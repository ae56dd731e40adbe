"""Rules of Chat Completions beyond the shape of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.rules.common import (
    OPENAI_IMAGES,
    data_url_fault,
    has_word,
    repeated,
    tool_named,
)
from interlingua.testing.upstream.rules.schemas import openai_root, openai_strict
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import items, members, objects, word
from interlingua.wire.model_table import model_row

__all__ = ["CHAT_RULES", "is_reasoning", "takes_sampling"]

_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs")
_NEUTRAL = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0, "logprobs": False}
"""The values that even a reasoning model takes, since they are its own."""


def is_reasoning(model: str) -> bool:
    """Whether a model is of a family that thinks before it answers."""
    row = model_row("openai", model)
    return row is not None and row.sampling is False


def takes_sampling(model: str, effort: object) -> bool:
    """Whether a model takes knobs of sampling when it is asked for an effort."""
    row = model_row("openai", model)
    return row is None or row.sampling is not False or effort in row.sampling_efforts


def _calls(message: dict[str, Any]) -> list[str]:
    return [word(call.get("id")) for call in objects(message.get("tool_calls"))]


def _unanswered_calls(request: Asked) -> Iterator[Finding]:
    """Every call is answered by a tool message directly after its turn."""
    messages = objects(request.body.get("messages"))
    for place, message in enumerate(messages):
        answered: set[str] = set()
        for later in messages[place + 1 :]:
            if later.get("role") != "tool":
                break
            answered.add(word(later.get("tool_call_id")))
        missing = [call for call in _calls(message) if call not in answered]
        if missing and message.get("role") == "assistant":
            listing = ", ".join(missing)
            sentence = (
                "an assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {listing}"
            )
            yield ("messages", place), sentence


def _orphan_results(request: Asked) -> Iterator[Finding]:
    """Every tool message answers a call of the turn before it, and no call twice."""
    open_calls: list[str] = []
    for place, message in enumerate(objects(request.body.get("messages"))):
        if message.get("role") != "tool":
            open_calls = _calls(message)
            continue
        call = word(message.get("tool_call_id"))
        if call in open_calls:
            open_calls.remove(call)
        else:
            sentence = (
                f"a message with role 'tool' must answer a call of the message before; {call!r} is none to answer"
            )
            yield ("messages", place, "tool_call_id"), sentence


def _repeated_calls(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        calls = enumerate(_calls(message))
        yield from repeated(((("messages", place, "tool_calls", at, "id"), call) for at, call in calls), "call id")


def _empty_assistant(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        contents = [message.get(name) for name in ("content", "tool_calls", "refusal", "audio", "function_call")]
        if message.get("role") == "assistant" and all(member in (None, []) for member in contents):
            yield ("messages", place, "content"), "an assistant message says something or calls something"


def _choice_without_tools(request: Asked) -> Iterator[Finding]:
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in request.body and not request.body.get("tools"):
            yield (name,), f"'{name}' is only allowed when 'tools' are specified"


def _unknown_choice(request: Asked) -> Iterator[Finding]:
    choice = members(request.body.get("tool_choice"))
    kind = word(choice.get("type"))
    named: list[tuple[tuple[str | int, ...], dict[str, Any]]] = []
    if kind in ("function", "custom"):
        named = [(("tool_choice",), choice)]
    elif kind == "allowed_tools":
        allowed = objects(members(choice.get("allowed_tools")).get("tools"))
        named = [(("tool_choice", "allowed_tools", "tools", place), tool) for place, tool in enumerate(allowed)]
    for steps, tool in named:
        choice_type = word(tool.get("type"))
        name = word(members(tool.get(choice_type)).get("name"))
        if not tool_named(request.body.get("tools"), choice_type, name):
            yield steps, f"tool choice {name!r} not found in 'tools'"


def _tool_schemas(request: Asked) -> Iterator[Finding]:
    for place, tool in enumerate(objects(request.body.get("tools"))):
        function = members(tool.get("function"))
        steps = ("tools", place, "function", "parameters")
        if "parameters" in function:
            yield from openai_root(function["parameters"], steps)
            if function.get("strict") is True:
                yield from openai_strict(function["parameters"], steps)


def _answer_schema(request: Asked) -> Iterator[Finding]:
    schema = members(members(request.body.get("response_format")).get("json_schema"))
    if schema.get("strict") is True:
        yield from openai_strict(schema.get("schema"), ("response_format", "json_schema", "schema"))


def _json_unsaid(request: Asked) -> Iterator[Finding]:
    is_json = members(request.body.get("response_format")).get("type") == "json_object"
    if is_json and not has_word(request.body.get("messages"), "json"):
        yield ("messages",), "'messages' must contain the word 'json' to use 'response_format' of type 'json_object'"


def _two_limits(request: Asked) -> Iterator[Finding]:
    both = [request.body.get(name) for name in ("max_tokens", "max_completion_tokens")]
    if None not in both:
        yield ("max_tokens",), "'max_tokens' and 'max_completion_tokens' are not taken together"


def _dependent(request: Asked) -> Iterator[Finding]:
    if request.body.get("stream_options") is not None and not request.body.get("stream"):
        yield ("stream_options",), "'stream_options' is only allowed when 'stream' is enabled"
    if request.body.get("top_logprobs") and not request.body.get("logprobs"):
        yield ("top_logprobs",), "'top_logprobs' is only allowed when 'logprobs' is enabled"


def _images(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        for at, part in enumerate(items(message.get("content"))):
            url = members(members(part).get("image_url")).get("url")
            fault = data_url_fault(url, OPENAI_IMAGES) if isinstance(url, str) else None
            if fault:
                yield ("messages", place, "content", at, "image_url", "url"), fault


def _files(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        for at, part in enumerate(items(message.get("content"))):
            file = members(part).get("file")
            if isinstance(file, dict):
                yield from _file(members(file), ("messages", place, "content", at, "file"))


def _file(file: dict[str, Any], steps: tuple[str | int, ...]) -> Iterator[Finding]:
    if ("file_id" in file) == ("file_data" in file):
        yield steps, "a file has either 'file_id' or 'file_data'"
    data = file.get("file_data")
    if isinstance(data, str) and not re.match(r"data:[\w.+-]+/[\w.+-]+;base64,", data):
        yield (*steps, "file_data"), "must be a data URL in base64"


def _sampling(request: Asked) -> Iterator[Finding]:
    if takes_sampling(request.model, request.body.get("reasoning_effort")):
        return
    for name in _SAMPLING:
        value = request.body.get(name)
        if value not in (None, {}) and value != _NEUTRAL.get(name):
            yield (name,), f"'{name}' is not supported with {request.model}"


def _old_limit(request: Asked) -> Iterator[Finding]:
    if is_reasoning(request.model) and request.body.get("max_tokens") is not None:
        yield (
            ("max_tokens",),
            f"'max_tokens' is not supported with {request.model}. Use 'max_completion_tokens' instead",
        )


def _tools_with_reasoning(request: Asked) -> Iterator[Finding]:
    row = model_row("openai", request.model)
    refused = row is not None and row.tools_on_chat is False and request.body.get("reasoning_effort") != "none"
    if refused and request.body.get("tools"):
        yield ("tools",), f"{request.model} takes no function tools with reasoning here; use /v1/responses"


def _stop(request: Asked) -> Iterator[Finding]:
    row = model_row("openai", request.model)
    if row is not None and row.stop is False and request.body.get("stop") is not None:
        yield ("stop",), "'stop' is not supported with this model."


def _instructions(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        if re.match(r"o1-(mini|preview)", request.model) and message.get("role") in ("system", "developer"):
            yield ("messages", place, "role"), f"'{message['role']}' is not supported with this model."


def _audio(request: Asked) -> Iterator[Finding]:
    row = model_row("openai", request.model)
    if row is None or row.audio is not False:
        return
    for place, message in enumerate(objects(request.body.get("messages"))):
        if any(part.get("type") == "input_audio" for part in objects(message.get("content"))):
            yield ("messages", place), "Content blocks are expected to be either text or image_url type."


def _search(request: Asked) -> Iterator[Finding]:
    if request.body.get("web_search_options") is not None and "search" not in request.model:
        yield ("web_search_options",), "Web search options not supported with this model."


CHAT_RULES: tuple[Rule, ...] = (
    Rule("unanswered_calls", _unanswered_calls, "OpenAI Chat, Pitfalls; RES-07"),
    Rule("orphan_result", _orphan_results, "OpenAI Chat, Field facts, results; RES-02, RES-06, RES-08"),
    Rule("repeated_call_id", _repeated_calls, "ID-10"),
    Rule("empty_message", _empty_assistant, "request types: content is required unless calls are given"),
    Rule("choice_without_tools", _choice_without_tools, "OpenAI Chat, Pitfalls (unverified for current models)"),
    Rule("unknown_choice", _unknown_choice, "CHO-17"),
    Rule("schema", _tool_schemas, "OpenAI Chat, Strict JSON Schema subset; SCH-18"),
    Rule("schema", _answer_schema, "OpenAI Chat, Strict JSON Schema subset"),
    Rule("json_unsaid", _json_unsaid, "OpenAI Chat, Field facts, structured output"),
    Rule("two_limits", _two_limits, "OpenAI Chat, Field facts, limits"),
    Rule("dependent_member", _dependent, "request types: stream_options, top_logprobs"),
    Rule("bad_image", _images, "OpenAI Chat, Field facts, images in"),
    Rule("bad_file", _files, "OpenAI Chat, Field facts, files in"),
    Rule("unsupported_by_model", _sampling, "OpenAI Chat, Pitfalls, reasoning models"),
    Rule("unsupported_by_model", _old_limit, "OpenAI Chat, Field facts, limits"),
    Rule("unsupported_by_model", _tools_with_reasoning, "OpenAI Chat, Pitfalls, the gpt-5.6 family"),
    Rule("unsupported_by_model", _stop, "a recorded refusal, openai-chat ef691167bd9f"),
    Rule("unsupported_by_model", _instructions, "recorded refusals, openai-chat 07a79f4f05bc, a1d947ab38e5"),
    Rule("unsupported_by_model", _audio, "a recorded refusal, openai-chat 73a8c403eeee"),
    Rule("unsupported_by_model", _search, "a recorded refusal, openai-chat d30db358da6d"),
)
"""The rules of Chat Completions."""
