"""Facts of generateContent bodies.

Rules
- Members are read in camel case and in snake case, except inside schemas, arguments and results.
- A content is the model's when its role says so, else the user's; neighbours are one turn. All declarations are one
  list of tools.
- Calls and results pair by id, and without one by name, then by order.
- The output of a result is its `output`, its error its `error`, each alone; any other object is the output itself.
- An answer's input counts what tools added to the prompt, its output counts the thoughts.
- Calls decide over the finish reason: `STOP` with calls is `tool_calls`.

Source: wire/google.md §1-§6.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Any

from interlingua.testing.wirefacts.errors import error_class, named_status
from interlingua.testing.wirefacts.google_schema import json_schema
from interlingua.testing.wirefacts.values import (
    NO_PARAMETERS,
    Conversation,
    Facts,
    arguments_value,
    digest,
    items,
    members,
    objects,
    word,
)
from interlingua.wire.finish_words import finish_words

__all__ = ["camel", "error_facts", "request_facts", "request_faults", "response_facts", "usage_facts"]

FINISH_REASONS = finish_words("google")
VERBATIM = frozenset({"args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema"})
HOLDERS: tuple[type, ...] = (dict, list)
"""Types of values that have others in them."""
FILLER = "skip_thought_signature_validator"


def camel(value: Any) -> Any:
    """A body with its members in camel case, what is somebody else's left alone."""
    if isinstance(value, list):
        return [camel(item) for item in items(value)]
    if not isinstance(value, dict):
        return value
    renamed = {
        re.sub(r"_([a-z])", _upper, name) if "_" in name else name: member for name, member in members(value).items()
    }
    return {
        name: camel(member) if isinstance(member, HOLDERS) and name not in VERBATIM else member
        for name, member in renamed.items()
    }


def _upper(match: re.Match[str]) -> str:
    return match[1].upper()


def _listed(value: Any) -> list[dict[str, Any]]:
    """The objects of an array; an object alone is an array of one."""
    return objects([value] if isinstance(value, dict) else value)


# Requests


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body; the model stands in the path."""
    body = camel(body)
    tools = _listed(body.get("tools"))
    declared = [tool for entry in tools for tool in objects(entry.get("functionDeclarations"))]
    return {
        "model": model,
        **_conversation(body).facts(),
        "tools": [_tool(tool) for tool in declared],
        "server_tools": [
            {name: member} for entry in tools for name, member in entry.items() if name != "functionDeclarations"
        ],
        "tool_choice": _choice(members(body.get("toolConfig"))) if tools else None,
        "output_schema": _output_schema(members(body.get("generationConfig"))),
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(camel(body)).pairing_faults()


class _Pairs:
    """Numbers for calls, found again for their results."""

    def __init__(self) -> None:
        self.open: list[tuple[str, str | None, str]] = []
        self.number = 0

    def call(self, call_id: str | None, name: str) -> str:
        """The key of a call; a repeated id gives a repeated key."""
        key = f"id {call_id}" if call_id else f"number {self.number}"
        self.number += 1
        self.open.append((key, call_id, name))
        return key

    def result(self, call_id: str | None, name: str) -> str | None:
        """The key of the call that a result answers."""
        same_id = [entry for entry in self.open if call_id and entry[1] == call_id]
        same_name = [entry for entry in self.open if entry[2] == name and not (call_id and entry[1])]
        result = next(iter([*same_id, *same_name]), None)
        if result is None:
            return None
        self.open.remove(result)
        return result[0]


def _conversation(body: Any) -> Conversation:
    conversation, pairs = Conversation(), _Pairs()
    system = body.get("systemInstruction")
    _content(conversation, pairs, "system", {"parts": {"text": system}} if isinstance(system, str) else members(system))
    for role, contents in groupby(_listed(body.get("contents")), _role):
        parts = [part for content in contents for part in _listed(content.get("parts"))]
        _content(conversation, pairs, role, {"parts": parts})
    return conversation


def _role(content: dict[str, Any]) -> str:
    return "assistant" if content.get("role") == "model" else "user"


STEPS = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})
"""Members of parts about tools that the provider runs; `steps` reads those."""


def _content(conversation: Conversation, pairs: _Pairs, role: str, content: dict[str, Any]) -> None:
    parts = _listed(content.get("parts"))
    for part in parts:
        _part(conversation, pairs, role, part)
    thinking, seals = _thinking(parts)
    conversation.thinking.extend([thinking] if thinking else [])
    conversation.seals.extend(seals)


def _part(conversation: Conversation, pairs: _Pairs, role: str, part: dict[str, Any]) -> None:
    if "functionCall" in part:
        call = members(part["functionCall"])
        name = word(call.get("name"))
        conversation.call(pairs.call(call.get("id"), name), name, call.get("args"))
    elif "functionResponse" in part:
        _result(conversation, pairs, members(part["functionResponse"]))
    elif "inlineData" in part:
        conversation.media.append(_media(members(part["inlineData"])))
    elif "text" in part or part.keys() <= {"thoughtSignature", "thought"}:
        conversation.text(role, "" if part.get("thought") else word(part.get("text")))
    elif not STEPS & part.keys():
        conversation.references.append({name: value for name, value in part.items() if name != "thoughtSignature"})


def _media(blob: dict[str, Any]) -> list[str]:
    return digest(word(blob.get("mimeType")), word(blob.get("data")))


def _result(conversation: Conversation, pairs: _Pairs, result: dict[str, Any]) -> None:
    key = pairs.result(result.get("id"), word(result.get("name")))
    silent = result.get("parts") and not result.get("response")
    content, is_error = ("", False) if silent else _outcome(result.get("response"))
    conversation.result(key, content, is_error=is_error)
    for part in objects(result.get("parts")):
        if "inlineData" in part:
            conversation.media.append(_media(members(part["inlineData"])))
        else:
            conversation.references.append(part)


def _outcome(response: Any) -> tuple[Any, bool]:
    raw = members(response) if isinstance(response, dict) else {"output": "" if response is None else response}
    failed = raw.get("error") is not None and "output" not in raw
    value: Any = raw
    if raw.keys() == {"output"} or (raw.keys() == {"error"} and failed):
        value = next(iter(raw.values()))
    return (json.dumps(value) if value is None or isinstance(value, bool | int | float) else value), failed


def _thinking(parts: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """Readable thinking and sealed state of the contents of one turn."""
    texts = [text for part in parts if part.get("thought") and (text := word(part.get("text")))]
    readable = ("text", "functionCall", "inlineData")
    signatures = [
        word(part.get("thoughtSignature")) for part in parts if len(part) == 1 or any(name in part for name in readable)
    ]
    return "\n\n".join(texts), [signature for signature in signatures if signature and signature != FILLER]


def _tool(tool: dict[str, Any]) -> Facts:
    raw = tool.get("parametersJsonSchema")
    schema = json_schema(tool.get("parameters")) if raw is None else raw
    return {
        "name": tool.get("name"),
        "description": tool.get("description") or None,
        "schema": schema or NO_PARAMETERS,
    }


def _choice(config: dict[str, Any]) -> Any:
    """The tool choice; None is `AUTO`, said or not."""
    calling = members(config.get("functionCallingConfig"))
    names = items(calling.get("allowedFunctionNames"))
    match word(calling.get("mode")).upper():
        case "NONE":
            return "none"
        case "ANY" if len(names) == 1:
            return {"name": names[0]}
        case "ANY":
            return {"allowed": names, "mode": "required"} if names else "required"
        case _:
            return {"allowed": names, "mode": "auto"} if names else None


def _output_schema(config: dict[str, Any]) -> Any:
    """The schema of the answer, or `json` for JSON mode; None for plain text."""
    if config.get("responseJsonSchema") is not None:
        return config["responseJsonSchema"]
    if config.get("responseSchema") is not None:
        return json_schema(config["responseSchema"])
    return "json" if config.get("responseMimeType") == "application/json" else None


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer; a blocked prompt is one filtered choice."""
    body = camel(body)
    candidates = objects(body.get("candidates"))
    if not candidates and members(body.get("promptFeedback")).get("blockReason"):
        candidates = [{"finishReason": "PROHIBITED_CONTENT"}]
    return {
        "model": word(body.get("modelVersion")),
        "choices": [_answer(candidate) for candidate in candidates],
        "usage": usage_facts(members(body.get("usageMetadata"))),
    }


