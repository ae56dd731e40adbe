"""`python -m bench.many_gateways`: the accounts of a hundred gateways on one Redis, and the commands that a call costs.

Method: a hundred stores of accounts in one process, each with a link and connections of its own, as a hundred gateways
have them; a call enters, waits as a model would, and leaves with a row of use. Commands of gateways are counted where
they are sent; the calls that scripts make inside of Redis are in `INFO commandstats` and counted apart. The sum of the
admitted calls may be no more than the limit allows. In an outage Redis is put to sleep for a while and woken.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
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
    """Calls of so many keys, spread over the gateways, one each `pause_s`."""
    redis.clear()
    made, counts, CountedLink.sent = _gateways(redis), Counts(), 0
    began_s = time.perf_counter()
    tasks: list[asyncio.Task[None]] = []
    for number in range(calls):
        accounts = made[number % GATEWAYS]
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
        f"{keys} keys, {calls:,} calls in {took_s:.1f} s: {outcome}; {rows:,} in the table of use; "
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
    return (
        f"outage: {counts.get('admitted', 0)} of 61 calls answered, the slowest after {slowest_s:.2f} s; {rows} in use"
    )


async def main() -> int:
    """Print a line for each case."""
    redis = make_redis(Path(tempfile.mkdtemp()))
    try:
        budget = Terms(budgets=(Budget(amount=6_000, unit="tokens", period="total"),))
        print(await _run(redis, 200, Terms(rpm=10_000), 600, 0.004), flush=True)
        print(await _run(redis, 1, budget, 200, 0.006), flush=True)
        print(await _run(redis, 1, Terms(rpm=50), 100, 0.02), flush=True)
        print(await _outage(redis), flush=True)
    finally:
        redis.stop()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
