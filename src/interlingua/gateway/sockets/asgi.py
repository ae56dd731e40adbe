"""A WebSocket whose frames an ASGI server has.

Rules
- Who may not ask is told so by HTTP where the server can do that (the extension `websocket.http.response`).
- A text is bounded by `max_body_bytes`; how fast it comes, and how fast a client reads, is for the server to bound.
- A client that leaves cancels what is under way for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from interlingua.errors import BadRequestError
from interlingua.gateway.serving.bodies import too_large
from interlingua.gateway.sockets.session import Close, session_of

if TYPE_CHECKING:
    from interlingua.errors import Error
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.sockets.session import Session

__all__ = ["serve_socket"]

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
_REFUSAL = "websocket.http.response"


async def serve_socket(
    gateway: Gateway, request: GatewayRequest, extensions: MutableMapping[str, Any], receive: Receive, send: Send
) -> None:
    """Serve the connection that a request would begin, or refuse it."""
    await receive()  # `websocket.connect`
    refusal = gateway.begin(request)
    session = session_of(gateway, request) if refusal is None else None
    entry = request.entry
    try:
        if session is None:
            reply = refusal or await gateway.answer(request)
            if _REFUSAL in extensions:
                body = reply.body if isinstance(reply.body, bytes) else b""  # an error is whole
                headers = [(name.encode("latin-1"), text.encode("latin-1", "replace")) for name, text in reply.headers]
                await send({"type": f"{_REFUSAL}.start", "status": reply.status, "headers": headers})
                await send({"type": f"{_REFUSAL}.body", "body": body})
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept"})
        if entry is not None:
            entry.status = 101
            entry.sent()
    finally:
        if entry is not None:
            entry.done()
    texts, task = _Texts(gateway, session, receive, send), asyncio.current_task()
    reading = asyncio.create_task(texts.read())
    reading.add_done_callback(lambda _: task.cancel() if texts.is_left and task is not None else None)
    try:
        close = await session.run(texts)
    except asyncio.CancelledError:
        if texts.is_left and task is not None:
            task.uncancel()
            return
        raise
    finally:
        reading.cancel()
    code, reason = texts.close or close
    await send({"type": "websocket.close", "code": code, "reason": reason})


class _Texts:
    """The texts of one connection."""

    def __init__(self, gateway: Gateway, session: Session, receive: Receive, send: Send) -> None:
        self._gateway = gateway
        self._session = session
        self._receive = receive
        self._send = send
        self._waiting: asyncio.Queue[Message] = asyncio.Queue(1)
        self.is_left: bool = False
        """Whether the client has left."""
        self.close: Close | None = None
        """Why the connection ends, where a text is at fault."""

    async def read(self) -> None:
        """Take what comes until the client leaves, while nothing waits."""
        while (message := await self._receive())["type"] != "websocket.disconnect":
            await self._waiting.put(message)
        self.is_left = True

    async def receive(self) -> bytes | None:
        """The next text; None once no further one is taken."""
        if self._gateway.lifecycle.is_draining:
            return None
        message = await self._waiting.get()
        text, most_bytes = message.get("text"), self._gateway.settings.max_body_bytes
        if text is None:
            return await self._refused(
                BadRequestError("a binary frame: events are texts", status=400), Close(1003, "texts alone")
            )
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > most_bytes:
            return await self._refused(too_large(most_bytes), Close(1009, "too large"))
        return data

    async def _refused(self, error: Error, close: Close) -> None:
        self.close = close
        await self.send([self._session.refusal(error)])

    async def send(self, texts: list[bytes]) -> None:
        """Send texts, as soon as the server takes them."""
        for text in texts:
            await self._send({"type": "websocket.send", "text": text.decode()})
