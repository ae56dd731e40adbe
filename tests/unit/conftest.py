"""Servers of shared state for the tests of what lies there."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.postgres_server import PostgresServer
from tests.support.shared_servers import KINDS, RoomOfPostgres, SharedServer, make_postgres, make_redis


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    """A Postgres for the whole run."""
    server = make_postgres()
    yield server
    server.remove()


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[SharedServer]:
    """A server of each kind, with no keys, to be mistreated."""
    if request.param == "redis":
        redis = make_redis(tmp_path)
        yield redis
        redis.stop()
        return
    room = RoomOfPostgres(request.getfixturevalue("postgres_server"))
    yield room
    room.leave()
