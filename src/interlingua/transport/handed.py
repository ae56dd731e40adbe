"""Transports that the caller hands in: an object of the seam, a client of httpx, or our own one with other options.

Rules
- What was handed in carries requests and nothing else: keys, deadlines, redirects, retries and health stay ours.
- What was handed in is never closed here; a transport made of `HttpOptions` is, when nobody uses the options any more.
- httpx is never imported: whoever hands in a client of it has done that.
- A blocking transport serves awaited calls from threads, one for each step; an awaited one belongs to its event loop,
  so that it serves no blocking calls.
"""

from __future__ import annotations

import os
import sys
import threading
from inspect import isawaitable, isclass, iscoroutinefunction
from typing import TYPE_CHECKING, Any, NoReturn, cast
from weakref import WeakValueDictionary, finalize

from interlingua.errors import UsageError, kind_of
from interlingua.transport.problems import connecting_failed, exchange_failed
from interlingua.transport.url import parse_url

if TYPE_CHECKING:
    from asyncio import Future

    from interlingua.transport.aio import HttpTransport as AwaitedTransport
    from interlingua.transport.base import AsyncReply, AsyncTransport, Carrier, Reply, Timeouts, Transport
    from interlingua.transport.options import HttpOptions
    from interlingua.transport.sync import HttpTransport
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["ThreadedTransport", "configured", "handed_in"]

_configured: WeakValueDictionary[HttpOptions, _Configured] = WeakValueDictionary()
_making = threading.Lock()


def handed_in(value: object) -> Carrier:
    """What carries requests through `value`.

    Raises: UsageError for what is no transport and no client, and for a client that sends a credential of its own.
    """
    httpx: Any = sys.modules.get("httpx")
    if httpx is not None and isinstance(value, httpx.Client | httpx.AsyncClient):
        return _of_client(value, is_blocking=isinstance(value, httpx.Client))
    opening = getattr(value, "open", None)
    if isclass(value) or not callable(opening) or not callable(getattr(value, "close", None)):
        raise UsageError(
            "transport takes an httpx.Client, an httpx.AsyncClient, or an object with open(request, timeouts) and "
            f"close(), not {kind_of(value)}"
        )
    if iscoroutinefunction(opening):
        return _Awaited(_GuardedAsync(cast("AsyncTransport", value)), kind_of(value))
    return _Blocking(_Guarded(cast("Transport", value)))


def configured(options: HttpOptions) -> Carrier:
    """What carries requests as `options` say; the same one for equal options, as long as somebody holds it."""
    with _making:
        carrier = _configured.get(options)
        if carrier is None:
            carrier = _configured[options] = _Configured(options)
        return carrier


def _of_client(client: Any, *, is_blocking: bool) -> Carrier:
    from interlingua.transport.library import AsyncLibraryTransport, LibraryTransport

    if is_blocking:
        return _Blocking(LibraryTransport(client=client))
    return _Awaited(AsyncLibraryTransport(client=client), "an httpx.AsyncClient")


