"""What goes over the wire in the rows of the gateway: the load of the library's rows, as bytes of each dialect.

Ten tools and ten messages up (7 kB), a text and two tool calls down; streams of 225 events.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = [
    "CALLS",
    "CLIENT_KEY",
    "DESCRIPTION",
    "EVENTS",
    "MARK",
    "MAX_TOKENS",
    "PARAMETERS",
    "PIECES",
    "TEXT",
    "TOOLS",
    "TURNS",
    "ahead",
    "answers",
    "around_a_number",
    "encoded",
    "request",
    "request_body",
    "tool_name",
    "whole_request",
]

EVENTS = 225
"""Pieces of text in a stream."""
CLIENT_KEY = "sk-" + "k" * 37
"""What a client of a gateway brings."""
TEXT = "What will the weather be in Oslo, and should I take an umbrella with me? " * 4
"""The system prompt, and each turn."""
MARK = b"#" * 10
"""What the load generator replaces by another number in each request, and the upstream in each answer."""
NUMBER = MARK.decode()
LOOK = f"Let me look ({NUMBER}). " * 4
"""The text of a whole answer."""
TOOLS = 10
"""How many are offered."""
TURNS = 9
"""Messages beside the system prompt."""
MAX_TOKENS = 500
"""How much answer is asked for."""
DESCRIPTION = "Weather forecast."
"""What each tool says of itself."""
PIECES = ("hello ", "again ", "there ")
"""The texts of events, in turn and of one length: a library takes a hundred times the same for a loop of the model."""
CALLS = 2
"""Calls in a whole answer."""
ARGUMENTS = {"city": "Oslo", "days": 3}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "City name, in English."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "description": "How many days ahead."},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city"],
}
"""What each tool takes."""


def tool_name(number: int) -> str:
    """The name of one of the ten tools."""
    return f"get_weather_{number}"


def request_body(model: str, *, tools: int = TOOLS, turns: int = TURNS, text: str = TEXT) -> dict[str, Any]:
    """What a Chat client asks: a system prompt, turns, tools."""
    offered = [
        {
            "type": "function",
            "function": {"name": tool_name(number), "description": DESCRIPTION, "parameters": PARAMETERS},
        }
        for number in range(tools)
    ]
    said = [{"role": ("user", "assistant")[number % 2], "content": text} for number in range(turns)]
    messages = [{"role": "system", "content": text}, *said]
    return {"model": model, "messages": messages, "max_tokens": MAX_TOKENS, **({"tools": offered} if tools else {})}


def encoded(asked: dict[str, Any], *, stream: bool = False) -> bytes:
    """The body of a request."""
    return json.dumps({**asked, "stream": True} if stream else asked).encode()


def around_a_number(body: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the place in the first message where a number makes the conversation a new one."""
    first = b'"content":'
    place = body.index(b'"', body.index(first) + len(first)) + 1
    return body[:place], b" " + body[place:]


def whole_request(body: bytes, headers: tuple[str, ...] = ()) -> bytes:
    """A whole HTTP request of a Chat client."""
    lines = (
        "POST /v1/chat/completions HTTP/1.1",
        "host: 127.0.0.1",
        f"authorization: Bearer {CLIENT_KEY}",
        "content-type: application/json",
        *headers,
        f"content-length: {len(body)}",
    )
    return "\r\n".join([*lines, "", ""]).encode() + body


def request(model: str, *, stream: bool) -> bytes:
    """The same with ten tools and ten messages."""
    return whole_request(encoded(request_body(model), stream=stream))


def answers(events: int = EVENTS) -> dict[str, tuple[bytes, bytes]]:
    """The body and the stream of each path, or of everything below it."""
    return {
        "/v1/chat/completions": (_chat(), _chat_stream(events)),
        "/v1/messages": (_messages(), _messages_stream(events)),
        "/v1beta/models/": (_google(), _google_stream(events)),
        "/v1/models/": (_google(), _google_stream(events)),  # Google's SDK for Python asks there
        "/api/chat": (_ollama(), _ollama_stream(events)),
    }


def ahead(path: str) -> int:
    """How many events of a stream there are up to its first token; they come together in a paced stream."""
    return 3 if path.endswith("/messages") else 2 if path.endswith("/completions") else 1


