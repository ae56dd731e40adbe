"""A budget over processes, crashes and clients that ask for everything at once: the provider's bill stays within it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.keys.auth import hash_key
from tests.e2e.gateway.test_serve import Served, _serving
from tests.support.greedy import INPUT_TOKENS, GreedyUpstream
from tests.support.shared_servers import SharedServer
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds workers in /proc")

BUDGET = 200_000
CLIENTS = 64
LARGEST = 8_192 + 100
"""What one call reserves at most: estimates of an input may miss a few tokens of a call under way."""
CONFIG = f"""
[keys.paying]
hash = "{hash_key("paying")}"
budget = "{BUDGET} tokens"

[keys.free]
hash = "{hash_key("free")}"
"""
KINDS: tuple[dict[str, Any], ...] = ({}, {"max_tokens": 3_000}, {"n": 2}, {"max_completion_tokens": 900, "n": 3})


@pytest.fixture
def upstream() -> Generator[tuple[GreedyUpstream, str]]:
    """A provider that writes all that it may, and its address."""
    greedy = GreedyUpstream(takes_s=0.01)
    with greedy.serving() as at:
        yield greedy, at


def ask(port: int, key: str = "paying", **members: Any) -> int:
    """The status of one call, read to its end; 0 where the gateway went away meanwhile."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"model": "work/m", "messages": [{"role": "user", "content": "Hi"}], **members})
    try:
        connection.request("POST", "/v1/chat/completions", body, {"authorization": f"Bearer {key}"})
        reply = connection.getresponse()
        told = reply.read()
        if reply.status == 500:
            sys.stderr.write(told.decode())  # the report of a test that fails shows it
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()
    return reply.status


def refusal(port: int) -> tuple[int, Any]:
    """The status of a call of the paying key, and what it is told."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"model": "work/m", "messages": [{"role": "user", "content": "Hi"}]})
    connection.request("POST", "/v1/chat/completions", body, {"authorization": "Bearer paying"})
    reply = connection.getresponse()
    told = json.loads(reply.read())
    connection.close()
    return reply.status, told


def leave(port: int) -> None:
    """A client that goes away before its answer is there."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"model": "work/m", "messages": [{"role": "user", "content": "Hi"}], "stream": True})
    with suppress(OSError, HTTPException):
        connection.request("POST", "/v1/chat/completions", body, {"authorization": "Bearer paying"})
    connection.close()


def crowd(ports: list[int], turns: int = 2) -> list[int]:
    """The statuses of many clients at once, of every kind, whole and streamed."""
    statuses: list[int] = []

    def client(number: int) -> None:
        chance = random.Random(number)
        for _ in range(turns):
            members = KINDS[number % len(KINDS)]
            statuses.append(ask(chance.choice(ports), stream=chance.random() < 0.5, **members))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return statuses


def spend_all(port: int) -> None:
    """Call until nothing is left."""
    for _ in range(400):
        if ask(port, max_tokens=2_000) not in (200, 429):
            return
    raise AssertionError("the budget has no end")


def environ_of(at: str) -> dict[str, str]:
    """The provider, as the gateway finds it."""
    return {"LLM_WORK": f"openai-chat://token@{at.removeprefix('http://')}/v1?tls=0"}


def workers_of(served: Served) -> list[int]:
    """The processes of a gateway."""
    pid = served.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def usage_of(path: Path) -> list[dict[str, Any]]:
    """What `il keys usage` tells."""
    command = [sys.executable, "-m", "interlingua", "keys", "usage", "--keys", str(path), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)["usage"]


def test_a_budget_holds_over_two_workers_one_of_which_is_killed(
    tmp_path: Path, upstream: tuple[GreedyUpstream, str]
) -> None:
    """What the provider bills is within the budget, through `kill -9` of a worker, and after a new start."""
    greedy, at = upstream
    config, keys = tmp_path / "gateway.toml", tmp_path / "keys.sqlite"
    config.write_text(CONFIG)
    arguments = ("--workers", "2", "--config", str(config), "--keys", str(keys))
    with _serving(*arguments, **environ_of(at)) as served:
        assert until(lambda: len(workers_of(served)) == 2 and ask(served.port, "nobody") == 401)
        victim = workers_of(served)[0]
        killer = threading.Timer(0.4, os.kill, (victim, signal.SIGKILL))
        killer.start()
        statuses = crowd([served.port])
        killer.join()
        assert set(statuses) <= {0, 200, 402, 429, 503}
        assert statuses.count(200) > 5
        assert until(lambda: ask(served.port, "free", max_tokens=1) == 200)
        served.process.kill()
        served.process.wait()
    billed_free = INPUT_TOKENS + 1
    assert sum(greedy.billed) - greedy.billed.count(billed_free) * billed_free <= BUDGET + LARGEST
    with _serving(*arguments, **environ_of(at)) as served:
        assert until(lambda: ask(served.port, "nobody") == 401)
        spend_all(served.port)
        assert ask(served.port, "free", max_tokens=1) == 200
    bill = sum(greedy.billed) - greedy.billed.count(billed_free) * billed_free
    assert BUDGET // 2 < bill <= BUDGET + LARGEST
    assert {row["key"] for row in usage_of(keys)} >= {"paying", "free"}


