"""A wall clock that jumps by hours and days, and back: through a gateway over each place where keys are counted."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from tests.support.gateway import asking
from tests.support.shared_servers import RoomOfPostgres, make_redis

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC).timestamp()
HOUR, DAY = 3_600.0, 86_400.0
NO_LIMITS = Terms()
TOKENS = 38
"""What a call below uses."""


class Clock:
    """A wall clock that is put where a test wants it."""

    def __init__(self) -> None:
        """At noon."""
        self.now_s = NOON

    def __call__(self) -> float:
        """Unix seconds."""
        return self.now_s


Make = Callable[..., Gateway]


@pytest.fixture(params=["memory", "file", "redis", "postgres"])
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[tuple[Make, Clock]]:
    """Makes a gateway with one key of the given terms, and its clock."""
    clock, made = Clock(), list[Gateway]()
    place = ""

    def gateway(terms: Terms = NO_LIMITS, expires_s: float | None = None) -> Gateway:
        key = GatewayKey(name="a", hash=hash_key("a-key"), terms=terms, expires_s=expires_s)
        file = str(tmp_path / "keys.sqlite") if request.param == "file" else ""
        registry = Registry({})
        registry.register_alias("smart", "fake/model")
        one = Gateway(GatewaySettings(keys=(key,), key_file=file), registry=registry, now=clock)
        if place:
            from interlingua.gateway.state.shared import SharedAccounts
            from interlingua.routing.link import open_link

            link = open_link(place, clock=time.monotonic)
            one.admission.move(SharedAccounts(link, gone=frozenset), "holder")
        made.append(one)
        return one

    redis = make_redis(tmp_path) if request.param == "redis" else None
    if redis is not None:
        place = redis.url
    elif request.param == "postgres":
        place = RoomOfPostgres(request.getfixturevalue("postgres_server")).url
    yield gateway, clock
    for one in made:
        await one.close()
    if redis is not None:
        redis.stop()


async def _let_in(gateway: Gateway, most: int = 10) -> int:
    """How many calls in a row are let in, until one is refused for what was used."""
    for count in range(most):
        reply = await gateway(
            asking("openai-chat", "smart", "Say hello.", max_tokens=25, headers={"x-api-key": "a-key"})
        )
        if reply.status in (402, 429):
            return count
        assert reply.status == 200, reply.body
    return most


@pytest.mark.parametrize(("period", "length_s"), [("day", DAY), ("month", 31 * DAY)])
async def test_a_budget_is_that_of_its_day_however_the_clock_jumps(
    make: tuple[Make, Clock], period: str, length_s: float
) -> None:
    """A clock that goes ahead by days and is put back refills nothing and takes nothing: each day has its own sum."""
    gateway, clock = make[0](Terms(budgets=(read_budget(f"{3 * TOKENS + 5} tokens/{period}"),))), make[1]
    assert await _let_in(gateway) == 3
    clock.now_s = NOON + 2 * length_s
    assert await _let_in(gateway, 1) == 1
    clock.now_s = NOON + HOUR
    assert await _let_in(gateway) == 0
    clock.now_s = NOON + 2 * length_s
    assert await _let_in(gateway) == 2
    clock.now_s = NOON - length_s
    assert await _let_in(gateway) == 3
    clock.now_s = NOON + length_s
    assert await _let_in(gateway) == 3
    for place_s in (NOON, NOON + length_s, NOON + 2 * length_s, NOON - length_s):
        clock.now_s = place_s
        assert await _let_in(gateway) == 0


async def test_replicas_whose_clocks_differ_count_the_same_day(make: tuple[Make, Clock]) -> None:
    """Around midnight one of them has begun a day that is not there yet for the other."""
    gateway, clock = make[0](Terms(budgets=(read_budget(f"{4 * TOKENS + 5} tokens/day"),))), make[1]
    midnight_s = NOON + DAY / 2
    for _ in range(2):
        for place_s in (midnight_s - 1, midnight_s + 1):
            clock.now_s = place_s
            assert await _let_in(gateway, 2) == 2
    for place_s in (midnight_s - 1, midnight_s + 1, midnight_s + HOUR):
        clock.now_s = place_s
        assert await _let_in(gateway) == 0


@pytest.mark.parametrize("jump_s", [30.0, -30.0, HOUR, -HOUR, 3 * DAY, -3 * DAY])
async def test_a_minute_is_one_more_at_most(make: tuple[Make, Clock], jump_s: float) -> None:
    """Where the clock jumps, a minute begins anew at most; it is never empty for ever, and never full for ever."""
    gateway, clock = make[0](Terms(rpm=2)), make[1]
    assert await _let_in(gateway) == 2
    clock.now_s += jump_s
    assert await _let_in(gateway) == (0 if abs(jump_s) < 60 else 2)
    assert await _let_in(gateway) == 0
    clock.now_s += 91
    assert await _let_in(gateway) == 2


async def test_a_budget_for_all_time_knows_no_clock(make: tuple[Make, Clock]) -> None:
    """A year ahead and back it is what it was."""
    gateway, clock = make[0](Terms(budgets=(read_budget(f"{2 * TOKENS + 5} tokens"),))), make[1]
    assert await _let_in(gateway) == 2
    for jump_s in (365 * DAY, -365 * DAY, -DAY):
        clock.now_s += jump_s
        assert await _let_in(gateway) == 0


async def test_calls_under_way_while_the_clock_jumps_are_settled(make: tuple[Make, Clock]) -> None:
    """What began before a jump of an hour is charged once, and gives its place back."""
    gateway, clock = make[0](Terms(concurrency=1, budgets=(read_budget(f"{3 * TOKENS + 5} tokens/day"),))), make[1]
    ask = asking("openai-chat", "smart", "Say hello.", stream=True, max_tokens=25, headers={"x-api-key": "a-key"})
    for jump_s in (2 * HOUR, -3 * HOUR):
        reply = await gateway(ask)
        assert reply.status == 200
        assert not isinstance(reply.body, bytes)
        pieces = aiter(reply.body)
        await anext(pieces)
        clock.now_s += jump_s
        assert [piece async for piece in pieces]
        await reply.body.aclose()
    clock.now_s = NOON
    assert await _let_in(gateway) == 1


async def test_a_key_ends_by_the_clock_that_is(make: tuple[Make, Clock]) -> None:
    """A jump beyond its end refuses it, and back it works again: nothing of that is kept."""
    gateway, clock = make[0](expires_s=NOON + DAY), make[1]
    statuses: list[int] = []
    for jump_s in (0.0, 2 * DAY, -2 * DAY, -30 * DAY):
        clock.now_s += jump_s
        reply = await gateway(asking("openai-chat", "smart", headers={"x-api-key": "a-key"}))
        statuses.append(reply.status)
    assert statuses == [200, 401, 200, 200]
