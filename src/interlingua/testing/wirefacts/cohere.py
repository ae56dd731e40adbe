"""Facts of Cohere's own bodies, `/v2/chat`, whole and streamed.

Rules
- Content is a text or blocks; the plan is text of the assistant behind them; a document in a result is its text.
- `documents` of a request are media of the type text/plain.
- Tokens are those that the model counts; where they are missing, those that are charged.
- A stream is done with `message-end`; one with an error in it is that error.

Source: wire/cohere.md §1-§5; cohere-python 7.3.1.
"""

from __future__ import annotations

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
    counted,
    data_url,
    digest,
    event_data,
    items,
    members,
    objects,
    word,
)
from interlingua.wire.finish_words import finish_words

__all__ = ["READER", "error_facts", "request_facts", "request_faults", "response_facts", "stream_facts"]

FINISH_REASONS = finish_words("cohere")
INVALID_TOKEN = 498
_CHOICES = {"REQUIRED": "required", "NONE": "none"}


# Requests


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    tools = objects(body.get("tools"))
    form = members(body.get("response_format"))
    is_json = form.get("type") == "json_object"
    schema = form.get("json_schema") or form.get("schema")
    return {
        "model": body.get("model") or model,
        **_conversation(body).facts(),
        "tools": [_tool(members(tool["function"])) for tool in tools if "function" in tool],
        "server_tools": [tool for tool in tools if "function" not in tool],
        "tool_choice": _CHOICES.get(word(body.get("tool_choice"))),
        "output_schema": (schema or "json") if is_json else None,
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(body).pairing_faults()


def _conversation(body: Any) -> Conversation:
    conversation = Conversation()
    conversation.media.extend([digest("text/plain", _document(one).encode()) for one in items(body.get("documents"))])
    for message in objects(body.get("messages")):
        role = word(message.get("role"))
        if role == "tool":
            conversation.result(message.get("tool_call_id"), _result(message.get("content"), conversation))
            continue
        for block in _blocks(message.get("content")):
            _block(conversation, role, block)
        if role != "assistant":
            continue
        conversation.text(role, word(message.get("tool_plan")))
        for call in objects(message.get("tool_calls")):
            function = members(call.get("function"))
            conversation.call(call.get("id"), word(function.get("name")), function.get("arguments"))
    return conversation


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _block(conversation: Conversation, role: str, block: dict[str, Any]) -> None:
    match block.get("type", "text"):
        case "text":
            conversation.text(role, word(block.get("text")))
        case "thinking":
            conversation.thinking.extend([text] if (text := word(block.get("thinking"))) else [])
        case "image_url":
            image = block.get("image_url")
            url = word(image if isinstance(image, str) else members(image).get("url"))
            media = data_url(url)
            if media is None:
                conversation.references.append(url)
            else:
                conversation.media.append(media)
        case "document":
            conversation.text(role, _document(block.get("document")))
        case _:
            conversation.references.append(block)


def _result(content: Any, conversation: Conversation) -> str:
    texts: list[str] = []
    for block in _blocks(content):
        if block.get("type") == "document":
            texts.append(_document(block.get("document")))
        elif block.get("type", "text") == "text":
            texts.append(word(block.get("text")))
        else:
            conversation.references.append(block)
    return "".join(texts)


def _document(document: Any) -> str:
    """The text of a document: data of a text alone, or of a title and a text, is that text; any other is its JSON."""
    data = document
    if isinstance(document, dict):
        inside = members(document)
        data = inside.get("data", {name: value for name, value in inside.items() if name != "id"})
    if isinstance(data, str):
        return data
    fields = members(data)
    title = fields.get("title", "-")
    if isinstance(fields.get("text"), str) and set(fields) <= {"text", "title"} and isinstance(title, str) and title:
        return fields["text"]
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _tool(function: dict[str, Any]) -> Facts:
    return {
        "name": function.get("name"),
        "description": function.get("description") or None,
        "schema": function.get("parameters") or NO_PARAMETERS,
    }


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    message = members(body.get("message"))
    blocks = _blocks(message.get("content"))
    functions = [members(call.get("function")) for call in objects(message.get("tool_calls"))]
    calls = [{"name": call.get("name"), "arguments": arguments_value(call.get("arguments"))} for call in functions]
    finish = word(body.get("finish_reason"))
    text = "".join([word(block.get("text")) for block in blocks]) + word(message.get("tool_plan"))
    thinking = "".join([word(block.get("thinking")) for block in blocks])
    reason = FINISH_REASONS.get(finish, "other") if finish else "stop" if text or thinking or calls else "error"
    answer = {
        "text": text,
        "thinking": thinking,
        "seals": [],
        "calls": calls,
        "refusal": None,
        "finish_reason": "tool_calls" if calls and reason in ("stop", "other") else reason,
        "media": [],
    }
    return {"model": "", "choices": [answer], "usage": _usage(members(body.get("usage")))}


def _usage(usage: dict[str, Any]) -> Facts | None:
    tokens = members(usage.get("tokens")) or members(usage.get("billed_units"))
    counts = {"input": tokens.get("input_tokens"), "output": tokens.get("output_tokens")}
    further = {"cache_read": usage.get("cached_tokens"), "cache_write": None, "reasoning": None}
    return counted({**counts, **further})


# Streams


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the events add up to, how the stream ended, and by which error."""
    answer = _Answer()
    for data in event_data(text):
        if data == "[DONE]":
            continue
        event = members(json.loads(data))
        error = answer.feed(event)
        if error is not None or answer.is_done:
            body = answer.body()
            return StreamFacts(response_facts(body), "error" if error else "done", error, body)
    body = answer.body()
    return StreamFacts(response_facts(body), "cut", None, body)


class _Answer:
    """The facts that the events of a stream add up to."""

    def __init__(self) -> None:
        self.id: Any = None
        self.blocks: dict[int, dict[str, Any]] = {}
        self.calls: dict[int, dict[str, Any]] = {}
        self.citations: list[Any] = []
        self.plan = ""
        self.end: dict[str, Any] = {}
        self.is_done = False

    def feed(self, event: dict[str, Any]) -> Facts | None:
        """Take one event; the facts of the error that it is."""
        delta = members(event.get("delta"))
        message, index = members(delta.get("message")), event.get("index") or 0
        match event.get("type"):
            case "message-start":
                self.id = event.get("id")
                self.plan += word(message.get("tool_plan"))
            case "content-start" | "content-delta":
                self._grow(self.blocks.setdefault(index, {}), members(message.get("content")))
            case "tool-plan-delta":
                self.plan += word(message.get("tool_plan"))
            case "tool-call-start" | "tool-call-delta":
                self._grow_call(self.calls.setdefault(index, {}), members(message.get("tool_calls")))
            case "citation-start":
                self.citations.append(message.get("citations"))
            case "message-end" if delta.get("error"):
                return error_facts(200, {**delta, "message": delta["error"]})
            case "message-end":
                self.end, self.is_done = delta, True
            case None:
                return error_facts(200, event)
            case _:
                pass
        return None

    def _grow(self, block: dict[str, Any], more: dict[str, Any]) -> None:
        for name, value in more.items():
            if name in ("text", "thinking"):
                block[name] = word(block.get(name)) + word(value)
            else:
                block[name] = value

    def _grow_call(self, call: dict[str, Any], more: dict[str, Any]) -> None:
        function, grown = members(call.get("function")), members(more.get("function"))
        text = word(function.get("arguments")) + word(grown.get("arguments"))
        call.update(more)
        call["function"] = {**function, **grown, "arguments": text}

    def body(self) -> dict[str, Any]:
        """The whole answer."""
        message = {
            "role": "assistant",
            "content": [self.blocks[index] for index in sorted(self.blocks)],
            "tool_plan": self.plan,
            "tool_calls": [self.calls[index] for index in sorted(self.calls)],
            "citations": self.citations,
        }
        return {"id": self.id, "message": message, **self.end}


# Errors


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer or event; None for a body that is none."""
    error = members(body)
    if status < 400 and (isinstance(error.get("message"), dict) or not (error.get("message") or error.get("error"))):
        return None
    effective = status if status >= 400 else named_status(error)
    kind = "AuthenticationError" if effective == INVALID_TOKEN else error_class(effective, body)
    return {"status": effective, "class": kind}


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "cohere")
"""The readers of this format."""
