"""A body that would go out as it came is not sent to a target that is known not to take its media or tools."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.settings import GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream.service import Upstream
from interlingua.transport.override import Override, overriding
from tests.support.tiny import PNG
from tests.unit.gateway.asking import ask

DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"word": {"type": "string"}}}
FUNCTION: dict[str, Any] = {"name": "look_up", "description": "Looks up.", "parameters": SCHEMA}
CLAUDE_TOOL: dict[str, Any] = {"name": "look_up", "description": "Looks up.", "input_schema": SCHEMA}
ENVIRONMENT = {
    "LLM_CHAT": "openai://token@h/v1?images=0&tools=0",
    "LLM_RESPONSES": "openai-responses://token@h/v1?images=0&tools=0",
    "LLM_CLAUDE": "anthropic://token@h/v1?images=0&tools=0",
    "LLM_GEMINI": "google://token@h/v1beta?images=0&tools=0",
    "LLM_LLAMA": "ollama://h?images=0&tools=0",
    "LLM_COMMAND": "cohere://token@h/v2?images=0&tools=0",
}


def _chat(content: Any, **members: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}], **members}


PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/gemini/m:generateContent",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
}
MODELS = {
    "openai-chat": "chat/m", "openai-responses": "responses/m", "anthropic": "claude/m", "ollama": "llama/m",
    "cohere": "command/m",
}  # fmt: skip
CLAUDE_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
WITH_IMAGE: dict[str, dict[str, Any]] = {
    "openai-chat": _chat([{"type": "image_url", "image_url": {"url": URL}}]),
    "openai-responses": {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": URL}]}]},
    "anthropic": _chat([CLAUDE_IMAGE], max_tokens=50),
    "google": {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": DATA}}]}]},
    "ollama": {"messages": [{"role": "user", "content": "?", "images": [DATA]}], "stream": False},
    "cohere": _chat([{"type": "image_url", "image_url": {"url": URL}}]),
}
WITH_TOOLS: dict[str, dict[str, Any]] = {
    "openai-chat": _chat("Hi", tools=[{"type": "function", "function": FUNCTION}]),
    "openai-responses": {"input": "Hi", "tools": [{"type": "function", "strict": False, **FUNCTION}]},
    "anthropic": _chat("Hi", max_tokens=50, tools=[CLAUDE_TOOL]),
    "google": {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": [{"functionDeclarations": [FUNCTION]}],
    },
    "ollama": {**_chat("Hi", tools=[{"type": "function", "function": FUNCTION}]), "stream": False},
    "cohere": _chat("Hi", tools=[{"type": "function", "function": FUNCTION}]),
}  # fmt: skip
PLAIN: dict[str, dict[str, Any]] = {
    "openai-chat": _chat("Hi"),
    "openai-responses": {"input": "Hi"},
    "anthropic": _chat("Hi", max_tokens=50),
    "google": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "ollama": {**_chat("Hi"), "stream": False},
    "cohere": _chat("Hi"),
}


def _asked(dialect: str, body: dict[str, Any]) -> tuple[int, bytes, list[bytes]]:
    """Status and body of the answer, and what the target of the client's own dialect got."""
    gateway, upstream = Gateway(GatewaySettings(), registry=Registry(ENVIRONMENT)), Upstream(dialect)
    named = body if dialect == "google" else {"model": MODELS[dialect], **body}
    blocking, awaited = upstream.transport(), upstream.transport_aio()
    with overriding(Override(lambda _: blocking, lambda _: awaited, answers=False)):
        reply = ask(gateway, PATHS[dialect], named)
    assert isinstance(reply.body, bytes)
    return reply.status, reply.body, [request.body for request in upstream.requests]


@pytest.mark.parametrize(("what", "bodies"), [("images", WITH_IMAGE), ("tools", WITH_TOOLS)])
@pytest.mark.parametrize("dialect", PATHS)
def test_cap_01_what_is_known_not_to_be_taken_is_not_passed_on(
    dialect: str, what: str, bodies: dict[str, dict[str, Any]]
) -> None:
    """A 400 in the client's dialect, and nothing was sent."""
    status, body, sent = _asked(dialect, bodies[dialect])
    assert (status, sent) == (400, [])
    assert b" cannot take " in body
    assert {"images": b"image", "tools": b"tools"}[what] in body


@pytest.mark.parametrize("dialect", PATHS)
def test_what_has_none_of_it_is_passed_on_as_it_came(dialect: str) -> None:
    """A text goes out in the client's own words, aside from the name of the model."""
    status, _, sent = _asked(dialect, PLAIN[dialect])
    assert (status, len(sent)) == (200, 1)
