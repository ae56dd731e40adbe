"""The awaited driver: it performs the effects of a call with awaited transports.

Rules
- What a transport raises is thrown into the steps, which decide; whatever leaves the steps closes the open exchange.
- Cancellation goes the same way, so the socket is closed before it reaches the caller.
- A stream may be poured: while its steps ask for nothing but the next piece, they go on where the piece arrives, in the
  loop's callback. Everything else they ask for, ends, errors and waits are the awaited form's.
"""

from __future__ import annotations

import asyncio
import os
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from interlingua.client.call.effect import Ask, Consult, Enter, Fetch, Open, Race, Read, Rest, Sleep, Work
from interlingua.client.call.pump import end_steps
from interlingua.client.call.transports import async_fetch_for, async_transport_for
from interlingua.types.event import TextDelta, ThinkingDelta, ToolCallDelta

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.client.call.effect import Effect, Steps
    from interlingua.dialects._contract import StreamDecoder
    from interlingua.transport.base import AsyncReply
    from interlingua.types.event import Event
    from interlingua.wire.http import HttpReply

__all__ = ["AsyncPump", "carried_out"]

R = TypeVar("R")

_TEXTS = frozenset({TextDelta, ThinkingDelta, ToolCallDelta})
_MOST_AT_WORK = max(1, min(4, os.cpu_count() or 1))
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def carried_out(steps: Steps[R]) -> R:
    """The result of steps; as long as they ask for whole exchanges, nothing is open between them and no pump needed."""
    try:
        effect = next(steps)
        while type(effect) is Fetch:
            try:
                result = await _fetched(effect)
            except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
                effect = steps.throw(problem)
            else:
                effect = steps.send(result)
    except StopIteration as done:
        return done.value
    return await AsyncPump(steps, effect).run()


