"""Limits in a real Redis: exact over processes, in windows, in places, and when Redis goes away."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from typing import Any

import pytest

from interlingua.errors import RateLimitError
from interlingua.registry.allowance import Allowance, allowance
from interlingua.routing.limits import Load, Ticket
from tests.support.redis_server import RedisServer
from tests.support.shared_servers import SharedServer

pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")

import redis

from interlingua.routing.link import open_link
from interlingua.routing.shared import LEASE_S, SharedLimiter

A = "openai/gpt-5.6"
NOON = 4_000_000_000.0
"""A time to come, so that Redis does not take what is written for outdated."""

_NUMBERS = itertools.count()


class Clock:
    """A wall clock that moves when it is told to."""

    now_s: float = NOON

    def __call__(self) -> float:
        """The time."""
        return self.now_s


class Replicas:
    """Limiters as processes have them, over one store."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = Clock()
        self.made: list[SharedLimiter] = []

    def make(self, **limits: int) -> SharedLimiter:
        """One more process, with these limits for everything."""
        link = open_link(self.url, clock=time.monotonic)
        made = SharedLimiter(
            link, clock=time.monotonic, wall_clock=self.clock, make_id=lambda: f"call-{next(_NUMBERS)}"
        )
        made.set("*", allowance(limits))
        self.made.append(made)
        return made


@pytest.fixture
def replicas(shared_url: str) -> Generator[Replicas]:
    """No process yet; at the end nobody has missed the store."""
    made = Replicas(shared_url)
    yield made
    assert {limiter._link.problem for limiter in made.made} <= {""}
    for limiter in made.made:
        limiter._link.close()


def refused(limiter: SharedLimiter, tokens: int = 0) -> RateLimitError:
    """What a call is told that would have to wait."""
    with pytest.raises(RateLimitError) as caught:
        limiter.enter(A, tokens, within_s=0.0)
    return caught.value


def test_requests_of_all_processes_count_together(replicas: Replicas) -> None:
    """Three a minute, whoever asks; the next one when the first is a minute old."""
    one, two = replicas.make(rpm=3), replicas.make(rpm=3)
    for limiter in (one, two, one):
        limiter.enter(A).leave()
        replicas.clock.now_s += 10.0
    refusal = refused(two)
    assert (refusal.code, refusal.retry_after_s) == ("client_limit", 30.0)
    assert "is reached by all processes together" in refusal.message
    assert two.would_wait(A)
    assert not one.would_wait(A)  # it has not asked since
    replicas.clock.now_s += 30.0
    two.enter(A).leave()
    assert not two.would_wait(A)
    assert refused(one).retry_after_s == 10.0
    assert one.loads() == {"*": Load(allowance=Allowance(rpm=3), running=0, waiting=0, requests=3, tokens=0)}


def test_tokens_are_settled_for_everybody(replicas: Replicas) -> None:
    """What one process did not use another one may; what it used more is missing there."""
    one, two = replicas.make(tpm=1_000), replicas.make(tpm=1_000)
    ticket = one.enter(A, 900)
    assert refused(two, 200).retry_after_s == 60.0
    ticket.leave(100)
    two.enter(A, 200).leave(2_000)
    assert one.loads()["*"].tokens == 2_100
    assert refused(one, 1).retry_after_s == 60.0


def test_places_are_shared_and_given_back(replicas: Replicas) -> None:
    """Two calls at a time over all processes; whoever leaves makes room for anybody."""
    one, two = replicas.make(concurrency=2), replicas.make(concurrency=2)
    first, second = one.enter(A), two.enter(A)
    assert one.loads()["*"].running == 2
    refused(one)
    refused(two)
    first.leave()
    first.leave()
    third = two.enter(A)
    refused(one)
    second.leave()
    third.leave()
    assert two.loads()["*"].running == 0


def test_the_places_of_a_process_that_died_are_free_after_ten_minutes(replicas: Replicas) -> None:
    """Nobody has to clean up after it."""
    one, two = replicas.make(concurrency=1), replicas.make(concurrency=1)
    ticket = one.enter(A)
    replicas.clock.now_s += LEASE_S - 1.0
    refused(two)
    replicas.clock.now_s += 1.0
    two.enter(A).leave()
    ticket.leave()


def test_a_clock_that_is_put_back_does_not_close_a_limit(replicas: Replicas) -> None:
    """A minute stays a minute and not the day that the clock went back, and so does the place of a dead process."""
    one, two = replicas.make(rpm=2, concurrency=1), replicas.make(rpm=2, concurrency=1)
    dead = one.enter(A)
    replicas.clock.now_s -= 60.0
    refused(two)
    replicas.clock.now_s -= 86_400.0
    two.enter(A).leave()
    assert two.loads()["*"] == Load(
        allowance=Allowance(rpm=2, concurrency=1), running=0, waiting=0, requests=1, tokens=0
    )
    dead.leave()


def test_a_lost_ticket_comes_back_with_the_next_call(replicas: Replicas) -> None:
    """A call that was dropped without an end does not take its place along."""
    one = replicas.make(concurrency=1)
    one.enter(A)
    gc.collect()
    one.enter(A).leave()


def test_a_waiting_call_gets_in_when_another_process_leaves(replicas: Replicas) -> None:
    """Threads and tasks ask again until there is room."""
    one, two = replicas.make(concurrency=1), replicas.make(concurrency=1)
    ticket = one.enter(A)
    came: list[str] = []

    def in_thread() -> None:
        two.enter(A, within_s=20.0).leave()
        came.append("thread")

    async def in_task() -> None:
        (await two.enter_async(A, within_s=20.0)).leave()
        came.append("task")

    threads = [threading.Thread(target=in_thread), threading.Thread(target=lambda: asyncio.run(in_task()))]
    for thread in threads:
        thread.start()
    time.sleep(0.15)
    assert came == []
    assert two.would_wait(A)
    ticket.leave()
    for thread in threads:
        thread.join()
    assert sorted(came) == ["task", "thread"]
    assert one.loads()["*"].running == 0
    assert not one.would_wait(A)


