"""Cache marks and strict tools of a request, read from the wire of each format.

Rules
- A mark is what it stands on and how long it lasts; one that says more than a life time is a member, not a mark.
- Only Messages, Chat (as routers know it) and our own format have marks.
- `strict` is said of a tool; Google says it of all tools at once, as a mode of calling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.wirefacts.bedrock import as_messages
from interlingua.testing.wirefacts.google import camel
from interlingua.testing.wirefacts.settings import life_of
from interlingua.testing.wirefacts.values import joined, members, objects, word

__all__ = ["EXCERPT", "cache_marks", "strict_tools"]

EXCERPT = 40
"""How many characters of a text name the place of its mark."""


def cache_marks(dialect: str, body: Any) -> list[str]:
    """Every mark, as `LIFE on KIND NAME`, sorted: formats tell the parts of a turn in different orders."""
    match dialect:
        case "anthropic":
            return sorted(_anthropic(members(body)))
        case "bedrock":
            return sorted(_anthropic(as_messages(body)))
        case "openai-chat":
            return sorted(_chat(members(body)))
        case "unified":
            return sorted(_unified(members(body)))
        case _:
            return []


def _mark_lines(life: str | None, kind: str, name: str) -> Iterator[str]:
    if life is not None:
        yield f"{life} on {kind} {name}".rstrip()


def _anthropic(body: dict[str, Any]) -> Iterator[str]:
    for tool in objects(body.get("tools")):
        if tool.get("type") in (None, "", "custom"):
            yield from _mark_lines(life_of(tool.get("cache_control")), "tool", word(tool.get("name")))
    blocks = [*objects(body.get("system"))]
    for message in objects(body.get("messages")):
        blocks += objects(message.get("content"))
    for block in blocks:
        yield from _block(block)
        if block.get("type") == "tool_result":
            for part in objects(block.get("content")):
                yield from _block(part)


KINDS = {"text": "text", "image": "image", "document": "document", "tool_result": "result", "tool_use": "call"}


def _block(block: dict[str, Any]) -> Iterator[str]:
    kind = KINDS.get(word(block.get("type")), "other")
    yield from _mark_lines(life_of(block.get("cache_control")), kind, word(block.get("text"))[:EXCERPT])


def _chat(body: dict[str, Any]) -> Iterator[str]:
    for tool in objects(body.get("tools")):
        name = word(members(tool.get("function")).get("name"))
        yield from _mark_lines(life_of(tool.get("cache_control")), "tool", name)
    kinds = {"text": "text", "image_url": "image", "file": "document"}
    for message in objects(body.get("messages")):
        for part in objects(message.get("content")):
            kind = kinds.get(word(part.get("type")), "other")
            yield from _mark_lines(life_of(part.get("cache_control")), kind, word(part.get("text"))[:EXCERPT])


def _unified(body: dict[str, Any]) -> Iterator[str]:
    for tool in objects(body.get("tools")):
        yield from _mark_lines(tool.get("cache"), "tool", word(tool.get("name")))
    parts = [*objects(body.get("system"))]
    for message in objects(body.get("messages")):
        parts += objects(message.get("parts"))
    kinds = {"text": "text", "image": "image", "document": "document", "tool_result": "result"}
    for part in parts:
        yield from _mark_lines(part.get("cache"), kinds.get(word(part.get("type")), "other"), joined([part])[:EXCERPT])
        for inner in objects(part.get("parts")):
            yield from _mark_lines(
                inner.get("cache"), kinds.get(word(inner.get("type")), "other"), joined([inner])[:EXCERPT]
            )


def strict_tools(dialect: str, body: Any) -> list[Any]:
    """The `strict` of each of the caller's own tools.

    None is no, `default` what Responses makes of nothing said, `always` what holds whatever was said: Google holds
    forced calls to their schemas.
    """
    body = camel(members(body)) if dialect == "google" else members(body)
    if dialect == "bedrock":
        return strict_tools("anthropic", as_messages(body))
    tools = objects(body.get("tools"))
    match dialect:
        case "anthropic":
            return [tool.get("strict") for tool in tools if tool.get("type") in (None, "", "custom")]
        case "google":
            calling = members(members(body.get("toolConfig")).get("functionCallingConfig"))
            free = "always" if calling.get("allowedFunctionNames") else True  # the one mode in which names go with text
            strict = {"VALIDATED": free, "ANY": "always", "NONE": "always"}.get(word(calling.get("mode")).upper())
            declared = body.get("tools")
            listed = objects([declared] if isinstance(declared, dict) else declared)
            return [strict for tool in listed for _ in objects(tool.get("functionDeclarations"))]
        case "cohere":
            return [body.get("strict_tools") for tool in tools if "function" in tool]
        case "openai-chat":
            named = [*tools, *[{"function": function} for function in objects(body.get("functions"))]]
            return [
                members(tool.get("function")).get("strict")
                for tool in named
                if tool.get("function") is not None or tool.get("type") == "custom"
            ]
        case "openai-responses":
            own = [tool for tool in tools if tool.get("type") in ("function", "custom")]
            return [(members(tool.get("function")) or tool).get("strict", "default") for tool in own]
        case "unified":
            return [tool.get("strict") for tool in tools if tool.get("type") != "opaque_tool"]
        case _:
            return [None for tool in tools if "function" in tool]
