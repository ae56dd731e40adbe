"""The blocking driver: it performs the effects of a call with blocking transports.

Rules
- What a transport raises is thrown into the steps, which decide; whatever leaves the steps closes the open exchange.
- KeyboardInterrupt goes the same way, so the socket is closed before it reaches the caller.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from interlingua.client.call.effect import Ask, Consult, Enter, Fetch, Open, Race, Read, Rest, Sleep, Work
from interlingua.client.call.transports import transport_for
from interlingua.errors import APITimeoutError
from interlingua.transport.base import fetch_of

if TYPE_CHECKING:
    from interlingua.client.call.effect import Effect, Steps
    from interlingua.transport.base import PatientReply, Reply
    from interlingua.types.event import Event
    from interlingua.wire.http import HttpReply

__all__ = ["Pump", "carried_out", "end_steps"]

R = TypeVar("R")


def carried_out(steps: Steps[R]) -> R:
    """The result of steps; as long as they ask for whole exchanges, nothing is open between them and no pump needed."""
    try:
        effect = next(steps)
        while type(effect) is Fetch:
            try:
                result = _fetched(effect)
            except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
                effect = steps.throw(problem)
            else:
                effect = steps.send(result)
    except StopIteration as done:
        return done.value
    return Pump(steps, effect).run()


class Pump(Generic[R]):
    """Steps under way, and the exchange that they have open."""

    __slots__ = ("_effect", "_reply", "_steps", "_value", "ended")

    def __init__(self, steps: Steps[R], effect: Effect | None = None) -> None:
        """Steps that have not begun, or that have `asked` for something that they wait for."""
        self._steps = steps
        self._effect = effect
        self._reply: Reply | None = None
        self._value: R | None = None
        self.ended: bool = False
        """Whether nothing more will come."""

    def run(self) -> R:
        """The result of the steps."""
        while self.pull() is not None:
            pass
        return cast("R", self._value)

    def pull(self) -> list[Event] | None:
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
                    result = self._perform(effect)
                except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
                    effect = steps.throw(problem)
                else:
                    effect = steps.send(result)
        except StopIteration as done:
            self._value = done.value
            self.close()
            return None
        except BaseException:
            self.close()
            raise
        return effect

    def close(self) -> None:
        """Close the open exchange; nothing more comes."""
        self.ended = True
        end_steps(self._steps)
        self._drop()

    def _drop(self) -> None:
        """Close the open exchange."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.close()

    def _perform(self, effect: Any) -> Any:
        kind = cast("type[object]", type(effect))
        if kind is Fetch:
            self._drop()
            return _fetched(effect)
        if kind is Read:
            reply = cast("Reply", self._reply)
            return reply.read() if effect.within_s is None else _read_within(reply, effect)
        if kind is Rest:
            pieces = list(iter(cast("Reply", self._reply).read, b""))
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)  # usually it is one
        if kind is Open:
            self._drop()
            self._reply = transport_for(effect.request.url, effect.carrier).open(effect.request, effect.timeouts)
            return self._reply
        return self._settle(effect)

    def _settle(self, effect: Sleep | Consult | Enter | Work | Ask | Race) -> Any:
        """The answer to an effect of the chain that is no exchange."""
        match effect:
            case Sleep(seconds=seconds):
                self._drop()
                return time.sleep(seconds)
            case Consult(store=store, operations=operations):
                return store.apply(operations)
            case Enter(limits=limits, target=target, tokens=tokens, within_s=within_s):
                self._drop()
                return limits.enter(target, tokens, within_s)
            case Work(function=function):
                return function()
            case Ask(function=ask):
                return ask(False)
            case Race():
                from interlingua.client.call.race import race  # only who hedges needs a loop

                self._drop()
                result, self._reply = race(effect)
                return result


def _fetched(effect: Fetch) -> HttpReply:
    request = effect.request
    return fetch_of(transport_for(request.url, effect.carrier))(request, effect.timeouts)


def end_steps(steps: Steps[Any]) -> None:
    """End steps that wait for their driver, so that they tell their end now and not when they are collected."""
    with suppress(ValueError):  # another thread, or a collection in the middle of them, closes what is at work
        steps.close()


def _read_within(reply: Reply, read: Read) -> bytes:
    """The next piece, or `b""` when it does not come in time; a silence that is too long for the transport is told."""
    if not hasattr(reply, "read_within"):
        return reply.read() if read.needed else b""
    try:
        return cast("PatientReply", reply).read_within(read.within_s or 0.0)
    except APITimeoutError as error:
        if error.phase != "total":
            raise
        return b""
