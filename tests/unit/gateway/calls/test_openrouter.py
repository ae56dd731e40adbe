"""Chat answers name their provider for clients that ask as OpenRouter is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.gateway.http import GatewayRequest, HeadFacts
from interlingua.testing.upstream import Upstream
from tests.support.gateway import asking, body_of, gateway

TARGETS = {"anthropic": "anthropic/claude-opus-4-5", "openai-chat": "openai-chat/gpt-4.1"}
"""One that is translated, one whose answers are passed on."""
REFERER = {"http-referer": "https://app.example"}


async def _answer(dialect: str, request: GatewayRequest) -> Any:
    """The parsed body of a whole answer."""
    with Upstream(dialect, "Hello.").standing():
        reply = await gateway()(request)
        return json.loads(await body_of(reply))


async def _chunks(dialect: str, request: GatewayRequest) -> list[Any]:
    """The parsed chunks of a stream."""
    with Upstream(dialect, "Hello.").standing():
        raw = await body_of(await gateway()(request))
    return [json.loads(line[6:]) for line in raw.decode().split("\n\n") if line.startswith("data: {")]


@pytest.mark.parametrize("dialect", TARGETS)
async def test_r64_the_provider_is_named_for_clients_of_openrouter(dialect: str) -> None:
    """By its path and by its header; the text is the same."""
    plain = asking("openai-chat", TARGETS[dialect])
    for request in (
        asking("openai-chat", TARGETS[dialect], headers=REFERER),
        replace(plain, path=_API, facts=HeadFacts()),
    ):
        told = await _answer(dialect, request)
        assert (told["provider"], told["choices"][0]["message"]["content"]) == (dialect, "Hello.")
    assert "provider" not in await _answer(dialect, plain)


async def test_r64_every_chunk_names_the_provider() -> None:
    """Of a stream that is translated; not for other clients."""
    chunks = await _chunks("anthropic", asking("openai-chat", TARGETS["anthropic"], headers=REFERER, stream=True))
    assert {chunk["provider"] for chunk in chunks} == {"anthropic"}
    chunks = await _chunks("anthropic", asking("openai-chat", TARGETS["anthropic"], stream=True))
    assert all("provider" not in chunk for chunk in chunks)


async def test_r64_other_surfaces_name_no_provider() -> None:
    """A client of another dialect that names its application gets its own dialect's members alone."""
    told = await _answer("anthropic", asking("ollama", TARGETS["anthropic"], headers=REFERER))
    assert "provider" not in told


_API = "/api/v1/chat/completions"
