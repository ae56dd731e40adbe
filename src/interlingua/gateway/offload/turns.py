"""Turns of bodies that are worked on by the event loop itself, and are not small.

Rules
- One has its turn in each round of the loop. Each takes a part of a tenth of a second: of a hundred that become whole
  in one round, ninety-nine would have to be done before the next look at a socket.
"""

from __future__ import annotations

import asyncio
from collections import deque

__all__ = ["Turns"]


class Turns:
    """Has one after the other go on."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Nothing, in a round of the loop that nobody else has; at once where this one is free."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # none of this loop has had the round
            self._loop = loop
            self._waiting.clear()
            loop.call_soon(self._next)
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next(self) -> None:
        """Let the next one go on, in the round that comes; it may have left meanwhile."""
        waiting, loop = self._waiting, self._loop
        while waiting and waiting[0].done():
            waiting.popleft()
        if not waiting or loop is None:
            self._loop = None
            return
        waiting.popleft().set_result(None)
        loop.call_soon(self._next)
