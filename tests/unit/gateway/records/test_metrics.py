"""Metrics: what is counted, read by Prometheus's own parser; bounded names; who is told."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from interlingua.client.state import health_store, limit
from interlingua.gateway.asgi import GatewayApp
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest, HeadFacts
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.metrics import MAX_SERIES, Metrics
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.record import Record
from interlingua.gateway.settings import GatewayKey
from interlingua.routing.health import Failed, Suspend
from interlingua.testing.upstream import Upstream
from interlingua.types.response import Attempt
from tests.support.gateway import MODELS, asking, body_of, gateway
from tests.unit.gateway.test_asgi import HELLO, Client, Slow

ON = Observing(metrics="keys")
KEY = GatewayKey(name="team-a", hash=hash_key("il-secret-key"))
ASK = GatewayRequest(method="GET", path="/metrics", peer="127.0.0.1")
PRICES = {"LLM_PAID": "&price_in=3&price_out=15", "LLM_FREE": ""}


async def scraped(made: Gateway, request: GatewayRequest = ASK) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample of `/metrics`, as Prometheus reads it."""
    reply = await made(request)
    assert (reply.status, reply.headers[0]) == (200, ("content-type", "text/plain; version=0.0.4; charset=utf-8"))
    text = (await body_of(reply)).decode()
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    assert all(family.documentation for family in families)
    return {
        (sample.name, tuple(sample.labels.items())): sample.value for family in families for sample in family.samples
    }


def of(samples: dict[tuple[str, tuple[tuple[str, str], ...]], float], name: str) -> dict[str, float]:
    """The samples of one metric, by their labels' values."""
    return {
        " ".join([text or "-" for _, text in labels]): value
        for (known, labels), value in samples.items()
        if known == name
    }


async def test_answers_are_counted() -> None:
    """Requests, tries, tokens, changes, and times as histograms."""
    made = gateway(aliases={"smart": MODELS["anthropic"]}, observing=ON)
    with Upstream("anthropic").standing():
        for stream in (False, True):
            await body_of(await made(asking("openai-chat", "smart", stream=stream)))
    samples = await scraped(made)
    target = MODELS["anthropic"]
    assert of(samples, "interlingua_requests_total") == {f"openai-chat smart {target} - 200": 2}
    assert of(samples, "interlingua_attempts_total") == {f"{target} served": 2}
    assert of(samples, "interlingua_tokens_total") == {f"{target} - input": 40, f"{target} - output": 20}
    assert of(samples, "interlingua_changes_total") == {f"openai-chat {target}": 2}
    assert of(samples, "interlingua_request_seconds_count") == {target: 2}
    assert of(samples, "interlingua_first_content_seconds_count") == {target: 1}
    assert of(samples, "interlingua_first_content_seconds_bucket")[f"{target} +Inf"] == 1
    assert of(samples, "interlingua_errors_total") == {}
    assert samples["process_resident_memory_bytes", ()] > 1e6


async def test_errors_are_counted_by_class() -> None:
    """Under the client's dialect and the class that our errors have."""
    made = gateway(keys=(KEY,), observing=ON)
    key = {"authorization": "Bearer il-secret-key"}
    with Upstream("openai-chat").standing():
        await made(asking("anthropic", MODELS["openai-chat"], headers=key))
        await made(asking("anthropic", "", headers=key))
        await made(asking("openai-chat", "x", headers={"authorization": "Bearer wrong-key"}))
    asked = GatewayRequest(method="GET", path="/metrics", headers=tuple(key.items()))
    samples = await scraped(made, asked)
    assert of(samples, "interlingua_requests_total") == {
        "anthropic other openai-chat/other team-a 200": 1,
        "anthropic - - team-a 400": 1,
        "openai-chat - - - 401": 1,
    }
    assert of(samples, "interlingua_errors_total") == {
        "anthropic - DecodeError": 1,
        "openai-chat - AuthenticationError": 1,
    }


