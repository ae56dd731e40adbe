"""Two workers of one gateway: metrics, live requests, content, health and usage of both, whichever is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from interlingua.client.state import health_store
from interlingua.gateway.console.access import PAGE_HEADER, Viewer
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.serving import peers
from interlingua.gateway.serving.registration import found_by_all, glances_of_all, join
from interlingua.gateway.settings import GatewayKey
from interlingua.routing.health import Failed
from interlingua.testing.upstream import Upstream
from tests.support.gateway import MODELS, asking, body_of, gateway
from tests.unit.gateway.test_asgi import Slow

ALL = Viewer("", sees_all=True)
KEYS = (
    GatewayKey(name="a", hash=hash_key("key-of-a"), terms=Terms(rpm=60)),
    GatewayKey(name="b", hash=hash_key("key-of-b")),
)


def _made(**settings: Any) -> Gateway:
    return gateway(aliases={"smart": MODELS["anthropic"]}, observing=Observing(metrics="open"), **settings)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes longer to answer than others wait."""
    monkeypatch.setattr(peers, "ANSWER_S", 60.0)


@pytest.fixture
def two(tmp_path: Path) -> Generator[tuple[Gateway, Gateway]]:
    """Two workers, as they are in two processes; health of targets is what this process knows."""
    with ExitStack() as stack:
        made = _made(), _made()
        for one in made:
            stack.enter_context(join(one, tmp_path))
        yield made


async def _ask(made: Gateway, model: str = "smart", **headers: str) -> str:
    reply = await made(asking("openai-chat", model, headers=headers))
    await body_of(reply)
    return dict(reply.headers)["x-request-id"]


async def _get(made: Gateway, path: str, body: bytes = b"", **headers: str) -> Any:
    method = "POST" if body else "GET"
    named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    reply = await made(GatewayRequest(method=method, path=path, headers=named, body=body, peer="127.0.0.1"))
    assert reply.status == 200
    return json.loads(await body_of(reply))


async def _samples(made: Gateway) -> dict[str, float]:
    reply = await made(GatewayRequest(method="GET", path="/metrics", peer="127.0.0.1"))
    text = (await body_of(reply)).decode()
    return {one.name: one.value for family in text_string_to_metric_families(text) for one in family.samples}


async def test_metrics_are_the_sum_of_both_and_never_fall(two: tuple[Gateway, Gateway], tmp_path: Path) -> None:
    """Whichever is asked; a third one that has ended still counts, and who takes its place goes on from there."""
    first, second = two
    third = _made()
    with Upstream("anthropic").standing():
        with join(third, tmp_path):
            for one in (first, second, second, third, third, third):
                await _ask(one)
            before = await _samples(first)
        for asked in (first, second):
            after = await _samples(asked)
            assert (after["interlingua_requests_total"], after["interlingua_workers"]) == (6, 2)
        with join(_made(), tmp_path):
            await _ask(first)
            assert (await _samples(second))["interlingua_requests_total"] == 7
    assert (before["interlingua_requests_total"], before["interlingua_workers"]) == (6, 3)
    assert before["interlingua_request_seconds_count"] == 6
    assert before["interlingua_tokens_total"] == 60


async def test_a_target_that_is_unwell_for_both_is_one(two: tuple[Gateway, Gateway]) -> None:
    """It is no sum: both tell of the same target."""
    health_store().apply([(MODELS["anthropic"], Failed("auth"))])
    assert (await _samples(two[0]))["interlingua_target_unwell"] == 1


async def test_the_console_shows_requests_of_both(two: tuple[Gateway, Gateway]) -> None:
    """What a worker does is seen from the other one, from the first look on, each once."""
    first, second = two
    last: dict[int, int] = {}
    assert await _looked(first, last) == {}
    with Upstream("anthropic").standing():
        names = [await _ask(first), await _ask(second), await _ask(second)]
    assert await _looked(first, last) == {0: names[:1], 1: names[1:]}
    assert await _looked(first, last) == {}
    assert last == {0: 1, 1: 2}


