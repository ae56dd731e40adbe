"""One connection of a client: its requests one after the other, and what it may take of the server meanwhile.

Strategy: bytes go to the reader, and what has arrived is taken a step further: begun by its head, fed, and answered in
a task of its own once it is whole. One request is answered at a time; while others wait, nothing more is read. Nearly
all requests come whole, alone and with a head that is known: those are answered without any of these steps.

Rules
- A request comes within `receive_s` seconds and one more for each KiB of it, and is never silent for `receive_s`.
- A reply that is not taken for `send_s` seconds ends its connection; until then the upstream waits, and memory is flat.
- Beyond `max_connections`, or what open files allow, a new connection gets a 503.
- What ends a connection is told in the dialect of the path and the headers that have come; without a path, in OpenAI's.
  A request that has begun has a record then, with the reason, as every other one has.
- A client that leaves, or says that it sends no more, cancels what is under way for it, and that closes the upstream.
- A request that was refused before its body was there has it thrown away, as much as a body may be.
- What cannot be read ends the connection: what came before it is answered, and nothing that follows.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from interlingua.errors import BadRequestError, ConfigError, Error, InternalServerError, OverloadedError
from interlingua.gateway.http import Head
from interlingua.gateway.serving.intake import RequestIntake
from interlingua.gateway.serving.reader import Fault, RequestReader
from interlingua.gateway.serving.response_writer import ResponseWriter
from interlingua.gateway.serving.writer import CONTINUE, refusal, whole
from interlingua.gateway.sockets.session import session_of

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayReply, GatewayRequest
    from interlingua.gateway.serving.reader import Arrival
    from interlingua.gateway.serving.server import GatewayServer

__all__ = ["Connection"]

LEAST_BYTES_PER_S = 1_024
"""How slowly a request may come once `receive_s` has passed."""
IDLE_S = 75.0
"""How long a connection is kept on which nothing is asked."""
LINGER_S = 2.0
"""How long a client that was refused may go on sending: an end in the middle of that could cost it the answer."""
LINGER_BYTES = 4_194_304
"""How much it may send meanwhile."""
ASK_AGAIN_S = 0.25
"""How long a client that was not told of the end may ask again on its connection."""
SERVER_FAULTS = 500
"""The status from which on a dialect's own one is told; what is wrong with HTTP itself keeps that of HTTP."""
_STOPPED = Fault(503, "this gateway is being stopped; ask again")