async def test_what_is_under_way_is_told() -> None:
    """Open streams, and those that were left."""
    made = gateway(observing=ON)
    upstream = Slow([HELLO])
    with upstream.standing():
        client = Client(asking("openai-chat", MODELS["openai-chat"], stream=True))
        task = asyncio.ensure_future(GatewayApp(made)(client.scope, client.receive, client.send))
        await upstream.opened.wait()
        during = await scraped(made)
        client.left.set()
        await asyncio.wait_for(task, 60)
    assert during["interlingua_streams_open", ()] == 1
    assert during["interlingua_under_way", ()] == 2
    after = await scraped(made)
    assert after["interlingua_streams_open", ()] == 0
    assert of(after, "interlingua_aborted_total") == {"openai-chat": 1}


async def test_costs_are_summed() -> None:
    """20 tokens in at 3 dollars a million and 10 out at 15, twice; what has no price adds nothing."""
    with Upstream("anthropic").serving() as at:
        environ = {name: f"anthropic://k@{at[7:]}/v1?tls=0{prices}" for name, prices in PRICES.items()}
        made = gateway(environ, {"dear": "paid/m", "free": "free/m"}, observing=ON)
        for model, stream in (("dear", False), ("dear", True), ("free", False)):
            await body_of(await made(asking("openai-chat", model, stream=stream)))
    assert of(await scraped(made), "interlingua_cost_usd_total") == {"paid/m -": pytest.approx(0.00042)}


async def test_the_queue_before_a_limit_is_told() -> None:
    """One call runs and two wait; once they are gone, none."""
    made = gateway(aliases={"smart": MODELS["openai-chat"]}, observing=ON)
    with Slow(silent_open=True).standing():
        limit("openai-chat/*", concurrency=1)
        tasks = [asyncio.ensure_future(made(asking("openai-chat", "smart"))) for _ in range(3)]
        async with asyncio.timeout(60):
            while of(during := await scraped(made), "interlingua_limit_waiting") != {"openai-chat/*": 2}:  # noqa: ASYNC110 - a page tells of it, no event
                await asyncio.sleep(0.001)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        after = await scraped(made)
    told = [of(page, f"interlingua_limit_{what}") for page in (during, after) for what in ("running", "waiting")]
    assert told == [{"openai-chat/*": count} for count in (1, 2, 0, 0)]


async def test_targets_that_are_unwell_are_told() -> None:
    """By their state; who is asked as ever is not there, and a name that nobody configured is its provider's."""
    made = gateway(aliases={"smart": "openai/a,openai/b"}, observing=ON)
    suspended = [(f"anthropic/{name}", Suspend()) for name in "xy"]
    health_store().apply([("openai/a", Failed("auth")), ("openai/b", Failed()), *suspended])
    assert of(await scraped(made), "interlingua_target_unwell") == {
        "openai/a benched open": 1,
        "anthropic/other suspended suspended": 2,
    }


async def test_ten_thousand_odd_names_make_one_series() -> None:
    """Models and targets that nobody configured are `other`, so the page stays as it is."""
    made = gateway(aliases={"smart": "openai/a", "claude-*": "anthropic/x"}, observing=ON)
    counted = made.metrics
    assert counted is not None

    def count(number: int) -> None:
        odd = f'odd-{number}"\n\\{{'
        served = Attempt(model=f"openai/{odd}", outcome="served")
        counted(
            Record(
                id="x", at=0.0, client="anthropic", model=odd, target=f"openai/{odd}", status=200, attempts=(served,),
                input_tokens=1, first_s=0.1, total_s=0.2,
            )
        )  # fmt: skip

    count(0)
    before = await scraped(made)
    for number in range(1, 10_000):
        count(number)
    counted(Record(id="x", at=0.0, client="anthropic", model="claude-3", target="anthropic/x", status=200))
    counted(Record(id="x", at=0.0, client="anthropic", model="smart", target="openai/a", status=200))
    after = await scraped(made)
    assert of(after, "interlingua_requests_total") == {
        "anthropic other openai/other - 200": 10_000,
        "anthropic claude-* anthropic/x - 200": 1,
        "anthropic smart openai/a - 200": 1,
    }
    assert of(after, "interlingua_tokens_total") == {"openai/other - input": 10_000}
    assert len(after) - len(before) < 60


async def test_series_are_bounded_whatever_comes() -> None:
    """What a dialect, a key or an error could bring is `other` beyond the bound; sums stay right."""
    made = gateway(observing=ON)
    counted = made.metrics
    assert counted is not None
    for number in range(MAX_SERIES + 500):
        counted(Record(id="x", at=0.0, key=f"key-{number}", status=200, error=f"E{number}"))
    samples = await scraped(made)
    requests = of(samples, "interlingua_requests_total")
    assert len(requests) == MAX_SERIES + 1
    assert sum(requests.values()) == MAX_SERIES + 500
    assert requests["other other other other other"] == 500


