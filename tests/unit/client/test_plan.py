"""Explaining: who would be asked, what would be sent, what would be changed; nothing is sent and no key is shown."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.state import health_store
from interlingua.registry.resolve import Registry
from interlingua.routing.estimate import estimate_tokens
from interlingua.routing.health import Failed, Suspend
from interlingua.wire.json import decode_any
from tests.support.client import chat, scripted
from tests.support.identities import identity_of

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(params=[il.model, aio.model], ids=["blocking", "awaited"])
def make(request: pytest.FixtureRequest) -> Any:
    """How a model is made in both faces; explaining awaits nothing."""
    return request.param


def test_a_plan_says_who_is_asked_and_what_is_sent(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first target that takes the request is chosen; the body is the one that a call would send."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    model = make("openai-chat/gpt-4.1,groq/llama", system="Be terse.")
    plan = model.explain("Hi", temperature=0.5)
    assert [(target.spec, target.chosen, target.reason) for target in plan.targets] == [
        ("openai-chat/gpt-4.1", True, ""),
        ("groq/llama", False, ""),
    ]
    assert plan.request == il.Request(messages=(il.user("Hi"),), system=(il.TextPart("Be terse."),), temperature=0.5)
    with scripted(chat(), alone=False) as script:
        il.model("openai-chat/gpt-4.1", system="Be terse.").generate("Hi", temperature=0.5)
    assert plan.http is not None
    assert plan.http.body == script.requests[0].body
    assert plan.http.url == script.requests[0].url


@pytest.mark.parametrize(
    ("spec", "marks"),
    [("anthropic/claude-opus-5", 2), ("openai/gpt-5.6", 0), ("google/gemini-3-pro", 0), ("ollama/llama3.2", 0)],
)
def test_automatic_caching_is_one_word_for_every_provider(make: Any, spec: str, marks: int) -> None:
    """Marked where a provider must be told, left alone where it caches by itself; nothing is lost or said."""
    plan = make(spec, cache="auto", system="Be terse.").explain("Hi")
    assert plan.http is not None
    assert plan.http.body.count(b'"cache_control"') == marks
    assert [change for change in plan.changes if "cache" in change.path or "cache" in change.code] == []


def test_a_plan_says_what_the_call_may_cost_at_most(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The input as it is estimated, and the output that is asked for, for each choice; None without a price."""
    monkeypatch.setenv("LLM_PRICED", "openai://token@priced.example/v1?price_in=1000000&price_out=10")
    monkeypatch.setenv("LLM_WORK", "openai://token@work.example/v1")
    model = make("priced/m")
    plan = model.explain("Hi", max_tokens=100)
    read = estimate_tokens(plan.request, "m")
    assert read > 0
    assert plan.cost_usd == read + 100 * 10 / 1_000_000
    assert model.explain("Hi", max_tokens=100, n=3).cost_usd == read + 300 * 10 / 1_000_000
    assert model.explain("Hi").cost_usd == read + 4_096 * 10 / 1_000_000
    assert model.explain("Hi", max_tokens=-9, n=-3).cost_usd == read + 4_096 * 10 / 1_000_000
    assert make("work/m").explain("Hi").cost_usd is None
    assert repr(plan) == "<Plan priced/m>"


