"""Two gateways behind one nginx, on one Redis or Postgres: any of them goes on with what the other one began."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interlingua.cli.main import main
from interlingua.gateway.keys.auth import hash_key
from interlingua.testing.upstream import Call, Say, Upstream
from tests.e2e.gateway.test_serve import Served, _serving
from tests.support.gateway import provider
from tests.support.load import loading
from tests.support.nginx import balancing, find_nginx
from tests.support.shared_servers import SharedServer
from tests.support.waiting import until

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
}


class Pair(NamedTuple):
    """Two gateways behind an nginx."""

    port: int
    replicas: list[Served]
    store: SharedServer

    def ask(self, path: str, body: dict[str, Any], port: int = 0, key: str = "sesame-open") -> tuple[int, Any]:
        """Status and body of an answer, from nginx or from the gateway at `port`."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        headers = {"authorization": f"Bearer {key}", "connection": "close"}
        connection.request("POST", path, json.dumps(body), headers)
        reply = connection.getresponse()
        told = reply.read()
        return reply.status, json.loads(told)


@pytest.fixture
def pairs(tmp_path: Path, server: SharedServer) -> Generator[Callable[..., Pair]]:
    """Makes one pair, with arguments and environment of `il serve`, and text of its file."""
    program = find_nginx()
    if program is None:
        pytest.skip("no nginx")
    with ExitStack() as stack:

        def made(*arguments: str, config: str = "", **environ: str) -> Pair:
            (tmp_path / "gateway.toml").write_text(config)
            shared = (*arguments, "--config", str(tmp_path / "gateway.toml"), "--state", server.url)
            replicas = [
                stack.enter_context(_serving(*shared, "--keys", str(tmp_path / f"keys-{number}.sqlite"), **environ))
                for number in (1, 2)
            ]
            folder = tmp_path / "nginx"
            folder.mkdir()
            port = stack.enter_context(balancing(program, [served.port for served in replicas], folder))
            return Pair(port, replicas, server)

        yield made


def test_a_tool_loop_keeps_its_seals_over_replicas(pairs: Callable[..., Pair]) -> None:
    """A Chat client in front of Claude: what one replica sealed the other one sends back."""
    call = Say(thinking="Let me see.", calls=(Call("get_weather", {}),))
    upstream = Upstream("anthropic", call, call, "It is 4 degrees.")
    said: dict[str, Any] = {}
    with upstream.serving() as at:
        pair = pairs(LLM_UP=provider("anthropic", at))
        first, second = [served.port for served in pair.replicas]
        messages: list[Any] = [{"role": "user", "content": "Weather?"}]
        body: dict[str, Any] = {
            "model": "up/claude-opus-4-5",
            "tools": [TOOL],
            "reasoning_effort": "high",
            "messages": messages,
        }
        for port in (first, second, 0):
            status, told = pair.ask("/v1/chat/completions", body, port)
            assert status == 200
            said = told["choices"][0]["message"]
            messages.append(said)
            calls = said.get("tool_calls", ())
            messages += [{"role": "tool", "tool_call_id": one["id"], "content": "4 degrees"} for one in calls]
    assert said["content"] == "It is 4 degrees."
    sent = [json.loads(request.body) for request in upstream.requests]
    sealed = [part for turn in sent[2]["messages"] for part in turn["content"] if part["type"] == "thinking"]
    assert [bool(part["signature"]) for part in sealed] == [True, True]
    assert all(verdict.ok for verdict in upstream.verdicts)


def test_previous_response_id_is_known_to_every_replica(pairs: Callable[..., Pair]) -> None:
    """A Responses client goes on from its answers by their ids, whichever replica gave them."""
    upstream = Upstream("anthropic", "One.", "Two.", "Three.")
    with upstream.serving() as at:
        pair = pairs(LLM_UP=provider("anthropic", at))
        body: dict[str, Any] = {"model": "up/claude-opus-4-5", "input": "Question", "previous_response_id": None}
        for _ in range(3):
            status, told = pair.ask("/v1/responses", body)
            assert status == 200
            body["previous_response_id"] = told["id"]
        pair.store.stop()
        status, told = pair.ask("/v1/responses", body)
        assert (status, told["error"]["code"]) == (400, "previous_response_not_found")
    assert [turn["role"] for turn in json.loads(upstream.requests[2].body)["messages"]] == ["user", "assistant"] * 2 + [
        "user"
    ]


