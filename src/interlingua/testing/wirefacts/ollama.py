"""Facts of Ollama's own bodies: `/api/chat`, and `/api/generate` as its older form.

Rules
- The prompt of the older form is one user message, its `system` a system message; an answer's `response` is its text.
- A result names its call by id, else by the tool's name, else it answers the oldest open call.
- The type of an image is what its first bytes say.
- `done_reason` stays `stop` when tools are called; nothing there on `done` is a failure of the runner.

Source: wire/ollama.md §1-§5.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from interlingua.testing.wirefacts.errors import error_class, named_status
from interlingua.testing.wirefacts.values import (
    NO_PARAMETERS,
    Conversation,
    FactReader,
    Facts,
    StreamFacts,
    arguments_value,
    digest,
    items,
    members,
    objects,
    word,
)
from interlingua.wire.finish_words import finish_words

__all__ = ["READER", "error_facts", "request_facts", "request_faults", "response_facts", "stream_facts"]

SIGNATURES = (
    (0, b"\x89PNG", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
)
UNKNOWN_TYPE = "image/png"
"""The type of an image whose first bytes say nothing."""
FINISH_REASONS = finish_words("ollama")
COUNTED = ("total_duration", "eval_duration", "prompt_eval_duration", "eval_count", "prompt_eval_count")
"""Members at the end of an answer: older ones say no reason beside it."""


# Requests


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    tools = objects(body.get("tools"))
    return {
        "model": body.get("model") or model,
        **_conversation(body).facts(),
        "tools": [_tool(members(tool["function"])) for tool in tools if "function" in tool],
        "server_tools": [tool for tool in tools if "function" not in tool],
        "tool_choice": None,
        "output_schema": body.get("format") or None,
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(body).pairing_faults()


def _conversation(body: Any) -> Conversation:
    conversation = Conversation()
    pairing = _Pairing()
    for message in _messages(body):
        role = word(message.get("role"))
        if role == "tool":
            conversation.result(pairing.answered(message), word(message.get("content")))
        else:
            conversation.text(role, word(message.get("content")))
        conversation.media.extend([_image(image) for image in items(message.get("images"))])
        conversation.thinking.extend([text] if (text := word(message.get("thinking"))) else [])
        for call in objects(message.get("tool_calls")):
            function = members(call.get("function"))
            name = word(function.get("name"))
            conversation.call(pairing.add_call(call.get("id"), name), name, function.get("arguments"))
    return conversation


def _messages(body: Any) -> list[dict[str, Any]]:
    if "prompt" not in body:
        return objects(body.get("messages"))
    system = {"role": "system", "content": body.get("system")}
    return [system, {"role": "user", "content": body.get("prompt"), "images": body.get("images")}]


class _Pairing:
    """Which call a result answers; keys are the ids, or made up where there are none."""

    def __init__(self) -> None:
        self.open: list[tuple[str, Any, str]] = []
        self.number = 0

    def add_call(self, call_id: Any, name: str) -> str:
        self.number += 1
        key = call_id or f"call without id {self.number}"
        self.open.append((key, call_id, name))
        return key

    def answered(self, message: Any) -> str | None:
        wanted_id = message.get("tool_call_id")
        wanted_name = message.get("tool_name") or message.get("name")
        by_id = [call for call in self.open if wanted_id and call[1] == wanted_id]
        unnamed = [call for call in self.open if not (wanted_id and call[1])]
        by_name = [call for call in unnamed if wanted_name in (None, "", call[2])]
        result = next(iter(by_id or by_name), None)
        if result is None:
            return wanted_id
        self.open.remove(result)
        return result[0]


def _tool(function: Any) -> Facts:
    return {
        "name": function.get("name"),
        "description": function.get("description") or None,
        "schema": function.get("parameters") or NO_PARAMETERS,
    }


def _image(text: Any) -> list[str]:
    try:
        data = base64.b64decode(word(text), validate=False)
    except (binascii.Error, ValueError):
        data = word(text).encode()
    result = [name for place, start, name in SIGNATURES if data[place:].startswith(start)]
    return digest(result[0] if result else UNKNOWN_TYPE, data)


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    message = members(body.get("message")) or {**members(body), "content": body.get("response")}
    functions = [members(call.get("function")) for call in objects(message.get("tool_calls"))]
    calls = [{"name": call.get("name"), "arguments": arguments_value(call.get("arguments"))} for call in functions]
    finish = word(body.get("done_reason"))
    is_counted = any(body.get(name) is not None for name in COUNTED)
    reason = FINISH_REASONS.get(finish, "other") if finish else "stop" if is_counted else "error"
    answer = {
        "text": word(message.get("content")),
        "thinking": word(message.get("thinking")),
        "seals": [],
        "calls": calls,
        "refusal": None,
        "finish_reason": "tool_calls" if calls and reason in ("stop", "other") else reason,
        "media": [_image(image) for image in items(message.get("images"))],
    }
    return {"model": word(body.get("model")), "choices": [answer], "usage": _usage(body)}


def _usage(body: Any) -> Facts | None:
    read, written = body.get("prompt_eval_count"), body.get("eval_count")
    if read is None and written is None:
        return None
    return {"input": read, "output": written, "cache_read": None, "cache_write": None, "reasoning": None}


# Streams


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the lines add up to, how the stream ended, and by which error."""
    answer: dict[str, Any] = {}
    message: dict[str, Any] = {}
    for line in text.removeprefix("\ufeff").split("\n"):
        if not line.strip():
            continue
        chunk = json.loads(line)
        if "error" in chunk:
            return _stream_facts(answer, message, "error", error_facts(200, chunk))
        _add(message, members(chunk.get("message")) or {**chunk, "content": chunk.get("response")})
        answer.update(chunk)
        if chunk.get("done") is True:
            return _stream_facts(answer, message, "done")
    return _stream_facts(answer, message, "cut")


def _stream_facts(answer: dict[str, Any], message: dict[str, Any], end: str, error: Facts | None = None) -> StreamFacts:
    body = {**answer, "message": message}
    return StreamFacts(response_facts(body), end, error, body)


def _add(message: dict[str, Any], more: dict[str, Any]) -> None:
    for name in ("content", "thinking"):
        message[name] = word(message.get(name)) + word(more.get(name))
    for name in ("tool_calls", "images"):
        message[name] = [*items(message.get(name)), *items(more.get(name))]


# Errors


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer or line; None for a body that is none."""
    if status < 400 and members(body).get("error") is None:
        return None
    effective = status if status >= 400 else named_status(members(body))
    return {"status": effective, "class": error_class(effective, body)}


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "ollama")
"""The readers of this format."""