async def test_a_cancelled_call_takes_nothing_along(replicas: Replicas) -> None:
    """Neither a place in the line nor one in Redis."""
    one = replicas.make(concurrency=1)
    ticket = await one.enter_async(A)
    waiting = [asyncio.create_task(one.enter_async(A, within_s=20.0)) for _ in range(10)]
    await asyncio.sleep(0.1)
    for task in waiting[:9]:
        task.cancel()
    ticket.leave()
    last = await waiting[9]
    last.leave()
    await asyncio.gather(*waiting, return_exceptions=True)
    while one.loads()["*"].running:  # noqa: ASYNC110 - a worker tells Redis, and nobody here
        await asyncio.sleep(0.01)
    assert one.loads()["*"].waiting == 0


def test_a_call_that_is_cancelled_while_redis_writes_takes_nothing_along(replicas: Replicas) -> None:
    """Whether the place was taken nobody has heard: the next call of the process gives it back."""
    one = replicas.make(concurrency=1)
    gate = one._gate(A)
    assert gate is not None
    steps = one._entered(gate, 0)

    def cut() -> Generator[list[Any], list[Any], None]:
        commands = next(steps)
        commands = steps.send((yield commands))
        yield commands
        steps.close()

    one._link.run(cut())
    assert one.loads()["*"].running == 1
    one.enter(A, within_s=0.0).leave()
    assert one.loads()["*"].running == 0


async def test_a_hundred_tasks_come_in_their_order(replicas: Replicas) -> None:
    """Within a process it is first come, first served."""
    one = replicas.make(rpm=1_000, concurrency=3)
    came: list[int] = []

    async def work(number: int) -> None:
        ticket = await one.enter_async(A, within_s=30.0)
        came.append(number)
        ticket.leave(1)

    await asyncio.gather(*[work(number) for number in range(100)])
    assert came == sorted(came)
    assert one.loads()["*"].requests == 100


@pytest.mark.parametrize("shared_url", ["redis"], indirect=True)
def test_what_lies_in_redis_ends_and_stays_small(replicas: Replicas, redis_server: RedisServer) -> None:
    """A thousand requests in a minute are some sixty entries; the key expires when it says nothing any more."""
    one = replicas.make(rpm=10_000)
    for _ in range(300):
        one.enter(A).leave()
        replicas.clock.now_s += 0.25
    client: Any = redis.Redis(port=redis_server.port)
    key = f"{one._link.prefix}{{limits}}:*"
    assert len(json.loads(client.get(key))["grants"]) <= 61
    assert one.loads()["*"].requests == pytest.approx(240, abs=5)
    assert client.pexpiretime(key) == pytest.approx((replicas.clock.now_s + 60.75) * 1000, abs=1_000)
    client.set(key, b"garbage")
    one.enter(A).leave()
    assert one.loads()["*"].requests == 1
    client.close()


PROCESS = """
import itertools, os, sys, time
import redis
from interlingua.errors import RateLimitError
from interlingua.registry.allowance import Allowance
from interlingua.routing.link import open_link
from interlingua.routing.shared import SharedLimiter

url, port = sys.argv[1:]
numbers = itertools.count()
link = open_link(url, clock=time.monotonic)
limiter = SharedLimiter(
    link, clock=time.monotonic, wall_clock=time.time, make_id=lambda: f"{os.getpid()}-{next(numbers)}"
)
limiter.set("places/*", Allowance(concurrency=3))
limiter.set("window/*", Allowance(rpm=50))
client = redis.Redis(port=int(port))
inside = f"{link.prefix}inside"
most = granted = 0
for _ in range(25):
    ticket = limiter.enter("places/x", within_s=60.0)
    most = max(most, client.incr(inside))
    time.sleep(0.001)
    client.decr(inside)
    ticket.leave()
for _ in range(40):
    try:
        limiter.enter("window/x", within_s=0.0).leave(5)
        granted += 1
    except RateLimitError:
        pass
print(most, granted, link.problem)
"""


def test_limits_are_exact_over_processes(shared_url: str, redis_server: RedisServer) -> None:
    """Four processes, a hundred calls in three places, a hundred and sixty for fifty grants: never more, never less."""
    command = [sys.executable, "-c", PROCESS, shared_url, str(redis_server.port)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [len(words) for words in said] == [2] * 4
    assert max(int(most) for most, _ in said) <= 3
    assert sum(int(granted) for _, granted in said) == 50


def test_without_the_store_each_process_limits_by_itself(server: SharedServer) -> None:
    """Killed in the middle: who waits gets in by the process's own count, nobody hangs, leaving is no error."""
    replicas = Replicas(server.url)
    one = replicas.make(concurrency=1)
    held = one.enter(A)
    came: list[Ticket] = []
    thread = threading.Thread(target=lambda: came.append(one.enter(A, within_s=20.0)))
    thread.start()
    time.sleep(0.1)
    server.stop()
    thread.join(10.0)
    assert len(came) == 1
    assert one.would_wait(A)
    with pytest.raises(RateLimitError):
        one.enter(A, within_s=0.0)
    held.leave()
    came[0].leave()
    assert not one.would_wait(A)
    assert one.loads()["*"].running == 0


def test_targets_without_a_limit_cost_nothing(replicas: Replicas) -> None:
    """Redis is not asked for them."""
    one = replicas.make()
    assert not one.covers(A)
    assert not one.would_wait(A)
    one.enter(A, 10**9).leave()
    assert one.loads() == {}
