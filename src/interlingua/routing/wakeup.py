"""A wakeup that wakes one task, rung from any thread."""

from __future__ import annotations

import asyncio
from contextlib import suppress

__all__ = ["Wakeup"]


class Wakeup:
    """Wakes the task that waits for it; a ring that comes early is not lost."""

    def __init__(self) -> None:
        """A wakeup of the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake the task; ringing twice does no harm, and nobody hears it when the loop is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._rung.set)

    async def wait(self, within_s: float) -> None:
        """Nothing, at the next ring or when the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._rung.wait()
        self._rung.clear()
