"""What `docs/guides/keys.md` takes for granted: a gateway with one key, and something that asks it."""

from __future__ import annotations

import asyncio

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.database import make_key
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.wire.json import encode

REPLIES = ["Felix."]
"""The script of the fake model."""
KEY = make_key()
_SETTINGS = GatewaySettings(keys=(GatewayKey(name="team-a", hash=hash_key(KEY), terms=Terms(rpm=1)),))
_GATEWAY = Gateway(_SETTINGS, registry=Registry({"LLM_SMART": "openai/gpt-5.6"}), now=lambda: 1_795_348_800.0)


def ask(key: str) -> GatewayReply:
    """What the gateway answers an Anthropic client with that key."""
    body = {"model": "smart", "max_tokens": 100, "messages": [{"role": "user", "content": "A name for a cat?"}]}
    headers = (("x-api-key", key), ("anthropic-version", "2023-06-01"))
    return asyncio.run(_GATEWAY(GatewayRequest(path="/v1/messages", headers=headers, body=encode(body))))
