"""`make scale SCALE_ARGS=gateways`: the accounts of a hundred gateways on one Redis, and the commands of a call.

Method: a hundred stores of accounts in one process, each with a link and connections of its own, as a hundred gateways
have them; a call enters, waits as a model would, and leaves with a row of use. Commands of gateways are counted where
they are sent; the calls that scripts make inside of Redis are in `INFO commandstats` and counted apart. The sum of the
admitted calls may be no more than the limit allows. In an outage Redis is put to sleep for a while and woken.

Health and the limits of providers are shared by stores of their own on the same links, in cases of their own: a target
that one gateway finds failing is out for all others, and a limit is never exceeded by all gateways together.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from interlingua.errors import InternalServerError, RateLimitError
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import MeteredCall, Used
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.terms import Budget, Terms
from interlingua.gateway.state.shared import SharedAccounts
from interlingua.registry.allowance import Allowance
from interlingua.routing.commands import Command
from interlingua.routing.health import THRESHOLD, Admit, Failed, Succeeded
from interlingua.routing.redis_link import RedisLink
from interlingua.routing.shared import SharedLimiter
from interlingua.routing.shared_health import SharedHealth
from tests.support.shared_servers import OwnRedis, make_redis

GATEWAYS = 100
CASE_S = 90.0
Counts = dict[str, int]


class CountedLink(RedisLink):
    """A link that counts the commands that it sends."""

    sent: int = 0

    def _exchange(self, client: Any, commands: list[Command]) -> list[Any]:
        CountedLink.sent += len(commands)
        return super()._exchange(client, commands)

    async def _exchange_async(self, client: Any, commands: list[Command]) -> list[Any]:
        CountedLink.sent += len(commands)
        return await super()._exchange_async(client, commands)


def _links(redis: OwnRedis) -> list[CountedLink]:
    redis.clear()
    CountedLink.sent = 0
    return [CountedLink(redis.url, clock=time.monotonic) for _ in range(GATEWAYS)]


async def _call(accounts: SharedAccounts, key: str, terms: Terms, number: int, counts: Counts) -> None:
    """One call of a key: 100 tokens reserved, 60 used."""
    call = MeteredCall(f"call-{number}", "bench", time.time(), 100)
    names = (f"key:{key}",)
    try:
        refusal = await accounts.enter(Enter(call, ((names[0], terms),)))
    except InternalServerError:
        counts["unavailable"] = counts.get("unavailable", 0) + 1
        return
    if refusal is not None:
        counts["refused"] = counts.get("refused", 0) + 1
        return
    counts["admitted"] = counts.get("admitted", 0) + 1
    await asyncio.sleep(random.uniform(0.05, 0.15))
    row = Row(key=key, day="2026-11-28", model="m", requests=1, input_tokens=60)
    await accounts.leave(Leave(call, names, Used(60), time.time()), row)


async def _run(redis: OwnRedis, keys: int, terms: Terms, calls: int, pause_s: float) -> str:
    """Calls of so many keys, one each `pause_s`; a key of many has its gateway, one of few comes to all of them."""
    made, counts = [SharedAccounts(link) for link in _links(redis)], Counts()
    began_s = time.perf_counter()
    tasks: list[asyncio.Task[None]] = []
    for number in range(calls):
        accounts = made[number % GATEWAYS] if keys > GATEWAYS else random.choice(made)
        tasks.append(asyncio.create_task(_call(accounts, f"k{number % keys}", terms, number, counts)))
        await asyncio.sleep(pause_s)
    await asyncio.gather(*tasks)
    took_s = time.perf_counter() - began_s
    rows = sum([row.requests for row in await made[0].used()])
    for accounts in made:
        await accounts.close()
    inner = redis.command_count() / calls
    outcome = ", ".join([f"{count:,} {name}" for name, count in sorted(counts.items())])
    return (
        f"{calls:,} calls in {took_s:.1f} s: {outcome}; {rows:,} in the table of use; "
        f"{CountedLink.sent / calls:.2f} commands a call, {inner:.1f} with those inside of scripts"
    )


async def _health(redis: OwnRedis) -> str:
    """Calls of one target at all gateways; one of them finds it failing."""
    stores = [SharedHealth(link, clock=time.time) for link in _links(redis)]
    target = "work/m"
    for store in stores:
        (standing,) = await store.apply_async([(target, Admit())])
        await store.apply_async([(target, Succeeded(admitted_s=standing.at_s))])
    sent = CountedLink.sent
    for _ in range(THRESHOLD):
        await stores[0].apply_async([(target, Failed())])
    standings = [(await store.apply_async([(target, Admit())]))[0] for store in stores]
    for store in stores:
        store.close()
    out = sum([not standing.admitted for standing in standings])
    return (
        f"{sent / GATEWAYS:.2f} commands a call of a target that is well; after {THRESHOLD} failures at one gateway "
        f"it is out at {out} of {GATEWAYS}"
    )


async def _provider_limit(redis: OwnRedis, allowed: int, calls: int, pause_s: float) -> str:
    """Calls at all gateways under one limit of a provider, none of which waits."""
    made = [
        SharedLimiter(link, clock=time.monotonic, wall_clock=time.time, make_id=lambda: uuid4().hex)
        for link in _links(redis)
    ]
    counts: Counts = {"admitted": 0, "refused": 0}

    async def call(limiter: SharedLimiter) -> None:
        try:
            ticket = await limiter.enter_async("work/m", 100, within_s=0.0)
        except RateLimitError:
            counts["refused"] += 1
            return
        counts["admitted"] += 1
        await asyncio.sleep(random.uniform(0.05, 0.15))
        ticket.leave(60)

    for limiter in made:
        limiter.set("work/*", Allowance(rpm=allowed))
    tasks: list[asyncio.Task[None]] = []
    for _ in range(calls):
        tasks.append(asyncio.create_task(call(random.choice(made))))
        await asyncio.sleep(pause_s)
    await asyncio.gather(*tasks)
    await asyncio.get_running_loop().shutdown_default_executor()
    sent = CountedLink.sent
    for limiter in made:
        limiter._link.close()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a limiter has no end of its own
    outcome = ", ".join([f"{count:,} {name}" for name, count in sorted(counts.items())])
    return f"{calls:,} calls: {outcome}; {sent / calls:.2f} commands a call"


async def _outage(redis: OwnRedis) -> str:
    """Calls of keys without a budget while Redis sleeps and wakes."""
    redis.clear()
    made = [SharedAccounts(CountedLink(redis.url.replace("timeout_s=10", "timeout_s=0.25"), clock=time.monotonic))]
    counts, slowest_s = Counts(), 0.0
    for number in range(60):
        if number in (20, 40):
            (redis.sleep if number == 20 else redis.wake)()
        began_s = time.perf_counter()
        await _call(made[0], "k", Terms(rpm=10_000), number, counts)
        slowest_s = max(slowest_s, time.perf_counter() - began_s)
    await asyncio.sleep(5.1)
    await _call(made[0], "k", Terms(rpm=10_000), 60, counts)
    rows = sum([row.requests for row in await made[0].used()])
    await made[0].close()
    return f"{counts.get('admitted', 0)} of 61 calls answered, the slowest after {slowest_s:.2f} s; {rows} in use"


def section(options: Namespace) -> str:  # noqa: ARG001 - the form of a section
    """The cases as a list, with the machine; each case has a time of its own, and one that takes longer says so."""
    redis = make_redis(Path(tempfile.mkdtemp()))
    budget = Terms(budgets=(Budget(amount=6_000, unit="tokens", period="total"),))
    cases: dict[str, Callable[[], Coroutine[Any, Any, str]]] = {
        "two keys for each gateway": lambda: _run(redis, 200, Terms(rpm=10_000), 600, 0.02),
        "30 keys, each at all gateways": lambda: _run(redis, 30, Terms(rpm=10_000), 600, 0.02),
        "one key with a budget of 6,000 tokens, at all gateways": lambda: _run(redis, 1, budget, 200, 0.05),
        "one key with 50 requests a minute, at all gateways": lambda: _run(redis, 1, Terms(rpm=50), 100, 0.05),
        "one limit of a provider of 50 requests a minute, at all gateways": lambda: _provider_limit(
            redis, 50, 100, 0.05
        ),
        "health of one target, at all gateways": lambda: _health(redis),
        "Redis sleeps and wakes": lambda: _outage(redis),
    }
    lines: list[str] = []
    try:
        for name, case in cases.items():
            try:
                outcome = asyncio.run(asyncio.wait_for(case(), CASE_S))
            except TimeoutError:
                outcome = f"not done in {CASE_S:.0f} s"
            lines.append(f"- **{name}**: {outcome}")
            print(lines[-1], flush=True)
    finally:
        redis.stop()
    head = (
        f"{GATEWAYS} stores of accounts with a link and connections each, in one process, on {os.cpu_count()} cores "
        f"(load average {os.getloadavg()[0]:.1f}), {datetime.now(UTC).date().isoformat()}. A command is one that a "
        "gateway sends; those that a script makes inside of Redis are counted apart. Refused calls are calls, too."
    )
    return "\n".join([head, "", *lines])
