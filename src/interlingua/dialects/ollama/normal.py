"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/ollama.md lists them, a test holds each.
"""

from __future__ import annotations

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._normal import JsonObject, Rules, normalised, same_bytes, same_url, without, without_dull
from interlingua.types.tool import EMPTY_PARAMETERS

__all__ = [
    "RULES", "answer", "counts", "defaults", "messages", "normal_form", "options", "tools",
]  # fmt: skip

VERBATIM = frozenset({"arguments", "parameters", "format"})
"""Members whose inside is somebody else's."""


def defaults(body: JsonObject) -> JsonObject:
    """A documented default is absent: a stream, no tools, no options, no format, no log probabilities, empty texts."""
    dull: JsonObject = {
        "stream": True, "tools": [], "options": {}, "format": "", "images": [], "messages": [], "context": [],
        "prompt": "", "system": "", "logprobs": False,
    }  # fmt: skip
    return without_dull(body, dull)


def options(body: JsonObject) -> JsonObject:
    """One stop sequence is a list of one; no stop sequence is absent, and so are options without any."""
    raw = body.get("options")
    if not is_object(raw):
        return body
    if isinstance(raw.get("stop"), str):
        raw = {**raw, "stop": [raw["stop"]]}
    present = {name: value for name, value in raw.items() if (name, value) != ("stop", [])}
    rest = without(body, {"options"})
    return {**rest, "options": present} if present else rest


def tools(body: JsonObject) -> JsonObject:
    """A tool is a function unless it says otherwise; without parameters it takes an empty object."""
    if not is_list(body.get("tools")):
        return body
    whole: list[JsonObject] = []
    for tool in body["tools"]:
        if is_object(tool.get("function")):
            function = {"parameters": EMPTY_PARAMETERS, **tool["function"]}
            whole.append({"type": "function", **tool, "function": function})
        else:
            whole.append(tool)
    body["tools"] = whole
    return body


def messages(body: JsonObject) -> JsonObject:
    """Every message by the rules of texts, images and calls; the images of the older form too."""
    if is_list(body.get("messages")):
        body["messages"] = [_message(message) for message in body["messages"]]
    if is_list(body.get("images")):
        body["images"] = [_image(image) for image in body["images"]]
    return body


def answer(body: JsonObject) -> JsonObject:
    """The message of an answer by the same rules; an empty reason and an empty list of calls are absent."""
    if is_object(body.get("message")):
        body["message"] = _message({"role": "assistant", **body["message"]})
    calls = _calls({"tool_calls": body.pop("tool_calls")}) if "tool_calls" in body else {}
    dull: JsonObject = {"done_reason": "", "thinking": ""}
    return without_dull({**body, **calls}, dull)


def counts(body: JsonObject) -> JsonObject:
    """A count of 0 tokens is absent."""
    names = ("prompt_eval_count", "eval_count")
    return {name: value for name, value in body.items() if name not in names or value}


def _message(message: JsonObject) -> JsonObject:
    """Empty texts, names and lists are absent; an image is its bytes."""
    message = _calls(message)
    if is_list(message.get("images")):
        message["images"] = [_image(image) for image in message["images"]]
    hollow = ("content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id")
    return {name: value for name, value in message.items() if name not in hollow or value}


def _calls(message: JsonObject) -> JsonObject:
    """A call is a function call and known by its place; an empty id is absent."""
    if not is_list(message.get("tool_calls")):
        return dict(message)
    calls: list[JsonObject] = []
    dull: JsonObject = {"type": "function", "id": ""}
    for call in message["tool_calls"]:
        members = without_dull(call, dull)
        function = members.get("function")
        if is_object(function):
            members["function"] = without(function, {"index"})
        calls.append(members)
    return {**message, "tool_calls": calls}


def _image(text: object) -> object:
    """Base64 is its bytes, in a data URL, too."""
    url = same_url(text)
    return same_bytes(url[1] if is_list(url) else url)


RULES: Rules = {
    "request": (options, defaults, tools, messages),
    "response": (answer, counts),
    "chunk": (answer, counts),
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
