"""A race in blocking code: both ways run on an event loop in a thread, which ends with the answer that won.

Rules
- The winner is read on through the same loop.
- KeyboardInterrupt cancels both ways before it reaches the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.client.aio.race import race as awaited_race
from interlingua.transport.loop import Loop, LoopReply

if TYPE_CHECKING:
    from interlingua.client.call.effect import Race
    from interlingua.transport.base import Reply

__all__ = ["race"]


def race(effect: Race) -> tuple[tuple[Any, bool], Reply | None]:
    """The result of the race, whether both had begun, and the exchange that the winner has left open.

    Raises: the error that ended one of the ways.
    """
    loop = Loop()
    try:
        result, reply = loop.do(awaited_race(effect))
    except BaseException:
        loop.close()
        raise
    if reply is None:
        loop.close()
        return result, None
    return result, LoopReply(loop, reply)
