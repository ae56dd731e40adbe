"""How a client of each format goes on after an answer: it sends back what it got, answers every call, or speaks again.

Rules
- Written from the wire formats and the habits of the official clients alone; nothing of the dialects is imported.
- A client sends back every member of the answer's message, as the official clients do with the value that they read.
- Of several calls the second is answered with an error, the third with nothing.
- The tools of the next request are those that the answer calls.

This module is not responsible for what becomes of such a request: that is `fed_back.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["ANSWERED", "FAILED", "FIRST", "NEXT", "Outcome", "next_body", "outcome_of"]

FIRST = "What is the weather in Oslo?"
"""The question of the user."""
NEXT = "Go on, please."
"""The user's words after an answer without calls."""
ANSWERED = "4 degrees"
"""The result of a call."""
FAILED = "the service did not answer"
"""Why a call failed."""

Body = dict[str, Any]


class Outcome(NamedTuple):
    """The result of a call."""

    text: str
    """The text of the result."""
    is_error: bool = False
    """Whether it failed."""


OUTCOMES = (Outcome(ANSWERED), Outcome(FAILED, is_error=True), Outcome(""))


def outcome_of(number: int) -> Outcome:
    """The result of the call of that number of an answer."""
    return OUTCOMES[number % len(OUTCOMES)]


def next_body(dialect: str, answer: Any, model: str) -> Body:
    """The body of the request with which a client of that format goes on after `answer`."""
    return _ECHOES[dialect](members(answer), model)


def _marked(outcome: Outcome) -> str:
    """An outcome where the format has no flag for an error."""
    return f"ERROR: {outcome.text}" if outcome.is_error else outcome.text


def _chat(answer: Body, model: str) -> Body:
    [choice] = objects(answer.get("choices"))[:1] or [Body()]
    message: Body = {"role": "assistant", **members(choice.get("message"))}
    message.setdefault("content", None)
    calls = objects(message.get("tool_calls"))
    messages: list[Body] = [{"role": "user", "content": FIRST}, message]
    messages += [
        {"role": "tool", "tool_call_id": call.get("id"), "content": _marked(outcome_of(number))}
        for number, call in enumerate(calls)
    ]
    if not calls:
        messages.append({"role": "user", "content": NEXT})
    kinds = dict.fromkeys((kind := word(call.get("type")), word(members(call.get(kind)).get("name"))) for call in calls)
    tools = [{"type": kind, kind: {"name": name}} for kind, name in kinds]
    return {"model": model, "messages": messages, **({"tools": tools} if tools else {})}


_OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}


def _responses(answer: Body, model: str) -> Body:
    output = objects(answer.get("output"))
    calls = [item for item in output if item.get("type") in _OUTPUTS]
    items: list[Body] = [{"role": "user", "content": FIRST}, *output]
    items += [
        {
            "type": _OUTPUTS[word(call["type"])],
            "call_id": call.get("call_id"),
            "output": _marked(outcome_of(number)),
        }
        for number, call in enumerate(calls)
    ]
    if not calls:
        items.append({"role": "user", "content": NEXT})
    body: Body = {"model": model, "input": items, "store": False}
    tools: list[Body] = []
    for kind, name in dict.fromkeys((word(call["type"]), word(call.get("name"))) for call in calls):
        if kind == "custom_tool_call":
            tools.append({"type": "custom", "name": name})
        else:
            tools.append({"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False})
    return {**body, "tools": tools} if tools else body


def _anthropic(answer: Body, model: str) -> Body:
    content = items(answer.get("content"))
    calls = [block for block in objects(content) if block.get("type") == "tool_use"]
    results: list[Body] = []
    for number, call in enumerate(calls):
        outcome = outcome_of(number)
        flag = {"is_error": True} if outcome.is_error else {}
        results.append({"type": "tool_result", "tool_use_id": call.get("id"), "content": outcome.text, **flag})
    messages: list[Body] = [{"role": "user", "content": FIRST}, {"role": "assistant", "content": content}]
    messages.append({"role": "user", "content": results or NEXT})
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in _once(word(call["name"]) for call in calls)]
    return {"model": model, "max_tokens": 2000, "messages": messages, **({"tools": tools} if tools else {})}


def _google(answer: Body, model: str) -> Body:
    del model  # it stands in the path
    [candidate] = objects(answer.get("candidates"))[:1] or [Body()]
    content = {"role": "model", **members(candidate.get("content"))}
    calls = [members(part["functionCall"]) for part in objects(content.get("parts")) if "functionCall" in part]
    results: list[Body] = []
    for number, call in enumerate(calls):
        outcome = outcome_of(number)
        result = {"name": call.get("name"), "response": {"error" if outcome.is_error else "output": outcome.text}}
        results.append({"functionResponse": {**result, **({"id": call["id"]} if "id" in call else {})}})
    contents = [{"role": "user", "parts": [{"text": FIRST}]}, *([content] if content.get("parts") else [])]
    contents.append({"role": "user", "parts": results or [{"text": NEXT}]})
    declared = [{"name": name} for name in _once(word(call.get("name")) for call in calls)]
    return {"contents": contents, **({"tools": [{"functionDeclarations": declared}]} if declared else {})}


def _ollama(answer: Body, model: str) -> Body:
    message = {"role": "assistant", "content": "", **members(answer.get("message"))}
    calls = [members(call.get("function")) for call in objects(message.get("tool_calls"))]
    messages: list[Body] = [{"role": "user", "content": FIRST}, message]
    messages += [
        {"role": "tool", "tool_name": call.get("name"), "content": _marked(outcome_of(number))}
        for number, call in enumerate(calls)
    ]
    if not calls:
        messages.append({"role": "user", "content": NEXT})
    names = _once(word(call.get("name")) for call in calls)
    tools: list[Body] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in names
    ]
    return {"model": model, "messages": messages, **({"tools": tools} if tools else {})}


