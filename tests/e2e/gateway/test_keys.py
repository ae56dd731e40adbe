"""Keys on a port: clients in a race, a gateway that is killed, and a key that is nowhere but where it was shown."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from interlingua.cli.main import main
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.budget import used_of
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.terms import read_budget
from interlingua.testing.upstream import Say, Upstream
from tests.support.gateway import provider

TOTAL = read_budget("1000000 tokens")
ASKED: dict[str, Any] = {"model": "up/m", "max_tokens": 300, "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))


def _created(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["keys", "create", *words]) == 0
    return capsys.readouterr().out.strip()


@contextmanager
def _served(upstream: str, *words: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """`il serve` in a process of its own: its address, and the process."""
    environ = {**os.environ, "LLM_UP": upstream}
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", *words]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = None
            while found is None:
                line = process.stderr.readline()
                assert line, "it did not start"
                found = re.search(r"serving on (http://\S+)", line)
            yield found[1], process
        finally:
            process.send_signal(signal.SIGKILL)


def _ask(url: str, key: str, **members: Any) -> httpx.Response:
    return httpx.post(f"{url}/v1/messages", json={**ASKED, **members}, headers={"x-api-key": key}, timeout=60)


def _spent(tmp_path: Path, name: str) -> tuple[int, int]:
    with closing(KeyDatabase(tmp_path / "state" / "keys.sqlite", now=time.time)) as database:
        return used_of(database.accounts([f"key:{name}"])[f"key:{name}"], TOTAL, time.time())


def test_clients_on_one_budget_do_not_overspend_it_and_a_kill_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """64 requests at once, then SIGKILL: what was answered is in the database, and the next gateway goes on from it."""
    key = _created(capsys, "team-a", "--budget", "5000 tokens")
    with Upstream("anthropic", *[Say(text="Hello", input_tokens=20, output_tokens=300)] * 200).serving() as upstream:
        dsn = provider("anthropic", upstream)
        with _served(dsn) as (url, _), ThreadPoolExecutor(64) as pool:
            asked = [pool.submit(_ask, url, key) for _ in range(64)]
            statuses = [future.result().status_code for future in asked]
            answered = statuses.count(200)
            assert set(statuses) <= {200, 402, 429}
            assert 1 <= answered <= 16  # each used 320, and had reserved about 310
        used, reserved = _spent(tmp_path, "team-a")
        assert (used, reserved) == (320 * answered, 0)
        with _served(dsn) as (url, _):
            while _ask(url, key).status_code == 200:
                pass
            refused = _ask(url, key)
        assert refused.status_code == 402
        assert "the key team-a has a budget of 5,000 tokens; this call may use up to 3" in refused.text
        assert 4_500 <= _spent(tmp_path, "team-a")[0] <= 5_320


def test_who_looks_at_what_is_used_takes_nothing_from_a_gateway_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`il keys usage` in a process of its own, after each call: it tells all of them, also those after a look."""
    key = _created(capsys, "team-a", "--budget", "5000 tokens")
    command = [sys.executable, "-m", "interlingua", "keys", "usage", "team-a", "--json"]
    answers = [Say(text="Hello", input_tokens=20, output_tokens=30)] * 3
    with Upstream("anthropic", *answers).serving() as at, _served(provider("anthropic", at)) as (url, _):
        for calls in (1, 2, 3):
            assert _ask(url, key).status_code == 200
            looked = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
            assert looked.returncode == 0, looked.stderr
            (row,) = json.loads(looked.stdout)["usage"]
            assert (row["requests"], row["input_tokens"], row["output_tokens"]) == (calls, 20 * calls, 30 * calls)
    assert _spent(tmp_path, "team-a") == (150, 0)


def test_a_key_that_is_revoked_while_it_runs_stops_working(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a restart; the gateway does not open when its last key is gone."""
    key = _created(capsys, "team-a")
    with Upstream("anthropic").serving() as upstream, _served(provider("anthropic", upstream)) as (url, _):
        assert _ask(url, key).status_code == 200
        assert main(["keys", "revoke", "team-a"]) == 0
        deadline = time.monotonic() + 60
        while _ask(url, key).status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.1)
        refused = _ask(url, key)
        assert (refused.status_code, "the key team-a was revoked" in refused.text) == (401, True)
        assert _ask(url, "nothing").status_code == 401


def test_sec_05_a_key_is_nowhere_but_where_it_was_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not in what the gateway writes, answers or keeps, whatever goes wrong; the file wins and says so."""
    config = tmp_path / "gateway.toml"
    key, limited = _created(capsys, "team-a"), "sk-il-" + "5" * 48
    config.write_text(
        f'[keys.team-a]\nhash = "{hash_key(limited)}"\nmodels = ["up/*"]\nrpm = 1\nbudget = "1 USD"\n', encoding="utf-8"
    )
    told = b""
    with Upstream("anthropic").serving() as upstream:
        priced = f"{provider('anthropic', upstream)}&price_in=1&price_out=1"
        with _served(priced, "--config", str(config), "--log", "json") as (url, process):
            for given, members in (
                (key, {}),
                (limited, {}),
                (limited, {}),
                (limited, {"model": "other"}),
                (limited, {"max_tokens": 10**9}),
            ):
                reply = _ask(url, given, **members)
                told += reply.content + repr(reply.headers).encode()
            told += httpx.get(f"{url}/v1/models?key={limited}").content
            told += httpx.get(f"{url}/v1/models?key={key}").content
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            written = process.stderr.read()
    for path in (tmp_path / "state").iterdir():
        told += path.read_bytes()
    assert "the key team-a is in the file and in the database; the file wins" in written
    for secret in (key, limited, key.removeprefix("sk-il-"), "5" * 48):
        assert secret.encode() not in told
        assert secret not in written