async def test_what_another_worker_is_asked_now_is_shown(two: tuple[Gateway, Gateway]) -> None:
    """While it is under way, without content; the page is told of it, too."""
    first, second = two
    await glances_of_all(first.feed, first.peers, ALL, {})
    upstream = Slow(silent_open=True)
    with upstream.standing():
        task = asyncio.ensure_future(second(asking("anthropic", "smart", headers={"x-request-id": "mine"})))
        await asyncio.wait_for(upstream.opened.wait(), 60)
        (now,) = (await glances_of_all(first.feed, first.peers, ALL, {}))[1].now
        reply = await first(GatewayRequest(method="GET", path="/console/live", peer="127.0.0.1"))
        assert not isinstance(reply.body, bytes)
        async with aclosing(reply.body):
            pieces = aiter(reply.body)
            _hello, shown = await anext(pieces), await anext(pieces)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert (now.id, now.client, now.model, now.status, now.aborted) == ("mine", "anthropic", "smart", 0, False)
    assert b'"id":"mine"' in shown.partition(b'"now":')[2]


async def _looked(made: Gateway, last: dict[int, int]) -> dict[int, list[str]]:
    glances = await glances_of_all(made.feed, made.peers, ALL, last)
    last |= {number: glance.batch.last for number, glance in glances.items()}
    found = {number: [record.id for record in glance.batch.records] for number, glance in glances.items()}
    return {number: names for number, names in found.items() if names}


async def test_a_key_sees_its_own_requests_of_the_other_worker(tmp_path: Path) -> None:
    """Rights are those of who looks, also at what another worker answered; content is fetched from there."""
    first, second = _made(keys=KEYS, console_content=True), _made(keys=KEYS, console_content=True)
    with join(first, tmp_path), join(second, tmp_path):
        await glances_of_all(first.feed, first.peers, ALL, {})
        with Upstream("anthropic", "Hello.").standing():
            name = await _ask(second, authorization="Bearer key-of-a")
        own, other = Viewer("a", sees_all=False), Viewer("b", sees_all=False)
        assert (await glances_of_all(first.feed, first.peers, own, {}))[1].batch.records[0].id == name
        assert (await glances_of_all(first.feed, first.peers, other, {}))[1].batch.records == []
        assert await found_by_all(first.feed, first.peers, name, other) is None
        found = await found_by_all(first.feed, first.peers, name, own)
        body = json.dumps({"id": name}).encode()
        sides = await _get(first, "/console/sides", body, authorization="Bearer key-of-a")
        used = await _get(first, "/console/keys", authorization="Bearer key-of-a")
    assert found is not None
    assert found.content is not None
    assert json.loads(found.content.body)["messages"] == [{"role": "user", "content": "Hi"}]
    assert (sides["dialect"], len(sides["request"]), len(sides["answer"])) == ("openai-chat", 8, 8)
    assert [(key["name"], key["used"]["requests"]) for key in used["keys"]] == [("a", 1)]


async def test_a_target_is_taken_out_for_all_workers(
    two: tuple[Gateway, Gateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is told; and of a target of which workers know different things the worst is shown."""
    told: list[str] = []
    peers = two[1].peers
    assert peers is not None
    monkeypatch.setitem(peers.answers, "change", lambda about: told.append(about) or b"done")
    other = b'{"anthropic/claude-opus-4-5":{"state":"benched","wait_s":9,"reason":"auth","failures":1,"error":""}}'
    monkeypatch.setitem(peers.answers, "health", lambda _: other)
    shown = await _get(two[0], "/console/targets")
    assert [(one["spec"], one["state"]) for one in shown["targets"]] == [(MODELS["anthropic"], "benched")]
    header = {PAGE_HEADER: "1"}
    await _get(two[0], "/console/targets/suspend", b'{"target":"smart","for_s":300}', **header)
    await _get(two[0], "/console/targets/resume", b'{"target":"smart"}', **header)
    assert [json.loads(one) for one in told] == [
        {"targets": [MODELS["anthropic"]], "resumed": False, "for_s": 300.0},
        {"targets": [MODELS["anthropic"]], "resumed": True, "for_s": None},
    ]
    assert health_store().snapshot() == {}


async def test_what_another_worker_takes_out_is_out_here(two: tuple[Gateway, Gateway]) -> None:
    """It comes as a question, and is done; putting back undoes it."""
    first = two[0].peers
    assert first is not None
    assert await first.ask("change", '{"targets":["anthropic/x"],"for_s":300}') == {1: b"done"}
    assert {spec: health.state for spec, health in health_store().snapshot().items()} == {"anthropic/x": "suspended"}
    assert await first.ask("change", '{"targets":["anthropic/x"],"resumed":true}') == {1: b"done"}
    assert health_store().snapshot() == {}
