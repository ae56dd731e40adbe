"""A connection to the gateway's server without a socket: what a client sends, what it gets, and when it reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.records.record import Record
from interlingua.gateway.serving.connection import Connection
from interlingua.gateway.serving.server import GatewayServer
from tests.support.gateway import gateway

__all__ = ["GET", "HEAD", "Pieces", "Wire", "answering", "post", "settled", "wired"]

GET = b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n"


def post(body: bytes, *headers: bytes) -> bytes:
    """A request with a body of a length."""
    lines = b"".join([header + b"\r\n" for header in headers])
    return HEAD + lines + b"content-length: %d\r\n\r\n%b" % (len(body), body)


def answering(answer: Any = None, records: list[Record] | None = None, **settings: Any) -> Gateway:
    """A gateway that answers like that, by default with the body of the request, or `{}` for none."""
    made = gateway(**settings)
    if records is not None:
        made.recorder.sinks = (records.append,)

    async def plain(request: GatewayRequest) -> GatewayReply:
        return GatewayReply(headers=(("x-a", "b"),), body=request.body or b"{}")

    made.answer = answer or plain
    return made


class Pieces:
    """An answer whose pieces are handed out one by one."""

    def __init__(self) -> None:
        """One that has said nothing."""
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue()
        self.taken: int = 0
        """How many pieces were taken."""
        self.is_closed: bool = False
        """Whether it was closed."""

    def __aiter__(self) -> AsyncGenerator[bytes]:
        """The pieces."""
        return self._pieces()

    async def _pieces(self) -> AsyncGenerator[bytes]:
        while piece := await self._waiting.get():
            self.taken += 1
            yield b"" if piece == b"nothing" else piece

    async def aclose(self) -> None:
        """Remember it."""
        self.is_closed = True

    def say(self, *pieces: bytes) -> None:
        """Hand out pieces, `nothing` as an empty one; one that is empty is the end."""
        for piece in pieces:
            self._waiting.put_nowait(piece)

    async def answer(self, request: GatewayRequest) -> GatewayReply:
        """A reply with them."""
        return GatewayReply(headers=(("x-a", "b"),), body=self, keep_alive=b":\n")


async def settled() -> None:
    """Return once everything has happened that needs no time."""
    for _ in range(20):
        await asyncio.sleep(0)


class Wire(asyncio.Transport):
    """One connection, from its client's side; as a transport it is the server's."""

    def __init__(self, server: GatewayServer) -> None:
        """A connection that was just made."""
        super().__init__({"peername": ("127.0.0.1", 5)})
        self._loop = asyncio.get_running_loop()
        self.received: bytearray = bytearray()
        """What the client has got."""
        self.writes: list[bytes] = []
        """The same, write by write."""
        self.is_paused: bool = False
        """Whether the server reads no more for now."""
        self.is_ended: bool = False
        """Whether the server says no more."""
        self.is_aborted: bool = False
        """Whether the server has let the connection go without a word."""
        self.over: asyncio.Event = asyncio.Event()
        """Whether the server knows the connection no more."""
        self._is_closing = self._is_stuck = False
        self.server: GatewayServer = server
        """Who serves it."""
        self.protocol: Any = Connection(server, self._loop)
        """The server's side."""
        self.protocol.connection_made(self)

    # The client

    def send(self, data: bytes) -> None:
        """Send bytes, as the server gets them in one piece."""
        assert not self.is_paused
        if not self._is_closing:
            self.protocol.data_received(data)

    def leave(self) -> None:
        """Close the connection; the server knows at once."""
        self._is_closing = True
        if not self.over.is_set():
            self.over.set()
            self.protocol.connection_lost(None)

    def stop_reading(self) -> None:
        """Read no more: what the server writes waits."""
        self._is_stuck = True
        self.protocol.pause_writing()

    def read_on(self) -> None:
        """Read again."""
        self._is_stuck = False
        self.protocol.resume_writing()
        if self._is_closing:
            self._lose()

    async def until(self, mark: bytes, count: int = 1) -> bytes:
        """What has been got, once the mark is in it so many times."""
        async with asyncio.timeout(60):
            while self.received.count(mark) < count:  # noqa: ASYNC110 - it grows by many hands
                await asyncio.sleep(0.001)
        return bytes(self.received)

    async def end(self) -> bytes:
        """Everything that has been got, once the server has ended."""
        async with asyncio.timeout(60):
            while not (self.is_ended or self.over.is_set()):  # noqa: ASYNC110 - either of two
                await asyncio.sleep(0.001)
        return bytes(self.received)

    # The transport

    def write(self, data: Any) -> None:
        """Take what the server writes."""
        assert not self._is_closing
        assert not self.is_ended
        self.writes.append(bytes(data))
        self.received += data

    def set_protocol(self, protocol: Any) -> None:
        """Go on with another protocol."""
        self.protocol = protocol

    def can_write_eof(self) -> bool:
        """That it can be ended on one side."""
        return True

    def write_eof(self) -> None:
        """End the server's side."""
        self.is_ended = True

    def pause_reading(self) -> None:
        """Give the server nothing for now."""
        self.is_paused = True

    def resume_reading(self) -> None:
        """Go on."""
        self.is_paused = False

    def is_closing(self) -> bool:
        """Whether the server has closed it."""
        return self._is_closing

    def close(self) -> None:
        """End once everything was taken."""
        self._is_closing = True
        if not self._is_stuck:
            self._lose()

    def abort(self) -> None:
        """End at once."""
        self.is_aborted = True
        self._lose()

    def _lose(self) -> None:
        self._is_closing = True
        if not self.over.is_set():
            self.over.set()
            self._loop.call_soon(self.protocol.connection_lost, None)


@asynccontextmanager
async def wired(gateway: Gateway) -> AsyncGenerator[Wire]:
    """A connection to a gateway; afterwards nothing of it may be left."""
    before = asyncio.all_tasks()
    server = GatewayServer(gateway)
    server.date = b"date: now\r\n"
    wire = Wire(server)
    yield wire
    wire.leave()
    async with asyncio.timeout(60):
        while server.connections or asyncio.all_tasks() - before:  # noqa: ASYNC110 - tasks end by themselves
            await asyncio.sleep(0.001)
