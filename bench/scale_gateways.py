"""`make scale SCALE_ARGS=gateways`: the accounts of a hundred gateways on one Redis, and the commands of a call.

Method: a hundred stores of accounts in one process, each with a link and connections of its own, as a hundred gateways
have them; a call enters, waits as a model would, and leaves with a row of use. Commands of gateways are counted where
they are sent; the calls that scripts make inside of Redis are in `INFO commandstats` and counted apart. The sum of the
admitted calls may be no more than the limit allows. In an outage Redis is put to sleep for a while and woken.
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

from interlingua.errors import InternalServerError
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import Call, Used
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.terms import Budget, Terms
from interlingua.gateway.state.shared import SharedAccounts
from interlingua.routing.commands import Command
from interlingua.routing.redis_link import RedisLink
from tests.support.shared_servers import OwnRedis, make_redis

GATEWAYS = 100
CASE_S = 90.0
Counts = dict[str, int]


class CountedLink(RedisLink):
    """A link that counts the commands that it sends."""

    sent: int = 0

    async def _exchange_async(self, client: Any, commands: list[Command]) -> list[Any]:
        CountedLink.sent += len(commands)
        return await super()._exchange_async(client, commands)


def _gateways(redis: OwnRedis) -> list[SharedAccounts]:
    return [SharedAccounts(CountedLink(redis.url, clock=time.monotonic)) for _ in range(GATEWAYS)]


async def _call(accounts: SharedAccounts, key: str, terms: Terms, number: int, counts: Counts) -> None:
    """One call of a key: 100 tokens reserved, 60 used."""
    call = Call(f"call-{number}", "bench", time.time(), 100)
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
    redis.clear()
    made, counts, CountedLink.sent = _gateways(redis), Counts(), 0
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
        "gateway sends; those that a script makes inside of Redis are counted apart."
    )
    return "\n".join([head, "", *lines])
