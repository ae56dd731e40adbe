"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/openai-responses.md lists them, a test holds each.
"""

from __future__ import annotations

from interlingua.dialects._members import is_list, is_object
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

__all__ = ["RULES", "defaults", "input_items", "items", "normal_form", "repeated", "tools", "usage"]

VERBATIM = frozenset({"parameters", "schema", "metadata", "logprobs", "output_schema"})
"""Members whose inside is somebody else's."""
DULL: JsonObject = {
    "stream": False,
    "input": [],
    "tools": [],
    "include": [],
    "metadata": {},
    "parallel_tool_calls": True,
    "truncation": "disabled",
    "instructions": "",
    "reasoning": {},
    "text": {},
}
"""Members that say nothing that silence does not say."""


def defaults(body: JsonObject) -> JsonObject:
    """A documented default is absent: no stream, plain text, parallel calls, no truncation, empty lists."""
    text = body.get("text")
    if is_object(text) and text.get("format") == {"type": "text"}:
        body = {**body, "text": without(text, {"format"})}
    return without_dull(body, DULL)


def tools(body: JsonObject) -> JsonObject:
    """A function without parameters takes an empty object; a freeform tool without a format takes text."""
    if "tools" in body:
        body["tools"] = [_tool(tool) for tool in body["tools"]]
    text = body.get("text")
    if is_object(text) and is_object(text.get("format")) and text["format"].get("type") == "json_schema":
        body["text"] = {**text, "format": {"name": "response", "schema": {}, **text["format"]}}
    return body


def _tool(tool: JsonObject) -> JsonObject:
    if tool.get("type", "function") == "function":
        return {"type": "function", "parameters": EMPTY_PARAMETERS, **tool}
    if tool.get("type") == "custom" and tool.get("format") == {"type": "text"}:
        return without(tool, {"format"})
    return tool


def input_items(body: JsonObject) -> JsonObject:
    """A string is one message of the user."""
    if isinstance(body.get("input"), str):
        body["input"] = [{"role": "user", "content": body["input"]}]
    return body


def items(body: JsonObject) -> JsonObject:
    """Every item: a role alone makes a message, `completed` is what no status says, content is a list of parts."""
    for name in ("input", "output"):
        if is_list(body.get(name)):
            body[name] = [_item(item) for item in body[name]]
    return body


def repeated(body: JsonObject) -> JsonObject:
    """The repeated members of the request say nothing where they are the default; nor does the constant `object`.

    An empty `id`, an empty `model` and an empty `output` are absent.
    """
    dull: JsonObject = {"object": "response", "tool_choice": "auto", "id": "", "model": "", "output": []}
    return without_dull(body, dull)


def usage(body: JsonObject) -> JsonObject:
    """A count of 0 tokens is absent, and so is an empty object of details; the total is their sum."""
    raw = body.get("usage")
    if not is_object(raw):
        return body
    counts = ("input_tokens", "output_tokens", "total_tokens")
    total = raw.get("input_tokens", 0) + raw.get("output_tokens", 0)
    members = {name: value for name, value in {"total_tokens": total, **raw}.items() if name not in counts or value}
    body["usage"] = {name: value for name, value in members.items() if value != {}}
    return body


def _item(item: object) -> object:
    if not is_object(item):
        return item
    rest = {"type": "message", **item} if "role" in item else dict(item)
    if rest.get("status") == "completed":
        del rest["status"]
    if rest.get("type") == "message":
        side = "output_text" if rest.get("role") == "assistant" else "input_text"
        content = rest.setdefault("content", [])
        if isinstance(content, str):  # text alone is one part of the kind that the speaker uses
            rest["content"] = [{"type": side, "text": content}]
        elif is_list(content):
            rest["content"] = [_part(part, side) for part in content]
    if rest.get("type") == "reasoning":
        rest.setdefault("summary", [])
    if is_list(rest.get("output")) and str(rest.get("type")).endswith("call_output"):
        rest["output"] = [_part(part, "input_text") for part in rest["output"]]
    if rest.get("type") == "image_generation_call":
        rest["result"] = same_bytes(rest.get("result"))
    return rest


def _part(part: object, side: str) -> object:
    if not is_object(part):
        return part
    rest = {name: value for name, value in part.items() if name not in ("annotations", "logprobs") or value}
    if rest.get("detail") == "auto" and rest.get("type") == "input_image":
        del rest["detail"]
    if rest.get("type", "text") == "text":
        rest["type"] = side
    for name in ("image_url", "file_data"):
        if isinstance(rest.get(name), str):
            rest[name] = same_url(rest[name])
    if is_object(rest.get("input_audio")):
        rest["input_audio"] = same_sound(rest["input_audio"])
    return rest


RULES: Rules = {
    "request": (defaults, tools, input_items, items),
    "response": (defaults, repeated, items, usage),
    "chunk": (),
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
