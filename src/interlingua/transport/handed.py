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
from contextlib import suppress
from inspect import isawaitable, isclass, iscoroutinefunction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast
from weakref import WeakValueDictionary, finalize

from interlingua.errors import APIConnectionError, Error, UsageError, kind_of
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
    """The carrier that sends requests through `value`.

    Raises: UsageError for what is no transport and no client, and for a client that sends a credential of its own.
    """
    httpx: Any = sys.modules.get("httpx")
    if httpx is not None and isinstance(value, httpx.Client | httpx.AsyncClient):
        from interlingua.transport.library import AsyncLibraryTransport, LibraryTransport

        if isinstance(value, httpx.Client):
            return _Blocking(LibraryTransport(client=cast("Any", value)))
        return _Awaited(AsyncLibraryTransport(client=cast("Any", value)), "an httpx.AsyncClient")
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
    """The carrier of requests with `options`, shared for equal options as long as somebody holds it."""
    with _making:
        carrier = _configured.get(options)
        if carrier is None:
            carrier = _configured[options] = _Configured(options)
        return carrier


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


class _Caller(NamedTuple):
    """The transport of the caller's own that carries a request, for errors."""

    name: str
    """Its class."""
    peer: str
    """The peer of the request."""

    def step(self, name: str) -> _Step:
        """The guard of a step of it, which makes its exceptions errors of ours."""
        return _Step(self, name)

    def wrong(self, step: str, problem: str) -> UsageError:
        """The error of a transport that gives what no transport gives."""
        return UsageError(f"{step} of the transport ({self.name}) {problem}")


class _Step:
    """A step of a transport: what the system says, and what its code raises, become errors that name it.

    The words of what it raises are those of the `__cause__` alone: they may hold anything.
    """

    __slots__ = ("_caller", "_name")

    def __init__(self, caller: _Caller, name: str) -> None:
        self._caller = caller
        self._name = name

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        del kind, traceback
        if error is None or isinstance(error, Error) or not isinstance(error, Exception):
            return
        if isinstance(error, OSError):
            translated = connecting_failed if self._name == "open" else exchange_failed
            raise translated(error, self._caller.peer) from error
        sentence = f"{self._name} of the transport ({self._caller.name}) raised {kind_of(error)}"
        raise APIConnectionError(f"{self._caller.peer}: {sentence}") from error


def _head_of(reply: object, caller: _Caller) -> tuple[int, Headers]:
    """The status and the headers of a reply.

    Raises: UsageError for what is no reply.
    """
    if isawaitable(reply):
        _close_unawaited(reply)
        raise caller.wrong("open", "gives an awaitable: make it async def")
    missing = [name for name in ("status", "headers", "read", "close") if not hasattr(reply, name)]
    if missing:
        raise caller.wrong("open", f"gave {kind_of(reply)}, and a reply has status, headers, read() and close()")
    status, headers = cast("Any", reply).status, cast("Any", reply).headers
    if type(status) is not int or not 100 <= status <= 599:
        raise caller.wrong("open", f"gave a reply with the status {status!r:.60}")
    try:
        pairs = tuple([(name.lower(), value) for name, value in headers if isinstance(value, str)])
        if len(pairs) == len(headers):
            return status, pairs
    except (TypeError, ValueError, AttributeError):
        pass
    raise caller.wrong("open", f"gave a reply whose headers are no pairs of texts, but {kind_of(headers)}")


def _piece_of(piece: object, caller: _Caller) -> bytes:
    """A piece of a body.

    Raises: UsageError for what is none.
    """
    if isinstance(piece, bytes):
        return piece
    if isawaitable(piece):
        _close_unawaited(piece)
    raise caller.wrong("read", f"gave {kind_of(piece)}, not bytes")


def _close_unawaited(value: object) -> None:
    """A coroutine that nobody awaits warns."""
    if hasattr(value, "close"):
        cast("Any", value).close()


class _Guarded:
    """A transport of the caller's own, whose failures are errors of ours."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        caller = _Caller(type(self._transport).__name__, parse_url(request.url).origin.peer)
        with caller.step("open"):
            reply = self._transport.open(request, timeouts)
            return _GuardedReply(reply, caller)

    def close(self) -> None:
        """Nothing: it is the caller's to close."""


class _GuardedReply:
    def __init__(self, reply: Reply, caller: _Caller) -> None:
        self.status: int
        self.headers: Headers
        self.status, self.headers = _head_of(reply, caller)
        self._reply = reply
        self._caller = caller

    def read(self) -> bytes:
        with self._caller.step("read"):
            return _piece_of(self._reply.read(), self._caller)

    def close(self) -> None:
        with suppress(Exception):  # the answer is there, or has failed: what its end raises changes neither
            self._reply.close()


class _GuardedAsync:
    """An awaited transport of the caller's own, whose failures are errors of ours."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        caller = _Caller(type(self._transport).__name__, parse_url(request.url).origin.peer)
        with caller.step("open"):
            reply = await self._transport.open(request, timeouts)
            return _GuardedAsyncReply(reply, caller)

    async def close(self) -> None:
        """Nothing: it is the caller's to close."""


class _GuardedAsyncReply:
    def __init__(self, reply: AsyncReply, caller: _Caller) -> None:
        self.status: int
        self.headers: Headers
        self.status, self.headers = _head_of(reply, caller)
        self._reply = reply
        self._caller = caller

    async def read(self) -> bytes:
        with self._caller.step("read"):
            piece: object = self._reply.read()
            if not isawaitable(piece):
                reason = f"gave {kind_of(piece)}, not something to await, although open is async def"
                raise self._caller.wrong("read", reason)
            return _piece_of(await piece, self._caller)

    async def close(self) -> None:
        with suppress(Exception):  # as above
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
