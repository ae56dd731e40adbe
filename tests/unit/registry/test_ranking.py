"""Aliases that say in which order their targets are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.registry.ranking import ORDERED, Ranking, Rule
from interlingua.registry.resolve import Registry

FAST = Rule("fastest")


def _registry() -> Registry:
    return Registry({"LLM_FROM_ENV": "groq/env"})


def test_an_alias_without_a_policy_has_no_ranking() -> None:
    """Nothing to decide: the targets are asked as they are named, and nobody has to look."""
    registry = _registry()
    registry.register_alias("smart", "groq/a,mistral/b")
    registry.register_alias("plain", "smart,groq/c", policy="ordered")
    assert registry.ranking("plain") is None
    assert registry.ranking("groq/a,from-env") is None


def test_aliases_nest_with_their_rules() -> None:
    """A branch stands where its alias stood, in the middle of a chain, too."""
    registry = _registry()
    registry.register_alias("quick", "groq/a,groq/b", policy="fastest")
    registry.register_alias("mixed", "quick,mistral/c", policy="weighted", weights=[3, 1])
    quick = Ranking(FAST, ("groq/a", "groq/b"))
    mixed = Ranking(Rule("weighted", (3, 1)), (quick, "mistral/c"))
    assert registry.ranking("openai/x,mixed,from-env") == Ranking(
        ORDERED, ("openai/x", mixed, Ranking(ORDERED, ("groq/env",)))
    )
    assert [endpoint.spec for endpoint in registry.resolve("mixed")] == ["groq/a", "groq/b", "mistral/c"]


def test_an_alias_that_comes_twice_counts_once() -> None:
    """Its second place is kept empty, so that weights stay with whom they belong to."""
    registry = _registry()
    registry.register_alias("quick", "groq/a,groq/b", policy="fastest")
    registry.register_alias("all", "quick,mistral/c,quick", policy="weighted", weights=[1, 1, 5])
    found = registry.ranking("all")
    assert found is not None
    assert found.members[0] == Ranking(
        Rule("weighted", (1, 1, 5)), (Ranking(FAST, ("groq/a", "groq/b")), "mistral/c", Ranking(ORDERED))
    )


def test_many_nested_aliases_stay_small() -> None:
    """Each alias of a ladder names the next one twice: the ranking does not double with every step."""
    registry = _registry()
    registry.register_alias("a0", "groq/a,groq/b", policy="fastest")
    for step in range(1, 40):
        registry.register_alias(f"a{step}", f"a{step - 1},a{step - 1}", policy="least-busy")
    assert registry.ranking("a39") is not None


def test_the_rule_of_the_alias_that_is_found_counts(tmp_path: Path) -> None:
    """Code before the file, exact names before the longest beginning, each with its own rule."""
    registry = _registry()
    file = tmp_path / "il.toml"
    file.write_text(
        '[aliases]\nsmart = { targets = ["groq/a", "groq/b"], policy = "least-busy" }\n'
        '"claude-*" = { targets = ["groq/c", "groq/d"], policy = "weighted", weights = [1, 2.5] }\n'
        '"claude-haiku-*" = "groq/e"\n'
    )
    registry.load_config(file)
    assert _members(registry, "smart") == Ranking(Rule("least-busy"), ("groq/a", "groq/b"))
    assert _members(registry, "claude-opus-5") == Ranking(Rule("weighted", (1, 2.5)), ("groq/c", "groq/d"))
    assert registry.ranking("claude-haiku-5") is None
    registry.register_alias("smart", "groq/z,groq/y")
    assert registry.ranking("smart") is None


def _members(registry: Registry, spec: str) -> Any:
    found = registry.ranking(spec)
    assert found is not None
    return found.members[0]


def test_a_ranking_is_remembered_until_something_changes() -> None:
    """The same object, and another one after a registration."""
    registry = _registry()
    registry.register_alias("quick", "groq/a,groq/b", policy="fastest")
    first = registry.ranking("quick")
    assert registry.ranking("quick") is first
    registry.register_alias("quick", "groq/b,groq/a", policy="fastest")
    assert _members(registry, "quick").members == ("groq/b", "groq/a")


@pytest.mark.parametrize(
    ("policy", "weights", "message"),
    [
        ("random", None, "policy takes ordered, weighted, least-busy, fastest, prefix, not 'random'"),
        ("fastest", [1, 2], "weights go with policy 'weighted', not with 'fastest'"),
        ("weighted", [1], "1 weights for 2 targets; each has one"),
        ("weighted", [0, 0], "weights are numbers from 0 on, at least one of them above it"),
        ("weighted", [-1, 2], "weights are numbers from 0 on, at least one of them above it"),
        ("weighted", [True, 2], "weights are numbers from 0 on, at least one of them above it"),
        ("weighted", [float("nan"), 2], "weights are numbers from 0 on, at least one of them above it"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(policy: str, weights: list[float] | None, message: str) -> None:
    """At once, in words; the alias is not defined."""
    registry = _registry()
    with pytest.raises(il.ConfigError, match=message):
        registry.register_alias("quick", "groq/a,groq/b", policy=policy, weights=weights)
    assert "quick" not in registry.aliases()
