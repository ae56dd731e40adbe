"""Rules of Responses beyond the shape of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.rules.chat import takes_sampling
from interlingua.testing.upstream.rules.common import OPENAI_IMAGES, data_url_fault, has_word, repeated, tool_named
from interlingua.testing.upstream.rules.schemas import openai_root, openai_strict
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import items, members, objects, word
from interlingua.wire.model_table import model_row

__all__ = ["RESPONSES_RULES"]

_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
"""Items that call, with the items that answer them."""
_PREFIXES = {"reasoning": "rs_", "message": "msg_", "function_call": "fc_", "custom_tool_call": "ctc_"}
_SAMPLING = ("temperature", "top_p", "top_logprobs")


def _items(request: Asked) -> list[tuple[int, dict[str, Any]]]:
    return [(place, members(item)) for place, item in enumerate(items(request.body.get("input")))]


def _has_state(request: Asked) -> bool:
    return any(request.body.get(name) for name in ("previous_response_id", "conversation", "prompt"))


def _unanswered_calls(request: Asked) -> Iterator[Finding]:
    answered = {word(item.get("call_id")) for _, item in _items(request) if item.get("type") in _CALLS.values()}
    for place, item in _items(request):
        call = word(item.get("call_id"))
        if item.get("type") in _CALLS and call not in answered:
            yield ("input", place), f"No tool output found for function call {call}."


def _orphan_results(request: Asked) -> Iterator[Finding]:
    called: set[str] = set()
    for place, item in _items(request):
        call = word(item.get("call_id"))
        if item.get("type") in (*_CALLS, "tool_search_call"):
            called.add(call)
        elif item.get("type") in _CALLS.values() and call not in called and not _has_state(request):
            yield ("input", place), f"No tool call found for function call output with call_id {call}."


def _repeated(request: Asked) -> Iterator[Finding]:
    for kinds in (_CALLS, _CALLS.values()):
        result = [(place, item) for place, item in _items(request) if item.get("type") in kinds]
        yield from repeated(
            ((("input", place, "call_id"), word(item.get("call_id"))) for place, item in result), "call_id"
        )
    named = [(place, item) for place, item in _items(request) if isinstance(item.get("id"), str)]
    yield from repeated(((("input", place, "id"), item["id"]) for place, item in named), "item id")


def _missing_call_id(request: Asked) -> Iterator[Finding]:
    for place, item in _items(request):
        if item.get("type") in _CALLS.values() and not item.get("call_id"):
            yield ("input", place, "call_id"), "a result names its call"


def _item_ids(request: Asked) -> Iterator[Finding]:
    for place, item in _items(request):
        prefix = _PREFIXES.get(word(item.get("type")))
        name = item.get("id")
        is_own = request.issued is not None and name in request.issued.items
        if prefix is not None and isinstance(name, str) and not name.startswith(prefix) and not is_own:
            yield ("input", place, "id"), f"Invalid 'id': {name!r}. Expected an ID that begins with '{prefix[:-1]}'."


def _reasoning_taken_away(request: Asked) -> Iterator[Finding]:
    """An item that came with reasoning is sent back with it, or without its id."""
    if request.issued is None or _has_state(request):
        return
    present = {word(item.get("id")) for _, item in _items(request)}
    for place, item in _items(request):
        needed = request.issued.reasons.get(word(item.get("id")))
        if needed is not None and needed not in present:
            kind, name = word(item.get("type")), word(item.get("id"))
            yield (
                ("input", place),
                f"Item '{name}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'.",
            )


_FOLLOWERS = frozenset({"reasoning", "message", "compaction"})


def _reasoning_alone(request: Asked) -> Iterator[Finding]:
    """A reasoning item is followed by what it led to."""
    result = _items(request)
    for place, item in result:
        if item.get("type") != "reasoning" or not item.get("id"):
            continue
        later = result[place + 1][1] if place + 1 < len(result) else {}
        kind = word(later.get("type"))
        is_answer = later.get("role", "assistant") == "assistant" and (kind != "message" or "id" in later)
        if not (is_answer and (kind in _FOLLOWERS or kind.endswith("_call"))):
            body = f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
            yield ("input", place), body


def _unknown_references(request: Asked) -> Iterator[Finding]:
    if request.issued is None:
        return
    for place, item in _items(request):
        is_reference = set(item) <= {"id", "type"} and item.get("type", "item_reference") == "item_reference"
        if is_reference and word(item.get("id")) not in request.issued.items:
            yield ("input", place, "id"), f"Item with id '{item.get('id')}' not found."
    previous = request.body.get("previous_response_id")
    if isinstance(previous, str) and previous not in request.issued.items:
        yield ("previous_response_id",), f"Previous response with id '{previous}' not found."


def _changed_seals(request: Asked) -> Iterator[Finding]:
    if request.issued is None:
        return
    for place, item in _items(request):
        seal = item.get("encrypted_content")
        if item.get("type") == "reasoning" and isinstance(seal, str) and seal not in request.issued.seals:
            yield ("input", place, "encrypted_content"), "The encrypted content could not be verified."


def _two_states(request: Asked) -> Iterator[Finding]:
    if request.body.get("previous_response_id") and request.body.get("conversation"):
        yield ("previous_response_id",), "'previous_response_id' and 'conversation' are not taken together"


def _nothing_asked(request: Asked) -> Iterator[Finding]:
    if not request.body.get("input") and not _has_state(request):
        yield ("input",), "One of 'input', 'previous_response_id', 'prompt' or 'conversation' must be provided."


def _unknown_choice(request: Asked) -> Iterator[Finding]:
    choice = members(request.body.get("tool_choice"))
    named: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [(("tool_choice",), choice)]
    if choice.get("type") == "allowed_tools":
        allowed = enumerate(objects(choice.get("tools")))
        named = [(("tool_choice", "tools", place), tool) for place, tool in allowed]
    for steps, tool in named:
        kind, name = word(tool.get("type")), word(tool.get("name"))
        if kind in ("function", "custom") and not tool_named(request.body.get("tools"), kind, name):
            yield steps, f"Tool choice '{name}' not found in 'tools' parameter."


def _forced_without_tools(request: Asked) -> Iterator[Finding]:
    if request.body.get("tool_choice") == "required" and not request.body.get("tools") and not _has_state(request):
        yield ("tool_choice",), "Tool choice 'required' must be specified with 'tools' parameter."


def _tool_schemas(request: Asked) -> Iterator[Finding]:
    for place, tool in enumerate(objects(request.body.get("tools"))):
        if tool.get("type") == "function" and tool.get("parameters") is not None:
            steps = ("tools", place, "parameters")
            yield from openai_root(tool["parameters"], steps)
            if tool.get("strict") is True:
                yield from openai_strict(tool["parameters"], steps)


def _answer_schema(request: Asked) -> Iterator[Finding]:
    shape = members(members(request.body.get("text")).get("format"))
    if shape.get("type") == "json_schema" and shape.get("strict", True) is True:
        yield from openai_strict(shape.get("schema"), ("text", "format", "schema"))


def _json_unsaid(request: Asked) -> Iterator[Finding]:
    is_json = members(members(request.body.get("text")).get("format")).get("type") == "json_object"
    if is_json and not has_word([request.body.get("input"), request.body.get("instructions")], "json"):
        yield ("input",), "Response input messages must contain the word 'json' to use 'text.format' 'json_object'."


def _dependent(request: Asked) -> Iterator[Finding]:
    if request.body.get("stream_options") is not None and not request.body.get("stream"):
        yield ("stream_options",), "'stream_options' is only allowed when 'stream' is enabled"


def _images(request: Asked) -> Iterator[Finding]:
    for place, item in _items(request):
        for name in ("content", "output"):
            for at, part in enumerate(objects(item.get(name))):
                fault = _image_fault(part) if part.get("type") == "input_image" else None
                if fault:
                    yield ("input", place, name, at), fault


def _image_fault(part: dict[str, Any]) -> str | None:
    url = part.get("image_url")
    if (url is None) == (part.get("file_id") is None):
        return "an image has either 'image_url' or 'file_id'"
    return data_url_fault(url, OPENAI_IMAGES) if isinstance(url, str) else None


def _files(request: Asked) -> Iterator[Finding]:
    for place, item in _items(request):
        for name in ("content", "output"):
            for at, part in enumerate(objects(item.get(name))):
                data = part.get("file_data")
                if isinstance(data, str) and re.match(r"data:(text|application)/[\w.+-]+;base64,", data) is None:
                    yield ("input", place, name, at, "file_data"), "Expected a data URL of a document, in base64"
                if re.search(r"\.(mp3|wav|ogg|flac|m4a|mp4|mov|webm)$", word(part.get("file_url")).partition("?")[0]):
                    sentence = "The file type you uploaded is not supported. Please try again with a pdf"
                    yield ("input", place, name, at, "file_url"), sentence


def _sampling(request: Asked) -> Iterator[Finding]:
    if takes_sampling(request.model, members(request.body.get("reasoning")).get("effort")):
        return
    for name in _SAMPLING:
        if request.body.get(name) not in (None, 1, 0 if name == "top_logprobs" else 1):
            yield (name,), f"'{name}' is not supported with {request.model}"


def _reasoning_elsewhere(request: Asked) -> Iterator[Finding]:
    effort = members(request.body.get("reasoning")).get("effort")
    row = model_row("openai", request.model)
    if effort is not None and row is not None and row.efforts is not None and effort not in row.efforts:
        yield ("reasoning", "effort"), f"'{effort}' is not supported with {request.model}"


def _old_retention(request: Asked) -> Iterator[Finding]:
    if request.body.get("prompt_cache_retention") is not None and re.match(r"gpt-[6-9]", request.model):
        yield ("prompt_cache_retention",), f"not supported with {request.model}; use 'prompt_cache_options'"


RESPONSES_RULES: tuple[Rule, ...] = (
    Rule("nothing_asked", _nothing_asked, "request types: input"),
    Rule("unanswered_calls", _unanswered_calls, "OpenAI Responses, Pitfalls"),
    Rule("orphan_result", _orphan_results, "OpenAI Responses, Pitfalls; RES-06"),
    Rule("repeated_id", _repeated, "ID-09, ID-10"),
    Rule("missing_call_id", _missing_call_id, "OpenAI Responses, Differences, correlation; ID-12"),
    Rule("bad_item_id", _item_ids, "OpenAI Responses, Pitfalls; ID-11"),
    Rule("reasoning_taken_away", _reasoning_taken_away, "OpenAI Responses, Reasoning items"),
    Rule("reasoning_alone", _reasoning_alone, "a recorded refusal, openai-responses 2f33e99ba1bf"),
    Rule("unknown_item", _unknown_references, "OpenAI Responses, Reasoning items; SRV-11, SRV-12"),
    Rule("changed_seal", _changed_seals, "OpenAI Responses, Reasoning items"),
    Rule("two_states", _two_states, "OpenAI Responses, Other request members"),
    Rule("unknown_choice", _unknown_choice, "CHO-17"),
    Rule("choice_without_tools", _forced_without_tools, "OpenAI Chat, Pitfalls (unverified for current models)"),
    Rule("schema", _tool_schemas, "OpenAI Chat, Strict JSON Schema subset; SCH-18"),
    Rule("schema", _answer_schema, "OpenAI Chat, Strict JSON Schema subset; R17"),
    Rule("json_unsaid", _json_unsaid, "OpenAI Chat, Field facts, structured output"),
    Rule("dependent_member", _dependent, "request types: stream_options"),
    Rule("bad_image", _images, "OpenAI Responses, Differences, image"),
    Rule("bad_file", _files, "recorded refusals, openai-responses d251146d4bd2, 120f61ffde83, dcc55c7a5f31"),
    Rule("unsupported_by_model", _sampling, "OpenAI Responses, Pitfalls"),
    Rule("unsupported_by_model", _reasoning_elsewhere, "OpenAI Chat, Field facts, reasoning in"),
    Rule("unsupported_by_model", _old_retention, "OpenAI Responses, Pitfalls"),
)
"""The rules of Responses."""