class Connection(asyncio.Protocol):
    """One connection of a client."""

    __slots__ = (
        "_began_s",
        "_gateway",
        "_idle_s",
        "_intake",
        "_is_answered",
        "_is_behind",
        "_is_ending",
        "_is_lingering",
        "_is_switched",
        "_last_s",
        "_loop",
        "_peer",
        "_reader",
        "_reads",
        "_request",
        "_server",
        "_task",
        "_thrown_bytes",
        "_transport",
        "_watch",
        "_writer",
    )  # fmt: skip

    _transport: asyncio.Transport
    _writer: ResponseWriter
    _watch: asyncio.TimerHandle

    def __init__(self, server: GatewayServer, loop: asyncio.AbstractEventLoop) -> None:
        """A connection that is about to be made."""
        self._server = server
        self._gateway = server.gateway
        self._loop = loop
        self._reader = RequestReader(server.heads)
        self._peer = ""
        self._request: GatewayRequest | None = None
        self._intake: RequestIntake | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_answered = self._is_behind = self._is_lingering = self._is_ending = self._is_switched = False
        self._reads = True
        self._began_s = self._last_s = self._idle_s = loop.time()
        self._thrown_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Watch a new connection, or refuse it where there are too many."""
        made: Any = transport  # those of uvloop are no subclasses of asyncio's
        self._transport = made
        self._writer = ResponseWriter(made, self._loop, self._server.flush_batch)
        peer: tuple[object, ...] | str | None = made.get_extra_info("peername")
        self._peer = str(peer[0]) if type(peer) is tuple else ""
        settings = self._gateway.settings
        self._watch = self._loop.call_later(min(settings.receive_s, settings.send_s), self._look)
        self._server.enter(self)
        if len(self._server.connections) > self._server.most_connections:
            self._refuse(Fault(503, "too many connections; try again in a moment"))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the form of a protocol
        """Let go of what was under way for the client."""
        self._watch.cancel()
        self._server.leave(self)
        self._reader.close()
        self._drop()

    # What comes

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        if self._is_lingering:
            self._thrown_bytes += len(data)
            if self._thrown_bytes > LINGER_BYTES:
                self._transport.abort()
            return
        reader, gateway, self._last_s = self._reader, self._gateway, self._loop.time()
        begun, takes = reader.begun, self._task is None and not self._is_answered
        parsed = reader.feed(data, gateway.settings.max_body_bytes if takes else -1)
        if parsed is not None:
            head, body = parsed
            request = self._request = head.request(self._peer, body)
            self._task = self._loop.create_task(self._answer(head, request, gateway.begin(request), None))
            return
        if reader.begun != begun:
            self._began_s = self._last_s
        self._advance()

    def _advance(self) -> None:
        """Take what has arrived as far as it can be taken now."""
        reader = self._reader
        while reader.arrivals and self._task is None and not self._transport.is_closing():
            arrival = reader.arrivals[0]
            self._step(arrival)
            if self._is_switched:
                return
            if self._is_behind or not arrival.is_whole:
                break
            reader.arrivals.popleft()
        if reader.is_over and self._task is None:
            if reader.fault is not None and not self._is_answered:
                self._refuse(reader.fault)
            else:
                self._linger()
        self._let_read(not self._is_behind and (self._task is None or not reader.arrivals))

    def _go_behind(self) -> None:
        """Inflate some more of a body, now that others had their turn."""
        self._is_behind = False
        if self._intake is not None:
            self._intake.go_on()
        self._advance()

    def _step(self, arrival: Arrival) -> None:
        """Take what is there of the first request; it is answered once it is whole, or refused."""
        if self._is_answered:
            self._throw_away(arrival)
            return
        intake = self._intake = self._intake or self._begun(arrival)
        for piece in arrival.pieces:
            intake.feed(piece)
        if intake.is_behind:
            arrival.pieces.clear()
            if not self._is_behind:
                self._is_behind = True
                self._loop.call_soon(self._go_behind)
            return
        if arrival.is_whole:
            intake.end()
            if arrival.head.upgrades and intake.refusal is None and self._switch(intake):
                return
        if arrival.is_whole or intake.refusal is not None:
            coming = None if arrival.is_whole else arrival
            answering = self._answer(arrival.head, intake.request, intake.refusal, coming)
            self._task = self._loop.create_task(answering)
        elif arrival.awaits and not arrival.pieces:
            self._writer.write(CONTINUE)
            arrival.awaits = False
        arrival.pieces.clear()

    def _begun(self, arrival: Arrival) -> RequestIntake:
        """A request that is begun, with its body where that came along."""
        body = b"".join(arrival.pieces) if arrival.is_whole and not arrival.head.is_coded else b""
        if body and len(body) <= self._gateway.settings.max_body_bytes:
            arrival.pieces.clear()
        else:
            body = b""
        request = self._request = arrival.head.request(self._peer, body)
        return RequestIntake(self._gateway, request, arrival.announced_bytes)

    def _switch(self, intake: RequestIntake) -> bool:
        """Leave the connection to a WebSocket, where that is asked for at a path that has one; whether it is."""
        request, gateway = intake.request, self._gateway
        is_wanted = (request.header("upgrade") or "").lower() == "websocket"
        session = session_of(gateway, request) if is_wanted else None
        if session is None:
            return False
        try:
            from interlingua.gateway.serving.socket import Socket, handshake  # the library is an extra

            frames, reply = handshake(request, gateway.settings.max_body_bytes)
        except ConfigError as error:
            intake.refusal = gateway.refuse(request, InternalServerError(error.message, status=501))
            return False
        except Error as error:
            intake.refusal = gateway.refuse(request, error)
            return False
        self._is_switched = True
        self._writer.write(reply)
        if request.entry is not None:
            request.entry.status = 101
            request.entry.sent()
        intake.done()
        self._watch.cancel()
        self._request = self._intake = None
        self._let_read(True)
        Socket(self._server, self._transport, session, frames, gateway.guard.name_of(request)).begin(self._reader.rest)
        self._reader.close()
        self._server.leave(self)
        return True

    def _throw_away(self, arrival: Arrival) -> None:
        """Take the rest of a body that nobody wants, so that its client gets to read why."""
        self._thrown_bytes += sum(map(len, arrival.pieces))
        arrival.pieces.clear()
        if self._thrown_bytes > self._gateway.settings.max_body_bytes:
            self._linger()
        elif arrival.is_whole:
            self._is_answered, self._thrown_bytes = False, 0
            self._idle_s = self._last_s

    def _let_read(self, reads: bool) -> None:  # noqa: FBT001 - a setter
        if reads == self._reads or self._transport.is_closing():
            return
        self._reads = reads
        if reads:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # What goes

    async def _answer(
        self, head: Head, request: GatewayRequest, refusal: GatewayReply | None, coming: Arrival | None
    ) -> None:
        """Answer a request, and go on to the next one; `coming` is what still comes of one that is refused."""
        keeps, entry, gateway = False, request.entry, self._gateway
        try:
            reply = refusal or await gateway.answer(request)
            keeps = self._keeps(head, coming)
            body, more, writer = reply.body, self._server.date, self._writer
            if type(body) is bytes and writer.stalled_s is None:
                writer.write(whole(head, reply.status, reply.headers, body, more=more, keeps=keeps))
            else:
                await writer.send(head, reply, more, keeps=keeps, keep_alive_s=gateway.settings.keep_alive_s)
            if entry is not None:
                entry.is_sent = True
        except Exception:
            keeps = False
            logging.getLogger("interlingua.gateway").exception("a reply broke off")
        finally:
            if entry is not None:
                entry.done()
            self._intake = self._request = self._task = None
            self._go_on(coming, keeps=keeps)

    def _go_on(self, coming: Arrival | None, *, keeps: bool) -> None:
        """Take the next request, or end, after the reply to one."""
        is_whole = coming is None or coming.is_whole
        if keeps:
            self._idle_s = self._loop.time()
            self._is_answered = not is_whole
            if self._reader.arrivals or self._reader.is_over:
                self._advance()
            if self._is_ending:
                self._loop.call_later(ASK_AGAIN_S, self.end)
        elif is_whole:
            if self._reader.fault is not None:
                self._refusal(self._reader.fault)  # it is recorded, and said to nobody: it may be another client's
            self._transport.close()
        else:
            self._linger()

    def _keeps(self, head: Head, coming: Arrival | None) -> bool:
        """Whether the connection goes on after the reply to a request."""
        if self._server.closes or not head.keeps or (coming is not None and coming.awaits and not coming.is_whole):
            return False
        reader = self._reader
        return not reader.is_over or any(waiting.is_whole for waiting in reader.arrivals)

    def pause_writing(self) -> None:
        """The client does not read."""
        self._writer.pause()

    def resume_writing(self) -> None:
        """The client has read."""
        self._writer.resume()

    # What ends it

    def end(self) -> None:
        """Take no further request than has begun: the server ends."""
        self._is_ending = True
        if self._is_lingering or (self._task is None and not self._reader.is_receiving):
            self._transport.close()

    def cut(self) -> None:
        """End what is under way: it has a moment to tell its client so."""
        if self._task is not None:
            self._cancel(self._task)
        elif not (self._is_lingering or self._is_answered):
            self._refuse(_STOPPED)

    def abort(self) -> None:
        """End without a word."""
        self._transport.abort()

    def _cancel(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        task.add_done_callback(self._cancelled)

    def _cancelled(self, task: asyncio.Task[None]) -> None:
        """End in the place of a task that never began, and therefore did not do so itself."""
        if self._task is task:
            self._task = None
            self._refuse(_STOPPED)

    def _drop(self) -> None:
        """Let go of the request that is under way, if there is one."""
        if self._task is not None:
            self._cancel(self._task)
        elif self._request is not None:
            if self._intake is not None:
                self._intake.release()
            if self._request.entry is not None:
                self._request.entry.done()
            self._intake = self._request = None

    def _refuse(self, fault: Fault) -> None:
        """Say why there will be no answer, and end."""
        if not self._transport.is_closing():
            self._writer.write(self._refusal(fault))
        self._drop()
        self._linger()

    def _refusal(self, fault: Fault) -> bytes:
        """The error in the form of whoever asks, as far as a path and headers have come."""
        request, more, gateway = self._request, self._server.date, self._gateway
        is_unread = request is None
        if request is None:
            if not self._reader.is_receiving:
                return refusal(fault, more=more)
            request = (self._reader.partial_head() or Head(method="", path="")).request(self._peer)
            gateway.begin_unread(request)
        is_late = fault.status == HTTPStatus.REQUEST_TIMEOUT
        error: Error = BadRequestError(fault.message, status=fault.status, retryable=is_late)
        if fault.status >= SERVER_FAULTS:
            error = OverloadedError(fault.message, status=fault.status)
        reply = gateway.refuse(request, error)
        status = fault.status if fault.status < SERVER_FAULTS else reply.status
        entry = request.entry
        if entry is not None:
            entry.status, entry.reason, entry.is_sent = status, fault.message, True
            if is_unread:
                entry.done()
        body = reply.body if type(reply.body) is bytes else b""  # an error is whole
        return whole(request, status, reply.headers, body, more=more, keeps=False)

    def _linger(self) -> None:
        """End, but let the client read first what it was told: bytes that nobody takes would cost it that."""
        if self._is_lingering or self._transport.is_closing():
            return
        self._is_lingering = True
        self._server.let_linger(self)
        self._let_read(True)
        self._watch.cancel()
        self._watch = self._loop.call_later(LINGER_S, self._transport.abort)
        self._transport.write_eof()

    def _look(self) -> None:
        """End the connection if its time is over; else look again when it may be."""
        now_s, settings, writer = self._loop.time(), self._gateway.settings, self._writer
        if writer.stalled_s is None and self._transport.is_closing():
            writer.stalled_s = now_s  # what is still to be sent has to be taken, too
        wait_s = min(settings.receive_s, settings.send_s) / 2
        self._watch = self._loop.call_later(wait_s, self._look)
        if writer.stalled_s is not None and now_s - writer.stalled_s >= settings.send_s:
            self._transport.abort()
            return
        if self._task is not None or self._transport.is_closing():
            return
        reader, receive_s = self._reader, settings.receive_s
        if reader.is_receiving or not reader.begun:
            steady_s = self._began_s + receive_s + reader.count / LEAST_BYTES_PER_S
            if now_s < min(self._last_s + receive_s, steady_s):
                return
            if self._is_answered:
                self._linger()
            else:
                self._refuse(Fault(408, "the request did not come in time"))
        elif now_s >= self._idle_s + IDLE_S:
            self._transport.close()
