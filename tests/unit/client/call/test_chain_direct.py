"""A call of one target that is well goes straight; it fares as one that has to ask for everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import interlingua as il
from tests.support.cells import cells
from tests.support.chains import Body, Waited, World, ask, good, refusal, stalled, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.chains import Step

A = "a/one"

_STEPS: dict[str, Callable[[bool], tuple[Step, ...]]] = {
    "answered": lambda streamed: (good(streamed=streamed),),
    "failed once": lambda streamed: (refusal(503), good(streamed=streamed)),
    "failed twice": lambda streamed: (refusal(503), refusal(503), good(streamed=streamed)),
    "to wait": lambda streamed: (refusal(429, retry_after="2"), good(streamed=streamed)),
    "to wait long": lambda _: (refusal(429, retry_after="9000"),),
    "key refused": lambda _: (refusal(401),),
    "no credit": lambda _: (refusal(402),),
    "request refused": lambda _: (refusal(400),),
    "cut": lambda streamed: (Body(b"{", events=False), good(streamed=streamed)),
    "gone": lambda streamed: (il.APIConnectionError("gone"), good(streamed=streamed)),
    "silent": lambda _: (stalled,),
}


@cells("awaited", [False, True], ids=["blocking", "awaited"])
@cells("streamed", [False, True], ids=["whole", "streamed"])
@cells("options", [{}, {"retries": 3}, {"timeout_s": 5.0}], ids=["plain", "retries", "timeout"])
@cells("case", _STEPS)
def test_one_target_fares_alike_straight_and_by_a_trip(
    case: str, options: dict[str, Any], streamed: bool, awaited: bool
) -> None:
    """A store that has to be asked makes a trip of every call: it tells, waits and remembers as the straight road."""
    straight, trip = World(), World()
    fared = [_fared(world, case, options, streamed, awaited) for world in (straight, _waiting(trip))]
    assert fared[0] == fared[1]


def _waiting(world: World) -> World:
    world.health = Waited(world.health)
    return world


def _fared(world: World, case: str, options: dict[str, Any], streamed: bool, awaited: bool) -> list[object]:
    """What two calls come to, and what they leave behind."""
    world.on(A, *_STEPS[case](streamed))
    return [_call(world, options, streamed, awaited) for _ in range(2)]


def _call(world: World, options: dict[str, Any], streamed: bool, awaited: bool) -> tuple[object, ...]:
    try:
        reply = ask(world, world.call_to(A, **options), awaited=awaited, streamed=streamed)
    except il.Error as error:
        came, attempts = (type(error), error.message, error.retry_after_s), error.attempts
    else:
        came, attempts = reply.text, reply.attempts
    left = (world.now, list(world.slept), world.health.snapshot(), world.open_replies, list(world.timeouts))
    return came, told(attempts), [(attempt.duration_s, attempt.delay_s) for attempt in attempts], left