def _texts(events: int) -> list[str]:
    return [PIECES[number % len(PIECES)] for number in range(events)]


def _chat() -> bytes:
    function = {"arguments": json.dumps(ARGUMENTS)}
    calls = [
        {"id": f"call_{NUMBER}{n}", "type": "function", "function": {"name": tool_name(n), **function}} for n in (1, 2)
    ]
    message = {"role": "assistant", "content": LOOK, "tool_calls": calls}
    usage = {"prompt_tokens": 1500, "completion_tokens": 80, "total_tokens": 1580}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = {
        "id": f"chatcmpl-{NUMBER}",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-test",
        "choices": [choice],
    }
    return json.dumps({**whole, "usage": usage}).encode()


def _chat_chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    kind = {"id": f"chatcmpl-{NUMBER}", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    return b"data: " + json.dumps({**kind, "choices": [choice]}).encode() + b"\n\n"


def _chat_stream(events: int) -> bytes:
    pieces = [_chat_chunk({"content": text}) for text in _texts(events)]
    return b"".join([_chat_chunk({"role": "assistant", "content": ""}), *pieces, _chat_chunk({}, "stop")]) + (
        b"data: [DONE]\n\n"
    )


def _messages() -> bytes:
    calls = [{"type": "tool_use", "id": f"toolu_{NUMBER}{n}", "name": tool_name(n), "input": ARGUMENTS} for n in (1, 2)]
    usage = {"input_tokens": 1500, "output_tokens": 80}
    whole = {
        "id": f"msg_{NUMBER}",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "stop_sequence": None,
    }
    content = [{"type": "text", "text": LOOK}, *calls]
    return json.dumps({**whole, "content": content, "stop_reason": "tool_use", "usage": usage}).encode()


def _messages_event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def _messages_stream(events: int) -> bytes:
    start = {"id": f"msg_{NUMBER}", "type": "message", "role": "assistant", "model": "claude-test", "content": []}
    start |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1500, "output_tokens": 1}}
    return b"".join(
        [
            _messages_event("message_start", message=start),
            _messages_event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            *[
                _messages_event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
                for text in _texts(events)
            ],
            _messages_event("content_block_stop", index=0),
            _messages_event(
                "message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 450}
            ),
            _messages_event("message_stop"),
        ]
    )


def _google() -> bytes:
    calls = [{"functionCall": {"name": tool_name(n), "args": ARGUMENTS}} for n in (1, 2)]
    return json.dumps(_google_chunk([{"text": LOOK}, *calls], "STOP")).encode()


def _google_chunk(parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate = {
        "content": {"role": "model", "parts": parts},
        "index": 0,
        **({"finishReason": finish} if finish else {}),
    }
    usage = {"promptTokenCount": 1500, "candidatesTokenCount": 80, "totalTokenCount": 1580}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-test",
        "responseId": f"r{NUMBER}",
    }


def _google_stream(events: int) -> bytes:
    chunks = [_google_chunk([{"text": text}]) for text in _texts(events)]
    return b"".join(
        f"data: {json.dumps(chunk)}\n\n".encode() for chunk in [*chunks, _google_chunk([{"text": ""}], "STOP")]
    )


def _ollama_chunk(message: dict[str, Any], *, done: bool) -> dict[str, Any]:
    head = {"model": "llama-test", "created_at": "2026-11-22T08:00:00Z", "message": message, "done": done}
    counts = {"done_reason": "stop", "prompt_eval_count": 1500, "eval_count": 80}
    return {**head, **counts} if done else head


def _ollama() -> bytes:
    calls = [{"function": {"name": tool_name(n), "arguments": ARGUMENTS}} for n in (1, 2)]
    message = {"role": "assistant", "content": LOOK, "tool_calls": calls}
    return json.dumps(_ollama_chunk(message, done=True)).encode()


def _ollama_stream(events: int) -> bytes:
    chunks = [_ollama_chunk({"role": "assistant", "content": text}, done=False) for text in _texts(events)]
    end = _ollama_chunk({"role": "assistant", "content": ""}, done=True)
    return b"".join(json.dumps(chunk).encode() + b"\n" for chunk in [*chunks, end])
