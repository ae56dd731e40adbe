"""The awaited driver: it performs the effects of a call with awaited transports.

Rules
- What a transport raises is thrown into the steps, which decide; whatever leaves the steps closes the open exchange.
- Cancellation goes the same way, so the socket is closed before it reaches the caller.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from interlingua.client.effect import Open
from interlingua.client.transports import async_transport_for

if TYPE_CHECKING:
    from interlingua.client.effect import Read, Steps
    from interlingua.transport.base import AsyncReply
    from interlingua.types.event import Event

__all__ = ["AsyncPump"]

R = TypeVar("R")


class AsyncPump(Generic[R]):
    """Steps under way, and the exchange that they have open."""

    __slots__ = ("_reply", "_steps", "_value", "ended")

    def __init__(self, steps: Steps[R]) -> None:
        """Steps that have not begun."""
        self._steps = steps
        self._reply: AsyncReply | None = None
        self._value: R | None = None
        self.ended: bool = False
        """Whether nothing more will come."""

    async def run(self) -> R:
        """What the steps come to."""
        while await self.pull() is not None:
            pass
        return cast("R", self._value)

    async def pull(self) -> list[Event] | None:
        """The next events that the steps give; None at their end."""
        if self.ended:
            return None
        steps = self._steps
        try:
            effect = next(steps)
            while type(effect) is not list:
                try:
                    result = await self._perform(cast("Open | Read", effect))
                except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
                    effect = steps.throw(problem)
                else:
                    effect = steps.send(result)
        except StopIteration as done:
            self._value = done.value
            await self.close()
            return None
        except BaseException:
            await self.close()
            raise
        return effect

    async def close(self) -> None:
        """Close the open exchange; nothing more comes."""
        self.ended = True
        reply, self._reply = self._reply, None
        if reply is not None:
            await reply.close()

    async def _perform(self, effect: Open | Read) -> Any:
        if type(effect) is Open:
            if self._reply is not None:
                await self._reply.close()
            self._reply = await async_transport_for(effect.request.url).open(effect.request, effect.timeouts)
            return self._reply
        reply = cast("AsyncReply", self._reply)
        within_s = cast("Read", effect).within_s
        return await (reply.read() if within_s is None else _read_within(reply, within_s))


async def _read_within(reply: AsyncReply, within_s: float) -> bytes:
    """The next piece, or `b""` when it does not come in time."""
    try:
        async with asyncio.timeout(within_s):
            return await reply.read()
    except TimeoutError:
        return b""
