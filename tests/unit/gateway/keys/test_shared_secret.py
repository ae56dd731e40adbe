"""The secret of ids in a shared store: made by one gateway, taken by the others, given back to an empty store."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from interlingua.gateway.keys.shared_secret import SharedSecret
from interlingua.routing.link import Link, open_link
from tests.support.shared_servers import SharedServer


@pytest.fixture
def stopped(server: SharedServer) -> SharedServer:
    """A server that does not run."""
    server.stop()
    return server


@pytest.fixture
def begin(stopped: SharedServer, tmp_path: Path) -> Generator[Callable[[str], tuple[SharedSecret, list[str]]]]:
    """Begins a gateway on a machine: its secret, and those that it was told to use."""
    links: list[Link] = []

    def begun(machine: str) -> tuple[SharedSecret, list[str]]:
        links.append(open_link(stopped.url, clock=lambda: time.monotonic() * 1_000))  # asks again at once
        used: list[str] = []
        return SharedSecret(links[-1], tmp_path / machine, take=used.append), used

    yield begun
    for link in links:
        link.close()


def test_gateways_share_one_secret(
    stopped: SharedServer, begin: Callable[[str], tuple[SharedSecret, list[str]]], tmp_path: Path
) -> None:
    """Whoever is first makes it; each machine has a copy for its owner alone."""
    stopped.start()
    (_, one), (second, other) = begin("a"), begin("b")
    assert one == other
    assert len(one) == 1
    assert len(one[0]) == 64
    second.look()
    assert len(other) == 1
    copies = [next((tmp_path / machine).iterdir()) for machine in ("a", "b")]
    assert [(copy.read_text(), copy.stat().st_mode & 0o777) for copy in copies] == [(f"{one[0]}\n", 0o600)] * 2


def test_a_store_that_comes_back_empty_gets_the_secret(
    stopped: SharedServer, begin: Callable[[str], tuple[SharedSecret, list[str]]]
) -> None:
    """From a gateway that knows it; one that begins meanwhile takes the copy of its machine."""
    stopped.start()
    first, used = begin("a")
    stopped.stop()
    first.look()
    assert begin("a")[1] == used
    assert len(used) == 1
    stopped.start()
    stopped.clear()
    first.look()
    assert begin("b")[1] == used


def test_who_begins_without_the_store_takes_the_shared_secret_later(
    stopped: SharedServer, begin: Callable[[str], tuple[SharedSecret, list[str]]]
) -> None:
    """Until then it signs with one of its own, which nobody else gets where there is a shared one."""
    alone, used = begin("c")
    stopped.start()
    shared = begin("a")[1]
    alone.look()
    assert used[1:] == shared
    assert used[0] != shared[0]


def test_a_secret_of_one_process_does_not_displace_the_shared_one(
    stopped: SharedServer, begin: Callable[[str], tuple[SharedSecret, list[str]]]
) -> None:
    """Where Redis comes back empty, who began without it waits for those who know; alone, it gives its own at last."""
    stopped.start()
    first, shared = begin("a")
    stopped.stop()
    alone, used = begin("c")
    stopped.start()
    stopped.clear()
    alone.look()
    first.look()
    alone.look()
    assert (len(shared), used[1:]) == (1, shared)
    stopped.stop()
    lonely, own = begin("d")
    stopped.start()
    stopped.clear()
    for _ in range(11):
        lonely.look()
    assert begin("e")[1] == own
