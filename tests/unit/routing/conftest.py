"""Addresses for the tests of stores that are shared."""

from __future__ import annotations

import uuid
from collections.abc import Generator

import pytest

from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.shared_servers import KINDS, RoomOfPostgres, make_redis


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RedisServer]:
    """A server for the whole run; a test that finds neither the program nor the package is skipped."""
    server = make_redis(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of the server, with keys for one test alone."""
    return f"{redis_server.url}&prefix=test-{uuid.uuid4().hex}:"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """The address of a Postgres, with keys for one test alone."""
    return RoomOfPostgres(postgres_server).url


@pytest.fixture(params=KINDS)
def shared_url(request: pytest.FixtureRequest) -> str:
    """The address of a server of each kind, with keys for one test alone."""
    return request.getfixturevalue(f"{request.param}_url")
