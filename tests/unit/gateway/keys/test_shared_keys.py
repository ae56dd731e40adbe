"""Keys in a shared store: made once, taken by every gateway, known while it is away, never opened by its absence."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys import shared_keys
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.keyring import KeyRing, merged
from interlingua.gateway.keys.shared_keys import KeyWatch, SharedKeyDatabase
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey
from interlingua.registry.resolve import Registry
from interlingua.routing.commands import Command, Count, CreateKey
from interlingua.routing.link import Link, open_link
from tests.support.gateway import asking, body_of
from tests.support.shared_servers import SharedServer
from tests.support.waiting import until

KEY = GatewayKey(
    name="team-a",
    hash=hash_key("sesame"),
    models=("smart",),
    terms=Terms(rpm=5, budgets=(read_budget("5 USD/day"),)),
    team="research",
    expires_s=9_000.0,
)


LINKS: list[Link] = []
"""The links of a test, which are closed after it."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.setattr(shared_keys, "LOOK_S", 0.01)
    yield
    while LINKS:
        LINKS.pop().close()


def _keys(server: SharedServer, now_s: float = 1_000.0) -> SharedKeyDatabase:
    """Keys behind a link of their own, which asks again at once after an outage."""
    LINKS.append(open_link(server.url, clock=lambda: time.monotonic() * 1_000))
    return SharedKeyDatabase(LINKS[-1], now=lambda: now_s)


def test_a_key_is_kept_whole_given_once_and_revoked(server: SharedServer) -> None:
    """As in the file: what was made is read, the name is free after a revocation, and each change has a number."""
    keys = _keys(server)
    assert (keys.version(), keys.all_keys(), keys.usage(), keys.accounts(["key:a"])) == (0, [], [], {})
    keys.create(KEY)
    (kept,) = _keys(server).all_keys()
    assert (kept.key, kept.created_s, keys.version()) == (KEY, 1_000.0, 1)
    other = GatewayKey(name="team-a", hash=hash_key("other"))
    with pytest.raises(UsageError, match="there is a key team-a; revoke it first"):
        keys.create(other)
    with pytest.raises(UsageError, match="a key is named by"):
        keys.create(GatewayKey(name="a b", hash=hash_key("c")))
    keys.revoke("team-a")
    with pytest.raises(UsageError, match="there is no key 'team-a' that works"):
        keys.revoke("team-a")
    _keys(server, 2_000.0).create(other)
    assert [(kept.key.hash, kept.key.revoked_s) for kept in keys.all_keys()] == [
        (KEY.hash, 1_000.0),
        (other.hash, None),
    ]
    assert keys.version() == 3


def test_without_redis_the_command_says_so() -> None:
    """Nothing is made up, and the address is shown without its password."""
    keys = SharedKeyDatabase(open_link("redis://:secret@127.0.0.1:1/0", clock=lambda: 1_000.0), now=lambda: 0.0)
    for ask in (keys.all_keys, keys.version, keys.usage, lambda: keys.create(KEY), lambda: keys.accounts(["key:a"])):
        with pytest.raises(ConfigError, match="the keys are in Redis, which does not answer") as caught:
            ask()
        assert "secret" not in str(caught.value)


def test_a_gateway_that_runs_knows_what_is_done(server: SharedServer) -> None:
    """Made, revoked: it counts without a restart, and the last one revoked does not open the gateway."""
    keys = _keys(server)
    with closing(KeyWatch(keys)) as watch:
        ring = KeyRing((), None, watch, clock=lambda: 0.0)
        assert (bool(ring), ring.is_unsure) == (False, False)
        keys.create(KEY)
        assert until(lambda: ring.find(KEY.hash))
        keys.revoke("team-a")
        assert until(lambda: (found := ring.find(KEY.hash)) and found.revoked_s == 1_000.0)
        assert bool(ring)


def test_keys_stay_known_and_go_back_into_an_empty_store(server: SharedServer) -> None:
    """Redis away, nothing changes; back without its data, it has the keys again, and their names are taken."""
    keys = _keys(server)
    keys.create(KEY)
    with closing(KeyWatch(keys)) as watch:
        ring = KeyRing((), None, watch, clock=lambda: 0.0)
        server.stop()
        time.sleep(0.05)
        assert ring.find(KEY.hash) == KEY
        server.start()
        server.clear()
        assert until(lambda: [kept.key for kept in _keys(server).all_keys()] == [KEY])
        assert keys.version() == 1
        with pytest.raises(UsageError, match="there is a key team-a"):
            keys.create(GatewayKey(name="team-a", hash=hash_key("other")))


