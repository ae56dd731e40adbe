"""A gateway with keys, asked as the page asks, for tests of the console."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any, encode
from interlingua.wire.sse import SseDecoder
from tests.support.gateway import gateway

__all__ = ["KEYS", "frames", "kept", "looked", "with_keys"]

KEYS = (
    GatewayKey(name="boss", hash=hash_key("boss-key"), team="ops"),
    GatewayKey(name="team-a", hash=hash_key("a-key"), models=("smart",)),
)


def with_keys(**settings: Any) -> Gateway:
    """A gateway with an operator `boss` and the key `team-a`."""
    return gateway(aliases={"smart": "fake/model", "other": "fake/other"}, keys=KEYS, operators=("boss",), **settings)


def looked(
    path: str, key: str = "", body: Any = None, headers: Headers = (), peer: str = "127.0.0.1"
) -> GatewayRequest:
    """What the page asks."""
    given = (("x-api-key", key),) if key else ()
    own = (("x-interlingua-console", "1"),) if body is not None else ()
    return GatewayRequest(
        method="GET" if body is None else "POST",
        path=path,
        headers=(("host", "localhost"), *given, *own, *headers),
        body=b"" if body is None else encode(body, nulls=100),
        peer=peer,
    )


async def kept(made: Gateway, request: GatewayRequest) -> Any:
    """The JSON of the reply, and its status."""
    reply = await made(request)
    assert isinstance(reply.body, bytes)
    return reply.status, decode_any(reply.body)


async def frames(reply: GatewayReply, count: int) -> list[tuple[str, Any]]:
    """So many events of a stream that goes on."""
    decoder, found = SseDecoder(), list[tuple[str, Any]]()
    async for piece in cast("AsyncGenerator[bytes]", reply.body):
        found += [(event.event or "", decode_any(event.data)) for event in decoder.feed(piece)]
        if len(found) >= count:
            return found
    return found
