"""The stream of requests: first who looks, then what comes, and when it ends."""

from __future__ import annotations

from typing import cast

import pytest

from interlingua.gateway.console import live as room
from interlingua.gateway.console.feed import MAX_WATCHERS
from interlingua.gateway.http import Pieces
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from tests.support.gateway import asking, body_of
from tests.unit.gateway.console.looking import frames, looked, with_keys


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "TICK_S", 0.001)


async def test_requests_are_told_when_they_are_over() -> None:
    """With names, times and counts, and without a word of what was said."""
    made = with_keys()
    reply = await made(looked("/console/live", "boss-key"))
    assert (reply.status, dict(reply.headers)["content-type"]) == (200, "text/event-stream")
    ((name, hello), (_, nothing)) = await frames(reply, 2)
    assert (name, hello["key"], hello["operator"], hello["content"]) == ("hello", "boss", True, False)
    assert nothing == {"done": [], "now": [], "missed": 0}
    answer = await made(asking("anthropic", "smart", "a secret word", headers={"x-api-key": "a-key"}))
    assert answer.status == 200
    ((_, told),) = await frames(reply, 1)
    (record,) = told["done"]
    assert (record["key"], record["client"], record["model"], record["target"], record["status"]) == (
        "team-a", "anthropic", "smart", "fake/model", 200,
    )  # fmt: skip
    assert "secret" not in str(told)
    await cast("Pieces", reply.body).aclose()


async def test_a_key_is_told_of_its_own_requests_alone() -> None:
    """Also of their number."""
    made = with_keys()
    reply = await made(looked("/console/live", "a-key"))
    for key in ("boss-key", "a-key"):
        assert (await made(asking("openai-chat", "smart", headers={"x-api-key": key}))).status == 200
    ((_, hello), (_, told)) = await frames(reply, 2)
    assert (hello["operator"], [record["key"] for record in told["done"]]) == (False, ["team-a"])
    await cast("Pieces", reply.body).aclose()


async def test_it_ends_when_the_gateway_drains() -> None:
    """Nobody who looks holds up its end."""
    made = with_keys()
    reply = await made(looked("/console/live", "boss-key"))
    made.lifecycle.is_draining = True
    assert (await body_of(reply)).startswith(b"event: hello\n")


async def test_it_ends_when_the_key_stops_working() -> None:
    """A key that is revoked, and one that is no operator's any more."""
    made = with_keys()
    replies = [await made(looked("/console/live", key)) for key in ("boss-key", "a-key")]
    for reply in replies:
        await frames(reply, 2)
    boss = GatewayKey(name="boss", hash=hash_key("boss-key"))
    made.set_up(GatewaySettings(keys=(boss,), operators=("somebody",)))
    assert [await body_of(reply) for reply in replies] == [b"", b""]


async def test_who_leaves_makes_room() -> None:
    """As many as there is room for look, and closing a stream twice counts once."""
    made = with_keys()
    replies = [await made(looked("/console/live", "boss-key")) for _ in range(MAX_WATCHERS)]
    refused = await made(looked("/console/live", "boss-key"))
    assert (refused.status, dict(refused.headers)["retry-after"]) == (429, "5")
    for _ in range(2):
        await cast("Pieces", replies[0].body).aclose()
    again = await made(looked("/console/live", "boss-key"))
    assert (again.status, (await made(looked("/console/live", "boss-key"))).status) == (200, 429)
    for reply in (*replies[1:], again):
        await cast("Pieces", reply.body).aclose()
