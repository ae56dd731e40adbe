"""Two gateways on one Redis or Postgres: what one finds out the other one knows, and both go on without it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.gateway.test_serve import Served, _serving
from tests.support.shared_servers import SharedServer


def target(served: Served) -> str | None:
    """Who answered."""
    reply = served.ask()
    reply.read()
    assert reply.status == 200
    return reply.getheader("x-interlingua-target")


def health(*arguments: str) -> str:
    """What `il health` says."""
    command = [sys.executable, "-m", "interlingua", "health", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def test_replicas_share_what_they_find_out(server: SharedServer) -> None:
    """A refused key is asked once for both; a person's word reaches both; the store killed, both still answer."""
    broken = _serving("-m", "fake/a,fake/b", "--fault", "fake/a=401", "--state", server.url)
    with broken as first, _serving("-m", "fake/a,fake/b", INTERLINGUA_STATE=server.url) as second:
        assert target(second) == "fake/a"
        assert target(first) == "fake/b"
        assert target(second) == "fake/b"
        assert "fake/a" in health("--state", server.url)
        health("resume", "fake/a", "--state", server.url)
        assert target(second) == "fake/a"
        health("suspend", "fake/a", "--state", server.url)
        assert [target(first), target(second)] == ["fake/b", "fake/b"]
        server.stop()
        assert [target(first), target(second)] == ["fake/b", "fake/a"]
    assert "sesame" not in " ".join(first.told + second.told)


def test_a_limit_of_two_replicas_is_one_limit(server: SharedServer, tmp_path: Path) -> None:
    """Five requests a minute over both gateways; who would be too late is told 429 and when to come again."""
    path = tmp_path / "gateway.toml"
    path.write_text('[server]\ntimeout_s = 20\n\n[limits."fake/*"]\nrpm = 5\n')
    arguments = ("-m", "fake/a", "--config", str(path), "--state", server.url)
    with _serving(*arguments) as first, _serving(*arguments) as second:
        began_s = time.monotonic()
        replies = [served.ask() for _ in range(4) for served in (first, second)]
        bodies = [reply.read() for reply in replies]
        took_s = time.monotonic() - began_s
    assert [reply.status for reply in replies] == [200] * 5 + [429] * 3
    assert b"is reached by all processes together" in bodies[-1]
    assert 60 - took_s <= int(replies[-1].getheader("retry-after") or 0) <= 60  # rounded up
