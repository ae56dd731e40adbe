"""A body with a value of another type in any place is answered by the provider or refused as the client's fault."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import Headers, HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.full_bodies import BODIES, alone, changed_at, places_in
from tests.support.gateway import MODELS, body_of, gateway

OTHERS: tuple[object, ...] = (5, "x", None, [5], {"a": 1})
ALL = frozenset({"images", "audio", "documents", "tools", "output_schema", "server_tools", "media_refs"})


class Refusing:
    """A provider that refuses every request as the client's fault: what it is sent was read and written."""

    status = 422
    headers: Headers = (("content-type", "application/json"),)

    def __init__(self) -> None:
        """A reply of which nothing was read."""
        self._rest = [b'{"error":{"message":"no"}}', b""]

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> Refusing:
        """The refusal."""
        del request, timeouts
        return Refusing()

    async def read(self) -> bytes:
        """The next piece."""
        return self._rest.pop(0)

    async def close(self) -> None:
        """Nothing is open."""


async def answers(dialect: str, model: str, made: Gateway) -> list[tuple[int, bytes, bytes]]:
    """Status, error and body of what is answered to bodies with a value of another type."""
    path = BODIES[dialect][0].replace("M:", f"{model}:")
    named: dict[str, Any] = {} if dialect == "google" else {"model": model}
    found: list[tuple[int, bytes, bytes]] = []
    for body in bodies({**named}, dialect):
        reply = await made(GatewayRequest(path=path, body=body, peer="127.0.0.1"))
        found.append((reply.status, await body_of(reply), body))
    return found


def bodies(named: dict[str, Any], dialect: str) -> Iterator[bytes]:
    """Every body with another type in each place, once."""
    told: set[bytes] = set()
    for one in alone(dialect):
        for steps in places_in(one):
            for other in OTHERS:
                told.add(encode({**named, **changed_at(one, steps, other)}, nulls=100))
    yield from sorted(told)


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
@pytest.mark.parametrize("dialect", BODIES)
def test_a_value_of_another_type_is_the_clients_fault(dialect: str, target: str) -> None:
    """Translated and passed on, it is never a fault of ours, and never sent as one of the provider."""
    with overriding(Override(lambda transport: transport, lambda _: Refusing(), answers=True)):
        found = asyncio.run(answers(dialect, MODELS[target], gateway(allow=ALL)))
    assert [(status, error, body) for status, error, body in found if status >= 500][:3] == []
    assert len(found) > 300


@pytest.mark.parametrize(
    ("tools", "path"),
    [
        ([{"type": "namespace", "name": "ns", "tools": 5}], "/tools/0/tools"),
        ([{"type": "namespace", "name": "ns", "tools": [5]}], "/tools/0/tools/0"),
        ([{"type": "namespace", "name": "ns", "tools": [{"type": "function"}]}], "/tools/0/tools/0/name"),
        (
            [{"type": "namespace", "name": "ns", "tools": [{"name": "f", "parameters": 5}]}],
            "/tools/0/tools/0/parameters",
        ),
        ([5], "/tools/0"),
    ],
)
def test_what_is_no_tool_is_named_by_its_place(tools: list[object], path: str) -> None:
    """Also inside a namespace of Responses."""
    body = encode({"model": MODELS["openai-chat"], "input": "hi", "tools": tools})
    reply = asyncio.run(gateway()(GatewayRequest(path="/v1/responses", body=body, peer="127.0.0.1")))
    assert isinstance(reply.body, bytes)
    assert (reply.status, path in decode_any(reply.body)["error"]["message"]) == (400, True)
