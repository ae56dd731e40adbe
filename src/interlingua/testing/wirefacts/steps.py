"""Steps of tools that providers run, read from the wire of each format: words of what was called, and of what came.

Rules
- A step is told by its words: queries, code, commands, addresses, titles, results. Ids, states and sealed members are
  the provider's own, and mean nothing elsewhere.
- Only what the model did counts: the items of an answer, and those of the assistant in a history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from interlingua.testing.wirefacts.bedrock import as_message, as_messages
from interlingua.testing.wirefacts.google import camel
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["answer_steps", "request_steps", "step_words"]

TELLING = frozenset({
    "query", "queries", "search_query", "link", "code", "url", "title", "stdout", "stderr", "text", "output", "logs",
    "command", "commands", "data", "error_code", "error_message", "tool_name", "path", "diff", "pattern", "filename",
})  # fmt: skip
"""Members whose text is what a step says."""
INPUTS = frozenset({"input", "args", "arguments", "action", "operation"})
"""Members of which all that is in them was said by the model, the kind of an action aside."""
HIDDEN = frozenset(
    {"type", "search_suggestions", "searchSuggestions", "sources", "env", "annotations", "input_schema", "parameters"}
)
GOOGLE = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
ANSWERED = ("function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output")
"""Items of the client's own tools."""
RESPONSES = frozenset({
    "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "program", "program_output",
    "tool_search_output",
})  # fmt: skip
"""Items of tools of the service that are no `…_call` and no `…_call_output`."""


def step_words(raw: Any) -> list[str]:
    """The words of one step, in the order in which it says them."""
    return list(dict.fromkeys(_words(raw, inside=False)))


def _words(value: Any, *, inside: bool) -> Iterator[str]:
    for item in items(value):
        yield from _words(item, inside=inside)
    if isinstance(value, str) and inside and value.strip():
        yield value.strip()
    if not isinstance(value, dict):
        return
    for name, member in members(value).items():
        if name == "arguments" and isinstance(member, str):
            yield from _words(_parsed(member), inside=True)
        elif name in TELLING or (inside and name not in HIDDEN) or name in INPUTS:
            yield from _words(member, inside=True)
        elif name not in HIDDEN and not isinstance(member, str):
            yield from _words(member, inside=False)
        elif name == "content" and isinstance(member, str):
            yield member.strip()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def request_steps(dialect: str, body: Any) -> list[Any]:
    """The words of each step in the history of a request, in order."""
    body = members(body)
    match dialect:
        case "anthropic":
            turns = [one for one in objects(body.get("messages")) if one.get("role") == "assistant"]
            return _anthropic([block for one in turns for block in objects(one.get("content"))])
        case "bedrock":
            return request_steps("anthropic", as_messages(body))
        case "google":
            contents = camel(body).get("contents")
            listed = objects([contents] if isinstance(contents, dict) else contents)
            return _google([part for one in listed for part in _parts(one)])
        case "openai-chat":
            return _chat(objects(body.get("messages")))
        case "openai-responses":
            return _responses(objects(body.get("input")))
        case "unified":
            return _unified([part for one in objects(body.get("messages")) for part in objects(one.get("parts"))])
        case _:
            return []


def answer_steps(dialect: str, body: Any, number: int) -> list[Any]:
    """The words of each step in the choice of that number of an answer, in order."""
    body = members(body)
    match dialect:
        case "anthropic":
            return _anthropic(objects(body.get("content")))
        case "bedrock":
            return answer_steps("anthropic", as_message(body), number)
        case "google":
            candidates = objects(camel(body).get("candidates"))[number:]
            return _google(_parts(members(candidates[0].get("content")))) if candidates else []
        case "openai-chat":
            choices = objects(body.get("choices"))[number:]
            return _chat([members(one.get("message") or one.get("delta")) for one in choices[:1]])
        case "openai-responses":
            return _responses(objects(body.get("output")))
        case "unified":
            answer = members(body.get("partial")) if "error" in body else body
            choices = [answer, *objects(answer.get("alternatives"))][number:]
            return _unified([part for one in choices[:1] for part in objects(one.get("parts"))])
        case _:
            return []


def _anthropic(blocks: list[dict[str, Any]]) -> list[list[str]]:
    kinds = [(word(block.get("type")), block) for block in blocks]
    calls = ("server_tool_use", "mcp_tool_use", "compaction")
    steps = [block for kind, block in kinds if kind in calls or kind.endswith("_tool_result")]
    return [step_words(block) for block in steps]


def _parts(content: dict[str, Any]) -> list[dict[str, Any]]:
    parts = content.get("parts")
    return objects([parts] if isinstance(parts, dict) else parts)


def _google(parts: list[dict[str, Any]]) -> list[list[str]]:
    return [step_words(part) for part in parts if any(name in part for name in GOOGLE)]


def _chat(messages: list[dict[str, Any]]) -> list[list[str]]:
    calls = [call for one in messages for call in objects(one.get("tool_calls"))]
    kinds = (None, "", "function", "custom")
    return [
        step_words({"tool_calls": [{name: value for name, value in call.items() if name != "index"}]})
        for call in calls
        if call.get("type") not in kinds and "function" not in call and "custom" not in call
    ]


def _responses(listed: list[dict[str, Any]]) -> list[list[str]]:
    return [step_words(item) for item in listed if _is_item(item)]


def _is_item(item: dict[str, Any]) -> bool:
    kind = word(item.get("type"))
    if kind in ANSWERED or (kind == "image_generation_call" and item.get("result")):
        return False
    return kind in RESPONSES or kind.endswith(("_call", "_call_output"))


def _unified(parts: list[dict[str, Any]]) -> list[Any]:
    return [_fields(part) for part in parts if part.get("type") == "server_tool"]


def _fields(part: dict[str, Any]) -> Any:
    """The words of a step of our own format, or those of its raw value that its fields do not say."""
    words = step_words(part.get("raw"))
    fields = "\n".join(_strings([part.get("input"), part.get("output"), part.get("sources")]))
    unread = [one for one in words if one not in fields]
    return {"unread": unread} if unread else words


def _strings(value: Any) -> Iterator[str]:
    for item in [*items(value), *members(value).values()]:
        yield from _strings(item)
    if not isinstance(value, list | dict):
        yield str(value)
