"""Local models behind the transport seam: a Chat Completions server inside the process.

A request goes to `local://<model>/v1/chat/completions` or `/v1/embeddings`, `<model>` percent-encoded (`endpoint` makes
it); without a host the body's `model` decides. The reply is the dialect's: a JSON body, or server-sent events that end
with `[DONE]`. The whole path of the library (dialect, streams, changes) is thus the same for a local model as for any
other.

Rules
- A stream's status line waits for the first thing that the model says, so that a refusal is a status, not a stream.
- `first_byte_s` covers waiting for a turn, loading and reading the prompt; a whole reply comes at once, so there it
  covers the generation too. `connect_s` and `pool_s` have no meaning here.
- Closing a reply cancels the generation.
"""

from __future__ import annotations

import asyncio
import queue
import secrets
import string
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from interlingua.errors import APITimeoutError, DecodeError, LimitExceededError, SchemaError
from interlingua.local import weights
from interlingua.local.chat import ChatError, Plan, plan
from interlingua.local.embedding import PATH, EmbedPlan, embed_body, embed_plan
from interlingua.local.engine import Deliver, Job, engine_for
from interlingua.local.reply import Done, EngineEvent, Fault, Piece, ReplyWriter, Vectors, error_body
from interlingua.transport.base import Timeouts
from interlingua.wire import json
from interlingua.wire.http import Headers, HttpRequest

__all__ = ["AsyncLocalReply", "AsyncLocalTransport", "LocalReply", "LocalTransport", "endpoint"]

_JSON: Headers = (("content-type", "application/json"),)
_SSE: Headers = (("content-type", "text/event-stream"),)
_ALPHABET = string.ascii_lowercase + string.digits

Submit = Callable[[Plan | EmbedPlan, Deliver], Job]
"""Starts a job: `Engine.submit`."""


def endpoint(model: str) -> str:
    """The URL of a local model, or of a path to a GGUF file."""
    return f"local://{quote(model, safe='')}/v1/chat/completions"


class _Exchange:
    """One request and its reply, without waiting: events in, status and pieces out."""

    def __init__(self, request: HttpRequest, timeouts: Timeouts) -> None:
        self.status = 200
        self.headers: Headers = _JSON
        self.pieces: deque[bytes] = deque()
        self.opened = False
        self.ended = False
        self.job: Job | None = None
        self._request = request
        self._timeouts = timeouts
        self.began = time.monotonic()
        self._plan: Plan | EmbedPlan | None = None
        self._writer: ReplyWriter | None = None

    def start(self, deliver: Deliver) -> None:
        """Begin the job, or refuse the request.

        Raises: ConfigError, when the engine or the weights are missing.
        """
        name = unquote(urlsplit(self._request.url).netloc) or _named(self._request.body)
        row, path = weights.find(name)
        writer = None
        try:
            if urlsplit(self._request.url).path.endswith(PATH):
                self._plan = embed_plan(self._request.body)
            else:
                is_small = row is not None and row.replies_after_results
                self._plan = request = plan(self._request.body, replies_after_results=is_small)
                writer = _writer(request)
        except ChatError as problem:
            self._refuse(problem.status or 400, problem.message, code=problem.code, param=problem.param)
            return
        except (SchemaError, DecodeError, LimitExceededError) as problem:
            self._refuse(400, problem.message, code=problem.code)
            return
        self._writer = writer
        self.job = _submit_to(path)(self._plan, deliver)

    def take(self, event: EngineEvent) -> None:
        """Write what an event adds."""
        assert self._plan is not None, "events come after the start"  # noqa: S101 - an invariant
        try:
            match event:
                case Piece() if self._writer is not None:
                    chunks = list(self._writer.feed(event))
                    self._stream(chunks)
                case Done() if self._writer is not None and self._streams:
                    self._stream([*self._writer.finish(event), b"[DONE]"])
                    self.ended = True
                case Done() if self._writer is not None:
                    self._body(200, self._writer.whole(event))
                case Vectors() if isinstance(self._plan, EmbedPlan):
                    self._body(200, embed_body(self._plan, event))
                case Fault():
                    self._fail(event)
                case _:
                    raise AssertionError(f"{type(event).__name__} belongs to another kind of request")
        except DecodeError as problem:
            self.cancel()
            self._fail(Fault(400, problem.message, "invalid_request_error", "unsupported_schema"))

    @property
    def _streams(self) -> bool:
        return isinstance(self._plan, Plan) and self._plan.stream

    def _stream(self, chunks: list[bytes]) -> None:
        if chunks and self._streams:
            self.opened, self.headers = True, _SSE
            self.pieces.append(b"".join(b"data: " + chunk + b"\n\n" for chunk in chunks))

    def _fail(self, fault: Fault) -> None:
        body = error_body(fault.message, kind=fault.kind, code=fault.code)
        if self.opened:
            self._stream([body])
            self.ended = True
        else:
            self._body(fault.status, body)

    def _refuse(self, status: int, message: str, *, code: str | None, param: str | None = None) -> None:
        self._body(status, error_body(message, kind="invalid_request_error", code=code, param=param))

    def _body(self, status: int, body: bytes) -> None:
        self.status, self.opened, self.ended = status, True, True
        self.pieces.append(body)

    def cancel(self) -> None:
        """Stop the generation, if there is one."""
        if self.job is not None:
            self.job.cancelled = True

    def patience_s(self, waited_since: float) -> float | None:
        """Seconds that may still be waited for the next event, or None for ever."""
        now = time.monotonic()
        limit = self._timeouts.idle_s if self.opened else self._timeouts.first_byte_s
        left = [
            bound - (now - since)
            for bound, since in ((limit, waited_since), (self._timeouts.total_s, self.began))
            if bound is not None
        ]
        return max(0.0, min(left)) if left else None

    def late(self) -> APITimeoutError:
        """The error for an event that did not come in time; the generation is cancelled."""
        self.cancel()
        total_s = self._timeouts.total_s
        if total_s is not None and time.monotonic() - self.began >= total_s:
            return APITimeoutError(f"the local model took longer than {total_s:g} s", phase="total")
        phase = "idle" if self.opened else "first_byte"
        return APITimeoutError(f"the local model said nothing in time ({phase})", phase=phase)


