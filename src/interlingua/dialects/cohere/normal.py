"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/cohere.md lists them, a test holds each.
"""

from __future__ import annotations

from typing import Any

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._normal import JsonObject, Rules, normalised, same_url, without_dull
from interlingua.types.tool import EMPTY_PARAMETERS

__all__ = [
    "RULES", "answer", "defaults", "events", "formats", "messages", "normal_form", "tools", "usage",
]  # fmt: skip

VERBATIM = frozenset({"parameters", "json_schema", "data", "document", "tool_output", "logprobs"})
"""Members whose inside is somebody else's."""


def defaults(body: JsonObject) -> JsonObject:
    """A documented default is absent: no stream, no log probabilities, empty lists of tools, documents and stops."""
    dull: JsonObject = {
        "stream": False, "logprobs": False, "tools": [], "documents": [], "stop_sequences": [], "messages": [],
    }  # fmt: skip
    return without_dull(body, dull)


def formats(body: JsonObject) -> JsonObject:
    """Plain text is the default form of an answer; `schema` is the older name of `json_schema`."""
    form = body.get("response_format")
    if form == {"type": "text"}:
        return {name: value for name, value in body.items() if name != "response_format"}
    if is_object(form) and "schema" in form and form.get("json_schema", form["schema"]) == form["schema"]:
        others = {name: value for name, value in form.items() if name != "schema"}
        body["response_format"] = {**others, "json_schema": form["schema"]}
    return body


def tools(body: JsonObject) -> JsonObject:
    """A tool is a function unless it says otherwise; without parameters it takes an empty object."""
    if is_list(body.get("tools")):
        body["tools"] = [_tool(tool) for tool in body["tools"]]
    return body


def _tool(tool: JsonObject) -> JsonObject:
    if not is_object(tool.get("function")):
        return tool
    return {"type": "function", **tool, "function": {"parameters": EMPTY_PARAMETERS, **tool["function"]}}


def messages(body: JsonObject) -> JsonObject:
    """Every message by the rules of content and calls."""
    if is_list(body.get("messages")):
        body["messages"] = [_message(message) for message in body["messages"]]
    return body


def answer(body: JsonObject) -> JsonObject:
    """The message of an answer by the same rules; its role is the assistant's."""
    if is_object(body.get("message")):
        body["message"] = _message({"role": "assistant", **body["message"]})
    return body


def usage(body: JsonObject) -> JsonObject:
    """Charged tokens stand for those that are not counted; whole numbers are whole."""
    counts = body.get("usage")
    if is_object(counts) and is_object(counts.get("billed_units")) and "tokens" not in counts:
        billed = counts["billed_units"]
        names = ("input_tokens", "output_tokens")
        body["usage"] = {**counts, "tokens": {name: billed[name] for name in names if name in billed}}
    return body


def events(body: JsonObject) -> JsonObject:
    """An event of a stream: its counts by the rule of usage."""
    if is_object(body.get("delta")):
        body["delta"] = usage(body["delta"])
    return body


def _message(message: JsonObject) -> JsonObject:
    """A text is one block; empty content, plans, calls and citations are absent."""
    content = message.get("content")
    if isinstance(content, str):
        message = {**message, "content": [{"type": "text", "text": content}] if content else []}
    elif is_list(content):
        hollow_blocks = ({"type": "text", "text": ""}, {"type": "text"})
        message = {**message, "content": [_block(block) for block in content if block not in hollow_blocks]}
    if is_list(message.get("tool_calls")):
        message = {**message, "tool_calls": [_call(call) for call in message["tool_calls"]]}
    hollow = ("content", "tool_plan", "tool_calls", "citations")
    return {name: value for name, value in message.items() if name not in hollow or value}


def _block(block: Any) -> Any:
    """A block is text unless it says otherwise; a picture is its type and its bytes."""
    if not is_object(block):
        return block
    if "text" in block:
        return {"type": "text", **block}
    image = block.get("image_url")
    if isinstance(image, str):
        image = {"url": image}
    return {**block, "image_url": {**image, "url": same_url(image.get("url"))}} if is_object(image) else block


def _call(call: JsonObject) -> JsonObject:
    """A call is one of a function; arguments that say nothing are an empty object."""
    function = call.get("function")
    if is_object(function) and str(function.get("arguments", "")).strip() in ("", "null"):
        call = {**call, "function": {**function, "arguments": "{}"}}
    return {"type": "function", **call}


RULES: Rules = {
    "request": (defaults, formats, tools, messages),
    "response": (answer, usage),
    "chunk": (events,),
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
