"""`il serve --workers`: what a key may is counted over all workers, by the database of keys, Redis or Postgres."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Generator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.keys.auth import hash_key
from tests.e2e.gateway.test_serve import Served, _serving
from tests.support.shared_servers import KINDS, SharedServer
from tests.support.waiting import until

CONFIG = f"""
[aliases]
m = "fake/a"

[keys.limited]
hash = "{hash_key("limited")}"
rpm = 7

[keys.paying]
hash = "{hash_key("paying")}"
budget = "1000 tokens/day"
"""


@pytest.fixture(params=["database", *KINDS])
def served(
    request: pytest.FixtureRequest, start_server: Callable[[str], SharedServer], tmp_path: Path
) -> Generator[Served]:
    """Two workers that share what keys have used, by each place."""
    path = tmp_path / "gateway.toml"
    path.write_text(CONFIG)
    arguments = ["--workers", "2", "--config", str(path), "--keys", str(tmp_path / "keys.sqlite")]
    if request.param != "database":
        arguments += ["--state", start_server(request.param).url]
    with _serving(*arguments) as served:
        assert until(lambda: len(_workers(served)) == 2 and _ask(served, "nobody")[0] == 401)
        yield served


def _workers(served: Served) -> list[int]:
    pid = served.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _ask(served: Served, key: str, path: str = "/v1/chat/completions", **members: Any) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=20)
    said = {"input": "Hi"} if path == "/v1/responses" else {"messages": [{"role": "user", "content": "Hi"}]}
    body = json.dumps({"model": "m", **said, **members})
    connection.request("POST", path, body, {"authorization": f"Bearer {key}", "connection": "close"})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def _at_once(served: Served, count: int, key: str, **members: Any) -> list[tuple[int, Any]]:
    told: list[tuple[int, Any]] = []
    threads = [threading.Thread(target=lambda: told.append(_ask(served, key, **members))) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return told


def test_limits_and_budgets_of_keys_are_exact_over_workers(served: Served) -> None:
    """Four requests at one worker and four at the other are seven; 64 clients on one budget stay within it."""
    statuses: list[int] = []
    for asleep in _workers(served):
        os.kill(asleep, signal.SIGSTOP)  # so that the other one answers
        statuses += [_ask(served, "limited")[0] for _ in range(4)]
        os.kill(asleep, signal.SIGCONT)
    assert statuses == [200] * 7 + [429]
    used = 0
    for _ in range(3):
        told = _at_once(served, 21, "paying", max_tokens=60)
        assert {status for status, _ in told} <= {200, 402, 429}
        used += sum(body["usage"]["total_tokens"] for status, body in told if status == 200)
    status, body = _ask(served, "paying", max_tokens=900)
    while status == 200:  # each is capped at what is left
        used += body["usage"]["total_tokens"]
        status, body = _ask(served, "paying", max_tokens=900)
    assert 800 < used <= 1_000
    assert status == 402
    assert "the key paying has a budget of 1,000 tokens/day" in body["error"]["message"]


@pytest.mark.parametrize("served", KINDS, indirect=True)
def test_workers_go_on_from_each_others_answers(served: Served) -> None:
    """With a store, an answer that one worker kept is known to the other one by its id."""
    previous = None
    for asleep in _workers(served):
        os.kill(asleep, signal.SIGSTOP)  # so that the other one answers
        status, body = _ask(served, "limited", "/v1/responses", previous_response_id=previous)
        os.kill(asleep, signal.SIGCONT)
        assert (status, body["previous_response_id"]) == (200, previous)
        previous = body["id"]
