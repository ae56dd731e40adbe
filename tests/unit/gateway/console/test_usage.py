"""Keys on the console: what there is, and what was used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewaySettings
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
        "limits": ["60 requests/min", "2,000,000 tokens/day"],
        "team_limits": ["3 at a time"],
        "expires_s": 5.0,
        "revoked_s": None,
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
