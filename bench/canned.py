"""What goes over the wire in the rows of the gateway: the load of the library's rows, as bytes of each dialect.

Ten tools and ten messages up (7 kB), a text and two tool calls down; streams of 225 events.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["CLIENT_KEY", "EVENTS", "answers", "request"]

EVENTS = 225
"""Pieces of text in a stream."""
CLIENT_KEY = "k" * 40
"""What a client of a gateway brings."""
_TEXT = "What will the weather be in Oslo, and should I take an umbrella with me? " * 4
_ARGUMENTS = {"city": "Oslo", "days": 3}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "City name, in English."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "description": "How many days ahead."},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city"],
}


def request(model: str, *, stream: bool) -> bytes:
    """A whole HTTP request of a Chat client."""
    tools = [
        {
            "type": "function",
            "function": {"name": f"get_weather_{n}", "description": "Weather forecast.", "parameters": _PARAMETERS},
        }
        for n in range(10)
    ]
    turns = [{"role": ("user", "assistant")[n % 2], "content": _TEXT} for n in range(9)]
    messages = [{"role": "system", "content": _TEXT}, *turns]
    asked: dict[str, Any] = {"model": model, "messages": messages, "max_tokens": 500, "tools": tools}
    if stream:
        asked["stream"] = True
    body = json.dumps(asked).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {CLIENT_KEY}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def answers() -> dict[str, tuple[bytes, bytes]]:
    """The body and the stream of each path."""
    return {"/v1/chat/completions": (_chat(), _chat_stream()), "/v1/messages": (_messages(), _messages_stream())}


def _chat() -> bytes:
    function = {"arguments": json.dumps(_ARGUMENTS)}
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": f"get_weather_{n}", **function}} for n in (1, 2)
    ]
    message = {"role": "assistant", "content": "Let me look. " * 8, "tool_calls": calls}
    usage = {"prompt_tokens": 1500, "completion_tokens": 80, "total_tokens": 1580}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-test", "choices": [choice]}
    return json.dumps({**whole, "usage": usage}).encode()


def _chat_chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    kind = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    return b"data: " + json.dumps({**kind, "choices": [choice]}).encode() + b"\n\n"


def _chat_stream() -> bytes:
    pieces = [_chat_chunk({"content": "hello "}) for _ in range(EVENTS)]
    return b"".join([_chat_chunk({"role": "assistant", "content": ""}), *pieces, _chat_chunk({}, "stop")]) + (
        b"data: [DONE]\n\n"
    )


def _messages() -> bytes:
    calls = [{"type": "tool_use", "id": f"toolu_{n}", "name": f"get_weather_{n}", "input": _ARGUMENTS} for n in (1, 2)]
    usage = {"input_tokens": 1500, "output_tokens": 80}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "stop_sequence": None}
    content = [{"type": "text", "text": "Let me look. " * 8}, *calls]
    return json.dumps({**whole, "content": content, "stop_reason": "tool_use", "usage": usage}).encode()


def _messages_event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def _messages_stream() -> bytes:
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": []}
    start |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1500, "output_tokens": 1}}
    piece = {"type": "text_delta", "text": "hello "}
    return b"".join(
        [
            _messages_event("message_start", message=start),
            _messages_event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            *[_messages_event("content_block_delta", index=0, delta=piece) for _ in range(EVENTS)],
            _messages_event("content_block_stop", index=0),
            _messages_event(
                "message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 450}
            ),
            _messages_event("message_stop"),
        ]
    )
