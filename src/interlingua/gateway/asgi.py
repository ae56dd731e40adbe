"""The gateway as an ASGI application: served by any ASGI server, or mounted in an application.

Rules
- A request is screened by its head before its body is read.
- A client that leaves cancels what is under way for it, and that closes the upstream.
- A silent stream is shown to be alive between two of its pieces.
- Nothing is compressed here, and a stream says that nobody else is to do it.
- A server that ends it closes the gateway; one that begins it again, as tests do, gets a new one set up alike.
- It runs on asyncio: under another loop a server is told so before it serves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from interlingua.errors import UsageError
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.serving.intake import RequestIntake
from interlingua.gateway.serving.writer import field
from interlingua.gateway.sockets.asgi import serve_socket

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayReply
    from interlingua.gateway.records.record import Entry

__all__ = ["GatewayApp", "Receive", "Scope", "Send"]

ONLY_ASYNCIO = "the gateway runs on asyncio (uvloop, too), not on trio: have the server run it on that"
"""The error of a server with another loop."""
Scope: TypeAlias = MutableMapping[str, Any]
"""The description of a connection by an ASGI server."""
Message: TypeAlias = MutableMapping[str, Any]
"""One event of ASGI."""
Receive: TypeAlias = Callable[[], Awaitable[Message]]
"""Gives the next event of the client."""
Send: TypeAlias = Callable[[Message], Awaitable[None]]
"""Takes the next event for the client."""


class GatewayApp:
    """One gateway as an ASGI 3 application."""

    def __init__(self, gateway: Gateway) -> None:
        """The application of a gateway."""
        self.gateway: Gateway = gateway
        """The gateway."""
        self._is_placed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            if not _is_on_asyncio():
                raise UsageError(ONLY_ASYNCIO)
            if not self._is_placed:
                # Variables that lead here are left out; where that is, a server says with the first request.
                self._is_placed = True
                host, port = scope.get("server") or (None, None)
                if host and port:
                    from interlingua.gateway.serving.itself import leave_out_itself  # `il serve` has done it before

                    with suppress(ValueError):  # a name in place of an address, as test clients have
                        leave_out_itself(self.gateway, host, port)
            request = _head(scope)
            length = request.header("content-length") or ""
            announced_bytes = int(length[:20]) if length.isascii() and length.isdecimal() else 0
            intake = RequestIntake(self.gateway, request, announced_bytes)
            try:
                await self._answer(intake, receive, send)
            finally:
                intake.done()
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await serve_socket(self.gateway, _head(scope), scope.get("extensions") or {}, receive, send)

    async def _answer(self, intake: RequestIntake, receive: Receive, send: Send) -> None:
        while intake.refusal is None:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            if data := message.get("body", b""):
                intake.feed(data)
                while intake.is_behind:
                    await asyncio.sleep(0)
                    intake.go_on()
            if not message.get("more_body", False):
                intake.end()
                break
        entry = intake.request.entry
        if intake.refusal is not None:
            await _send(send, intake.refusal, entry)
            return
        with suppress(_ClientLeft):
            async with _Presence(receive):
                reply = await self.gateway.answer(intake.request)
                await _send(send, reply, entry, self.gateway.settings.keep_alive_s)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                if not _is_on_asyncio():
                    await send({"type": "lifespan.startup.failed", "message": ONLY_ASYNCIO})
                    return
                before = self.gateway
                if before.lifecycle.is_draining:  # it was closed, and takes no more requests
                    from interlingua.gateway.core import Gateway

                    self.gateway = Gateway(before.settings, registry=before.registry, hooks=before.own_hooks)
                await send({"type": "lifespan.startup.complete"})
            else:
                self.gateway.lifecycle.is_draining = True
                await self.gateway.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _is_on_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _head(scope: Scope) -> GatewayRequest:
    root, path = scope.get("root_path", "").rstrip("/"), scope["path"]
    if root and f"{path}/".startswith(
        f"{root}/"
    ):  # servers disagree whether the path holds the place where we are mounted
        path = path[len(root) :] or "/"
    client = scope.get("client")
    return GatewayRequest(
        method=scope.get("method", "GET"),
        path=path,
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=tuple([(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]),
        peer=client[0] if client else "",
    )


class _ClientLeft(Exception):  # noqa: N818 - no error: the end of a request that nobody waits for
    """The client has closed its connection."""


class _Presence:
    """Cancels what is done inside once the client leaves, as `_ClientLeft`."""

    __slots__ = ("_left", "_receive", "_task", "_watch")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = False

    async def __aenter__(self) -> None:
        self._task = asyncio.current_task()
        self._watch = asyncio.ensure_future(self._receive())
        self._watch.add_done_callback(self._leave)

    def _leave(self, watch: asyncio.Future[Message]) -> None:
        if watch.cancelled() or watch.exception() is not None or self._task is None:
            return
        if watch.result()["type"] == "http.disconnect":
            self._left = True
            self._task.cancel()

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        task, self._task = self._task, None
        self._watch.cancel()
        if self._left and kind is asyncio.CancelledError and task is not None:
            task.uncancel()
            raise _ClientLeft


async def _send(send: Send, reply: GatewayReply, entry: Entry | None, keep_alive_s: float = 0.0) -> None:
    body = reply.body
    headers = [(name.encode("latin-1"), field(value).encode()) for name, value in reply.headers]
    if isinstance(body, bytes):
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
    else:
        async with aclosing(body):
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            pulse = _Pulse(send, reply.keep_alive, keep_alive_s)
            try:
                async for piece in body:
                    await pulse.pause()
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    pulse.go_on()
            finally:
                pulse.stop()
            await pulse.pause()
            await send({"type": "http.response.body", "body": b""})
    if entry is not None:
        entry.sent()


class _Pulse:
    """Sends a sign of life when nothing was sent for a while; never beside another piece."""

    __slots__ = ("_beat", "_every_s", "_last_s", "_loop", "_send", "_sending", "_sign", "_timer")

    def __init__(self, send: Send, sign: bytes, every_s: float) -> None:
        self._send = send
        self._sign = sign
        self._every_s = every_s
        self._loop = asyncio.get_running_loop()
        self._sending = False
        self._beat: asyncio.Task[None] | None = None
        self._last_s = self._loop.time()
        self._timer = self._loop.call_later(every_s, self._tick) if sign else None

    async def pause(self) -> None:
        """Let a sign that is being sent pass, and send none until `go_on`."""
        self._sending = True
        if self._beat is not None:
            beat, self._beat = self._beat, None
            await beat

    def go_on(self) -> None:
        """A piece was sent."""
        self._sending = False
        self._last_s = self._loop.time()

    def stop(self) -> None:
        """Send no more signs."""
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        silent_s = self._loop.time() - self._last_s
        if silent_s >= self._every_s and not self._sending and (self._beat is None or self._beat.done()):
            self._beat = self._loop.create_task(self._show())
            silent_s = 0.0
        self._timer = self._loop.call_later(max(0.01, self._every_s - silent_s), self._tick)

    async def _show(self) -> None:
        with suppress(OSError):  # a client that is gone is noticed where it is waited for
            await self._send({"type": "http.response.body", "body": self._sign, "more_body": True})
        self._last_s = self._loop.time()
