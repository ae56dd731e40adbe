"""A disk that is full under a running `il serve`: keys with limits wait for room, and all others are served."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

import pytest

from interlingua.gateway.keys.auth import hash_key
from tests.e2e.gateway.test_money import ask, environ_of, usage_of
from tests.e2e.gateway.test_serve import _serving
from tests.support.greedy import INPUT_TOKENS, GreedyUpstream
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prlimit")

CONFIG = f"""
[keys.paying]
hash = "{hash_key("paying")}"
budget = "1M tokens"

[keys.free]
hash = "{hash_key("free")}"
"""
_ROOM = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def test_dos_04_a_full_disk_closes_keys_with_limits_until_there_is_room(tmp_path: Path) -> None:
    """No file may grow: 503 for the key with a budget, 200 for the other one, and both again once there is room."""
    greedy = GreedyUpstream()
    config, keys = tmp_path / "gateway.toml", tmp_path / "keys.sqlite"
    config.write_text(CONFIG)
    with (
        greedy.serving() as at,
        _serving("--config", str(config), "--keys", str(keys), **environ_of(at)) as served,
    ):
        pid = served.process.pid
        assert ask(served.port, max_tokens=100) == 200
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        assert [ask(served.port, max_tokens=100) for _ in range(3)] == [503, 503, 503]
        assert [ask(served.port, "free", max_tokens=100) for _ in range(3)] == [200, 200, 200]
        assert served.process.poll() is None
        resource.prlimit(pid, resource.RLIMIT_FSIZE, _ROOM)
        assert until(lambda: ask(served.port, max_tokens=100) == 200)
        os.kill(pid, 15)
        served.process.wait(60)
    rows = {row["key"]: row for row in usage_of(keys)}
    paid = sum(row["input_tokens"] + row["output_tokens"] for row in usage_of(keys) if row["key"] == "paying")
    assert paid == 2 * (INPUT_TOKENS + 100)
    assert set(rows) == {"paying", "free"}
