"""What `docs/guides/observing-gateway.md` takes for granted: names for models, and something that asks a gateway."""

from __future__ import annotations

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.registry.resolve import Registry
from interlingua.wire.json import encode

REPLIES = ["In Norway.", "In Norway, too."]
"""The script of the fake model."""
registry = Registry({"LLM_SMART": "anthropic/claude-opus-5,openai/gpt-5.6"})


async def ask(gateway: Gateway, model: str, text: str) -> None:
    """One request of a client of Chat."""
    body = encode({"model": model, "messages": [{"role": "user", "content": text}]})
    reply = await gateway(GatewayRequest(path="/v1/chat/completions", body=body, peer="127.0.0.1"))
    assert reply.status == 200, reply.body


async def metrics_of(gateway: Gateway) -> str:
    """What Prometheus reads."""
    reply = await gateway(GatewayRequest(method="GET", path="/metrics", peer="127.0.0.1"))
    assert isinstance(reply.body, bytes)
    return reply.body.decode()
