"""What a request would do, told without sending anything."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.testing import no_network
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask, told

ENVIRONMENT = {"ANTHROPIC_API_KEY": "sk-ant-secret", "OPENAI_API_KEY": "sk-openai-secret"}
ALIASES = {"smart": "anthropic/claude-opus-4-5,openai/gpt-5.6"}
CHAT: dict[str, Any] = {"model": "smart", "messages": [{"role": "user", "content": "Hi"}], "logit_bias": {"1": 1}}


def _explained(path: str, body: Any, status: int = 200, **settings: Any) -> Any:
    with no_network():
        return told(ask(gateway(ENVIRONMENT, ALIASES, **settings), path, body), status)


@pytest.mark.parametrize(
    ("path", "body"),
    [("/explain/v1/chat/completions", CHAT), ("/explain", {"dialect": "openai-chat", "request": CHAT})],
)
def test_a_request_is_explained_by_its_path_or_by_name(path: str, body: Any) -> None:
    """Targets in order, the one chosen, what it would get and what would be changed; no key anywhere."""
    plan = _explained(path, body)
    assert (plan["dialect"], plan["model"]) == ("openai-chat", "smart")
    first, second = plan["targets"]
    assert (first["spec"], first["dialect"], first["chosen"], first["relayed"]) == (
        "anthropic/claude-opus-4-5", "anthropic", True, False,
    )  # fmt: skip
    assert (second["spec"], second["dialect"], second["relayed"]) == ("openai/gpt-5.6", "openai-chat", True)
    assert plan["http"]["url"] == "https://api.anthropic.com/v1/messages"
    assert plan["http"]["body"]["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    assert plan["request"]["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
    assert [(change["action"], change["code"], change["path"]) for change in plan["changes"]] == [
        ("approximated", "parameter_added", "/max_tokens"),
        ("dropped", "parameter_unsupported", "/logit_bias"),
    ]
    assert plan["input_tokens"] == 8
    assert "secret" not in str(plan)
    assert plan["http"]["headers"].keys() <= {"content-type", "accept", "anthropic-version"}


def test_a_body_that_would_go_out_as_it_came_is_shown_so() -> None:
    """The client's own words, with the target's own name of the model."""
    body = {"model": "smart", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}
    plan = _explained("/explain/v1/messages", body)
    assert plan["targets"][0]["relayed"] is True
    assert plan["http"]["body"] == {**body, "model": "claude-opus-4-5"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/explain/v1beta/models/smart:generateContent", {"contents": [{"parts": [{"text": "Hi"}]}]}),
        ("/explain", {"dialect": "gemini", "model": "smart", "request": {"contents": [{"parts": [{"text": "Hi"}]}]}}),
        ("/explain/api/chat", {"model": "smart", "messages": [{"role": "user", "content": "Hi"}]}),
        ("/explain/v1/responses", {"model": "smart", "input": "Hi"}),
        ("/explain/unified/v1/generate", {"model": "smart", "messages": [{"role": "user", "content": "Hi"}]}),
    ],
)
def test_every_dialect_can_be_explained(path: str, body: Any) -> None:
    """Each reaches the same targets."""
    plan = _explained(path, body)
    assert [target["spec"] for target in plan["targets"]] == ["anthropic/claude-opus-4-5", "openai/gpt-5.6"]
    assert plan["request"]["messages"][0]["parts"] == [{"type": "text", "text": "Hi"}]


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/explain", {"dialect": "klingon", "request": {}}, 400, "/dialect: name one of"),
        ("/explain", {"dialect": "anthropic"}, 400, "/request: it is missing"),
        ("/explain/v1/models", {}, 404, "asks no model"),
        ("/explain/v1/chat/completions", {"model": "nobody", "messages": CHAT["messages"]}, 404, "nobody"),
        ("/explain/v1/chat/completions", {"messages": CHAT["messages"]}, 400, "/model"),
    ],
)
def test_what_cannot_be_explained_is_said(path: str, body: Any, status: int, says: str) -> None:
    """An error with its place."""
    assert says in str(_explained(path, body, status))


def test_a_key_that_may_not_ask_may_not_have_it_explained() -> None:
    """403, as for the request itself."""
    key = GatewayKey(name="a", hash=hash_key("a"), models=("other",))
    made = gateway(ENVIRONMENT, ALIASES, keys=(key,))
    assert ask(made, "/explain/v1/chat/completions", CHAT, (("x-api-key", "a"),)).status == 403
    assert ask(made, "/explain/v1/chat/completions", CHAT).status == 401


@pytest.mark.parametrize(("operators", "shows"), [(("ops",), True), (("other",), False)])
def test_an_address_is_shown_to_an_operator_alone(operators: tuple[str, ...], shows: bool) -> None:
    """A base URL may be a secret itself: any other key sees what comes behind it."""
    keys = (GatewayKey(name="ops", hash=hash_key("a")), GatewayKey(name="other-team", hash=hash_key("b")))
    environ = {"LLM_WORK": "openai-compatible://token@hooks.example/services/T0PSECRET/v1"}
    made = gateway(environ, {}, keys=keys, operators=operators)
    with no_network():
        plan = told(
            ask(made, "/explain/v1/chat/completions", {**CHAT, "model": "work/m"}, headers=(("x-api-key", "a"),))
        )
    assert plan["targets"][0].get("base_url") == ("https://hooks.example/services/T0PSECRET/v1" if shows else None)
    base = "https://hooks.example/services/T0PSECRET/v1" if shows else ""
    assert plan["http"]["url"] == f"{base}/chat/completions"
    assert ("T0PSECRET" in str(plan)) is shows


@pytest.mark.parametrize(
    ("models", "providers", "aliases"),
    [
        ((), ["anthropic", "hub", "openai", "openai-chat", "openai-responses"], ["private", "smart"]),
        (("smart", "anthropic/claude-*"), ["anthropic"], ["smart"]),
        (("private",), [], ["private"]),
        (("openai/*",), ["openai"], []),
    ],
)
def test_a_key_with_a_list_sees_its_targets_alone(
    models: tuple[str, ...], providers: list[str], aliases: list[str]
) -> None:
    """`/health/targets` names no alias and no provider that it may not ask for; an operator sees all."""
    keys = (
        GatewayKey(name="narrow", hash=hash_key("a"), models=models),
        GatewayKey(name="ops", hash=hash_key("b"), models=("smart",)),
    )
    made = gateway(ENVIRONMENT, {**ALIASES, "private": "openai/gpt-5.6"}, keys=keys, operators=("ops",))
    seen = told(ask(made, "/health/targets", method="GET", headers=(("x-api-key", "a"),)))
    assert (sorted(seen["providers"]), sorted(seen["aliases"])) == (providers, aliases)
    seen = told(ask(made, "/health/targets", method="GET", headers=(("x-api-key", "b"),)))
    assert sorted(seen["aliases"]) == ["private", "smart"]
