"""Targets on the console: how they are, and taking one out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlingua.client.state import forget_state, health_store
from interlingua.gateway.core import Gateway
from interlingua.routing.health import Failed
from tests.support.gateway import asking, gateway
from tests.unit.gateway.console.looking import kept, looked, with_keys

ALIASES = {"smart": "fake/one,fake/two", "claude-*": "fake/one"}


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    forget_state()
    yield
    forget_state()


async def _suspend(made: Gateway, target: Any, for_s: Any = None, what: str = "suspend") -> Any:
    return await kept(made, looked(f"/console/targets/{what}", body={"target": target, "for_s": for_s}))


async def test_targets_are_told_with_their_health() -> None:
    """Those of aliases, and others of which something is known; of an error its class alone."""
    made = gateway(aliases=ALIASES)
    made.registry.register_alias("drawn", "fake/one,smart", policy="weighted", weights=(3, 1))
    made.registry.register_alias("quick", "fake/one,fake/two", policy="fastest")
    store = health_store()
    store.apply([("fake/two", Failed("auth", error="AuthenticationError: bad key of yours")), ("hub/x", Failed())])
    status, told = await kept(made, looked("/console/targets"))
    assert status == 200
    both = ["fake/one", "fake/two"]
    assert told["aliases"] == [
        {
            "name": "drawn",
            "elements": ["fake/one", "smart"],
            "targets": both,
            "policy": "weighted",
            "weights": [3.0, 1.0],
        },
        {"name": "quick", "elements": both, "targets": both, "policy": "fastest"},
        {"name": "smart", "elements": both, "targets": both, "policy": "ordered"},
        {"name": "claude-*", "elements": ["fake/one"], "targets": ["fake/one"], "policy": "ordered"},
    ]
    shown = [(one["spec"], one["circuit"], one["state"], one["reason"], one["error"]) for one in told["targets"]]
    assert shown == [
        ("fake/one", "closed", "open", None, ""),
        ("fake/two", "open", "benched", "auth", "AuthenticationError"),
        ("hub/x", "closed", "open", None, ""),
    ]
    assert told["targets"][1]["wait_s"] == pytest.approx(300, abs=5)
    _, plain = await kept(made, looked("/health/targets"))
    assert plain["aliases"] == {**ALIASES, "drawn": "fake/one,smart", "quick": "fake/one,fake/two"}
    assert plain["policies"] == {"drawn": {"policy": "weighted", "weights": [3.0, 1.0]}, "quick": {"policy": "fastest"}}


async def test_a_key_is_told_of_targets_that_it_may_use() -> None:
    """And of no provider."""
    made = with_keys()
    health_store().apply([("hub/x", Failed())])
    _, told = await kept(made, looked("/console/targets", "a-key"))
    assert [one["spec"] for one in told["targets"]] == ["fake/model"]
    assert (told["providers"], [one["name"] for one in told["aliases"]]) == ([], ["smart"])


async def test_an_operator_takes_a_target_out_and_puts_it_back() -> None:
    """No call goes there in between."""
    made = gateway(aliases=ALIASES)
    assert await _suspend(made, "fake/one") == (200, {"targets": ["fake/one"]})
    _, told = await kept(made, looked("/console/targets"))
    assert [(one["spec"], one["state"]) for one in told["targets"]] == [("fake/one", "suspended"), ("fake/two", "open")]
    reply = await made(asking("openai-chat", "smart"))
    assert dict(reply.headers)["x-interlingua-target"] == "fake/two"
    assert await _suspend(made, "fake/one", what="resume") == (200, {"targets": ["fake/one"]})
    assert health_store().snapshot() == {}


async def test_a_target_that_only_another_gateway_knows_is_put_back() -> None:
    """It stands in the shared table, so it can be taken by its name there, too; a name of nobody's cannot."""
    made = gateway(aliases=ALIASES)
    health_store().apply([("nobody/x", Failed("auth"))])
    assert await _suspend(made, "nobody/x", what="resume") == (200, {"targets": ["nobody/x"]})
    assert health_store().snapshot() == {}
    status, _ = await _suspend(made, "nobody/x", what="resume")
    assert status == 404


async def test_for_a_while_and_every_target_of_a_name() -> None:
    """An alias means each of its targets."""
    made = gateway(aliases=ALIASES)
    assert await _suspend(made, "smart", 60) == (200, {"targets": ["fake/one", "fake/two"]})
    assert {one.wait_s is not None and 50 < one.wait_s <= 60 for one in health_store().snapshot().values()} == {True}


@pytest.mark.parametrize(
    ("target", "for_s", "status"),
    [("", None, 400), (None, None, 400), (7, None, 400), ("fake/one", 0, 400), ("fake/one", -1, 400),
     ("fake/one", "soon", 400), ("fake/one", 1e12, 400), ("nobody/x", None, 404)],
)  # fmt: skip
async def test_what_makes_no_sense_is_refused(target: Any, for_s: Any, status: int) -> None:
    """With the member that is wrong; nothing is suspended."""
    found, told = await _suspend(gateway(), target, for_s)
    assert (found, health_store().snapshot()) == (status, {})
    assert told["error"]["message"]
