"""Messages of clients that ask a cloud for them: answered as the dialect's own request, by its own route.

Rules
- The path and the body of the cloud become those of the dialect; whatever holds for its conversations holds then.
- A whole answer and server-sent events are what such clients read; frames of Bedrock's are made of the events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import NotFoundError
from interlingua.gateway.calls.reading import CHEAP_BYTES
from interlingua.gateway.http import Closing, GatewayReply, HeadFacts
from interlingua.wire.body import edited_body

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from interlingua.dialects._hosted import ChunkFrames
    from interlingua.gateway.http import GatewayRequest, Pieces
    from interlingua.gateway.offload.pool import Offload
    from interlingua.gateway.routes import Route
    from interlingua.gateway.state.ownership import Ownership

__all__ = ["Hosted"]


class Hosted(msgspec.Struct, frozen=True, kw_only=True):
    """Messages under paths of clouds."""

    offload: Offload
    """Where costly bodies are read."""
    ids: Ownership
    """The owners of state that providers keep."""

    async def answer(
        self, request: GatewayRequest, ask: Callable[[Route, GatewayRequest], Awaitable[GatewayReply]]
    ) -> GatewayReply:
        """The reply to a request for Messages under a path of a cloud; `ask` has the dialect's own route answer it.

        Raises: DecodeError for a body of another model; as the handler of the dialect's conversations.
        """
        from interlingua.dialects._hosted import STREAM_TYPE, ChunkFrames, hosted_request  # few clients ask so
        from interlingua.gateway.routes import find_route

        body = await self.offload.body_of(request, "")
        translated = hosted_request(request.path, body)
        route = find_route("POST", translated.path)
        if route is None:  # an installed dialect may have taken its place
            raise NotFoundError(f"nothing is answered at {translated.path}")
        names = [name for name, _ in translated.headers]
        headers = (*[pair for pair in request.headers if pair[0] not in names], *translated.headers)
        own = msgspec.structs.replace(
            request,
            path=translated.path,
            query="",
            headers=headers,
            body=edited_body(body, translated.edits),
            read=None,
            facts=HeadFacts(route=route),
        )
        if len(own.body) > CHEAP_BYTES:
            await self.ids.read_costly(own)
        reply = await ask(route, self.ids.opened(own))
        if not translated.framed or isinstance(reply.body, bytes):
            return reply
        others = [pair for pair in reply.headers if pair[0] != "content-type"]
        types = (("content-type", STREAM_TYPE), ("x-amzn-bedrock-content-type", "application/json"))
        pieces = reply.body
        return GatewayReply(
            status=reply.status, headers=(*others, *types), body=Closing(_framed(pieces, ChunkFrames()), pieces.aclose)
        )


async def _framed(pieces: Pieces, frames: ChunkFrames) -> AsyncGenerator[bytes]:
    async for piece in pieces:
        framed = frames.feed(piece)
        if framed:
            yield framed
