"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/openai-chat.md lists them, a test holds each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlingua.dialects._members import is_object
from interlingua.dialects._normal import (
    JsonObject,
    Rules,
    normalised,
    same_bytes,
    same_sound,
    same_url,
    without,
    without_dull,
)
from interlingua.types.tool import EMPTY_PARAMETERS

__all__ = [
    "RULES",
    "choices",
    "defaults",
    "functions",
    "messages",
    "normal_form",
    "schema_name",
    "spellings",
    "tool_choice",
    "tools",
    "usage",
]

VERBATIM = frozenset({"parameters", "schema", "logit_bias", "metadata", "reasoning_details", "logprobs"})
"""Members whose inside is somebody else's."""
HOLLOW = frozenset({"function_call", "audio", "custom"})
REASONING = ("reasoning_content", "reasoning")
SAYING = frozenset({"role", "reasoning_details", *REASONING})
"""Members of an answer's message that say nothing when they are empty."""


def defaults(body: JsonObject) -> JsonObject:
    """A documented default is absent: no stream, plain text, no log probabilities, empty tools and stops.

    The constant `object`, an empty `id` and an empty `model` say nothing either.
    """
    dull: JsonObject = {
        "stream": False, "logprobs": False, "top_logprobs": 0, "tools": [], "functions": [], "stop": [], "model": "",
    }  # fmt: skip
    rest = without_dull(body, dull)
    if rest.get("response_format") == {"type": "text"}:
        del rest["response_format"]
    rest.pop("object", None)
    if rest.get("id") == "":
        del rest["id"]
    return rest


def spellings(body: JsonObject) -> JsonObject:
    """`max_tokens` is `max_completion_tokens`, `random_seed` is `seed`, one stop sequence is a list of one."""
    for name, other in (("max_tokens", "max_completion_tokens"), ("seed", "random_seed")):
        if other in body:
            body[name] = body.pop(other)
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]
    return body


def functions(body: JsonObject) -> JsonObject:
    """The deprecated `functions` are `tools`, `function_call` is `tool_choice`."""
    if "functions" in body:
        tools = [{"function": function} for function in body.pop("functions")]
        body["tools"] = [*body.get("tools", []), *tools]
    if "function_call" in body:
        body.setdefault("tool_choice", body.pop("function_call"))
    return body


def tools(body: JsonObject) -> JsonObject:
    """A tool is a function unless it says otherwise; without parameters it takes an empty object."""
    if "tools" not in body:
        return body
    whole: list[JsonObject] = []
    for tool in body["tools"]:
        if "function" in tool:
            function = {"parameters": EMPTY_PARAMETERS, **tool["function"]}
            whole.append({**tool, "type": "function", "function": function, **_cache(tool)})
        else:
            whole.append(tool)
    body["tools"] = whole
    return body


def tool_choice(body: JsonObject) -> JsonObject:
    """`any` is `required`; a named choice is a function unless it says otherwise."""
    choice = body.get("tool_choice")
    if choice == "any":
        body["tool_choice"] = "required"
    elif is_object(choice) and ("function" in choice or ("name" in choice and "type" not in choice)):
        body["tool_choice"] = {"type": "function", "function": choice.get("function") or {"name": choice["name"]}}
    return body


def schema_name(body: JsonObject) -> JsonObject:
    """A schema without a name is called `response`."""
    form = body.get("response_format")
    if is_object(form) and "json_schema" in form:
        body["response_format"] = {**form, "json_schema": {"name": "response", "schema": {}, **form["json_schema"]}}
    return body


def messages(body: JsonObject) -> JsonObject:
    """Every message by the rules of content, reasoning and calls."""
    if isinstance(body.get("messages"), list):
        body["messages"] = [_message(message) for message in body["messages"]]
    return body


def choices(body: JsonObject) -> JsonObject:
    """A choice is known by its place; a `delta` in a whole reply is its message; empty reasoning in it is none."""
    if not isinstance(body.get("choices"), list):
        return body
    whole: list[JsonObject] = []
    for place, choice in enumerate(body["choices"]):
        message: JsonObject = choice.get("message") or choice.get("delta") or {}
        members = {name: value for name, value in message.items() if value or name not in SAYING}
        rest = without(choice, ("message", "delta"))
        whole.append({**rest, "index": place, "message": _message({"role": "assistant", **members})})
    body["choices"] = whole
    return body


