"""Ask a transport as a client would, in Chat terms, without a client."""

from __future__ import annotations

from typing import Any

from interlingua.dialects._contract import DecodeContext, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.stream.fold import fold
from interlingua.transport.base import AsyncTransport, Timeouts, Transport
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

CHAT = get_dialect("openai-chat")


def chat_request(request: Request | str, *, stream: bool = False, model: str = "openai/gpt-4o") -> HttpRequest:
    """The request as the client role sends it."""
    canonical = Request(messages=(user(request),)) if isinstance(request, str) else request
    target = Target(model=model.partition("/")[2])
    encoded = CHAT.encode_request(canonical, EncodeOptions(target=target, stream=stream))
    url = f"https://api.openai.com/v1{encoded.path}"
    return HttpRequest(url=url, body=encoded.body, dialect=CHAT.name, target=model)


def ask(
    transport: Transport, request: Request | str, *, stream: bool = False, model: str = "openai/gpt-4o"
) -> Response[Any]:
    """The answer of a transport; an error reply is raised."""
    reply = transport.open(chat_request(request, stream=stream, model=model), Timeouts())
    body = b"".join(iter(reply.read, b""))
    reply.close()
    return _answer(HttpReply(status=reply.status, headers=reply.headers, body=body), stream=stream)


async def ask_async(
    transport: AsyncTransport, request: Request | str, *, stream: bool = False, model: str = "openai/gpt-4o"
) -> Response[Any]:
    """The answer of an awaited transport; an error reply is raised."""
    reply = await transport.open(chat_request(request, stream=stream, model=model), Timeouts())
    body = b""
    while piece := await reply.read():
        body += piece
    await reply.close()
    return _answer(HttpReply(status=reply.status, headers=reply.headers, body=body), stream=stream)


def _answer(reply: HttpReply, *, stream: bool) -> Response[Any]:
    if reply.status >= 400:
        raise CHAT.decode_error(reply, DecodeContext())
    if not stream:
        return CHAT.decode_response(reply, DecodeContext())
    decoder = CHAT.stream_decoder(DecodeContext())
    return fold([*decoder.feed(reply.body), *decoder.close()])