class _Blocking:
    """A blocking transport, for both faces."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def blocking(self) -> Transport:
        return self._transport

    def awaited(self) -> AsyncTransport:
        return ThreadedTransport(self._transport)


class _Awaited:
    """An awaited transport, which serves nothing else."""

    def __init__(self, transport: AsyncTransport, kind: str) -> None:
        self._transport = transport
        self._kind = kind

    def blocking(self) -> NoReturn:
        raise UsageError(
            f"the transport that was handed in ({self._kind}) can only be awaited: call the model of interlingua.aio, "
            "or hand in a blocking one, such as an httpx.Client"
        )

    def awaited(self) -> AsyncTransport:
        return self._transport


class _Configured:
    """Our own transports with other options, made at first use."""

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._blocking: HttpTransport | None = None
        self._awaited: AwaitedTransport | None = None

    def blocking(self) -> Transport:
        with _making:
            if self._blocking is None:
                from interlingua.transport.sync import HttpTransport

                self._blocking = HttpTransport(self._options, environment=os.environ)
                finalize(self, self._blocking.close)
            return self._blocking

    def awaited(self) -> AsyncTransport:
        with _making:
            if self._awaited is None:
                from interlingua.transport.aio import HttpTransport as AwaitedTransport

                self._awaited = AwaitedTransport(self._options, environment=os.environ)
                finalize(self, self._awaited.close_without_loop)
            return self._awaited


class _Guarded:
    """A transport of the caller's own, whose failures of the system are errors of ours."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        peer = parse_url(request.url).origin.peer
        try:
            reply: object = self._transport.open(request, timeouts)
        except OSError as error:
            raise connecting_failed(error, peer) from error
        if isawaitable(reply):
            if hasattr(reply, "close"):
                cast("Any", reply).close()
            raise UsageError(
                f"open of the transport ({kind_of(self._transport)}) gives an awaitable: make it async def"
            )
        return _GuardedReply(reply, peer)

    def close(self) -> None:
        """Nothing: it is the caller's to close."""


class _GuardedReply:
    def __init__(self, reply: Reply, peer: str) -> None:
        self.status: int = reply.status
        self.headers: Headers = reply.headers
        self._reply = reply
        self._peer = peer

    def read(self) -> bytes:
        try:
            return self._reply.read()
        except OSError as error:
            raise exchange_failed(error, self._peer) from error

    def close(self) -> None:
        self._reply.close()


class _GuardedAsync:
    """An awaited transport of the caller's own, whose failures of the system are errors of ours."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        peer = parse_url(request.url).origin.peer
        try:
            return _GuardedAsyncReply(await self._transport.open(request, timeouts), peer)
        except OSError as error:
            raise connecting_failed(error, peer) from error

    async def close(self) -> None:
        """Nothing: it is the caller's to close."""


class _GuardedAsyncReply:
    def __init__(self, reply: AsyncReply, peer: str) -> None:
        self.status: int = reply.status
        self.headers: Headers = reply.headers
        self._reply = reply
        self._peer = peer

    async def read(self) -> bytes:
        try:
            return await self._reply.read()
        except OSError as error:
            raise exchange_failed(error, self._peer) from error

    async def close(self) -> None:
        await self._reply.close()


class ThreadedTransport:
    """A blocking transport that is awaited: each of its steps runs in a thread."""

    def __init__(self, transport: Transport) -> None:
        """The awaited face of `transport`."""
        self._transport = transport

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply to `request`.

        Raises: as the transport does.
        """
        import asyncio

        opening = asyncio.ensure_future(asyncio.to_thread(self._transport.open, request, timeouts))
        try:
            return _ThreadedReply(await asyncio.shield(opening))
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unwanted)
            raise

    async def close(self) -> None:
        """Close the transport."""
        self._transport.close()


def _close_unwanted(opening: Future[Reply]) -> None:
    """Close a reply that came when nobody waited for it any more."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


class _ThreadedReply:
    """A blocking reply that is awaited; one that is closed in the middle of a step is closed where that ends."""

    def __init__(self, reply: Reply) -> None:
        self.status: int = reply.status
        self.headers: Headers = reply.headers
        self._reply = reply
        self._turn = threading.Lock()
        self._is_closed = False

    async def read(self) -> bytes:
        from asyncio import to_thread

        return await to_thread(self._read)

    async def close(self) -> None:
        from asyncio import to_thread

        self._is_closed = True
        await to_thread(self._close)

    def _read(self) -> bytes:
        try:
            with self._turn:
                return self._reply.read()
        finally:
            self._close()

    def _close(self) -> None:
        """Close the reply where that was asked for and no step is under way."""
        if self._is_closed and self._turn.acquire(blocking=False):
            try:
                self._reply.close()
            finally:
                self._turn.release()
