"""Keys on the console: what there is, and what was used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from interlingua.gateway.console.usage import used_limits
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.budget import Account, Spent, Used
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from tests.support.gateway import asking, gateway
from tests.unit.gateway.console.looking import KEYS, kept, looked, with_keys

BOSS, OTHER = KEYS
TERMS = Terms(rpm=60, budgets=(read_budget("2M tokens/day"),))


async def test_an_operator_sees_every_key_without_its_text_or_digest() -> None:
    """Names, teams, models, limits as people write them."""
    keys = (BOSS, msgspec.structs.replace(OTHER, terms=TERMS, team="a", expires_s=5.0))
    made = gateway(keys=keys, operators=("boss",), teams={"a": Terms(concurrency=3)})
    status, told = await kept(made, looked("/console/keys", "boss-key"))
    assert (status, [key["name"] for key in told["keys"]]) == (200, ["boss", "team-a"])
    assert told["keys"][1] == {
        "name": "team-a",
        "team": "a",
        "models": ["smart"],
        "limits": [
            {"told": "60 requests/min", "used": 0, "reserved": 0, "allowed": 60},
            {"told": "2,000,000 tokens/day", "unit": "tokens", "used": 0.0, "reserved": 0.0, "allowed": 2e6},
        ],
        "team_limits": [{"told": "3 at a time", "used": 0, "reserved": 0, "allowed": 3}],
        "expires_s": 5.0,
        "revoked_s": None,
        "state": "expired",
        "used": None,
        "models_used": {},
    }
    assert "sha256" not in str(told)


async def test_a_key_sees_itself() -> None:
    """And no other."""
    _, told = await kept(with_keys(), looked("/console/keys", "a-key"))
    assert [key["name"] for key in told["keys"]] == ["team-a"]


async def test_without_keys_there_are_none_to_see() -> None:
    """Nothing is said of anybody."""
    _, told = await kept(gateway(), looked("/console/keys"))
    assert (told["keys"], told["passed_over"]) == ([], [])


async def test_what_was_used_is_summed_where_it_is_kept() -> None:
    """In memory for keys with limits."""
    made = gateway(aliases={"smart": "fake/model"}, keys=(BOSS, msgspec.structs.replace(OTHER, terms=TERMS)))
    assert (await made(asking("openai-chat", "smart", headers={"x-api-key": "a-key"}))).status == 200
    _, told = await kept(made, looked("/console/keys", "a-key"))
    (key,) = told["keys"]
    assert (key["used"]["requests"], key["used"]["failed"], list(key["models_used"])) == (1, 0, ["fake/model"])
    assert key["used"]["input_tokens"] > 0


async def test_limits_say_how_much_of_them_is_used() -> None:
    """Of the minute, of calls at a time and of budgets, the key's own and its team's; what is reserved apart."""
    terms = Terms(rpm=60, tpm=10_000, concurrency=4, max_body_bytes=9_000, budgets=(read_budget("1000 tokens/day"),))
    one = msgspec.structs.replace(OTHER, terms=terms, team="t")
    made = gateway(aliases={"smart": "fake/model"}, keys=(BOSS, one), teams={"t": Terms(rpm=9)}, operators=("boss",))
    headers = {"x-api-key": "a-key"}
    assert (await made(asking("openai-chat", "smart", headers=headers, max_tokens=100))).status == 200
    stream = await made(asking("openai-chat", "smart", headers=headers, stream=True, max_tokens=100))
    _, told = await kept(made, looked("/console/keys", "boss-key"))
    limits = {
        limit["told"]: (limit["used"], limit["reserved"], limit["allowed"]) for limit in told["keys"][1]["limits"]
    }
    whole = told["keys"][1]["used"]
    tokens = whole["input_tokens"] + whole["output_tokens"]
    reserved = limits["1,000 tokens/day"][1]
    assert 100 < reserved < 200
    assert limits == {
        "60 requests/min": (2, 0, 60),
        "10,000 tokens/min": (tokens + reserved, 0, 10_000),
        "4 at a time": (1, 0, 4),
        "9,000 bytes a body": (None, 0, 9_000),
        "1,000 tokens/day": (tokens, reserved, 1_000),
    }
    assert told["keys"][1]["team_limits"] == [{"told": "9 requests/min", "used": 2, "reserved": 0, "allowed": 9}]
    assert not isinstance(stream.body, bytes)
    await stream.body.aclose()
    spent = Account(spent=Spent(day=20_000, month=24_297, in_day=Used(nano_usd=1_250_000_000)))
    dollars = Terms(budgets=(read_budget("5 USD/day"),))
    assert used_limits(dollars, spent, 20_000 * 86_400.0) == [
        {"told": "5.00 USD/day", "unit": "usd", "used": 1.25, "reserved": 0.0, "allowed": 5.0}
    ]


async def test_a_revoked_key_keeps_its_use_under_its_name(tmp_path: Path) -> None:
    """Also one that is in no place any more; where the name was given out again, the new key has the sum, once."""
    file = str(tmp_path / "keys.sqlite")
    database = KeyDatabase(Path(file), now=lambda: 1_800_000_000.0)
    for name in ("x", "y"):
        database.create(GatewayKey(name=name, hash=hash_key(f"{name}-key")))
    made = gateway(aliases={"smart": "fake/model"}, keys=(BOSS, OTHER), key_file=file, operators=("boss",))
    for key in ("x-key", "y-key", "a-key", "boss-key"):
        assert (await made(asking("openai-chat", "smart", headers={"x-api-key": key}))).status == 200
    database.revoke("x")
    database.revoke("y")
    database.create(GatewayKey(name="y", hash=hash_key("y-2-key")))
    database.close()
    await made.close()
    again = gateway(keys=(BOSS,), key_file=file, operators=("boss",))
    _, told = await kept(again, looked("/console/keys", "boss-key"))
    used = [(one["name"], one["state"], one["used"] and one["used"]["requests"]) for one in told["keys"]]
    assert sorted(used) == [
        ("boss", "works", 1),
        ("team-a", "removed", 1),
        ("x", "revoked", 1),
        ("y", "replaced", None),
        ("y", "works", 1),
    ]
    await again.close()


async def test_since_when_use_is_summed(tmp_path: Path) -> None:
    """The first of 31 days where it is kept; in memory since the gateway began."""
    time_s = 1_800_000_000.0

    async def since(file: str) -> Any:
        settings = GatewaySettings(keys=KEYS, operators=("boss",), key_file=file)
        made = Gateway(settings, registry=Registry({}), now=lambda: time_s)
        _, told = await kept(made, looked("/console/keys", "boss-key"))
        await made.close()
        return told["since_s"]

    assert await since("") == time_s
    assert await since(str(tmp_path / "keys.sqlite")) == time_s // 86_400 * 86_400 - 30 * 86_400


async def test_of_the_database_the_last_days_are_summed(tmp_path: Path) -> None:
    """For every key that is kept there; after a month they are no longer told."""
    time_s = 1_800_000_000.0
    registry = Registry({})
    registry.register_alias("smart", "fake/model")
    settings = GatewaySettings(keys=KEYS, operators=("boss",), key_file=str(tmp_path / "keys.sqlite"))
    made = Gateway(settings, registry=registry, now=lambda: time_s)
    for _ in range(2):
        assert (await made(asking("openai-chat", "smart", headers={"x-api-key": "a-key"}))).status == 200

    async def used() -> Any:
        _, told = await kept(made, looked("/console/keys", "boss-key"))
        return told["keys"][1]["used"]

    assert (await used())["requests"] == 2
    time_s += 32 * 86_400
    assert await used() is None
    await made.close()