def _at_once(pair: Pair, count: int, **members: Any) -> list[tuple[int, Any]]:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **members}
    told: list[tuple[int, Any]] = []
    threads = [
        threading.Thread(target=lambda: told.append(pair.ask("/v1/chat/completions", body))) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return told


def test_limits_of_a_key_are_exact_over_replicas(pairs: Callable[..., Pair]) -> None:
    """64 clients at once: seven requests a minute are seven; the 429 names the limit."""
    digest = hash_key("sesame-open")
    pair = pairs("-m", "fake/a", config=f'[keys.team-a]\nhash = "{digest}"\nrpm = 7\n')
    told = _at_once(pair, 64)
    assert sorted(status for status, _ in told) == [200] * 7 + [429] * 57
    refused = next(body for status, body in told if status == 429)
    assert "the key team-a may have 7 requests a minute" in refused["error"]["message"]


def test_a_budget_is_never_overspent_over_replicas(pairs: Callable[..., Pair]) -> None:
    """64 clients at once on one budget of tokens: what all answers used stays within it, and it is used."""
    digest = hash_key("sesame-open")
    pair = pairs("-m", "fake/a", config=f'[keys.team-a]\nhash = "{digest}"\nbudget = "1000 tokens/day"\n')
    used = 0
    for _ in range(4):
        told = _at_once(pair, 16, max_tokens=60)
        assert {status for status, _ in told} <= {200, 402, 429}
        used += sum(body["usage"]["total_tokens"] for status, body in told if status == 200)
    assert 800 < used <= 1_000


def test_a_key_is_made_once_for_all_replicas(pairs: Callable[..., Pair], capsys: pytest.CaptureFixture[str]) -> None:
    """Made, used and revoked in the store: both replicas take it, and its use and budget are those of both."""
    digest = hash_key("of-the-file")
    pair = pairs("-m", "fake/a", config=f'[keys.file]\nhash = "{digest}"\n')
    place = ("--state", pair.store.url)
    assert main(["keys", "create", "shared", "--rpm", "3", "--budget", "100k tokens/day", *place]) == 0
    key = capsys.readouterr().out.strip()
    first, second = [served.port for served in pair.replicas]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}

    def asked(port: int) -> tuple[int, Any]:
        return pair.ask("/v1/chat/completions", body, port, key=key)

    assert until(lambda: all(pair.ask("/v1/chat/completions", {}, port, key=key)[0] == 400 for port in (first, second)))
    told = [asked(port) for port in (first, second, first, second)]
    assert [status for status, _ in told] == [200, 200, 200, 429]
    assert main(["keys", "usage", "shared", "--json", *place]) == 0
    found = json.loads(capsys.readouterr().out)
    tokens = sum(body["usage"]["total_tokens"] for status, body in told if status == 200)
    (row,), (budget,) = found["usage"], found["budgets"]
    assert (row["model"], row["requests"], row["input_tokens"] + row["output_tokens"]) == ("fake/a", 3, tokens)
    assert (budget["used"], budget["reserved"], budget["left"]) == (tokens, 0, 100_000 - tokens)
    assert main(["keys", "revoke", "shared", *place]) == 0
    assert until(lambda: [asked(port)[0] for port in (first, second)] == [401, 401])


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_a_killed_replica_loses_what_it_served_alone(pairs: Callable[..., Pair]) -> None:
    """Under load: at most one request of each client is lost, and all others are answered by the one that is left."""
    pair = pairs("-m", "fake/a", "--fault", "fake/*=drip:100")
    with loading(pair.port, clients=8) as load:
        assert until(lambda: load.total > 40)
        pair.replicas[0].process.kill()
        count = load.total
        assert until(lambda: load.total > count + 80)
    assert load.answered.keys() <= {"whole", "stream", "502"}
    assert len(load.lost) + load.answered["502"] <= 8
    assert load.refused == 0


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_who_is_refused_by_the_head_of_a_request_is_told_so_through_nginx(pairs: Callable[..., Pair]) -> None:
    """A key that is not known: every client reads its 401, and its connection goes on."""
    pair = pairs("-m", "fake/a", "--key", "right")
    with loading(pair.port, clients=8, key="wrong") as load:
        assert until(lambda: load.total > 400)
    assert (load.answered.keys(), load.lost, load.refused) == ({"401"}, [], 0)


def test_the_store_may_go_and_come_back_under_load(pairs: Callable[..., Pair]) -> None:
    """With limits in use and no budget every request is answered, before, without and after the store."""
    digest = hash_key("sesame-open")
    config = f'[keys.team-a]\nhash = "{digest}"\nrpm = 1000000\ntpm = "900M"\n'
    pair = pairs("-m", "fake/a", config=config)
    with loading(pair.port, clients=6, key="sesame-open") as load:
        for change in (pair.store.stop, pair.store.start, pair.store.sleep, pair.store.wake):
            count = load.total
            assert until(lambda: load.total > count + 30)  # noqa: B023 - asked at once
            change()
        count = load.total
        assert until(lambda: load.total > count + 30)
    assert load.lost == []
    assert load.answered.keys() == {"whole", "stream"}
