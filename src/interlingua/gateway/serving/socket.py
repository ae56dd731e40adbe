"""One WebSocket on the gateway's own server: its frames, and what it may take of the server.

Strategy: `websockets` reads and writes the frames, without I/O; this protocol takes the place of the HTTP connection on
its transport. Whole texts wait for the session, which answers them in a task of its own.

Rules
- A text is bounded like a body: in bytes (`max_body_bytes`), in time (`receive_s`, and a second more for each KiB), and
  together with all bodies that are coming (`max_receiving_bytes`); its fragments are bounded in number.
- Nothing is compressed: no extension is taken. Binary frames are refused.
- While a text waits, or the client does not read, nothing more is read.
- A client that takes nothing for `send_s` is let go; until then the upstream waits, and memory is flat.
- After `keep_alive_s` silent seconds a ping is sent; every ping is answered.
- What ends a connection is said in an error event, where a text is at fault, and in the code of the close.

Source: RFC 6455.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING

from interlingua.errors import BadRequestError, ConfigError, Error, OverloadedError
from interlingua.gateway.serving.bodies import too_large
from interlingua.gateway.serving.receiving import Share
from interlingua.gateway.sockets.session import Close

try:
    from websockets.datastructures import Headers
    from websockets.exceptions import PayloadTooBig
    from websockets.frames import Frame, Opcode
    from websockets.http11 import Request
    from websockets.protocol import SEND_EOF, State
    from websockets.server import ServerProtocol
except ImportError as _error:
    raise ConfigError("WebSockets need the [gateway] extra: pip install 'interlingua[gateway]'") from _error

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.serving.server import GatewayServer
    from interlingua.gateway.sockets.session import Session

__all__ = ["Socket", "handshake"]

MAX_FRAGMENTS = 16_384
"""How many frames a text may come in: a text of the largest size has 4 KiB in each."""
LEAST_BYTES_PER_S = 1_024
"""How slowly a text may come once `receive_s` has passed."""
LINGER_S = 2.0
"""How long a client has to close its side once ours is closed."""
LINGER_BYTES = 4_194_304
"""How much it may send meanwhile."""
_LOG = logging.getLogger("interlingua.gateway.socket")
_FRAMES_LOG = logging.getLogger("interlingua.gateway.frames")
_STOPPED = Close(1001, "this gateway is being stopped")


def handshake(request: GatewayRequest, max_bytes: int) -> tuple[ServerProtocol, bytes]:
    """The frames of a connection that a request begins, and the reply that says so.

    Raises: BadRequestError for a handshake that is none.
    """
    frames = ServerProtocol(state=State.OPEN, max_size=max_bytes, logger=_FRAMES_LOG)
    reply = frames.accept(Request(request.path, Headers(request.headers)))
    if reply.status_code != 101:
        raise BadRequestError(f"this is no handshake of a WebSocket: {frames.handshake_exc}", status=reply.status_code)
    return frames, reply.serialize()


class Socket(asyncio.Protocol):
    """One connection of a client, once it is a WebSocket."""

    def __init__(
        self, server: GatewayServer, transport: asyncio.Transport, session: Session, frames: ServerProtocol, owner: str
    ) -> None:
        """A connection whose handshake was answered; `owner` is whose the bytes are that come."""
        self._server, self._gateway = server, server.gateway
        self._transport, self._session, self._frames = transport, session, frames
        self._loop = asyncio.get_running_loop()
        settings = self._gateway.settings
        self._share = Share(self._gateway.receiving, max(settings.max_receiving_bytes, settings.max_body_bytes), owner)
        self._texts: deque[bytes] = deque()
        self._pieces: list[bytes] = []
        self._wakeup: asyncio.Future[None] | None = None
        self._resumed: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_ending = self._is_closing = False
        self._reads = True
        self._thrown_bytes = self._partial_bytes = 0
        self._began_s = self._last_s = self._sent_s = self._stalled_s = self._loop.time()
        every_s = min(settings.receive_s, settings.send_s, settings.keep_alive_s)
        self._every_s = max(0.01, every_s / 2)
        self._watch = self._loop.call_later(self._every_s, self._look)

    def begin(self, rest: bytes) -> None:
        """Take the place of the protocol before, with what it had read too much."""
        self._transport.set_protocol(self)
        self._server.enter(self)
        self._task = self._loop.create_task(self._run())
        if rest:
            self.data_received(rest)

    async def _run(self) -> None:
        close = _STOPPED
        try:
            close = await self._session.run(self)
        except Exception:  # noqa: BLE001 - a fault of ours ends this connection alone
            close = Close(1011, "a fault of this gateway")
            _LOG.exception("a WebSocket broke off")
        finally:
            self._task = None
            self._close(close)

    # What comes

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        self._last_s = self._loop.time()
        frames, was_closing = self._frames, self._is_closing
        if not self._incoming_bytes:
            self._began_s = self._last_s
        frames.receive_data(data)
        events = frames.events_received()
        if was_closing:
            self._thrown_bytes += len(data)  # the client has not seen yet that the connection is over
            if self._thrown_bytes > LINGER_BYTES:
                self._transport.abort()
            else:
                self._flush()
            return
        for frame in events:
            if isinstance(frame, Frame) and not self._is_closing:
                self._take(frame)
        if isinstance(frames.parser_exc, PayloadTooBig):
            self._tell(too_large(self._gateway.settings.max_body_bytes))
        if frames.state is not State.OPEN:
            self._leave()
        self._flush()
        if not self._is_closing:
            self._count()
        self._let_read()

    def _take(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT | Opcode.CONT:
                self._pieces.append(bytes(frame.data))
                self._partial_bytes += len(frame.data)
                if frame.fin:
                    self._take_text()
                elif len(self._pieces) >= MAX_FRAGMENTS:
                    self._refuse(too_large(MAX_FRAGMENTS, " in frames"), Close(1009, "too many frames"))
            case Opcode.BINARY:
                self._refuse(
                    BadRequestError("a binary frame: events are texts", status=400), Close(1003, "texts alone")
                )
            case _:
                pass

    def _take_text(self) -> None:
        text = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces, self._partial_bytes = [], 0
        try:
            if not text.isascii():
                text.decode()
        except UnicodeDecodeError:
            self._close(Close(1007, "a text is not UTF-8"))
            return
        self._texts.append(text)
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    @property
    def _incoming_bytes(self) -> int:
        """How much there is of a text that is not whole."""
        return len(self._frames.reader.buffer) + self._partial_bytes + len(self._pieces)

    def _count(self) -> None:
        """Have what there is counted with all bodies that are coming."""
        size = self._incoming_bytes + sum(map(len, self._texts))
        if not size:
            self._share.release()
            return
        try:
            self._share.grow(size)
        except OverloadedError as error:
            self._refuse(error, Close(1013, "too much is coming here"))

    def _let_read(self) -> None:
        reads = (self._resumed is None and not self._texts) or self._is_closing
        if reads == self._reads or self._transport.is_closing():
            return
        self._reads = reads
        if reads:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """The client sends no more: it has left."""
        self._leave()

    # The session's side

    async def receive(self) -> bytes | None:
        """The next text; None once no further one is taken."""
        while not self._texts and not self._is_ending and not self._is_closing:
            self._wakeup = self._loop.create_future()
            try:
                await self._wakeup
            finally:
                self._wakeup = None
        if self._is_ending or self._is_closing:
            return None
        text = self._texts.popleft()
        self._count()
        self._let_read()
        return text

    async def send(self, texts: list[bytes]) -> None:
        """Send texts, as soon as the client takes them; after its end they are left out."""
        if self._resumed is not None:
            await self._resumed
        if self._frames.state is State.OPEN:
            for text in texts:
                self._frames.send_text(text)
            self._flush()

    # What goes

    def _flush(self) -> None:
        pieces = self._frames.data_to_send()
        if pieces and not self._transport.is_closing():
            self._sent_s = self._loop.time()
            self._transport.write(b"".join(pieces))
            if pieces[-1] == SEND_EOF:
                self._linger()

    def pause_writing(self) -> None:
        """The client does not read."""
        self._stalled_s, self._resumed = self._loop.time(), self._loop.create_future()
        self._let_read()

    def resume_writing(self) -> None:
        """The client has read."""
        resumed, self._resumed = self._resumed, None
        if resumed is not None and not resumed.done():
            resumed.set_result(None)
        self._let_read()

    def _tell(self, error: Error) -> None:
        """Say what is wrong with a text, before whatever else is about to be said."""
        text = self._session.refusal(error)
        if not self._transport.is_closing():
            self._transport.write(Frame(Opcode.TEXT, text).serialize(mask=False))

    # What ends it

    def _refuse(self, error: Error, close: Close) -> None:
        self._tell(error)
        self._close(close)
        self._leave()

    def _leave(self) -> None:
        """Cancel what is under way: nobody waits for it."""
        self._is_closing = True
        if self._task is not None:
            self._task.cancel()

    def _close(self, close: Close) -> None:
        """Close our side, and let the client do so with its own."""
        self._is_closing = True
        if self._frames.state is State.OPEN:
            self._frames.send_close(*close)
        self._flush()
        self._linger()

    def _linger(self) -> None:
        """End, but let the client read first what it was told."""
        self._is_closing = True
        self._watch.cancel()
        self._share.release()
        self._texts.clear()
        if self._transport.is_closing():
            return
        if self._frames.eof_sent:
            self._transport.write_eof()
        self._server.let_linger(self)
        self._watch = self._loop.call_later(LINGER_S, self._transport.abort)
        self._let_read()

    def end(self) -> None:
        """Take no further text: the server ends."""
        self._is_ending = True
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    def cut(self) -> None:
        """End what is under way: it has a moment to tell its client so."""
        self.end()
        if self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        """End without a word."""
        self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the form of a protocol
        """Let go of what was under way for the client."""
        self._leave()
        self._watch.cancel()
        self._share.release()
        self._server.leave(self)

    def _look(self) -> None:
        """End the connection if its time is over, and show that it is alive; look again later."""
        now_s, settings = self._loop.time(), self._gateway.settings
        self._watch = self._loop.call_later(self._every_s, self._look)
        count = self._incoming_bytes
        steady_s = self._began_s + settings.receive_s + count / LEAST_BYTES_PER_S
        if self._resumed is not None:
            if now_s - self._stalled_s >= settings.send_s:
                self._transport.abort()
        elif count and now_s >= min(self._last_s + settings.receive_s, steady_s):
            late = BadRequestError("the text did not come in time", status=408, retryable=True)
            self._refuse(late, Close(1008, "a text did not come in time"))
        elif now_s - self._sent_s >= settings.keep_alive_s and self._frames.state is State.OPEN:
            self._frames.send_ping(b"")
            self._flush()
