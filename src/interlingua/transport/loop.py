"""Awaited work for a caller that blocks: an event loop in a thread, for one exchange.

Strategy: a blocking read of one exchange cannot be woken when another one has answered, and code that awaits needs a
loop. So the exchange runs on a loop of its own, and is read from outside.

Rules
- The thread lives as long as the exchange that is open on it, and no longer; it is nobody else's.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from interlingua.errors import APITimeoutError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from interlingua.transport.base import AsyncReply, Reply
    from interlingua.wire.http import Headers

__all__ = ["Loop", "LoopReply", "opened_on"]

T = TypeVar("T")


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        """A loop that runs."""
        self._has_begun = threading.Event()
        self._thread = threading.Thread(target=self._work, name="interlingua-loop", daemon=True)
        self._thread.start()
        self._has_begun.wait()

    def _work(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._stay())

    async def _stay(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._has_begun.set()
        await self._end.wait()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the loop, and what runs on it."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()


class LoopReply:
    """A reply of a loop, read from outside; closing it ends the loop."""

    def __init__(self, loop: Loop, reply: AsyncReply) -> None:
        """The reply that was opened on `loop`."""
        self._loop = loop
        self._reply = reply
        self._is_open = True
        self.status: int = reply.status
        """HTTP status."""
        self.headers: Headers = reply.headers
        """Headers with lower-case names."""

    def read(self) -> bytes:
        """The next piece of the body; `b""` at its end."""
        return self._loop.do(self._reply.read())

    def read_within(self, seconds: float) -> bytes:
        """The next piece of the body.

        Raises: APITimeoutError after `seconds`.
        """
        try:
            return self._loop.do(asyncio.wait_for(self._reply.read(), seconds))
        except TimeoutError:
            raise APITimeoutError(f"nothing came within {seconds:g} s") from None

    def close(self) -> None:
        """Close the reply and the loop."""
        if self._is_open:
            self._is_open = False
            try:
                self._loop.do(self._reply.close())
            finally:
                self._loop.close()


def opened_on(loop: Loop, opening: Coroutine[Any, Any, AsyncReply]) -> Reply:
    """The reply that a coroutine opens on `loop`; the loop ends with it, and at once where it is not opened."""
    try:
        reply = loop.do(opening)
    except BaseException:
        loop.close()
        raise
    return LoopReply(loop, reply)
