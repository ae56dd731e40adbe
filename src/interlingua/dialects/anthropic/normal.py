"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/anthropic.md lists them, a test holds each.
"""

from __future__ import annotations

from typing import Any

from interlingua.dialects._members import is_object
from interlingua.dialects._normal import JsonObject, Rules, normalised, same_bytes, without, without_dull
from interlingua.types.tool import EMPTY_PARAMETERS
from interlingua.wire.media import media_type_of

__all__ = [
    "RULES",
    "answer",
    "cache",
    "defaults",
    "normal_form",
    "output_format",
    "roles",
    "tool_choice",
    "tools",
    "usage",
]

VERBATIM = frozenset({"input", "input_schema", "schema", "input_examples"})
"""Members whose inside is somebody else's."""
THINKING = frozenset({"thinking", "redacted_thinking"})


def defaults(body: JsonObject) -> JsonObject:
    """A documented default is absent: no stream, no tools, no stop sequences, an answer's type and role.

    So are an empty model and `id`, and objects of knobs that say nothing.
    """
    dull: JsonObject = {
        "stream": False,
        "tools": [],
        "stop_sequences": [],
        "mcp_servers": [],
        "type": "message",
        "system": "",
        "model": "",
        "id": "",
        "metadata": {},
        "output_config": {},
    }
    rest = without_dull(body, dull)
    if rest.get("role") == "assistant":
        del rest["role"]
    return rest


def output_format(body: JsonObject) -> JsonObject:
    """The older `output_format` is `output_config.format`."""
    form = body.pop("output_format", None)
    if form is not None:
        body["output_config"] = {"format": form, **body.get("output_config", {})}
    return body


def tools(body: JsonObject) -> JsonObject:
    """A tool is the caller's own unless it has another type; without a schema it takes an empty object."""
    if "tools" in body:
        body["tools"] = [_tool(tool) for tool in body["tools"]]
    return body


def _tool(tool: JsonObject) -> JsonObject:
    tool = _cache(tool)
    if tool.get("type") not in (None, "", "custom"):
        return tool
    return {"input_schema": EMPTY_PARAMETERS, **without(tool, {"type"})}


def tool_choice(body: JsonObject) -> JsonObject:
    """Several calls in one turn are allowed unless that is switched off."""
    choice = body.get("tool_choice")
    if is_object(choice) and choice.get("disable_parallel_tool_use") is False:
        body["tool_choice"] = without(choice, {"disable_parallel_tool_use"})
    return body


def cache(body: JsonObject) -> JsonObject:
    """A cache mark of five minutes is the plain one; one on thinking is none."""
    return _cache(body)


def _cache(value: JsonObject) -> JsonObject:
    mark = value.get("cache_control")
    if str(value.get("type")) in THINKING:
        return without(value, {"cache_control"})
    return {**value, "cache_control": {"type": "ephemeral"}} if mark == {"type": "ephemeral", "ttl": "5m"} else value


def roles(body: JsonObject) -> JsonObject:
    """Neighbours of one role are one message, results first; system text before all others is `system`.

    A turn that says nothing is absent.
    """
    if "messages" not in body:
        return body
    system = _content(body.pop("system", None))
    messages: list[JsonObject] = []
    for message in body["messages"]:
        blocks = _content(message.get("content"))
        role = message.get("role")
        if not blocks:
            continue
        if role == "system" and not messages and all(block.get("type") == "text" for block in blocks):
            system = [*system, *blocks]
        elif messages and messages[-1]["role"] == role:
            messages[-1] = {**messages[-1], **message, "content": _ordered([*messages[-1]["content"], *blocks])}
        else:
            messages.append({**message, "content": _ordered(blocks)})
    rest = without(body, {"messages"})
    return {**rest, **({"messages": messages} if messages else {}), **({"system": system} if system else {})}


def _ordered(blocks: list[JsonObject]) -> list[JsonObject]:
    return sorted(blocks, key=lambda block: block.get("type") != "tool_result")


def _content(content: Any) -> list[JsonObject]:
    """Content is a list of blocks: missing and empty are none, text is one, empty text is none."""
    if not content:
        return []
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [
        _block(block) for block in blocks if block.get("type") != "text" or block.get("text") or block.get("citations")
    ]


def _block(block: JsonObject) -> JsonObject:
    block = _cache(block)
    source = block.get("source")
    if is_object(source) and source.get("type") == "base64":  # which is its bytes
        named = {"media_type": media_type_of(source["media_type"])} if isinstance(source.get("media_type"), str) else {}
        block = {**block, "source": {**source, **named, "data": same_bytes(source.get("data", ""))}}
    if block.get("type") == "tool_result":
        rest = {name: value for name, value in block.items() if name != "is_error" or value is not False}
        return {**rest, "content": _content(block.get("content"))}
    if block.get("type") == "tool_use":
        return {**block, "input": block.get("input", {})}
    return without_dull(block, {"citations": [], "signature": ""})


def answer(body: JsonObject) -> JsonObject:
    """The blocks of an answer, by the rules of content."""
    body["content"] = _content(body.get("content"))
    return body


def usage(body: JsonObject) -> JsonObject:
    """A count of 0 tokens is absent."""
    counts = body.get("usage")
    if is_object(counts):
        body["usage"] = {name: value for name, value in counts.items() if value != 0}
    return body


RULES: Rules = {
    "request": (defaults, output_format, tools, tool_choice, cache, roles),
    "response": (defaults, answer, usage),
    "chunk": (usage,),
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
