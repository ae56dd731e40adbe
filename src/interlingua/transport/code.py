"""A provider in code behind the transport seam: it is asked in canonical values, and answers in them.

Strategy: requests come in our own HTTP format, which says everything that the contract can say; its server role reads
them and writes the answers. So streams, chains, fakes and recordings are the same for code as for any server.

Rules
- Blocking code is asked where the caller blocks, and from threads where the caller awaits; code that awaits runs on the
  caller's event loop, or on one of its own that ends with the exchange.
- An error of ours goes to the caller as it is; any other exception of the code is an error of the target, which names
  it, so that a chain goes on.
- What awaits is held to the deadlines. Blocking code is told the time that it has; nobody can interrupt it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import contextmanager, suppress
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast, get_args

from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects.table import get_dialect, stream_type
from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    BadRequestError,
    Error,
    HistoryError,
    InternalServerError,
    UnsupportedError,
    WireError,
    kind_of,
)
from interlingua.providers.code import ProviderCall
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.transport.handed import ThreadedTransport
from interlingua.transport.inprocess import WholeReply
from interlingua.transport.loop import Loop, opened_on
from interlingua.transport.problems import Deadlines
from interlingua.types.event import Event
from interlingua.types.response import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from interlingua.dialects._contract import Dialect, StreamEncoder
    from interlingua.errors import Phase
    from interlingua.providers.code import CodeProvider
    from interlingua.transport.base import AsyncReply, AsyncTransport, Reply, Timeouts, Transport
    from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = ["CodeCarrier"]

_EVENTS = get_args(Event)


class CodeCarrier:
    """Carries requests to one provider in code."""

    def __init__(self, name: str, provider: CodeProvider) -> None:
        """A carrier to `provider`, whose name is `name`."""
        self._name = name
        self._provider = provider

    def blocking(self) -> Transport:
        """The transport for a caller that blocks."""
        return _CodeTransport(self._name, self._provider)

    def awaited(self) -> AsyncTransport:
        """The transport for a caller that awaits."""
        return _AwaitedCodeTransport(self._name, self._provider)


class _Question:
    """One request to a provider in code, read."""

    def __init__(self, name: str, provider: CodeProvider, request: HttpRequest, timeouts: Timeouts) -> None:
        self.spec = request.target or name
        if request.url.partition("?")[0].endswith(("/embeddings", "/rerank")):
            raise UnsupportedError(f"{self.spec} has no embeddings and no rerank: {name} is a provider in code")
        self.dialect: Dialect = get_dialect(request.dialect or "unified")
        try:
            decoded = self.dialect.decode_request(request, DecodeOptions())
        except (HistoryError, WireError) as error:
            raise BadRequestError(error.message, status=400) from error
        self.stream = decoded.stream
        self.context = ServerContext(model=decoded.model, enum_text=decoded.enum_text)
        self.deadlines = Deadlines(timeouts, self.spec, time.monotonic())
        kinds = ("stream", "generate") if decoded.stream else ("generate", "stream")
        kind = kinds[0] if callable(getattr(provider, kinds[0], None)) else kinds[1]
        self._method: Callable[..., object] = getattr(provider, kind)
        self._called = f"{type(provider).__name__}.{kind}"
        self._request = decoded.request
        self._call = ProviderCall(model=decoded.model, provider=name, timeout_s=timeouts.total_s)

    @property
    def awaits(self) -> bool:
        """Whether the code says that it awaits."""
        return iscoroutinefunction(self._method) or isasyncgenfunction(self._method)

    def ask(self) -> object:
        """The result of the code: an answer, events, or something to await."""
        with self.failures():
            return self._method(self._request, self._call)

    @contextmanager
    def failures(self) -> Generator[None]:
        """Raise exceptions of the code as errors of ours.

        Its words are those of its `__cause__` alone: they may hold anything, and errors go to clients of a gateway.
        """
        try:
            yield
        except Error:
            raise
        except TimeoutError as error:
            raise APITimeoutError(f"{self.spec}: {self._called} timed out") from error
        except OSError as error:
            raise APIConnectionError(f"{self.spec}: {self._called} raised {kind_of(error)}") from error
        except Exception as error:
            # Code that fails so fails so again.
            message = f"{self.spec}: {self._called} raised {kind_of(error)}"
            raise InternalServerError(message, retryable=False) from error

    def whole(self, answer: object) -> HttpReply:
        """An answer that is there, or the events of a stream, as a whole answer on the wire."""
        with self.failures():
            is_whole = isinstance(answer, Response)
            response = cast("Response[Any]", answer) if is_whole else fold(self.events(answer))
            return self.dialect.encode_response(response, self.context)

    def events(self, answer: object) -> Iterator[Event]:
        """The events of an answer that is there, or of a stream.

        Raises: InternalServerError for what is neither.
        """
        if isinstance(answer, Response):
            return unfold(cast("Response[Any]", answer))
        if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | dict):
            raise InternalServerError(
                f"{self.spec}: {self._called} gave {kind_of(cast('object', answer))}, "
                "which is neither an il.Response nor the events of a stream",
                retryable=False,
            )
        return (self.event(value) for value in cast("Iterable[object]", answer))

    def event(self, value: object) -> Event:
        """An event that the code gave.

        Raises: InternalServerError for anything else.
        """
        if isinstance(value, _EVENTS):
            return cast("Event", value)
        message = f"{self.spec}: {self._called} gave {kind_of(value)} among the events of a stream"
        raise InternalServerError(message, retryable=False)


class _CodeTransport:
    def __init__(self, name: str, provider: CodeProvider) -> None:
        self._name = name
        self._provider = provider

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        question = _Question(self._name, self._provider, request, timeouts)
        answer = question.ask()
        if isawaitable(answer) or isinstance(answer, AsyncIterable):
            return opened_on(Loop(), _settled(question, cast("object", answer)))
        return _Stream(question, question.events(answer)) if question.stream else WholeReply(question.whole(answer))

    def close(self) -> None:
        """Nothing: the provider is its owner's to close."""


