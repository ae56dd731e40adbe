"""Chains in a world of their own: scripted targets, a clock that only they and pauses move, both faces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.client.aio.pump import AsyncPump
from interlingua.client.call.core import Outcome, call_steps, stream_steps
from interlingua.client.call.effect import Read, Sleep
from interlingua.client.call.pump import Pump
from interlingua.client.call.values import Call, CallTarget
from interlingua.client.options import Settings, settle
from interlingua.dialects.table import get_dialect
from interlingua.errors import APITimeoutError, Error
from interlingua.registry.resolve import placeholder
from interlingua.routing.health import MemoryHealth
from interlingua.routing.limits import Limiter
from interlingua.transport.override import Override, overriding
from interlingua.types.message import user
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from tests.support.client import chat, chunks

if TYPE_CHECKING:
    from interlingua.routing.health import HealthStore
    from interlingua.transport.base import Timeouts
    from interlingua.types.event import Event
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import HttpRequest

__all__ = ["JSON", "Body", "Waited", "World", "ask", "good", "refusal", "stalled", "told"]

JSON = (("content-type", "application/json"),)
_EVENTS = (("content-type", "text/event-stream"),)


class Body:
    """A reply in pieces: bytes, seconds of silence, and errors that break it."""

    def __init__(self, *pieces: bytes | float | BaseException, events: bool = True) -> None:
        """A body; `events`: that of a stream."""
        self.pieces = pieces
        self.headers = _EVENTS if events else JSON


Step: TypeAlias = "HttpReply | Exception | Body | Callable[[World, Timeouts], HttpReply]"
"""What a target does when it is asked."""


def refusal(status: int, message: str = "No.", **headers: str) -> HttpReply:
    """A reply that tells of an error."""
    named = tuple([(name.replace("_", "-"), value) for name, value in headers.items()])
    return HttpReply(status=status, headers=(*JSON, *named), body=encode({"error": {"message": message, "type": "x"}}))


def stalled(world: World, timeouts: Timeouts) -> HttpReply:
    """Says nothing until the first deadline has passed."""
    total_s, first_s = timeouts.total_s or 1e9, timeouts.first_byte_s or 1e9
    world.now += min(total_s, first_s)
    raise APITimeoutError("silence", phase="total" if total_s <= first_s else "first_byte")


class Waited:
    """A store of health that has to be waited for, and counts how often it is asked."""

    immediate = False
    problem = ""

    def __init__(self, inner: Any) -> None:
        """One that answers as `inner` does."""
        self.inner = inner
        self.asked = 0

    def clear_at_s(self, target: str) -> None:
        """It has to be asked."""
        del target

    def apply(self, operations: Any) -> Any:
        """What the inner one says."""
        self.asked += 1
        return self.inner.apply(operations)

    async def apply_async(self, operations: Any) -> Any:
        """The same, awaited."""
        self.asked += 1
        return self.inner.apply(operations)

    def snapshot(self) -> Any:
        """All that the inner one knows."""
        return self.inner.snapshot()

    async def snapshot_async(self) -> Any:
        """The same, awaited."""
        return self.inner.snapshot()

    def close(self) -> None:
        """Nothing is open."""


class World:
    """Targets that do what they are told, and a clock that stands still while nobody waits."""

    def __init__(self, health: HealthStore | None = None) -> None:
        """A world without targets."""
        self.now: float = 0.0
        self.slept: list[float] = []
        """Every pause."""
        self.asked: list[str] = []
        """Who was asked, in order."""
        self.bodies: list[bytes] = []
        """What was sent, in the same order."""
        self.timeouts: list[Timeouts] = []
        """The deadlines of each exchange."""
        self.open_replies: int = 0
        """Replies that nobody has closed."""
        self.health: HealthStore = health or MemoryHealth(lambda: self.now)
        self.limits: Limiter = Limiter(lambda: self.now)
        self._steps: dict[str, list[Step]] = {}

    def on(self, spec: str, *steps: Step) -> World:
        """The world itself; the target does this, step by step, its last step for ever."""
        self._steps[spec] = list(steps)
        return self

    def call_to(self, *specs: str, dialect: str = "openai-chat", chance: float = 1.0, **options: Any) -> Call:
        """A call of these targets."""
        targets = tuple([CallTarget(placeholder(spec), get_dialect(dialect)) for spec in specs])
        settings = settle(Settings(), options)
        request = cast("Any", settings.request)
        asked = type(request)(messages=(user("Hi"),), tools=request.tools, store=request.store)
        return Call(
            asked,
            settings,
            targets,
            lambda: self.now,
            health=self.health,
            limits=self.limits,
            chance=lambda: chance,
        )

    def open(self, request: HttpRequest, timeouts: Timeouts) -> _Reply:
        """What the target does."""
        target = request.target or ""
        self.asked.append(target)
        self.bodies.append(request.body)
        self.timeouts.append(timeouts)
        steps = self._steps[target]
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        if isinstance(step, Exception):
            if isinstance(step, Error):
                step.attempts = ()
            raise step
        if isinstance(step, Body):
            return _Reply(self, 200, step.headers, list(step.pieces), timeouts)
        reply = step if isinstance(step, HttpReply) else step(self, timeouts)
        return _Reply(self, reply.status, reply.headers, [reply.body], timeouts)

    @contextmanager
    def _standing(self) -> Generator[None]:
        blocking, awaited = _Transport(self), _AsyncTransport(self)
        with overriding(Override(lambda _: blocking, lambda _: awaited)):
            yield

    def call(self, call: Call, *, awaited: bool = False) -> Response[Any]:
        """What the call gives."""
        return self.run(call_steps(call), awaited=awaited)

    def run(self, steps: Any, *, awaited: bool = False) -> Any:
        """What steps come to."""
        with self._standing():
            if awaited:
                return asyncio.run(_AsyncVirtual(self, steps).run())
            return _Virtual(self, steps).run()

    def stream(self, call: Call, *, awaited: bool = False) -> tuple[list[Event], Outcome]:
        """The events that the stream gives, and what it came to."""
        outcome = Outcome()
        with self._standing():
            if awaited:
                return asyncio.run(_all(_AsyncVirtual(self, stream_steps(call, outcome)))), outcome
            pump = _Virtual(self, stream_steps(call, outcome))
            events: list[Event] = []
            while (batch := pump.pull()) is not None:
                events += batch
            return events, outcome

    def leave(self, call: Call, *, awaited: bool = False) -> None:
        """Open the stream, read its first events, and leave."""
        with self._standing():
            if awaited:
                asyncio.run(_left(_AsyncVirtual(self, stream_steps(call, Outcome()))))
                return
            pump = _Virtual(self, stream_steps(call, Outcome()))
            pump.pull()
            pump.close()

    def wait(self, seconds: float) -> None:
        """A pause that takes no time."""
        self.slept.append(seconds)
        self.now += seconds


def ask(world: World, call: Call, *, awaited: bool, streamed: bool) -> Response[Any]:
    """The answer, however it comes."""
    if not streamed:
        return world.call(call, awaited=awaited)
    _, outcome = world.stream(call, awaited=awaited)
    return outcome.whole(ended=True)


def good(text: str = "Hello", *, streamed: bool) -> Step:
    """What a target does that answers with a text."""
    return Body(*chunks(text)) if streamed else chat(text)


def told(attempts: tuple[Attempt, ...]) -> list[tuple[str, str]]:
    """Who was tried, and how it ended."""
    return [(attempt.model, attempt.outcome) for attempt in attempts]


async def _all(pump: AsyncPump[None]) -> list[Event]:
    events: list[Event] = []
    while (batch := await pump.pull()) is not None:
        events += batch
    return events


async def _left(pump: AsyncPump[None]) -> None:
    await pump.pull()
    await pump.close()


class _Virtual(Pump[Any]):
    """The blocking driver without waiting."""

    def __init__(self, world: World, steps: Any) -> None:
        super().__init__(steps)
        self._world = world

    def _settle(self, effect: Any) -> Any:
        if isinstance(effect, Sleep):
            self._drop()
            return self._world.wait(effect.seconds)
        return super()._settle(effect)


class _AsyncVirtual(AsyncPump[Any]):
    """The awaited driver without waiting."""

    def __init__(self, world: World, steps: Any) -> None:
        super().__init__(steps)
        self._world = world

    async def _perform(self, effect: Any) -> Any:
        if isinstance(effect, Read) and effect.within_s is not None:
            try:
                return cast("_AsyncReply", self._reply).read_within(effect.within_s)
            except APITimeoutError:
                return b""
        return await super()._perform(effect)

    async def _settle(self, effect: Any) -> Any:
        if isinstance(effect, Sleep):
            await self._drop()
            return self._world.wait(effect.seconds)
        return await super()._settle(effect)


class _Reply:
    """A reply of the world."""

    def __init__(self, world: World, status: int, headers: Any, pieces: list[Any], timeouts: Timeouts) -> None:
        self.status = status
        self.headers = headers
        self._world = world
        self._pieces = pieces
        self._timeouts = timeouts
        self._is_open = True
        world.open_replies += 1

    def read(self) -> bytes:
        return self.read_within(1e9)

    def read_within(self, seconds: float) -> bytes:
        while self._pieces:
            piece = self._pieces.pop(0)
            if isinstance(piece, float):
                if piece > seconds:
                    self._world.now += seconds
                    raise APITimeoutError("silence")
                self._world.now += piece
                seconds -= piece
            elif isinstance(piece, BaseException):
                raise piece
            else:
                return piece
        return b""

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._world.open_replies -= 1


class _AsyncReply:
    """The same, awaited."""

    def __init__(self, reply: _Reply) -> None:
        self.status = reply.status
        self.headers = reply.headers
        self._reply = reply

    async def read(self) -> bytes:
        return self._reply.read()

    def read_within(self, seconds: float) -> bytes:
        return self._reply.read_within(seconds)

    async def close(self) -> None:
        self._reply.close()


class _Transport:
    def __init__(self, world: World) -> None:
        self._world = world

    def open(self, request: HttpRequest, timeouts: Timeouts) -> _Reply:
        return self._world.open(request, timeouts)

    def close(self) -> None:
        """Nothing is kept."""


class _AsyncTransport:
    def __init__(self, world: World) -> None:
        self._world = world

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> _AsyncReply:
        return _AsyncReply(self._world.open(request, timeouts))

    async def close(self) -> None:
        """Nothing is kept."""
