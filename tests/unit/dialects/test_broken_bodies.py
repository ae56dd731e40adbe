"""What a body that breaks its format is told: the sentence and the place, word for word, in every dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.cells import cells

URLS = {"google": "http://test/v1beta/models/m:generateContent"}
USER: dict[str, Any] = {"role": "user", "content": "Hi"}
CONTENTS: list[Any] = [{"role": "user", "parts": [{"text": "Hi"}]}]
AUDIO = {"type": "input_audio", "input_audio": {"data": 1, "format": "wav"}}


def _chat(*messages: Any, **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [USER, *messages], **members}


def _asked(*items: Any, **members: Any) -> dict[str, Any]:
    return {"model": "m", "input": [USER, *items], **members}


REQUESTS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "openai-chat",
        _chat({"role": "robot", "content": "x"}),
        "/messages/1/role: 'robot' is no role (there are system, developer, user, assistant, tool, function)",
        "/messages/1/role",
    ),
    (
        "openai-chat",
        _chat({"role": "user", "content": [AUDIO]}),
        "/messages/1/content/0/input_audio: data and format must be strings",
        "/messages/1/content/0/input_audio",
    ),
    (
        "openai-chat",
        _chat({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]}),
        "/messages/1/tool_calls/0/function/name: a tool call must have a name",
        "/messages/1/tool_calls/0/function/name",
    ),
    ("openai-chat", _chat(tools=[{"type": "function"}]), "/tools/0: a tool without a function", "/tools/0"),
    (
        "openai-chat",
        _chat(tools=[{"type": "custom", "custom": {}}]),
        "/tools/0/custom/name: a tool must have a name",
        "/tools/0/custom/name",
    ),
    (
        "openai-chat",
        _chat(tool_choice="maybe"),
        "/tool_choice: 'maybe' is no tool choice (auto, none, required)",
        "/tool_choice",
    ),
    (
        "openai-chat",
        _chat(tool_choice={"type": "function"}),
        "/tool_choice: a named tool choice without a name",
        "/tool_choice",
    ),
    (
        "openai-chat",
        _chat(tool_choice={"type": "allowed_tools", "allowed_tools": {"tools": "f"}}),
        "/tool_choice: a choice of allowed tools without a list of them",
        "/tool_choice",
    ),
    (
        "openai-responses",
        _asked({"role": "robot", "content": "x"}),
        "/input/1/role: 'robot' is no role (there are user, system, developer, assistant)",
        "/input/1/role",
    ),
    (
        "openai-responses",
        _asked({"role": "user", "content": [AUDIO]}),
        "/input/1/content/0/input_audio: data and format must be strings",
        "/input/1/content/0/input_audio",
    ),
    (
        "openai-responses",
        _asked({"type": "function_call", "call_id": "a", "arguments": "{}"}),
        "/input/1/name: a tool call must have a name",
        "/input/1/name",
    ),
    (
        "openai-responses",
        _asked({"type": "function_call_output", "call_id": "a", "output": 1}),
        "/input/1/output: an output must be a string or a list of parts",
        "/input/1/output",
    ),
    ("openai-responses", _asked(instructions=1), "/instructions: must be a string", "/instructions"),
    (
        "openai-responses",
        _asked(tool_choice="maybe"),
        "/tool_choice: 'maybe' is no tool choice (auto, none, required)",
        "/tool_choice",
    ),
    (
        "openai-responses",
        _asked(tool_choice={"type": "function"}),
        "/tool_choice: a named tool choice without a name",
        "/tool_choice",
    ),
    (
        "anthropic",
        _chat({"role": "robot", "content": "x"}, max_tokens=9),
        "/messages/1/role: 'robot' is no role (there are user, assistant, system)",
        "/messages/1/role",
    ),
    (
        "anthropic",
        _chat({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "input": {}}]}, max_tokens=9),
        "/messages/1/content/0/name: a tool call must have a name",
        "/messages/1/content/0/name",
    ),
    (
        "anthropic",
        _chat({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": 1}]}, max_tokens=9),
        "/messages/1/content/0/content: the content of a tool result is text or a list of blocks",
        "/messages/1/content/0/content",
    ),
    (
        "anthropic",
        _chat({"role": "assistant", "content": [{"type": "text", "text": "x", "citations": [1]}]}, max_tokens=9),
        "/messages/1/content/0/citations/0: a citation must be an object",
        "/messages/1/content/0/citations/0",
    ),
    (
        "anthropic",
        _chat(system=[{"type": "image", "source": {}}], max_tokens=9),
        "/system/0: the system text holds text alone",
        "/system/0",
    ),
    (
        "anthropic",
        _chat(tools=[{"name": "f", "input_schema": {"type": "object"}}], tool_choice={"type": "maybe"}, max_tokens=9),
        "/tool_choice: {'type': 'maybe'} is no tool choice (auto, any, tool, none)",
        "/tool_choice",
    ),
    (
        "google",
        {"contents": [{"role": "model", "parts": [{"functionCall": {"args": {}}}]}]},
        "/contents/0/parts/0/functionCall/name: a function call must have a name",
        "/contents/0/parts/0/functionCall/name",
    ),
    (
        "ollama",
        _chat({"role": "robot", "content": "x"}),
        "/messages/1/role: 'robot' is no role (there are system, user, assistant, tool)",
        "/messages/1/role",
    ),
    (
        "ollama",
        _chat({"role": "user", "content": "x", "images": ["https://cdn.example/a.png"]}),
        "/messages/1/images/0: an image is base64; this dialect takes no URL",
        "/messages/1/images/0",
    ),
    (
        "ollama",
        _chat({"role": "assistant", "content": "", "tool_calls": [{"function": {"arguments": {}}}]}),
        "/messages/1/tool_calls/0/function/name: a tool call must have a name",
        "/messages/1/tool_calls/0/function/name",
    ),
    ("ollama", _chat(tools=[{"type": "function"}]), "/tools/0: a tool without a function", "/tools/0"),
    (
        "cohere",
        _chat({"role": "robot", "content": "x"}),
        "/messages/1/role: 'robot' is no role (there are system, user, assistant, tool)",
        "/messages/1/role",
    ),
    (
        "cohere",
        _chat({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]}),
        "/messages/1/tool_calls/0/function/name: a tool call must have a name",
        "/messages/1/tool_calls/0/function/name",
    ),
    ("cohere", _chat(tools=[{"type": "function"}]), "/tools/0: a tool without a function", "/tools/0"),
    ("unified", {"model": "", "messages": [USER]}, "/model: the model is missing", "/model"),
    (
        "unified",
        _chat({"role": "user", "content": "x", "parts": []}),
        "/messages/1: a message has content or parts, not both",
        "/messages/1/content",
    ),
    (
        "unified",
        _chat({"role": "assistant", "parts": [{"type": "tool_call", "id": "", "name": "f", "arguments": "{}"}]}),
        "/messages/1/parts/0/id: a call must have an id",
        "/messages/1/parts/0/id",
    ),
    (
        "unified",
        _chat({"role": "assistant", "parts": [{"type": "tool_call", "id": "a", "name": "", "arguments": "{}"}]}),
        "/messages/1/parts/0/name: a call must name its tool",
        "/messages/1/parts/0/name",
    ),
]
ANSWERS: list[tuple[str, dict[str, Any], str, str]] = [
    ("ollama", {"model": "m", "done": False}, "/message: the answer has no message", "/message"),
    (
        "ollama",
        {"model": "m", "message": {"role": "assistant", "content": "x"}, "done": False},
        "/done: the answer is not finished",
        "/done",
    ),
]


def _id(value: object) -> str:
    return value if isinstance(value, str) else ""


@cells(("dialect", "body", "message", "path"), REQUESTS, ids=_id)
def test_requests(dialect: str, body: dict[str, Any], message: str, path: str) -> None:
    """A client learns what is wrong, and where in its own body."""
    request = HttpRequest(url=URLS.get(dialect, "http://test/"), body=json.dumps(body).encode())
    with pytest.raises(DecodeError) as caught:
        get_dialect(dialect).decode_request(request, DecodeOptions())
    assert (caught.value.message, caught.value.path) == (message, path)


@pytest.mark.parametrize(("dialect", "body", "message", "path"), ANSWERS, ids=_id)
def test_answers(dialect: str, body: dict[str, Any], message: str, path: str) -> None:
    """An answer without its content is none."""
    reply = HttpReply(status=200, headers=(), body=json.dumps(body).encode())
    with pytest.raises(DecodeError) as caught:
        get_dialect(dialect).decode_response(reply, DecodeContext())
    assert (caught.value.message, caught.value.path) == (message, path)
