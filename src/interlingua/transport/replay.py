"""Transports that answer from a script, in memory: for tests, drills and examples without a network.

Rules
- Lines of a script are tried in order; the first one that matches and is not used up answers.
- A line without a matcher takes any request. A request that no line takes is a ConfigError that says so.
- Every request is recorded in `script.requests`, in the order of opening.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from interlingua.errors import APIConnectionError, APITimeoutError, ConfigError
from interlingua.wire.http import HttpReply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.transport.base import AsyncReply, Reply, Timeouts
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["AsyncReplayTransport", "Line", "ReplayTransport", "Script"]

Matcher: TypeAlias = "Callable[[HttpRequest], bool]"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a script."""

    pieces: tuple[bytes, ...] = ()
    """The body, as it is to be read."""
    status: int = 200
    """HTTP status."""
    headers: Headers = (("content-type", "application/json"),)
    """Lower-case names."""
    when: Matcher | None = None
    """Which requests it answers; None for any."""
    times: int | None = 1
    """How many requests it answers; None for any number."""
    refuse: Exception | None = None
    """Raised by `open` instead of a reply."""
    ending: Exception | None = None
    """Raised by `read` after the last piece, instead of the end."""
    pause_s: float = 0.0
    """Before each piece."""


ScriptLine: TypeAlias = "Line | HttpReply | Iterable[bytes] | Exception"


class Script:
    """The lines that are left, and the requests that came."""

    def __init__(self, *lines: ScriptLine) -> None:
        """A script of lines, whole replies, lists of body pieces (an event stream), or exceptions to raise."""
        self._lines = [(line, line.times) for line in map(_line, lines)]
        self.requests: list[HttpRequest] = []
        """The requests, oldest first."""

    def answer(self, request: HttpRequest) -> Line:
        """The line that answers `request`.

        Raises: ConfigError when none does, and what the line says with `refuse`.
        """
        self.requests.append(request)
        for place, (line, left) in enumerate(self._lines):
            if left == 0 or (line.when is not None and not line.when(request)):
                continue
            self._lines[place] = (line, None if left is None else left - 1)
            if line.refuse is not None:
                raise line.refuse
            return line
        raise ConfigError(f"the script has no line for request {len(self.requests)} to {request.target or 'its URL'}")


def _line(source: ScriptLine) -> Line:
    match source:
        case Line():
            return source
        case HttpReply():
            return Line(status=source.status, headers=source.headers, pieces=(source.body,))
        case Exception():
            return Line(refuse=source)
        case _:
            return Line(pieces=tuple(source), headers=(("content-type", "text/event-stream"),))


class _Cursor:
    """The pieces of a line that are still to be read."""

    def __init__(self, line: Line, timeouts: Timeouts) -> None:
        self.status: int = line.status
        self.headers: Headers = line.headers
        self._left = [piece for piece in line.pieces if piece]
        self._line = line
        self._idle_s = timeouts.idle_s
        self._closed = False

    def pause_s(self) -> float:
        """Seconds to wait before the next piece.

        Raises: APITimeoutError at once when the wait would be longer than the idle time-out: a script has no patience.
        """
        pause_s = self._line.pause_s if self._left else 0.0
        if self._idle_s is not None and pause_s > self._idle_s:
            raise APITimeoutError(f"the script fell silent for {self._idle_s:g} s (Timeouts.idle_s)", phase="idle")
        return pause_s

    def next(self) -> bytes:
        """The next piece, or `b""`."""
        if self._closed and (self._left or self._line.ending is not None):
            raise APIConnectionError("this reply was closed before its end", retryable=False)
        if self._left:
            return self._left.pop(0)
        if self._line.ending is not None:
            raise self._line.ending
        return b""

    def shut(self) -> None:
        """Read no more."""
        self._closed = True


class _Reply(_Cursor):
    def read(self) -> bytes:
        time.sleep(self.pause_s())
        return self.next()

    def close(self) -> None:
        self.shut()


class _AsyncReply(_Cursor):
    async def read(self) -> bytes:
        await asyncio.sleep(self.pause_s())
        return self.next()

    async def close(self) -> None:
        self.shut()


class ReplayTransport:
    """Answers from a script, blocking."""

    def __init__(self, *lines: ScriptLine, script: Script | None = None) -> None:
        """A transport over `script`, or over a new script of `lines`."""
        self.script: Script = script or Script(*lines)
        """The answers that are left, and the requests so far."""

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply that the script holds for `request`."""
        return _Reply(self.script.answer(request), timeouts)

    def close(self) -> None:
        """Nothing: a script holds nothing open."""


class AsyncReplayTransport:
    """Answers from a script, awaited."""

    def __init__(self, *lines: ScriptLine, script: Script | None = None) -> None:
        """A transport over `script`, or over a new script of `lines`."""
        self.script: Script = script or Script(*lines)
        """The answers that are left, and the requests so far."""

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply that the script holds for `request`."""
        return _AsyncReply(self.script.answer(request), timeouts)

    async def close(self) -> None:
        """Nothing: a script holds nothing open."""