def _cohere(answer: Body, model: str) -> Body:
    message = {"role": "assistant", **members(answer.get("message"))}
    calls = objects(message.get("tool_calls"))
    messages: list[Body] = [{"role": "user", "content": FIRST}, message]
    messages += [
        {"role": "tool", "tool_call_id": call.get("id"), "content": _marked(outcome_of(number))}
        for number, call in enumerate(calls)
    ]
    if not calls:
        messages.append({"role": "user", "content": NEXT})
    tools: list[Body] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in _once(word(members(call.get("function")).get("name")) for call in calls)
    ]
    return {"model": model, "messages": messages, **({"tools": tools} if tools else {})}


def _bedrock(answer: Body, model: str) -> Body:
    del model  # it stands in the path
    content = items(members(members(answer.get("output")).get("message")).get("content"))
    calls = [members(block["toolUse"]) for block in objects(content) if "toolUse" in block]
    calls = [call for call in calls if call.get("type") is None]
    results: list[Body] = []
    for number, call in enumerate(calls):
        outcome = outcome_of(number)
        flag = {"status": "error"} if outcome.is_error else {}
        texts: list[Body] = [{"text": outcome.text}] if outcome.text else []
        results.append({"toolResult": {"toolUseId": call.get("toolUseId"), "content": texts, **flag}})
    messages: list[Body] = [{"role": "user", "content": [{"text": FIRST}]}]
    messages += [{"role": "assistant", "content": content}] if content else []
    messages.append({"role": "user", "content": results or [{"text": NEXT}]})
    tools = [
        {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}
        for name in _once(word(call.get("name")) for call in calls)
    ]
    return {"messages": messages, **({"toolConfig": {"tools": tools}} if tools else {})}


def _unified(answer: Body, model: str) -> Body:
    parts = objects(answer.get("parts"))
    calls = [part for part in parts if part.get("type") == "tool_call"]
    results: list[Body] = []
    for number, call in enumerate(calls):
        outcome = outcome_of(number)
        flag = {"is_error": True} if outcome.is_error else {}
        results.append({"type": "tool_result", "tool_call_id": call.get("id"), "content": outcome.text, **flag})
    messages: list[Body] = [{"role": "user", "parts": [{"type": "text", "text": FIRST}]}]
    if parts:
        messages.append({"role": "assistant", "parts": parts})
    if results:
        messages.append({"role": "tool", "parts": results})
    else:
        messages.append({"role": "user", "parts": [{"type": "text", "text": NEXT}]})
    tools: list[Body] = [
        {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}}
        for name in _once(word(call.get("name")) for call in calls)
    ]
    return {"model": model, "messages": messages, **({"tools": tools} if tools else {})}


def _once(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


_ECHOES: dict[str, Callable[[Body, str], Body]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
    "cohere": _cohere,
    "bedrock": _bedrock,
    "unified": _unified,
}