def _writer(request: Plan) -> ReplyWriter:
    """The writer of the answer to a conversation."""
    return ReplyWriter(
        request, id=f"chatcmpl-{_random(24)}", created=int(time.time()), call_id=lambda: f"call_{_random(24)}"
    )


def _submit_to(path: Path) -> Submit:
    """The function that starts jobs on the weights at `path`."""
    return engine_for(path).submit


def _named(body: bytes) -> str:
    """The model that a body names; empty when it names none."""
    try:
        request = json.decode_any(body)
    except (DecodeError, LimitExceededError):
        return ""
    match request:
        case {"model": str(name)}:
            return name
        case _:
            return ""


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


class LocalReply:
    """One reply of a local model, read blocking."""

    def __init__(self, request: HttpRequest, timeouts: Timeouts) -> None:
        """The reply to `request`, its status known.

        Raises: ConfigError, APITimeoutError.
        """
        self._events: queue.SimpleQueue[EngineEvent] = queue.SimpleQueue()
        self._exchange = _Exchange(request, timeouts)
        self._exchange.start(self._events.put)
        try:
            self._until(lambda: self._exchange.opened, self._exchange.began)
        except BaseException:
            self.close()
            raise

    @property
    def status(self) -> int:
        """HTTP status."""
        return self._exchange.status

    @property
    def headers(self) -> Headers:
        """Headers with lower-case names."""
        return self._exchange.headers

    def read(self) -> bytes:
        """The next piece of the body; `b""` at its end."""
        exchange = self._exchange
        self._until(lambda: bool(exchange.pieces) or exchange.ended, time.monotonic())
        return exchange.pieces.popleft() if exchange.pieces else b""

    def close(self) -> None:
        """Cancel what is still being generated."""
        self._exchange.cancel()
        self._exchange.ended = True

    def _until(self, ready: Callable[[], bool], since: float) -> None:
        while not ready():
            try:
                event = self._events.get(timeout=self._exchange.patience_s(since))
            except queue.Empty:
                raise self._exchange.late() from None
            self._exchange.take(event)


class LocalTransport:
    """Answers requests with local models, blocking."""

    def open(self, request: HttpRequest, timeouts: Timeouts) -> LocalReply:
        """The reply to `request`, its status known and its body not read yet.

        Raises: ConfigError, when the engine or the weights are missing; APITimeoutError.
        """
        return LocalReply(request, timeouts)

    def close(self) -> None:
        """Do nothing: engines are shared by the whole process."""


class AsyncLocalReply:
    """One reply of a local model, awaited."""

    def __init__(self, request: HttpRequest, timeouts: Timeouts) -> None:
        """A reply that was not started; `AsyncLocalTransport.open` does that."""
        self._events: asyncio.Queue[EngineEvent] = asyncio.Queue()
        self._exchange = _Exchange(request, timeouts)

    async def start(self) -> None:
        """Begin, and wait until the status is known.

        Raises: ConfigError, APITimeoutError.
        """
        loop = asyncio.get_running_loop()
        self._exchange.start(lambda event: _hand_over(loop, self._events, event))
        try:
            await self._until(lambda: self._exchange.opened, self._exchange.began)
        except BaseException:
            await self.close()
            raise

    @property
    def status(self) -> int:
        """HTTP status."""
        return self._exchange.status

    @property
    def headers(self) -> Headers:
        """Headers with lower-case names."""
        return self._exchange.headers

    async def read(self) -> bytes:
        """The next piece of the body; `b""` at its end."""
        exchange = self._exchange
        await self._until(lambda: bool(exchange.pieces) or exchange.ended, time.monotonic())
        return exchange.pieces.popleft() if exchange.pieces else b""

    async def close(self) -> None:
        """Cancel what is still being generated."""
        self._exchange.cancel()
        self._exchange.ended = True

    async def _until(self, ready: Callable[[], bool], since: float) -> None:
        while not ready():
            try:
                async with asyncio.timeout(self._exchange.patience_s(since)):
                    event = await self._events.get()
            except TimeoutError:
                raise self._exchange.late() from None
            self._exchange.take(event)


def _hand_over(loop: asyncio.AbstractEventLoop, events: asyncio.Queue[EngineEvent], event: EngineEvent) -> None:
    """Put an event into the queue of a loop that runs in another thread."""
    loop.call_soon_threadsafe(events.put_nowait, event)


class AsyncLocalTransport:
    """Answers requests with local models, awaited."""

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncLocalReply:
        """The reply to `request`, its status known and its body not read yet.

        Raises: ConfigError, when the engine or the weights are missing; APITimeoutError.
        """
        reply = AsyncLocalReply(request, timeouts)
        await reply.start()
        return reply

    async def close(self) -> None:
        """Do nothing: engines are shared by the whole process."""