def test_a_gateway_that_begins_without_the_store_takes_what_its_machine_saw_last(
    server: SharedServer, tmp_path: Path
) -> None:
    """For ten minutes after somebody there had seen Redis; digests, for its owner alone; another Redis has others."""
    folder = tmp_path / "state"
    _keys(server).create(KEY)
    KeyWatch(_keys(server), folder=folder).close()
    (copy,) = folder.iterdir()
    assert (copy.stat().st_mode & 0o777, b"sesame" in copy.read_bytes()) == (0o600, False)
    server.stop()
    with closing(KeyWatch(_keys(server), folder=folder)) as watch:
        assert watch.latest is not None
        assert [kept.key for kept in watch.latest.keys] == [KEY]
    other = SharedKeyDatabase(open_link("redis://127.0.0.1:1/0", clock=lambda: 0.0), now=lambda: 0.0)
    with closing(KeyWatch(other, folder=folder)) as watch:
        assert watch.latest is None
    os.utime(copy, (0, time.time() - shared_keys.COPY_S - 1))
    with closing(KeyWatch(_keys(server), folder=folder)) as watch:
        assert watch.latest is None
    copy.write_bytes(b"{")
    with closing(KeyWatch(_keys(server), folder=folder)) as watch:
        assert watch.latest is None


async def test_a_gateway_that_begins_without_the_store_refuses_keys_that_it_does_not_know(
    server: SharedServer,
) -> None:
    """503 for a key that may be good, 401 without one; as soon as Redis is back the key is known."""
    _keys(server).create(KEY)
    server.stop()
    with closing(KeyWatch(_keys(server))) as watch:
        gateway = Gateway(registry=Registry({}), now=lambda: 1_000.0)
        gateway.take_keys(watch)
        listed = GatewayRequest(method="GET", path="/v1/models", headers=(("x-api-key", "sesame"),), peer="127.0.0.1")
        reply = await gateway(listed)
        assert (reply.status, b"began without the store that has its keys" in await body_of(reply)) == (503, True)
        assert (await gateway(asking("openai-chat", "fake/m"))).status == 401
        server.start()
        with suppress(UsageError):  # a Postgres has it still
            _keys(server).create(KEY)
        assert until(lambda: watch.latest is not None and watch.latest.keys)
        assert (await gateway(listed)).status == 200
        assert (await gateway(asking("openai-chat", "fake/m"))).status == 401


def test_the_first_place_wins_and_says_so() -> None:
    """The file before Redis, Redis before the database; a revoked one stands in nobody's way."""
    first, second, third = [GatewayKey(name="a", hash=hash_key(text)) for text in "xyz"]
    gone = GatewayKey(name="b", hash=hash_key("v"), revoked_s=1.0)
    other = GatewayKey(name="b", hash=hash_key("w"))
    found = merged((first,), (second, gone), (third, other))
    assert {key.hash for key in found.keys.values()} == {first.hash, gone.hash, other.hash}
    assert found.passed_over == ("a",)


def test_what_another_version_wrote_is_not_there(server: SharedServer) -> None:
    """No crash, no half key, no count under a name that is none."""
    keys = _keys(server)
    keys.create(KEY)

    prefix = LINKS[-1].prefix

    def spoil() -> Generator[list[Command], list[Any], None]:
        rooms = tuple([f"{prefix}{{keys}}:{room}" for room in ("keys", "names", "version")])
        counts = ((b"no list", 5), (b'["k","m","colour"]', 5), (b'["k","m","requests"]', 2))
        yield [
            CreateKey(rooms, "other", "other", b'{"key": 1}'),
            Count(f"{prefix}{{accounts}}:used", "2026-11-22", 600, counts),
        ]

    LINKS[-1].run(spoil())
    assert [kept.key for kept in keys.all_keys()] == [KEY]
    assert keys.usage() == [Row(key="k", day="2026-11-22", model="m", requests=2)]
