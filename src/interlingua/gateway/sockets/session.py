"""One WebSocket of a Responses client: a response after the other, each on the way of a POST.

Strategy: whoever has the frames hands in texts and sends texts (`Channel`). Each text becomes a request of its own
with the headers of the handshake: it is screened, limited, charged, recorded and answered as a POST to the same path.

Rules
- One response at a time; what comes meanwhile waits its turn, and too much of it is not read.
- A connection ends after `LIFE_S`, between two responses, or when nothing was asked for `IDLE_S`.
- Where the gateway ends, the response under way is finished within the drain time, and no further one begins.
- A client that leaves cancels what is under way for it, and that closes the upstream.
- A key is checked again for each response: one that was revoked asks nothing more.

- An event of the client is the body of a POST with a `type` (`reading.posted_body`). Every event of the stream is one
  text; what no stream is, is one `error` event with the status and the headers that HTTP would have had.

Not responsible for: frames, pings and how fast a client reads.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from interlingua.dialects.table import services, store_dialect
from interlingua.errors import BadRequestError
from interlingua.gateway.calls.replies import error_reply
from interlingua.gateway.http import GatewayReply, GatewayRequest, HeadFacts
from interlingua.gateway.serving.intake import RequestIntake
from interlingua.gateway.state.latest import Latest
from interlingua.wire.json import MAX_BODY_BYTES, decode_any, encode
from interlingua.wire.sse import DONE, SseDecoder

if TYPE_CHECKING:
    from interlingua.errors import Error
    from interlingua.gateway.core import Gateway
    from interlingua.wire.http import Headers
    from interlingua.wire.sse import SseEvent

__all__ = ["IDLE_S", "LIFE_S", "Channel", "Close", "Session", "session_of", "upgrade"]

LIFE_S = 3600.0
"""How long a connection lives, as the vendor's own do."""
IDLE_S = 900.0
"""How long a connection is kept on which nothing is asked: tools of an agent may take long."""
_PATHS = frozenset([path.pattern for each in services().values() for path in each.paths if path.kind == "socket"])
_HOP = frozenset({"connection", "content-type", "upgrade", "x-request-id"})
"""Headers of the handshake that are none of the requests on its connection."""
_STREAM = "text/event-stream"
_FAILED = frozenset({"error", "response.failed"})
"""The events of a response that failed."""
_ANY_NULLS = 1 << 20


class Close(NamedTuple):
    """Why a connection is closed."""

    code: int
    """The code of RFC 6455, section 7.4."""
    reason: str
    """A few words for people."""


class Channel(Protocol):
    """The texts of one connection."""

    async def receive(self) -> bytes | None:
        """The next text of the client; None where no further one is taken."""
        ...

    async def send(self, texts: list[bytes]) -> None:
        """Send texts, as soon as the client takes them."""
        ...


class Session:
    """The responses of one connection."""

    def __init__(self, gateway: Gateway, handshake: GatewayRequest) -> None:
        """A connection that was made by a handshake which was screened."""
        self._gateway = gateway
        self._path, self._query, self._peer = handshake.path, handshake.query, handshake.peer
        self._headers: Headers = tuple(
            [
                (name, value)
                for name, value in handshake.headers
                if name not in _HOP
                and not name.startswith("sec-websocket-")
                and not (name == "openai-beta" and value.startswith("responses_websockets"))
            ]
        )
        """The headers of the handshake that are those of every request on the connection."""
        self._facts = HeadFacts()
        self._latest = Latest(gateway.make_id("ws_"), gateway.latest, gateway.stored)

    def request(self, text: bytes) -> GatewayRequest:
        """The request that a text of the client is."""
        return GatewayRequest(
            path=self._path,
            query=self._query,
            headers=self._headers,
            body=text,
            peer=self._peer,
            facts=self._facts,
            latest=self._latest,
        )

    async def run(self, channel: Channel) -> Close:
        """Answer every text that comes; gives why the connection is to be closed."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + LIFE_S
        try:
            while (rest_s := until_s - loop.time()) > 0:
                try:
                    async with asyncio.timeout(min(rest_s, IDLE_S)):
                        text = await channel.receive()
                except TimeoutError:
                    if rest_s > IDLE_S:
                        return Close(1000, f"nothing was asked for {IDLE_S:.0f} seconds")
                    continue
                if text is None:
                    return Close(1001, "this gateway is being stopped")
                await self._answer(text, channel)
            error = BadRequestError(
                f"a connection lasts {LIFE_S / 60:.0f} minutes at most: open a new one, and send the conversation "
                "again or go on from a stored answer",
                status=400,
                code="websocket_connection_limit_reached",  # which the client's SDK knows
            )
            await channel.send([_error_event(error_reply(store_dialect(), error))])
            return Close(1000, "this connection has reached its limit")
        finally:
            await self._latest.forget()

    async def _answer(self, text: bytes, channel: Channel) -> None:
        """Answer one text, with all that belongs to a request."""
        self._latest.begin()
        intake = RequestIntake(self._gateway, self.request(text))
        is_failed = True
        try:
            reply = intake.refusal or await self._gateway.answer(intake.request)
            is_failed = await _send(reply, channel)
            intake.sent()
        finally:
            if is_failed:
                await self._latest.fail()
            intake.done()

    def refusal(self, error: Error) -> bytes:
        """The event of what is wrong with a text that cannot be taken; it is recorded as a request."""
        request = self.request(b"")
        self._gateway.begin_unread(request)
        reply = self._gateway.refuse(request, error)
        if request.entry is not None:
            request.entry.sent()
            request.entry.done()
        return _error_event(reply)


async def _send(reply: GatewayReply, channel: Channel) -> bool:
    """Send a reply as events; whether it is one of a turn that failed."""
    body, decoder = reply.body, SseDecoder(max_event_bytes=MAX_BODY_BYTES)
    if isinstance(body, bytes):
        is_stream = any(name == "content-type" and value.startswith(_STREAM) for name, value in reply.headers)
        await channel.send(_texts_of(decoder.feed(body)) if is_stream else [_error_event(reply)])
        return not is_stream
    is_failed = False
    async with aclosing(body):
        async for piece in body:
            events = decoder.feed(piece)
            is_failed = is_failed or any(event.event in _FAILED for event in events)
            if events:
                await channel.send(_texts_of(events))
    return is_failed


def session_of(gateway: Gateway, handshake: GatewayRequest) -> Session | None:
    """The session that a screened request for a WebSocket begins; None where there is none at its path."""
    return Session(gateway, handshake) if handshake.path in _PATHS else None


async def upgrade(request: GatewayRequest) -> GatewayReply:
    """No reply to who asks without a WebSocket where there is nothing else.

    Raises: BadRequestError.
    """
    raise BadRequestError(
        f"GET {request.path} begins a WebSocket (`Connection: Upgrade`, `Upgrade: websocket`, version 13); "
        "a response over HTTP is asked for by POST",
        status=426,
    )


def _texts_of(events: list[SseEvent]) -> list[bytes]:
    """The texts of events of a stream; its `[DONE]` is none."""
    return [event.data for event in events if event.data != DONE]


def _error_event(reply: GatewayReply) -> bytes:
    """The event of a reply that is no stream: an error, with its status and its headers."""
    body = cast("dict[str, Any]", decode_any(reply.body if isinstance(reply.body, bytes) else b"{}"))
    event: dict[str, Any] = {
        "type": "error",
        "status": reply.status,
        "error": body.get("error"),
        "headers": {name: value for name, value in reply.headers if not name.startswith("content-")},
    }
    return encode(event, nulls=_ANY_NULLS)
