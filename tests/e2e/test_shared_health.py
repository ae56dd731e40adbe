"""What one process finds out, another one knows: chains in processes of their own, over a file, Redis and Postgres."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.redis_server import RedisServer
from tests.support.shared_servers import KINDS, SharedServer
from tests.support.trying import at_best

CALL = """
import asyncio, json, sys
import interlingua as il
from interlingua import aio
from interlingua.testing import faults

place, fault, face = sys.argv[1:]


def call():
    if face == "blocking":
        return il.model("fake/echo,fake/other").generate("Hello")
    return asyncio.run(aio.model("fake/echo,fake/other").generate("Hello"))


if fault == "none":
    il.use_state(place)
    reply = call()
else:
    with faults({"fake/echo": fault}):
        il.use_state(place)
        reply = call()
print(json.dumps([[attempt.model, attempt.outcome, attempt.error] for attempt in reply.attempts]))
"""


def call(place: str, fault: str = "none", face: str = "blocking") -> list[list[Any]]:
    """The tries of one call, made by a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLINGUA_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CALL, place, fault, face],
        capture_output=True, text=True, check=False, env=environment, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.fixture(params=["file", *KINDS])
def place(request: pytest.FixtureRequest, start_server: Callable[[str], SharedServer], tmp_path: Path) -> str:
    """Where state is shared."""
    return f"file:{tmp_path / 'state.sqlite'}" if request.param == "file" else start_server(request.param).url


@pytest.mark.parametrize("face", ["blocking", "awaited"])
def test_a_bench_holds_in_the_next_process(place: str, face: str) -> None:
    """A refused key is found out once, by whichever process, and nothing is left open behind it."""
    first = call(place, "401", face)
    assert [try_[:2] for try_ in first] == [["fake/echo", "failed"], ["fake/other", "served"]]
    for other in ("blocking", "awaited"):
        second = call(place, face=other)
        assert [try_[:2] for try_ in second] == [["fake/echo", "skipped"], ["fake/other", "served"]]
        assert "AuthenticationError 401" in second[0][2]


def test_the_command_puts_it_back(place: str) -> None:
    """What `il health` says holds for every process."""
    call(place, "401")

    def il(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "interlingua", "health", *arguments, "--state", place]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    told = json.loads(il("--json").stdout)
    assert (told["fake/echo"]["state"], told["fake/echo"]["reason"]) == ("benched", "auth")
    assert 0 < told["fake/echo"]["wait_s"] <= 300
    assert il("resume", "fake/echo").returncode == 0
    assert call(place) == [["fake/echo", "served", None]]
    assert il("suspend", "fake/echo", "--for", "1m").returncode == 0
    assert [try_[:2] for try_ in call(place)] == [["fake/echo", "skipped"], ["fake/other", "served"]]


def test_a_redis_that_is_gone_costs_a_call_nothing_but_a_moment(tmp_path: Path) -> None:
    """Nobody listens at the address: the call is answered, in both faces, and quickly."""
    pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")
    server = RedisServer("none", tmp_path)
    environment = {**os.environ, "INTERLINGUA_STATE": server.url}

    def took_s(face: str) -> float:
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", CALL.replace("il.use_state(place)", "pass"), "", "none", face],
            capture_output=True, text=True, check=False, env=environment, timeout=60,
        )  # fmt: skip
        assert json.loads(done.stdout) == [["fake/echo", "served", None]]
        assert "this process alone knows" in done.stderr
        return time.monotonic() - began

    for face in ("blocking", "awaited"):
        assert at_best(lambda face=face: took_s(face) < 10.0)
