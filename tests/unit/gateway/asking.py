"""One request to a gateway in this process, for tests."""

from __future__ import annotations

import asyncio
from typing import Any

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any, encode


def ask(
    made: Gateway, path: str, body: Any = None, headers: Headers = (), *, method: str = "POST", query: str = ""
) -> GatewayReply:
    """The reply, its body whole; a body that is no bytes is sent as JSON."""
    told = body if isinstance(body, bytes) else b"" if body is None else encode(body, nulls=100)
    request = GatewayRequest(method=method, path=path, query=query, headers=headers, body=told, peer="127.0.0.1")
    return asyncio.run(_whole(made, request))


async def _whole(made: Gateway, request: GatewayRequest) -> GatewayReply:
    reply = await made(request)
    if isinstance(reply.body, bytes):
        return reply
    pieces = [piece async for piece in reply.body]
    return GatewayReply(status=reply.status, headers=reply.headers, body=b"".join(pieces))


def told(reply: GatewayReply, status: int = 200) -> Any:
    """The JSON of a reply with that status."""
    assert isinstance(reply.body, bytes)
    assert reply.status == status, reply.body
    return decode_any(reply.body)


def header(reply: GatewayReply, name: str) -> str | None:
    """A header of a reply."""
    return dict(reply.headers).get(name)
