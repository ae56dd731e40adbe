"""A race in blocking code: both ways run on an event loop in a thread, which ends with the answer that won.

Strategy: a blocking read of one exchange cannot be woken when another one has answered, so what has to be given up in
the middle is awaited. The winner is read on through the same loop.

Rules
- The thread lives as long as the exchange that the winner left open, and no longer; it is nobody else's.
- KeyboardInterrupt cancels both ways before it reaches the caller.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from interlingua.client.aio.race import race as awaited_race
from interlingua.errors import APITimeoutError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from interlingua.client.call.effect import Race
    from interlingua.transport.base import AsyncReply, Reply
    from interlingua.wire.http import Headers

__all__ = ["race"]

T = TypeVar("T")


def race(effect: Race) -> tuple[tuple[Any, bool], Reply | None]:
    """What the race came to, and the exchange that the winner has left open.

    Raises: the error that ended one of the ways.
    """
    loop = _Loop()
    try:
        result, reply = loop.do(awaited_race(effect))
    except BaseException:
        loop.close()
        raise
    if reply is None:
        loop.close()
        return result, None
    return result, _Reply(loop, reply)


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._has_begun = threading.Event()
        self._thread = threading.Thread(target=self._work, name="interlingua-race", daemon=True)
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
        """What a coroutine gives."""
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


class _Reply:
    """A reply of that loop, read from outside."""

    def __init__(self, loop: _Loop, reply: AsyncReply) -> None:
        self._loop = loop
        self._reply = reply
        self._is_open = True
        self.status: int = reply.status
        self.headers: Headers = reply.headers

    def read(self) -> bytes:
        return self._loop.do(self._reply.read())

    def read_within(self, seconds: float) -> bytes:
        try:
            return self._loop.do(asyncio.wait_for(self._reply.read(), seconds))
        except TimeoutError:
            raise APITimeoutError(f"nothing came within {seconds:g} s") from None

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            try:
                self._loop.do(self._reply.close())
            finally:
                self._loop.close()
