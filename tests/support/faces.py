"""One way to drive any transport from a plain test: blocking or awaited, ours or the library's."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Protocol

from interlingua.transport.base import AsyncReply, AsyncTransport, Reply, Timeouts, Transport
from interlingua.transport.options import HttpOptions
from interlingua.transport.sockets import Network
from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = ["FACES", "OWN", "Face", "face", "quick", "whole"]

OWN = ("sync", "aio")
FACES = ("sync", "aio", "library", "library-aio")


def quick(**seconds: float) -> Timeouts:
    """Time-outs that a busy machine does not reach, so that a mistake fails a test instead of hanging it."""
    usual = {"connect_s": 30.0, "first_byte_s": 30.0, "idle_s": 30.0, "total_s": 60.0, "pool_s": 30.0}
    return Timeouts(**(usual | seconds))


class Opened(Protocol):
    """A reply, driven without awaiting."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Headers:
        """Lower-case names."""
        ...

    def read(self) -> bytes:
        """The next piece."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class Face(Protocol):
    """A transport, driven without awaiting."""

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Opened:
        """The reply to a request."""
        ...

    def tasks(self) -> int:
        """Tasks that are left on the loop."""
        ...


class _Blocking:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        return self._transport.open(request, timeouts)

    def tasks(self) -> int:
        return 0


class _Driven:
    def __init__(self, reply: AsyncReply, runner: asyncio.Runner) -> None:
        self._reply = reply
        self._runner = runner
        self.status = reply.status
        self.headers = reply.headers

    def read(self) -> bytes:
        return self._runner.run(self._reply.read())

    def close(self) -> None:
        async def closing() -> None:
            await self._reply.close()
            for _ in range(3):
                await asyncio.sleep(0)

        self._runner.run(closing())


class _Awaited:
    def __init__(self, transport: AsyncTransport, runner: asyncio.Runner) -> None:
        self._transport = transport
        self._runner = runner

    def open(self, request: HttpRequest, timeouts: Timeouts) -> _Driven:
        return _Driven(self._runner.run(self._transport.open(request, timeouts)), self._runner)

    def tasks(self) -> int:
        async def count() -> int:
            return len(asyncio.all_tasks()) - 1

        return self._runner.run(count())


def _make(
    kind: str, options: HttpOptions, environment: Mapping[str, str], network: Network | None
) -> Transport | AsyncTransport:
    match kind:
        case "sync":
            from interlingua.transport.sync import HttpTransport

            return HttpTransport(options, environment=environment, network=network)
        case "aio" | "uvloop":
            from interlingua.transport.aio import HttpTransport as AsyncHttpTransport

            return AsyncHttpTransport(options, environment=environment, network=network)
        case _:
            library = importlib.import_module("interlingua.transport.library")
            return library.LibraryTransport(options) if kind == "library" else library.AsyncLibraryTransport(options)


@contextmanager
def face(
    kind: str,
    options: HttpOptions | None = None,
    environment: Mapping[str, str] | None = None,
    network: Network | None = None,
) -> Generator[Face]:
    """A transport of `kind`, closed at the end; `uvloop` is ours on the loop that a gateway runs on."""
    transport = _make(kind, options or HttpOptions(), environment or {}, network)
    factory = importlib.import_module("uvloop").new_event_loop if kind == "uvloop" else None
    with asyncio.Runner(loop_factory=factory) as runner:
        if kind in ("sync", "library"):
            yield _Blocking(transport)  # pyright: ignore[reportArgumentType] - `kind` says which protocol it is
            transport.close()
        else:
            yield _Awaited(transport, runner)  # pyright: ignore[reportArgumentType] - see above
            runner.run(transport.close())  # pyright: ignore[reportArgumentType] - see above


def whole(reply: Opened) -> HttpReply:
    """The reply, read to its end and closed."""
    pieces: list[bytes] = []
    try:
        while piece := reply.read():
            pieces.append(piece)
    finally:
        reply.close()
    return HttpReply(status=reply.status, headers=reply.headers, body=b"".join(pieces))