class _AwaitedCodeTransport:
    def __init__(self, name: str, provider: CodeProvider) -> None:
        self._name = name
        self._provider = provider

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        question = _Question(self._name, self._provider, request, timeouts)
        if question.awaits:
            return await _settled(question, question.ask())
        return await ThreadedTransport(_CodeTransport(self._name, self._provider)).open(request, timeouts)

    async def close(self) -> None:
        """Nothing: the provider is its owner's to close."""


async def _settled(question: _Question, answer: object) -> AsyncReply:
    """The reply that something to await makes."""
    if isawaitable(answer):
        answer = await _in_time(question, answer, "first_byte")
    if isinstance(answer, AsyncIterable):
        stream = _AwaitedStream(question, aiter(cast("AsyncIterable[object]", answer)))
        return stream if question.stream else _AwaitedWhole(question.whole(await stream.collected()))
    if question.stream:
        return _AwaitedStream(question, _one_by_one(question.events(answer)))
    return _AwaitedWhole(question.whole(answer))


async def _one_by_one(events: Iterator[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event


async def _in_time(question: _Question, work: Any, phase: Phase) -> Any:
    """The result of something to await.

    Raises: APITimeoutError when it takes too long; what goes wrong in the code, as an error of ours.
    """
    now = time.monotonic()
    at, phase = question.deadlines.by(phase, now)
    limit = asyncio.timeout(None if at == float("inf") else max(0.0, at - now))
    try:
        with question.failures():
            async with limit:
                return await work
    except APITimeoutError:
        if limit.expired():
            raise question.deadlines.passed(phase) from None
        raise


class _Stream:
    """A streamed answer of blocking code."""

    def __init__(self, question: _Question, events: Iterator[Event]) -> None:
        self.status: int = 200
        self.headers: Headers = (("content-type", stream_type(question.dialect.name)),)
        self._question = question
        self._events = events
        self._encoder: StreamEncoder = question.dialect.stream_encoder(question.context)

    def read(self) -> bytes:
        piece = b""
        while not piece:
            with self._question.failures():
                event = next(self._events, None)
                if event is None:
                    break
                piece = self._encoder.encode(event)
        if time.monotonic() > self._question.deadlines.by("total", 0.0)[0]:
            raise self._question.deadlines.passed("total")
        return piece

    def close(self) -> None:
        if hasattr(self._events, "close"):
            with suppress(Exception):  # the answer is there or given up: how its code ends changes neither
                cast("Any", self._events).close()


class _AwaitedWhole:
    """A whole answer, awaited."""

    def __init__(self, reply: HttpReply) -> None:
        self._reply = WholeReply(reply)
        self.status: int = self._reply.status
        self.headers: Headers = self._reply.headers

    async def read(self) -> bytes:
        return self._reply.read()

    async def close(self) -> None:
        self._reply.close()


class _AwaitedStream:
    """A streamed answer of code that awaits."""

    def __init__(self, question: _Question, events: AsyncIterator[object]) -> None:
        self.status: int = 200
        self.headers: Headers = (("content-type", stream_type(question.dialect.name)),)
        self._question = question
        self._events = events
        self._encoder: StreamEncoder = question.dialect.stream_encoder(question.context)
        self._phase: Phase = "first_byte"

    async def read(self) -> bytes:
        piece = b""
        while not piece:
            event = await self._next()
            if event is None:
                break
            with self._question.failures():
                piece = self._encoder.encode(event)
        return piece

    async def _next(self) -> Event | None:
        value = await _in_time(self._question, anext(self._events, None), self._phase)
        self._phase = "idle"
        return None if value is None else self._question.event(value)

    async def collected(self) -> list[Event]:
        """All events."""
        events: list[Event] = []
        try:
            while (event := await self._next()) is not None:
                events.append(event)
        finally:
            await self.close()
        return events

    async def close(self) -> None:
        if hasattr(self._events, "aclose"):
            with suppress(Exception):  # as above
                await cast("Any", self._events).aclose()
