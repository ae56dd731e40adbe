"""The way to a real Postgres: pooled, bounded in time, replaced when it broke, and silent about passwords."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Generator
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the `psycopg` package, of the [postgres] extra, is not installed")

import psycopg

from interlingua.errors import ConfigError
from interlingua.routing.commands import Add, Command, Count, Counts, LinkGone, Put, Read, Swap
from interlingua.routing.outage import REST_S
from interlingua.routing.postgres_link import MAX_CONNECTIONS, SWEEP_S, PostgresLink
from tests.support.postgres_server import PostgresServer
from tests.support.shared_servers import RoomOfPostgres

Steps = Generator[list[Command], list[Any], list[Any]]


class Clock:
    """A clock that is set."""

    now_s: float = 1_000.0

    def __call__(self) -> float:
        """Its time."""
        return self.now_s


@pytest.fixture
def room(postgres_server: PostgresServer) -> Generator[RoomOfPostgres]:
    """Keys of this test alone, in a server to be mistreated."""
    made = RoomOfPostgres(postgres_server)
    yield made
    made.leave()


@pytest.fixture
def clock() -> Clock:
    """The clock of the links of a test."""
    return Clock()


@pytest.fixture
def link(room: RoomOfPostgres, clock: Clock) -> Generator[PostgresLink]:
    """A link that is closed afterwards."""
    made = PostgresLink(room.url, clock=clock)
    yield made
    made.close()


def run(*commands: Command) -> Steps:
    """Steps that are these commands."""
    return (yield list(commands))


def connections(server: PostgresServer) -> int:
    """How many connections the server has beside the one that asks."""
    with psycopg.connect(server.url.partition("?")[0]) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
    assert row is not None
    return row[0]


def test_keys_and_names_may_be_any_text(link: PostgresLink) -> None:
    """A NUL, 8,000 characters, another script: what a client sends as a name is no outage of everybody."""
    keys = tuple([f"{link.prefix}{name}" for name in ("a\x00b", "m" * 8_000, f"{'m' * 7_999}n", "名前")])
    writes = [Put(key, bytes([place]), 60_000) for place, key in enumerate(keys)]
    assert link.run(run(*writes, Read(keys)))[-1] == [b"\x00", b"\x01", b"\x02", b"\x03"]
    counts = ((b"\x00", 1), (b"x" * 8_000, 2))
    room = f"{link.prefix}counts"
    assert link.run(run(Count(room, "2026-11-28", 60, counts), Counts(room, "2026-11-28")))[1] == dict(counts)
    assert link.problem == ""


def test_values_end_by_the_clock_of_the_server_and_are_deleted(link: PostgresLink, clock: Clock) -> None:
    """An ended value is none: it is not read, may be added and swapped anew; once a minute such rows are deleted."""
    key, other = f"{link.prefix}a", f"{link.prefix}b"
    past_ms = int(time.time() * 1000) - 1
    assert link.run(run(Swap((key,), (b"",), (b"old",), past_ms), Read((key,))))[1] == [None]
    assert link.run(run(Add((key,), b"new", 60_000), Add((other, key), b"again", 60_000), Read((key,)))) == [
        True,
        False,
        [b"new"],
    ]
    link.run(run(Swap((other,), (b"",), (b"old",), past_ms)))
    assert link.run(run(Swap((other,), (b"old",), (b"newer",)))) == [[b""]]
    with psycopg.connect(link._url, autocommit=True) as connection:
        query = "SELECT count(*) FROM interlingua_values WHERE key = %s"
        assert connection.execute(query, (other.encode(),)).fetchone() == (1,)
        clock.now_s += SWEEP_S
        link.run(run(Read(())))
        assert connection.execute(query, (other.encode(),)).fetchone() == (0,)


async def test_two_hundred_tasks_share_eight_connections(link: PostgresLink, postgres_server: PostgresServer) -> None:
    """Swaps of one value lose none of two hundred additions, and the pool stays within its bound."""
    before = connections(postgres_server)

    def add() -> Generator[list[Command], list[Any], None]:
        key = f"{link.prefix}sum"
        ((value,),) = yield [Read((key,))]
        stored = value or b""
        while True:
            (reply,) = yield [Swap((key,), (stored,), (b"%d" % (int(stored or 0) + 1),))]
            if reply == 1:
                return
            (stored,) = reply

    await asyncio.gather(*[link.run_async(add()) for _ in range(200)])
    assert (await link.run_async(run(Read((f"{link.prefix}sum",)))))[0] == [b"200"]
    assert 1 <= connections(postgres_server) - before <= MAX_CONNECTIONS


def test_a_server_that_hangs_costs_its_time_once(room: RoomOfPostgres, link: PostgresLink, clock: Clock) -> None:
    """By thread and by task; a task that is cancelled waits for nothing; awake, it is asked again after the rest."""
    link.run(run(Read(())))
    link._timeout_s = 0.05
    room.sleep()
    for _ in range(3):
        with pytest.raises(LinkGone):
            link.run(run(Read(("a",))))
    assert (link._outage.count, link.problem.partition("?")[0]) == (1, f"{link.address}: wait timeout expired")
    clock.now_s += REST_S

    async def cancelled() -> float:
        patient = PostgresLink(room.url, clock=clock)
        room.wake()
        await patient.run_async(run(Read(())))
        room.sleep()
        task = asyncio.create_task(patient.run_async(run(Read(("a",)))))
        await asyncio.sleep(0.05)
        begun_s = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - begun_s

    assert asyncio.run(cancelled()) < 4  # libpq's own cancellation would wait five seconds for the server
    room.wake()
    link._timeout_s = 10.0
    assert link.run(run(Read(("a",)))) == [[None]]
    assert link.problem == ""


def test_a_connection_that_was_closed_while_idle_is_replaced(room: RoomOfPostgres, link: PostgresLink) -> None:
    """A server that was restarted between two calls is no outage; one that is away is, and ends."""
    link.run(run(Put(f"{link.prefix}a", b"x", 60_000)))
    room.stop()
    room.start()
    assert link.run(run(Read((f"{link.prefix}a",)))) == [[b"x"]]
    assert link._outage.count == 0


def test_tables_that_were_dropped_are_made_anew(link: PostgresLink, clock: Clock) -> None:
    """A database that was restored from nothing is one outage; tables of a later version stay as they are."""
    link.run(run(Read(())))
    with psycopg.connect(link._url, autocommit=True) as connection:
        connection.execute("DROP TABLE interlingua_values, interlingua_version")
        with pytest.raises(LinkGone):
            link.run(run(Read(("a",))))
        clock.now_s += REST_S
        assert link.run(run(Read(("a",)))) == [[None]]
        connection.execute("UPDATE interlingua_version SET version = 2")
        late = PostgresLink(link._url, clock=clock)
        with pytest.raises(LinkGone):
            late.run(run(Read(("a",))))
        assert late.problem.endswith("its tables were made by a later version of interlingua")
        connection.execute("UPDATE interlingua_version SET version = 1")
        late.close()


def test_a_fork_makes_connections_of_its_own(link: PostgresLink) -> None:
    """The parent's stays usable after the child has asked and ended."""
    link.run(run(Put(f"{link.prefix}a", b"x", 60_000)))
    child = os.fork()
    if not child:
        is_right = link.run(run(Read((f"{link.prefix}a",)))) == [[b"x"]]
        os._exit(0 if is_right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert link.run(run(Read((f"{link.prefix}a",)))) == [[b"x"]]
    assert link.problem == ""


def test_no_password_is_shown(room: RoomOfPostgres, clock: Clock) -> None:
    """Neither of an address that is none, nor of one that the server refuses, nor in a representation."""
    link = PostgresLink(room.url.replace("sesame-open", "sesame-shut"), clock=clock)
    with pytest.raises(LinkGone):
        link.run(run(Read(("a",))))
    assert "password authentication failed" in link.problem
    assert "sesame" not in f"{link.problem} {link!r} {link.address}"
    link.close()
    for url in ("postgresql://il:sesame@[host/db", "postgresql://il:sesame@host/db?nothing=sesame"):
        with pytest.raises(ConfigError, match="not an address of Postgres") as caught:
            PostgresLink(url, clock=clock)
        assert "sesame" not in str(caught.value)