class AsyncPump(Generic[R]):
    """Steps under way, and the exchange that they have open."""

    __slots__ = ("_effect", "_keeps_open", "_left", "_problem", "_reply", "_steps", "_take", "_value", "ended")

    _take: Callable[[list[Event]], list[Event] | None]

    def __init__(self, steps: Steps[R], effect: Effect | None = None, reply: AsyncReply | None = None) -> None:
        """Steps that have not begun, or that have `asked` for something; `reply` is what they have open already."""
        self._steps = steps
        self._reply = reply
        self._value: R | None = None
        self._keeps_open = False
        self._effect = effect
        self._left: list[Event] | None = None
        self._problem: BaseException | None = None
        self.ended: bool = False
        """Whether nothing more will come."""

    async def run(self) -> R:
        """The result of the steps."""
        while await self.pull() is not None:
            pass
        return cast("R", self._value)

    async def run_open(self) -> R:
        """`run`, with the exchange that the steps have open left so; `take` takes it over, `close` closes it."""
        self._keeps_open = True
        return await self.run()

    def take(self) -> AsyncReply | None:
        """The open exchange, which is the caller's to close from now on."""
        reply, self._reply = self._reply, None
        return reply

    async def pull(self) -> list[Event] | None:
        """The next events that the steps give; None at their end."""
        if self.ended:
            return None
        steps = self._steps
        effect, self._effect = self._effect, None
        try:
            if effect is None:
                effect = next(steps)
            while type(effect) is not list:
                try:
                    result = await self._perform(effect)
                except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
                    effect = steps.throw(problem)
                else:
                    effect = steps.send(result)
        except StopIteration as done:
            self._value = done.value
            self.ended = True
            if not self._keeps_open and self._reply is not None:
                await self._drop()
            return None
        except BaseException:
            await self.close()
            raise
        return effect

    async def pour(self, take: Callable[[list[Event]], list[Event] | None]) -> list[Event] | None:
        """As `pull`, of the events that `take` gives back; what it takes (None) is taken where it arrives.

        `take` is called by the loop, in the context of whoever awaits this. It gives back an empty list where it only
        wants no more for now.
        """
        reply: Any = self._reply
        if self.ended or not hasattr(reply, "pour"):
            return await self.pull()
        self._take = take
        steps = self._steps
        try:
            if self._go_on(steps.send, None) if self._effect is None else _is_next(self._effect):
                run: Any = copy_context().run
                await reply.pour(partial(run, self._came))
        except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
            self._go_on(steps.throw, problem)
        del self._take  # it holds the stream that holds this pump, and all that came would wait for the collector
        left, self._left = self._left, None
        problem, self._problem = self._problem, None
        if problem is not None:  # the steps have ended, or `take` has raised
            await self.close()
            try:
                if not isinstance(problem, StopIteration):
                    raise problem
                self._value = problem.value
            finally:
                del problem  # its traceback has this frame
        return await self.pull() if left is None else left

    def _came(self, piece: bytes) -> bool:
        """Take a piece where it came, past the steps where they would only pass it on; whether more may come so."""
        read: Any = self._effect
        decoder: StreamDecoder | None = read.decoder
        if decoder is None:
            return self._go_on(self._steps.send, piece)
        try:
            events = decoder.feed(piece)
        except BaseException as problem:  # noqa: BLE001 - as where the steps feed it
            return self._go_on(self._steps.throw, problem)
        if len(events) != 1 or type(events[0]) not in _TEXTS or decoder.terminal:
            return self._go_on(self._steps.send, events)
        try:
            self._left = self._take(events)
        except BaseException as problem:  # noqa: BLE001 - raised where the steps are awaited
            self._problem = problem
        return self._left is None and self._problem is None

    def _go_on(self, step: Callable[[Any], Effect], result: object) -> bool:
        """Have the steps go on from what is given; whether they ask for nothing but the next piece then."""
        self._effect = None
        try:
            effect = step(result)
            while type(effect) is list:
                self._left = self._take(effect)
                if self._left is not None:
                    return False
                effect = next(self._steps)
        except BaseException as problem:  # noqa: BLE001 - raised where the steps are awaited
            self._problem = problem
            del result  # what was thrown may come back, and its traceback has this frame
            return False
        self._effect = effect
        return type(effect) is Read and effect.within_s is None

    async def close(self) -> None:
        """Close the open exchange; nothing more comes."""
        self.ended = True
        end_steps(self._steps)
        await self._drop()

    async def _drop(self) -> None:
        """Close the open exchange."""
        reply, self._reply = self._reply, None
        if reply is not None:
            await reply.close()

    def _perform(self, effect: Any) -> Awaitable[Any]:
        """To be awaited: what an effect comes to."""
        kind = cast("type[object]", type(effect))
        if kind is Fetch:
            return self._fetch(effect) if self._reply is not None else _fetched(effect)
        if kind is Read:
            reply: Any = self._reply
            return reply.read() if effect.within_s is None else _read_within(reply, effect.within_s)
        if kind is Rest:
            return _rest(cast("AsyncReply", self._reply))
        return self._open(effect) if kind is Open else self._settle(effect)

    async def _fetch(self, effect: Fetch) -> HttpReply:
        await self._drop()
        return await _fetched(effect)

    async def _open(self, effect: Open) -> AsyncReply:
        if self._reply is not None:
            await self._drop()
        transport = async_transport_for(effect.request.url, effect.carrier)
        self._reply = await transport.open(effect.request, effect.timeouts)
        return self._reply

    async def _settle(self, effect: Sleep | Consult | Enter | Work | Ask | Race) -> Any:
        """The answer to an effect of the chain that is no exchange."""
        match effect:
            case Sleep(seconds=seconds):
                await self._drop()
                return await asyncio.sleep(seconds)
            case Consult(store=store, operations=operations):
                return await store.apply_async(operations)
            case Enter(limits=limits, target=target, tokens=tokens, within_s=within_s):
                await self._drop()
                return await limits.enter_async(target, tokens, within_s)
            case Work(function=function, elsewhere=elsewhere):
                return await (_worked(function) if elsewhere is None else elsewhere())
            case Ask(function=ask):
                result = ask(True)
                return await result if hasattr(result, "__await__") else result
            case Race():
                from interlingua.client.aio.race import race  # only who hedges races

                await self._drop()
                result, self._reply = await race(effect)
                return result


def _is_next(effect: Effect | None) -> bool:
    """Whether nothing is asked for but the next piece, however long it takes."""
    return type(effect) is Read and effect.within_s is None


def _fetched(effect: Fetch) -> Awaitable[HttpReply]:
    request = effect.request
    return async_fetch_for(request.url, effect.carrier)(request, effect.timeouts)


async def _rest(reply: AsyncReply) -> bytes:
    """Everything that is left of a body; usually that is one piece."""
    first = await reply.read()
    pieces = [first]
    while piece := await reply.read():
        pieces.append(piece)
    return first if len(pieces) == 1 else b"".join(pieces)


async def _read_within(reply: AsyncReply, within_s: float) -> bytes:
    """The next piece, or `b""` when it does not come in time."""
    try:
        async with asyncio.timeout(within_s):
            return await reply.read()
    except TimeoutError:
        return b""


async def _worked(function: Callable[[], Any]) -> Any:
    """The result of a function in a thread that ends with it; as many run at once as there are processors."""
    loop = asyncio.get_running_loop()
    places = _places.get(loop)
    if places is None:
        places = _places[loop] = asyncio.Semaphore(_MOST_AT_WORK)
    from concurrent.futures import ThreadPoolExecutor  # only who has heavy work needs threads

    async with places:
        worker = ThreadPoolExecutor(1, thread_name_prefix="interlingua-work")
        try:
            return await loop.run_in_executor(worker, copy_context().run, function)
        finally:
            worker.shutdown(wait=False)
