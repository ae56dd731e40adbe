"""A provider in code behind the gateway: clients of every dialect reach it, whole and streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

import interlingua as il
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.settings import GatewaySettings
from interlingua.stream.fold import fold
from tests.support.gateway import answer_of, asking, body_of, events_of

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified")


class Echo:
    """Says what it was told."""

    def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
        """The answer, blocking."""
        if request.messages[-1].text == "Fail":
            raise ValueError("no such thing")
        text = f"{call.model}: {request.messages[-1].text}"
        return il.Response(
            parts=(il.TextPart(text),), finish_reason="stop", usage=il.Usage(input_tokens=1, output_tokens=2)
        )

    async def stream(self, request: il.Request, call: il.ProviderCall) -> AsyncIterator[il.Event]:
        """The answer as events, awaited."""
        for event in il.unfold(self.generate(request, call)):
            await asyncio.sleep(0)
            yield event


def gateway() -> Gateway:
    """A gateway that knows `echo`."""
    registry = il.Registry({})
    registry.register_scheme("echo", Echo)
    return Gateway(GatewaySettings(), registry=registry)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_r55_a_client_of_any_dialect_reaches_code(dialect: str) -> None:
    """Whole, by code that blocks; streamed, by code that awaits."""
    made = gateway()
    whole = await answer_of(dialect, await made(asking(dialect, "echo/small")))
    assert whole.text == "small: Hi"
    events = await events_of(dialect, await made(asking(dialect, "echo/small", stream=True)))
    assert fold(events).text == "small: Hi"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_fault_of_the_code_is_an_error_of_the_dialect(*, stream: bool) -> None:
    """It names the target and the class; the code's own words stay here."""
    reply = await gateway()(asking("openai-chat", "echo/small", "Fail", stream=stream))
    error = json.loads(await body_of(reply))["error"]
    assert reply.status == 500
    assert "echo/small: Echo." in error["message"]
    assert error["message"].endswith("raised a ValueError")


async def test_other_surfaces_say_that_code_has_none_of_them() -> None:
    """Embeddings are no conversation."""
    body = json.dumps({"model": "echo/small", "input": "Hi"}).encode()
    request = GatewayRequest(
        path="/v1/embeddings", query="", headers=(("host", "localhost"), ("content-type", "application/json")),
        body=body, peer="127.0.0.1",
    )  # fmt: skip
    reply = await gateway()(request)
    assert 400 <= reply.status < 500, await body_of(reply)
    assert b"echo" in await body_of(reply)