def usage(body: JsonObject) -> JsonObject:
    """A count of 0 tokens is absent, and so is an empty object of details; the total is their sum."""
    raw = body.get("usage")
    if not is_object(raw):
        return body
    counts = ("prompt_tokens", "completion_tokens", "total_tokens")
    total = raw.get("prompt_tokens", 0) + raw.get("completion_tokens", 0)
    members = {name: value for name, value in {"total_tokens": total, **raw}.items() if name not in counts or value}
    body["usage"] = {name: value for name, value in members.items() if value != {}}
    return body


def _message(message: JsonObject) -> JsonObject:
    message = {name: value for name, value in message.items() if not (name in HOLLOW and _is_hollow(value))}
    # Readable reasoning is the same under each of its names, and as a chunk of the content.
    texts = [message.pop(name) for name in REASONING if isinstance(message.get(name), str) and message[name]]
    thinking = [{"type": "thinking", "text": texts[0]}] if texts else []
    if len(set(texts)) > 1:
        message["thinking_second"] = texts[1]
    # A call is a function call and known by its place; the deprecated single call is a list of one.
    if isinstance(message.get("function_call"), dict):
        call = {"id": "call_0", "type": "function", "function": message.pop("function_call")}
        message["tool_calls"] = [*message.get("tool_calls", []), call]
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    for name in ("annotations", "tool_calls", "refusal", "images"):
        if message.get(name) in ([], ""):
            del message[name]
    message["content"] = [*thinking, *_content(message.get("content"))]
    audio = message.get("audio")
    if is_object(audio) and "data" in audio:
        message["audio"] = {**audio, "data": same_bytes(audio["data"])}
    return message


def _is_hollow(value: object) -> bool:
    """An object of nothing but empty values is absent; one server sends every member it knows."""
    return is_object(value) and not any(value.values())


def _call(call: JsonObject) -> JsonObject:
    hollow = {name for name in HOLLOW if _is_hollow(call.get(name))}
    rest = {name: value for name, value in call.items() if name != "index" and name not in hollow}
    if "custom" not in rest:
        rest["type"] = "function"
    return rest


def _content(content: str | list[Any] | None) -> list[Any]:
    """Content is a list of parts: missing, null and empty are none, text is one, empty text is none."""
    if not content:
        return []
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [
        _part(part)
        for part in parts
        if not is_object(part)
        or part.get("type", "text") != "text"
        or part.get("text")
        or part.keys() - {"type", "text"}  # an empty text says nothing
    ]


def _part(part: object) -> object:
    if not is_object(part):
        return part
    url = part.get("document_url")
    if isinstance(url, str) and url.startswith("data:"):  # with the document in it, it is a file
        rest = without(part, ("document_url", "document_name", "type"))
        part = {**rest, "type": "file", "file": {"filename": part.get("document_name"), "file_data": url}}
    kind = part.get("type")
    reader = _PARTS.get(str(kind))
    return {**part, **(reader(part) if reader else {}), **_cache(part)}


def _cache(part: JsonObject) -> JsonObject:
    """A cache mark of five minutes is the plain one."""
    mark = part.get("cache_control")
    return {"cache_control": {"type": "ephemeral"}} if mark == {"type": "ephemeral", "ttl": "5m"} else {}


def _image(part: JsonObject) -> JsonObject:
    raw = part.get("image_url")
    members = {"url": raw} if isinstance(raw, str) else dict(raw or {})
    return {"image_url": {**members, "url": same_url(members.get("url"))}}


def _file(part: JsonObject) -> JsonObject:
    members = dict(part.get("file") or {})
    return {"file": {**members, "file_data": same_url(members["file_data"])}} if "file_data" in members else {}


def _audio(part: JsonObject) -> JsonObject:
    return {"input_audio": same_sound(dict(part.get("input_audio") or {}))}


def _thinking(part: JsonObject) -> JsonObject:
    chunks: str | list[JsonObject] = part.get("thinking") or []
    texts = [chunks] if isinstance(chunks, str) else [chunk.get("text", "") for chunk in chunks]
    return {"text": "".join(texts), "thinking": None}


_PARTS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "image_url": _image,
    "file": _file,
    "input_audio": _audio,
    "thinking": _thinking,
}


RULES: Rules = {
    "request": (defaults, spellings, functions, tools, tool_choice, schema_name, messages),
    "response": (defaults, choices, usage),
    "chunk": (defaults, usage),
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
