"""The transport seam: one method that opens an exchange, blocking or awaited.

A transport takes one `HttpRequest` and gives back a reply whose body is read piece by piece. Everything that
talks to a model goes through it: sockets, the local engine, the scripted fake, cassettes, injected faults.

Rules
- `open` returns when the status line and the headers are there; it raises only `TransportError`,
  `LimitExceededError` or `ConfigError`.
- `read` returns the next piece of the decompressed body, `b""` at its end, and raises the same errors.
- `close` may be called at any time, any number of times, from `finally`; an unfinished exchange closes its socket.
- A transport may have `fetch` beside `open`: the whole reply in one step, by the same rules. `fetch_of` asks any.
- A transport never retries, never follows a redirect to another origin with a credential, never interprets a body.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from interlingua.wire.http import HttpReply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.wire.http import Headers, HttpRequest

__all__ = [
    "AsyncFetch",
    "AsyncReply",
    "AsyncTransport",
    "Carrier",
    "Fetch",
    "LibraryClient",
    "PatientReply",
    "PouringReply",
    "Reply",
    "Timeouts",
    "Transport",
    "async_fetch_of",
    "fetch_of",
]

Fetch: TypeAlias = "Callable[[HttpRequest, Timeouts], HttpReply]"
"""Gives the whole reply to a request, and leaves nothing open."""
AsyncFetch: TypeAlias = "Callable[[HttpRequest, Timeouts], Awaitable[HttpReply]]"
"""Gives the whole reply to a request when awaited, and leaves nothing open."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Deadlines in seconds, one for each phase of an exchange; None waits for ever."""

    connect_s: float | None = 10.0
    """To resolve, connect and finish the TLS handshake."""
    first_byte_s: float | None = 600.0
    """From the last byte sent to the first byte of the status line."""
    idle_s: float | None = 120.0
    """Between two pieces of the body."""
    total_s: float | None = 600.0
    """From the call to the last byte."""
    pool_s: float | None = 60.0
    """For a free connection."""


class Reply(Protocol):
    """One reply whose body is still to be read."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Headers:
        """Headers with lower-case names."""
        ...

    def read(self) -> bytes:
        """The next piece of the decompressed body; `b""` at its end."""
        ...

    def close(self) -> None:
        """Give the connection back when the body was read to its end, else close it."""
        ...


class PatientReply(Reply, Protocol):
    """A blocking reply that can also be read for a while: where a thread waits, nobody else can give up for it.

    A transport that may wait long offers it; the awaited face needs none, since a task can be cancelled.
    """

    def read_within(self, seconds: float) -> bytes:
        """As `read`; APITimeoutError of the phase `total`, and the end of the exchange, after `seconds`."""
        ...


class Transport(Protocol):
    """Opens exchanges, blocking."""

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply to `request`, its headers read and its body not yet."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class AsyncReply(Protocol):
    """One reply whose body is still to be read, awaited."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Headers:
        """Headers with lower-case names."""
        ...

    async def read(self) -> bytes:
        """The next piece of the decompressed body; `b""` at its end."""
        ...

    async def close(self) -> None:
        """Give the connection back when the body was read to its end, else close it."""
        ...


class PouringReply(AsyncReply, Protocol):
    """A reply that can give its pieces to a function where they arrive: no task, no turn of the loop for each."""

    def pour(self, take: Callable[[bytes], bool]) -> Awaitable[None]:
        """To be awaited while `take` is given the pieces, as long as it says True.

        It is over when `take` says False, at the end, at a failure and a deadline: `read` goes on and tells them. What
        `take` raises is its own concern: it must not.
        """
        ...


class AsyncTransport(Protocol):
    """Opens exchanges, awaited."""

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply to `request`, its headers read and its body not yet."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


class LibraryClient(Protocol):
    """A client of httpx, as far as it is known here: `httpx.Client` or `httpx.AsyncClient`."""

    @property
    def is_closed(self) -> bool:
        """Whether it cannot send any more."""
        ...

    @property
    def trust_env(self) -> bool:
        """Whether it reads proxies from the environment."""
        ...


class Carrier(Protocol):
    """Transports for both faces that stand for those of the process: of the caller's own, or code in this process."""

    def blocking(self) -> Transport:
        """The blocking transport.

        Raises: UsageError where there is only an awaited one.
        """
        ...

    def awaited(self) -> AsyncTransport:
        """The awaited transport."""
        ...


def fetch_of(transport: Transport) -> Fetch:
    """Gives whole replies through `transport`: its own `fetch`, or one made of `open`, `read` and `close`."""
    own: Fetch | None = getattr(transport, "fetch", None)
    return partial(_fetched, transport) if own is None else own


def async_fetch_of(transport: AsyncTransport) -> AsyncFetch:
    """The function that gives whole replies through an awaited transport: its own `fetch`, or one made of its parts."""
    own: AsyncFetch | None = getattr(transport, "fetch", None)
    return partial(_fetched_async, transport) if own is None else own


def _fetched(transport: Transport, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
    reply = transport.open(request, timeouts)
    try:
        body = b"".join(iter(reply.read, b""))
    finally:
        reply.close()
    return HttpReply(status=reply.status, headers=reply.headers, body=body)


async def _fetched_async(transport: AsyncTransport, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
    reply = await transport.open(request, timeouts)
    pieces: list[bytes] = []
    try:
        while piece := await reply.read():
            pieces.append(piece)
    finally:
        await reply.close()
    return HttpReply(status=reply.status, headers=reply.headers, body=b"".join(pieces))
