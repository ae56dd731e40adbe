"""What `docs/guides/gateway-state.md` takes for granted: a gateway, and something that asks it."""

from __future__ import annotations

import asyncio
from typing import Any

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.registry.resolve import Registry
from interlingua.wire.json import decode_any, encode

REPLIES = ["Felix.", "Mira."]
"""The script of the fake model."""
_REGISTRY = Registry({"LLM_SMART": "anthropic/claude-opus-5,openai/gpt-5.6"})
_GATEWAY = Gateway(registry=_REGISTRY)


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """The JSON that the gateway answers."""
    told = b"" if body is None else encode(body)
    reply = asyncio.run(_GATEWAY(GatewayRequest(method=method, path=path, body=told, peer="127.0.0.1")))
    assert reply.status == 200, reply.body
    assert isinstance(reply.body, bytes)
    return decode_any(reply.body)