def test_a_plan_never_shows_a_key(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line names the variable in its place, in quotes that a shell fills."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plan = make("openai-chat/gpt-4.1", headers={"x-tenant": "it's 7"}).explain("It's $HOME.")
    command = plan.curl()
    assert '-H "authorization: Bearer $OPENAI_API_KEY"' in command
    assert KEY not in f"{command}{plan!r}{plan}{plan._repr_markdown_()}"
    words = shlex.split(command)
    assert words[:2] == ["curl", "https://api.openai.com/v1/chat/completions"]
    assert "x-tenant: it's 7" in words
    assert decode_any(words[-1])["messages"] == [{"role": "user", "content": "It's $HOME."}]


def test_a_plan_without_a_key_says_so(make: Any) -> None:
    """A missing key does not stop explaining; it is the reason that is shown."""
    plan = make("openai-chat/gpt-4.1").explain("Hi")
    assert plan.targets[0].chosen
    assert "OPENAI_API_KEY" in plan.targets[0].reason
    assert "$OPENAI_API_KEY" in plan.curl()


def test_a_target_that_refuses_is_skipped_with_the_reason(make: Any) -> None:
    """When every target refuses, the plan still tells why, and there is nothing to send."""
    opaque = il.OpaquePart("anthropic", "media_ref", {"url": "https://example.com/a.png"})
    plan = make("openai-chat/gpt-4.1").explain(["See", opaque])
    [target] = plan.targets
    assert not target.chosen
    assert target.changes[0].action == "refused"
    assert plan.http is None
    with pytest.raises(il.UnsupportedError, match=r"there is nothing to send: openai-chat/gpt-4\.1: ") as caught:
        plan.curl()
    assert caught.value.changes == target.changes


def test_changes_are_told_without_warning(make: Any) -> None:
    """Explaining is asking: what would be dropped is in the plan, not in a warning."""
    plan = make("openai-chat/gpt-4.1").explain("Hi", top_k=5)
    assert [change.path for change in plan.changes] == ["/top_k"]
    assert "dropped /top_k" in str(plan)
    assert "- dropped /top_k" in plan._repr_markdown_()


def test_strict_is_explained_too(make: Any) -> None:
    """Under `strict` the plan shows the refusal."""
    plan = make("openai-chat/gpt-4.1", strict=True).explain("Hi", top_k=5)
    assert "(strict)" in plan.targets[0].reason
    assert plan.http is None


def test_a_target_without_a_key_has_none_in_its_command(make: Any) -> None:
    """Where no key goes, none is named."""
    plan = make("fake/x").explain("Hi")
    assert "authorization" not in plan.curl()


def test_a_plan_with_typed_output_holds_its_schema(make: Any) -> None:
    """What `generate(output=T)` would ask for is shown."""
    plan = make("openai-chat/gpt-4.1").explain("Hi", output=int)
    assert plan.request.output_schema is not None
    assert plan.request.output_schema["properties"] == {"value": {"type": "integer"}}


def test_a_plan_passes_over_what_is_benched(make: Any) -> None:
    """As a call would: the next target is asked, and it says why and until when; looking changes nothing."""
    health_store().apply([("fake/a", Failed("auth", error="AuthenticationError 401", identity=identity_of("fake/a")))])
    plan = make("fake/a,fake/b").explain("Hi")
    first, second = plan.targets
    assert (first.chosen, second.chosen) == (False, True)
    assert first.reason.startswith("circuit breaker open for another ")
    assert first.reason.endswith(" s: its key was refused, last AuthenticationError 401")


def test_a_plan_of_benched_targets_asks_the_first_to_be_free(make: Any) -> None:
    """Nobody else is there; what a person took out is never asked."""
    first, second = (
        Failed("auth", identity=identity_of("fake/a")),
        Failed(retry_after_s=5.0, identity=identity_of("fake/b")),
    )
    health_store().apply([("fake/a", first), ("fake/b", second), ("fake/c", Suspend())])
    plan = make("fake/a,fake/b,fake/c").explain("Hi")
    assert [target.chosen for target in plan.targets] == [False, True, False]
    alone = make("fake/c").explain("Hi")
    assert alone.http is None
    assert alone.targets[0].reason == "suspended by hand"


def test_a_plan_has_the_order_of_a_policy(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heaviest target stands for the draw."""
    registry = Registry({})
    registry.register_alias("smart", "fake/a,fake/b", policy="weighted", weights=[1, 3])
    monkeypatch.setattr("interlingua.client.face.default_registry", lambda: registry)
    assert [target.spec for target in make("smart").explain("Hi").targets] == ["fake/b", "fake/a"]