def _answer(candidate: dict[str, Any]) -> Facts:
    parts = _listed(members(candidate.get("content")).get("parts"))
    thinking, seals = _thinking(parts)
    calls = [
        {"name": word(call.get("name")), "arguments": arguments_value(call.get("args"))}
        for call in [members(part["functionCall"]) for part in parts if "functionCall" in part]
    ]
    reason = FINISH_REASONS.get(str(candidate.get("finishReason")), "other")
    return {
        "text": "".join([word(part.get("text")) for part in parts if not part.get("thought")]),
        "thinking": thinking,
        "seals": seals,
        "calls": calls,
        "refusal": None,
        "finish_reason": "tool_calls" if calls and reason in ("stop", "other") else reason,
        "media": [_media(members(part["inlineData"])) for part in parts if "inlineData" in part],
    }


def usage_facts(usage: dict[str, Any]) -> Facts | None:
    """Token counts: input with cached and tool tokens, output with thoughts; of a counted prompt alone, 0 came."""
    raw = _sum(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount"))
    written = _sum(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount"))
    if raw is None and written is None:
        return None
    return {
        "input": raw,
        "output": written or 0,
        "cache_read": usage.get("cachedContentTokenCount"),
        "cache_write": None,
        "reasoning": usage.get("thoughtsTokenCount"),
    }


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


# Errors

OWN_REASONS = {
    "CONTEXT_WINDOW_EXCEEDED": "ContextWindowExceededError",
    "CONTENT_POLICY_VIOLATION": "ContentPolicyViolationError",
    "STREAM_INCOMPLETE": "IncompleteStreamError",
}
"""Reasons that this project's own servers add for classes without a word (docs/dialects/google.md)."""


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer; None for a body that is none."""
    content = (objects(body) or [{}])[0] if isinstance(body, list) else members(body)
    error = members(content.get("error"))
    if status < 400 and not error:
        return None
    effective = status if status >= 400 else named_status(error)
    return {"status": effective, "class": error_class(effective, content or body, OWN_REASONS)}
