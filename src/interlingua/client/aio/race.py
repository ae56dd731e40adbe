"""Two ways of a call at once: the first answer counts, the other way is cancelled.

Rules
- Whatever ends the race, an answer, an error or cancellation, nothing of the loser is left: no task, no exchange.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from interlingua.client.aio.pump import AsyncPump

if TYPE_CHECKING:
    from interlingua.client.call.effect import Race
    from interlingua.transport.base import AsyncReply

__all__ = ["race"]


async def race(effect: Race) -> tuple[tuple[Any, bool], AsyncReply | None]:
    """The result of the race, whether both had begun, and the exchange that the winner has left open.

    Raises: the error that ended one of the ways.
    """
    pumps: dict[asyncio.Task[Any], AsyncPump[Any]] = {}
    reply: AsyncReply | None = None
    try:
        _begin(pumps, AsyncPump(effect.first))
        await asyncio.wait(pumps, timeout=effect.after_s)
        both = not next(iter(pumps)).done()
        if both:
            _begin(pumps, AsyncPump(effect.second()))
        waiting = set(pumps)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if (answer := task.result()) is not effect.nothing:
                    reply = pumps[task].take()
                    return (answer, both), reply
        return (effect.nothing, both), None
    finally:
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        for pump in pumps.values():
            await pump.close()


def _begin(pumps: dict[asyncio.Task[Any], AsyncPump[Any]], pump: AsyncPump[Any]) -> None:
    pumps[asyncio.create_task(pump.run_open())] = pump