def test_clients_that_leave_pay_for_what_their_provider_may_write(
    tmp_path: Path, upstream: tuple[GreedyUpstream, str]
) -> None:
    """A provider bills an answer for which nobody waited: such calls are charged as they were reserved."""
    greedy, at = upstream
    config, keys = tmp_path / "gateway.toml", tmp_path / "keys.sqlite"
    config.write_text(CONFIG)
    with _serving("--config", str(config), "--keys", str(keys), **environ_of(at)) as served:
        for _ in range(10):
            leave(served.port)
        assert until(lambda: ask(served.port, max_tokens=10) == 200)
        spend_all(served.port)
    assert BUDGET // 2 < sum(greedy.billed) <= BUDGET + LARGEST


def test_a_budget_holds_over_two_replicas(
    tmp_path: Path, upstream: tuple[GreedyUpstream, str], server: SharedServer
) -> None:
    """With a store between them, what the provider bills is within the budget."""
    greedy, at = upstream
    config = tmp_path / "gateway.toml"
    config.write_text(CONFIG)
    with ExitStack() as stack:
        arguments = ("--config", str(config), "--state", server.url, "--keys", str(tmp_path / "keys.sqlite"))
        served = [stack.enter_context(_serving(*arguments, **environ_of(at))) for _ in range(2)]
        ports = [each.port for each in served]
        assert until(lambda: all(ask(port, "nobody") == 401 for port in ports))
        statuses = crowd(ports)
        assert set(statuses) <= {200, 402, 429, 503}
        spend_all(ports[0])
        assert ask(ports[1], max_tokens=2_000) == 402
    assert BUDGET // 2 < sum(greedy.billed) <= BUDGET + LARGEST


def test_a_budget_in_a_store_holds_though_a_replica_is_killed(
    tmp_path: Path, upstream: tuple[GreedyUpstream, str], server: SharedServer
) -> None:
    """`kill -9` in the middle of calls refills nothing: what the killed replica had reserved stays reserved."""
    greedy, at = upstream
    config = tmp_path / "gateway.toml"
    config.write_text(CONFIG)
    with ExitStack() as stack:
        arguments = ("--config", str(config), "--state", server.url, "--keys", str(tmp_path / "keys.sqlite"))
        served = [stack.enter_context(_serving(*arguments, **environ_of(at))) for _ in range(2)]
        assert until(lambda: all(ask(each.port, "nobody") == 401 for each in served))
        killer = threading.Timer(0.4, served[0].process.kill)
        killer.start()
        statuses = crowd([each.port for each in served])
        killer.join()
        assert set(statuses) <= {0, 200, 402, 429, 503}
        crowd([served[1].port])
        assert ask(served[1].port, "free", max_tokens=1) == 200
    billed_free = INPUT_TOKENS + 1
    bill = sum(greedy.billed) - greedy.billed.count(billed_free) * billed_free
    assert 0 < bill <= BUDGET + LARGEST


def test_a_budget_in_a_store_holds_though_the_store_is_killed(
    tmp_path: Path, upstream: tuple[GreedyUpstream, str], server: SharedServer
) -> None:
    """64 clients spend while the store is killed and started anew: typed refusals meanwhile, no token too much."""
    greedy, at = upstream
    config = tmp_path / "gateway.toml"
    config.write_text(CONFIG)
    with ExitStack() as stack:
        arguments = ("--config", str(config), "--state", server.url, "--keys", str(tmp_path / "keys.sqlite"))
        served = [stack.enter_context(_serving(*arguments, **environ_of(at))) for _ in range(2)]
        ports = [each.port for each in served]
        assert until(lambda: all(ask(port, "nobody") == 401 for port in ports))
        for turn in range(2):
            killer = threading.Timer(0.3, server.stop)
            killer.start()
            assert set(crowd(ports)) <= {200, 402, 429, 503}
            killer.join()
            assert [ask(port) for port in ports] == [503, 503]
            status, told = refusal(ports[turn])
            assert (status, told["error"]["type"]) == (503, "server_error")
            assert "does not answer" in told["error"]["message"]
            assert ask(ports[0], "free", max_tokens=1) == 200
            server.start()
            assert until(lambda: {ask(port, max_tokens=10) for port in ports} <= {200, 402})
        crowd(ports)
        spend_all(ports[0])
        assert ask(ports[1], max_tokens=2_000) == 402
    billed_free = INPUT_TOKENS + 1
    bill = sum(greedy.billed) - greedy.billed.count(billed_free) * billed_free
    assert BUDGET // 2 < bill <= BUDGET + LARGEST
