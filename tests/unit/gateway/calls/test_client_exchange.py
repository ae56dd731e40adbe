"""What is known of one request: read once, and by its dialect where somebody has to know what it says."""

from __future__ import annotations

from typing import Any

import msgspec

import interlingua as il
from interlingua.gateway.calls.exchange import ClientExchange
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest, HeadFacts
from interlingua.testing.upstream import Upstream
from tests.support.gateway import MODELS, asking, body_of, gateway, header_of

TOLD = "Tell me of the weather in Oslo. " * 8


def _read(made: Gateway, http: GatewayRequest, dialect: str = "openai-chat") -> ClientExchange:
    return made.parts.conversations.read(http, dialect)


def test_what_stands_around_a_body_has_a_say() -> None:
    """Headers bear on what it means, so each head has the body read again."""
    made = gateway()
    plain = asking("anthropic", "openai/gpt-5.6", TOLD, max_tokens=9)
    beta = msgspec.structs.replace(plain, headers=(*plain.headers, ("anthropic-beta", "speed-1")), facts=HeadFacts())
    for http, betas in ((plain, {}), (beta, {"anthropic": {"betas": ["speed-1"]}})) * 4:
        assert _read(made, http, "anthropic").decoded.request.extra == betas


def test_a_body_that_goes_on_is_read_anew() -> None:
    """It has what it says, and the one before it still what that said."""
    made, http = gateway(), asking("openai-chat", "anthropic/claude-opus-4-5", TOLD)
    before = _read(made, http).decoded
    turns = b',{"role":"assistant","content":"Rain."},{"role":"user","content":"And now?"}]'
    end = http.body.rindex(b"]")
    longer = msgspec.structs.replace(http, body=http.body[:end] + turns + http.body[end + 1 :])
    for _ in range(4):
        assert [one.text for one in _read(made, longer).decoded.request.messages] == [TOLD, "Rain.", "And now?"]
        assert _read(made, http).decoded == before


async def test_what_an_observer_has_read_of_a_body_that_is_passed_on_is_no_change() -> None:
    """The deprecated form of tools goes out as it came, whoever looks at the request."""
    functions: list[Any] = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    http = asking("openai-chat", MODELS["openai-chat"], TOLD, functions=functions)
    with Upstream("openai-chat").standing() as upstream, il.on_event(lambda _: None):
        reply = await gateway()(http)
        await body_of(reply)
    assert b'"functions":[{"name":"f"' in upstream.requests[0].body
    assert reply.status == 200
    assert header_of(reply, "x-interlingua-changes") is None