async def test_names_in_labels_cannot_break_out() -> None:
    """Quotes, line ends and backslashes of a key's name are escaped as the format says."""
    made = gateway(observing=ON)
    counted = made.metrics
    assert counted is not None
    name = 'a"} 1\nfake_total{x="\\'
    counted(Record(id="x", at=0.0, key=name, status=200))
    samples = await scraped(made)
    labels = next(labels for known, labels in samples if known == "interlingua_requests_total")
    assert labels[3] == ("key", name)
    assert not any(known.startswith("fake") for known, _ in samples)


@pytest.mark.parametrize(
    ("access", "headers", "status"),
    [
        ("off", {"authorization": "Bearer il-secret-key"}, 404),
        ("keys", {}, 401),
        ("keys", {"authorization": "Bearer il-secret-key"}, 200),
        ("open", {}, 200),
    ],
)
async def test_who_is_told(access: Any, headers: dict[str, str], status: int) -> None:
    """Nobody by default, who has a key where that is set, everybody only where that is set."""
    made = gateway(keys=(KEY,), observing=Observing(metrics=access))
    reply = await made(GatewayRequest(method="GET", path="/metrics", headers=tuple(headers.items()), peer="10.0.0.1"))
    assert reply.status == status


async def test_a_key_is_told_its_own_numbers_and_an_operator_all() -> None:
    """Samples without a key, of other keys and of what overflowed are shown to operators alone; `open` shows all."""
    names = ("boss", "a", 'b",key="a', "other")
    keys = tuple([GatewayKey(name=name, hash=hash_key(f"key-{name}")) for name in names])
    made = gateway(aliases={"smart": MODELS["anthropic"]}, keys=keys, operators=("boss",), observing=ON)
    with Upstream("anthropic").standing():
        for name in names:
            await body_of(await made(asking("openai-chat", "smart", headers={"x-api-key": f"key-{name}"})))
    made.recorder.settle()
    assert made.metrics is not None
    for place in range(MAX_SERIES):  # until further ones are `other` in every label
        made.metrics(Record(id="x", at=0.0, key="a", status=1_000 + place))

    async def told(name: str) -> set[str]:
        asked = msgspec.structs.replace(ASK, headers=(("x-api-key", f"key-{name}"),), facts=HeadFacts())
        samples = await scraped(made, asked)
        assert "interlingua_tokens_total" in {sample for sample, _ in samples}
        return {dict(labels).get("key", "-") for _, labels in samples}

    assert await told("boss") == {*names, "-"}
    assert await told("a") == {"a"}
    assert await told('b",key="a') == {'b",key="a'}
    assert await told("other") == {"other"}
    asked = msgspec.structs.replace(ASK, headers=(("x-api-key", "key-other"),), facts=HeadFacts())
    samples = await scraped(made, asked)
    assert of(samples, "interlingua_requests_total") == {f"openai-chat smart {MODELS['anthropic']} other 200": 1}
    made.set_up(msgspec.structs.replace(made.settings, observing=Observing(metrics="open")))
    assert await told("a") == {*names, "-"}


async def test_the_only_key_sees_everything() -> None:
    """Where nobody is named an operator, and there is one key."""
    made = gateway(keys=(KEY,), observing=ON)
    asked = GatewayRequest(method="GET", path="/metrics", headers=(("x-api-key", "il-secret-key"),))
    assert ("interlingua_under_way", ()) in await scraped(made, asked)


async def test_probes_of_machines_are_not_counted() -> None:
    """What monitoring itself asks says nothing of the service."""
    made = gateway(observing=ON)
    for path in ("/health/live", "/health/ready", "/metrics"):
        await made(GatewayRequest(method="GET", path=path, peer="127.0.0.1"))
    assert of(await scraped(made), "interlingua_requests_total") == {}


def test_without_metrics_there_is_no_counter() -> None:
    """Off is off."""
    made = gateway()
    assert made.metrics is None
    assert not made.recorder.is_wanted
    assert isinstance(gateway(observing=ON).metrics, Metrics)
