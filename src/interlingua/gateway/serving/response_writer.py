"""A connection's way out: replies as bytes on a transport, as fast as the client takes them.

Rules
- A whole reply is one write, and so is each piece of a stream: whatever came together goes together. The head of a
  stream goes with its first piece, where that is there at once, as it is where pieces are poured.
- Pieces that follow go out at the end of a turn of the loop, those of all connections after each other: that costs the
  system a third less than a write between any two reads. Whatever else is sent takes them along, in their order.
- While the client does not read, nothing is taken from where the pieces come from.
- Pieces that can be poured are taken where they arrive, in the callback of the upstream's connection.
- A silent stream is shown to be alive between two of its pieces.
- The pieces are closed whatever happens, and that closes the upstream.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interlingua.gateway.http import Closing
from interlingua.gateway.serving.writer import LAST_CHUNK, chunk, has_body, head, whole

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayReply, Head, Pieces

__all__ = ["FlushBatch", "ResponseWriter"]

_MOST_HELD_BYTES = 65_536
"""How much is held for the end of a turn: one turn may bring megabytes, and what is held slows no upstream down."""
_SHORTEST_S = 0.01
"""How soon is looked again whether a stream is silent."""


class FlushBatch:
    """The ways out on which something is to be sent at the end of this turn of the loop."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        """None."""
        self._waiting: list[ResponseWriter] = []

    def add(self, writer: ResponseWriter, loop: asyncio.AbstractEventLoop) -> None:
        """Have one send what it holds then."""
        if not self._waiting:
            loop.call_soon(self._leave)
        self._waiting.append(writer)

    def _leave(self) -> None:
        waiting, self._waiting = self._waiting, []
        for writer in waiting:
            writer.let_go()


class ResponseWriter:
    """Writes the replies of one connection, one after the other."""

    __slots__ = ("_flush_batch", "_loop", "_resumed", "is_leaving", "pending", "stalled_s", "transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, flush_batch: FlushBatch) -> None:
        """The way out of a connection that was just made."""
        self.transport: asyncio.Transport = transport
        """Where bytes go."""
        self._loop = loop
        self._flush_batch = flush_batch
        self._resumed: asyncio.Future[None] | None = None
        self.pending: bytes = b""
        """The bytes that go out with the next ones."""
        self.is_leaving: bool = False
        """Whether that goes out at the end of this turn."""
        self.stalled_s: float | None = None
        """Since when the client takes nothing, by the loop's clock; None while it does."""

    def pause(self) -> None:
        """The client does not read."""
        self.stalled_s = self._loop.time()
        self._resumed = self._loop.create_future()

    def resume(self) -> None:
        """The client has read."""
        self.stalled_s = None
        resumed, self._resumed = self._resumed, None
        if resumed is not None and not resumed.done():
            resumed.set_result(None)

    def write(self, data: bytes) -> None:
        """Send bytes, after those that were held, unless there is nobody any more."""
        if self.pending:
            data, self.pending, self.is_leaving = self.pending + data, b"", False
        if not self.transport.is_closing():
            self.transport.write(data)

    def write_soon(self, data: bytes) -> None:
        """Send bytes at the end of this turn; behind those that are held for the first ones, or are many, at once."""
        if self.is_leaving and len(self.pending) < _MOST_HELD_BYTES:
            self.pending += data
        elif self.pending:
            self.write(data)
        else:
            self.pending, self.is_leaving = data, True
            self._flush_batch.add(self, self._loop)

    def let_go(self) -> None:
        """Send what is held by itself: nothing comes at once."""
        if self.pending:
            self.write(b"")

    async def send(
        self, request_head: Head, reply: GatewayReply, more: bytes, *, keeps: bool, keep_alive_s: float
    ) -> None:
        """Send a reply, and a sign of life after every `keep_alive_s` silent seconds of a stream.

        `more` are header lines of the server; `keeps` says that the connection goes on.
        """
        body = reply.body
        if isinstance(body, bytes):
            if self._resumed is not None:
                await self._resumed
            self.write(whole(request_head, reply.status, reply.headers, body, more=more, keeps=keeps))
            return
        try:
            if self._resumed is not None:
                await self._resumed
            self.pending = head(request_head, reply.status, reply.headers, more=more, keeps=keeps)
            if not has_body(request_head, reply.status):
                self.let_go()
            else:
                await self._send_pieces(body, reply.keep_alive, keep_alive_s, in_chunks=not request_head.is_old)
        finally:
            await body.aclose()

    async def _send_pieces(self, pieces: Pieces, sign: bytes, every_s: float, *, in_chunks: bool) -> None:
        stream = _Stream(self, self._loop, chunk(sign) if sign and in_chunks else sign, every_s, in_chunks=in_chunks)
        try:
            if isinstance(pieces, Closing) and pieces.pour_into is not None:
                pieces.pour_into(stream.take)
            else:
                self._loop.call_soon(self.let_go)
            async for piece in pieces:
                if self._resumed is not None:
                    await self._resumed
                if piece:
                    stream.take(piece)
                elif self.pending:
                    self.let_go()
        except BaseException:
            if self.is_leaving:  # the connection may end now
                self.let_go()
            raise
        finally:
            stream.stop()
        if in_chunks:
            self.write(LAST_CHUNK)
        else:
            self.let_go()

    @property
    def is_paused(self) -> bool:
        """Whether the client does not read."""
        return self._resumed is not None


class _Stream:
    """Sends the pieces of a stream, and a sign of life when nothing was sent for a while."""

    __slots__ = ("_every_s", "_in_chunks", "_last_s", "_loop", "_sign", "_timer", "_writer")

    def __init__(
        self, writer: ResponseWriter, loop: asyncio.AbstractEventLoop, sign: bytes, every_s: float, *, in_chunks: bool
    ) -> None:
        self._writer = writer
        self._loop = loop
        self._in_chunks = in_chunks
        self._sign = sign
        self._every_s = every_s
        self._last_s = loop.time()
        self._timer = loop.call_later(every_s, self._tick) if sign else None

    def take(self, piece: bytes) -> bool:
        """Send a piece; whether the client takes more."""
        writer = self._writer
        writer.write_soon(b"%x\r\n%b\r\n" % (len(piece), piece) if self._in_chunks else piece)
        self._last_s = self._loop.time()
        return writer.stalled_s is None

    def _tick(self) -> None:
        now_s = self._loop.time()
        if now_s - self._last_s >= self._every_s:
            self._last_s = now_s
            if not self._writer.is_paused:
                self._writer.write(self._sign)
        wait_s = max(_SHORTEST_S, self._last_s + self._every_s - now_s)
        self._timer = self._loop.call_later(wait_s, self._tick)

    def stop(self) -> None:
        """Send no more signs."""
        if self._timer is not None:
            self._timer.cancel()
