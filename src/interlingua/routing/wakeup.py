"""The wakeup of one task, from any thread."""

from __future__ import annotations

import asyncio
from contextlib import suppress

__all__ = ["Wakeup"]


class Wakeup:
    """Wakes the task that waits for it; a ring that comes early is not lost."""

    def __init__(self) -> None:
        """A wakeup of the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._is_set = asyncio.Event()

    def ring(self) -> None:
        """Wake the task; ringing twice does no harm, and nobody hears it when the loop is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._is_set.set)

    async def wait(self, within_s: float) -> None:
        """Nothing, at the next ring or when the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._is_set.wait()
        self._is_set.clear()
