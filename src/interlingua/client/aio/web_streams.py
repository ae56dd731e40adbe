"""Streams that go on when their page is gone, so that a page which is loaded again reads them from the beginning.

Rules
- The body is read by a task of its own, as fast as it comes; who reads it here gets what came before, then what comes.
- A reader that leaves ends nothing. `stop`, and the end of the event loop, do.
- The bytes of one stream are bounded: beyond the bound the stream ends by being cut off. An ended one is kept for a
  while, for readers that are late; the oldest go first.
- It is memory of this process: behind several workers, a page has to come back to the same one.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from interlingua.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Self

    from interlingua.client.aio.sse import AsyncSseBody

__all__ = ["AsyncWebStreams", "WebStreamBody"]


class _Running:
    """One stream and what has come of it."""

    def __init__(self, body: AsyncSseBody, max_bytes: int) -> None:
        self.headers: dict[str, str] = body.headers
        self.pieces: list[bytes] = []
        self.ended_at: float | None = None
        self._more = asyncio.Event()
        self._error: Exception | None = None
        self._left = max_bytes
        self._body = body
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for piece in self._body:
                self._left -= len(piece)
                if self._left < 0:
                    break
                self.pieces.append(piece)
                self._wake()
        except Exception as error:  # noqa: BLE001 - its readers raise it
            self._error = error
        finally:
            await self._end()

    async def _end(self) -> None:
        self.ended_at = time.monotonic()
        self._wake()
        await self._body.aclose()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def read(self) -> AsyncGenerator[bytes]:
        """Every piece from the first one; raises what the body raised."""
        place = 0
        while True:
            while place < len(self.pieces):
                yield self.pieces[place]
                place += 1
            if self.ended_at is not None:
                if self._error is not None:
                    raise self._error
                return
            await self._more.wait()

    async def stop(self) -> None:
        """End it."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self.ended_at is None:  # a task that is cancelled before it begins has ended nothing
            await self._end()


class WebStreamBody:
    """The bytes of a stream for one reader: an async iterator; leaving it ends nothing."""

    def __init__(self, running: _Running) -> None:
        """A reader that begins with the first byte."""
        self._headers = running.headers
        self._pieces = running.read()

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer with this body."""
        return dict(self._headers)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        return await self._pieces.__anext__()

    async def aclose(self) -> None:
        """Read no more."""
        await self._pieces.aclose()


class AsyncWebStreams:
    """The streams that web pages read, by the ids of their conversations."""

    def __init__(self, *, max_streams: int = 1_000, max_bytes: int = 4_000_000, keep_s: float = 60.0) -> None:
        """No streams: at most `max_streams` at once, `max_bytes` of each, an ended one for `keep_s` seconds."""
        self._running: dict[str, _Running] = {}
        self._max_streams = max_streams
        self._max_bytes = max_bytes
        self._keep_s = keep_s

    def start(self, chat_id: str, body: AsyncSseBody) -> WebStreamBody:
        """Have a body read from now on, and its bytes for who started it; it replaces an ended one of that id.

        Ids come from pages: where pages belong to users, the id has to hold the user, too.

        Raises: UsageError for an empty id, one whose stream still goes on, and beyond `max_streams`.
        """
        self._forget()
        if not chat_id:
            raise UsageError("a stream that is to be resumed needs the id of its conversation")
        before = self._running.get(chat_id)
        if before is not None and before.ended_at is None:
            raise UsageError(f"the stream of conversation {chat_id:.60} is still running; stop it, or resume it")
        if before is None and len(self._running) >= self._max_streams:
            raise UsageError(f"{self._max_streams} streams go on at once, as many as may")
        running = self._running[chat_id] = _Running(body, self._max_bytes)
        return WebStreamBody(running)

    def resume(self, chat_id: str) -> WebStreamBody | None:
        """The bytes of a stream from its beginning, for a page that was loaded again; None where none goes on."""
        self._forget()
        running = self._running.get(chat_id)
        return None if running is None or running.ended_at is not None else WebStreamBody(running)

    async def stop(self, chat_id: str) -> None:
        """End a stream; nothing happens where there is none."""
        running = self._running.pop(chat_id, None)
        if running is not None:
            await running.stop()

    async def close(self) -> None:
        """End all streams."""
        for chat_id in list(self._running):
            await self.stop(chat_id)

    def _forget(self) -> None:
        """Drop those that ended long ago; where there are too many, those that ended first."""
        now_s = time.monotonic()
        for chat_id, running in list(self._running.items()):
            if running.ended_at is not None and now_s - running.ended_at > self._keep_s:
                del self._running[chat_id]
        ended = sorted([(running.ended_at, name) for name, running in self._running.items() if running.ended_at])
        for _, name in ended[: max(0, len(self._running) - self._max_streams + 1)]:
            del self._running[name]
