"""What `il serve` says is on: where keys are from, what is shared, what is told, and what may surprise."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from interlingua.cli.welcome import welcome, what_is_on
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.allowance import Allowance
from interlingua.registry.resolve import Registry

PLAIN = Namespace(state=None, fault=[], key_env=None)


def _key(name: str, **more: Any) -> GatewayKey:
    return GatewayKey(name=name, hash=hash_key(name), **more)


def _said(gateway: Gateway, workers: int = 1, **options: Any) -> list[str]:
    return what_is_on(gateway, Namespace(**{**vars(PLAIN), **options}), workers)


def test_a_plain_gateway_says_nothing_of_it() -> None:
    """What is off, and what one process keeps in memory, is no line."""
    assert _said(Gateway(registry=Registry({}))) == []


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (GatewaySettings(), "no key: this machine only"),
        (GatewaySettings(keys=(_key("a"),)), "1 key"),
        (GatewaySettings(is_open=True), "open: everybody"),
        (GatewaySettings(is_open=True, keys=(_key("a"),)), "open: everybody"),
    ],
)
def test_whom_it_serves_is_told_first(settings: GatewaySettings, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody reads that it is for this machine alone where everybody is served."""
    welcome(Gateway(settings, registry=Registry({})), "127.0.0.1", 9, PLAIN)
    assert capsys.readouterr().err.startswith(f"il: serving on http://127.0.0.1:9 ({told})\n")


async def test_keys_are_told_with_their_place_and_what_may_surprise(tmp_path: Path) -> None:
    """How many from where, which one is passed over, a team that limits nothing."""
    path = str(tmp_path / "keys.sqlite")
    with closing(KeyDatabase(path, now=lambda: 0.0)) as database:
        for name in ("both", "ci", "gone"):
            database.create(GatewayKey(name=name, hash=hash_key(f"{name} of the database")))
        database.revoke("gone")
    settings = GatewaySettings(
        keys=(_key("both", team="research"), _key("b", team="sales")),
        teams={"sales": Terms(rpm=1)},
        key_file=path,
        operators=("b", "boss"),
    )
    gateway = Gateway(settings, registry=Registry({}))
    assert _said(gateway) == [
        "keys: 2 of the file and flags, 1 made by `il keys`",
        "the key both is in the file and in the database; the file wins",
        f"limits, budgets and usage of keys: in {path}, for this machine",
        "the operator boss has no key",
        "the team research has no limits: the file has no [teams.research]",
    ]
    await gateway.close()


async def test_what_workers_share_is_told(tmp_path: Path) -> None:
    """With a database of keys their limits and budgets, without it nothing."""
    path = str(tmp_path / "keys.sqlite")
    more = "; --state redis://… or postgresql://… shares health, reasoning and responses"
    assert _said(Gateway(registry=Registry({})), 3) == ["3 workers", f"shared by them: nothing{more}"]
    kept = Gateway(GatewaySettings(key_file=path), registry=Registry({}))
    assert _said(kept, 3, state="file:/s") == [
        "health of targets: in file:/s",
        "3 workers",
        f"shared by them: limits and budgets of keys{more}",
    ]
    await kept.close()


def test_in_redis_everything_is_for_all_replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its address is told without its password."""
    pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")
    monkeypatch.setenv("INTERLINGUA_STATE", "redis://:secret@127.0.0.1:1/0")
    registry = Registry({})
    registry.limits = {"openai/*": Allowance(rpm=5)}
    gateway = Gateway(GatewaySettings(keys=(_key("a"),)), registry=registry)
    assert _said(gateway, 2) == [
        "keys: 1 of the file and flags, 0 made by `il keys`",
        "limits, budgets and usage of keys: in redis://127.0.0.1:1/0, for all replicas",
        "health and limits of targets, reasoning store, stored responses: in redis://127.0.0.1:1/0, for all replicas",
        "limits towards targets: openai/*",
        "2 workers",
    ]


async def test_what_is_told_of_requests_and_done_with_them_is_told(tmp_path: Path) -> None:
    """Log, metrics, logbook, cassettes; strictness, allowances, fetching, drills."""
    store = str(tmp_path / "log.db")
    observing = Observing(
        log="json", log_content=True, metrics="keys", store=store, store_days=7, record=str(tmp_path / "tapes")
    )
    settings = GatewaySettings(
        providers=("openai", "opnai"),
        observing=observing,
        strict=True,
        allow=frozenset({"tools"}),
        allow_fetch=True,
        is_open=True,
    )
    told = "a log in json with prompts and answers; metrics for clients with a key"
    gateway = Gateway(settings, registry=Registry({}))
    assert _said(gateway, fault=["fake/*=429"]) == [
        f"requests are reported to: {told}; requests in {store}, for 7 days",
        f"prompts and answers are recorded in {tmp_path / 'tapes'}",
        "the provider opnai of [server] providers is unknown, so it gets no requests",
        "open: no key is needed",
        "strict: requests that would lose something are refused",
        "left out if a target cannot take it: tools",
        "image URLs in bodies are downloaded",
        "a drill breaks targets on purpose: fake/*=429",
    ]
    await gateway.close()


@pytest.mark.parametrize(("host", "told"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("10.1.2.3", "10.1.2.3")])
def test_a_client_is_told_an_address_that_it_can_ask(host: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Who listens everywhere is found at the loopback."""
    welcome(Gateway(GatewaySettings(keys=(_key("a"),)), registry=Registry({})), host, 8787, PLAIN)
    err = capsys.readouterr().err
    assert f"export OLLAMA_HOST=http://{told}:8787" in err
    assert "OPENAI_API_KEY=YOUR_KEY" in err
