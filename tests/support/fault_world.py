"""A world of strict upstreams in which every dialect answers the same few words, and somebody counts what is open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import APIConnectionError
from interlingua.stream.fold import error_of
from interlingua.testing.upstream import Say, Upstream
from interlingua.testing.upstream.door import is_streamed
from interlingua.testing.upstream.judge import asked_of
from interlingua.transport.base import AsyncReply, AsyncTransport, Reply, Timeouts, Transport
from interlingua.transport.fault import GARBAGE
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.http import HttpRequest

__all__ = [
    "SCHEMES",
    "TEXT",
    "Counted",
    "Expected",
    "World",
    "alone",
    "counting",
    "spec_of",
    "stream_expected",
    "variable",
    "whole_expected",
]

TEXT = "One two three four five six"
"""What every upstream answers."""
SCHEMES = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "google": "google",
    "ollama": "ollama",
    "cohere": "cohere",
    "unified": "interlingua",
    "bedrock": "bedrock",
}
"""Dialect -> the scheme that names it."""


def spec_of(dialect: str, *, second: bool = False) -> str:
    """The target of a dialect; each has a second one."""
    return f"{'other' if second else 'my'}-{dialect}/some-model"


def variable(dialect: str, *, second: bool = False, port: int = 9) -> tuple[str, str]:
    """The environment variable that configures that target, and its value."""
    name = f"LLM_{'OTHER' if second else 'MY'}_{dialect.replace('-', '_').upper()}"
    return name, f"{SCHEMES[dialect]}://key-of-nobody@127.0.0.1:{port}?tls=0"


class World(Script):
    """Every upstream at once, as the script of one transport; the same question has the same answer, to the byte."""

    def __init__(self) -> None:
        """Upstreams that nobody has asked."""
        super().__init__()
        self._lines: dict[tuple[str, bool], Line] = {}
        self._lock = threading.Lock()

    def answer(self, request: HttpRequest) -> Line:
        """What the upstream of the request's dialect answers."""
        dialect = request.dialect or ""
        with self._lock:
            self.requests.append(request)
            key = dialect, is_streamed(dialect, request, asked_of(dialect, request).body)
            if key not in self._lines:
                upstream = Upstream(dialect, Say(text=TEXT))
                with upstream.standing():  # which asks for no key
                    self._lines[key] = upstream.answer(request)
                assert upstream.verdicts[-1].ok, upstream.verdicts[-1]
            return self._lines[key]

    def line(self, dialect: str, *, streamed: bool) -> Line:
        """The answer that was given."""
        return self._lines[dialect, streamed]

    def asked(self) -> list[str]:
        """The target of every request that arrived, oldest first."""
        return [request.target or "" for request in self.requests]

    def transports(self) -> Override:
        """The override that puts this world in the place of the network."""
        blocking, awaited = ReplayTransport(script=self), AsyncReplayTransport(script=self)
        return Override(lambda _: blocking, lambda _: awaited, answers=True)


class Counted:
    """How many replies are open."""

    def __init__(self) -> None:
        """None is."""
        self.opened = 0
        self.open = 0

    def began(self) -> None:
        """One more."""
        self.opened += 1
        self.open += 1


class _Reply:
    def __init__(self, source: Reply, count: Counted) -> None:
        self._source = source
        self._count = count
        self._closed = False
        self.status = source.status
        self.headers = source.headers

    def read(self) -> bytes:
        return self._source.read()

    def close(self) -> None:
        self._source.close()
        self._count.open -= not self._closed
        self._closed = True


class _AsyncReply:
    def __init__(self, source: AsyncReply, count: Counted) -> None:
        self._source = source
        self._count = count
        self._closed = False
        self.status = source.status
        self.headers = source.headers

    async def read(self) -> bytes:
        return await self._source.read()

    async def close(self) -> None:
        await self._source.close()
        self._count.open -= not self._closed
        self._closed = True


class _Transport:
    def __init__(self, inner: Transport, count: Counted) -> None:
        self._inner = inner
        self._count = count

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        reply = self._inner.open(request, timeouts)
        self._count.began()
        return _Reply(reply, self._count)

    def close(self) -> None:
        self._inner.close()


class _AsyncTransport:
    def __init__(self, inner: AsyncTransport, count: Counted) -> None:
        self._inner = inner
        self._count = count

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        reply = await self._inner.open(request, timeouts)
        self._count.began()
        return _AsyncReply(reply, self._count)

    async def close(self) -> None:
        await self._inner.close()


@contextmanager
def counting() -> Generator[Counted]:
    """Counts what is opened and closed underneath whatever is entered after it."""
    count = Counted()
    with overriding(Override(lambda inner: _Transport(inner, count), lambda inner: _AsyncTransport(inner, count))):
        yield count


async def alone(work: Any) -> Any:
    """What an awaitable gives, and no task is left behind."""
    try:
        return await work
    finally:
        assert asyncio.all_tasks() == {asyncio.current_task()}


# What must happen

LIVELY = {"APIConnectionError", "APITimeoutError", "IncompleteStreamError"}
"""Errors in the body after which the same target is asked again."""


class Expected(NamedTuple):
    """What must happen when the first target meets a fault each time."""

    error: str | None
    """The class of the error that the fault makes; None for none."""
    follows: str = ""
    """`again`, `next` or `stop`."""
    begun: bool = False
    """Whether a stream had been handed over: then nobody else is asked."""
    text: str = ""
    """The text that had come by then."""


def whole_expected(kind: str, place: int, size: int) -> Expected:
    """What a fault in a whole body must come to."""
    if kind == "truncate" and place >= size:
        return Expected(None)
    error = {"cut": "APIConnectionError", "stall": "APITimeoutError"}.get(kind, "DecodeError")
    return Expected(error, "again" if error in LIVELY else "next")


def stream_expected(dialect: str, kind: str, place: int, body: bytes) -> Expected:
    """What a fault in a stream must come to, by what the decoder makes of the bytes that arrive."""
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    events = decoder.feed(body[:place]) if place else []
    if kind == "garbage":
        events += [] if decoder.ended else decoder.feed(GARBAGE)
        events += [] if decoder.ended else decoder.feed(body[place:])
    if not decoder.ended:
        is_broken = kind in ("cut", "stall") and not decoder.terminal
        events += decoder.fail(APIConnectionError("x")) if is_broken else decoder.close()
    if isinstance(events[-1], StreamEnd):
        return Expected(None)
    assert isinstance(events[-1], StreamError)
    error = {"stall": "APITimeoutError"}.get(kind, type(error_of(events[-1])).__name__)
    begun = any(not isinstance(event, il.StreamStart | il.UsageUpdate | il.Extra | StreamError) for event in events)
    if begun:
        text = "".join(event.text for event in events if isinstance(event, il.TextDelta))
        return Expected("IncompleteStreamError" if kind == "cut" else error, "stop", begun=True, text=text)
    return Expected(error, "again" if error in LIVELY else "next")
