"""Aliases: expansion in place, circles by name, each target once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import ConfigError, UnknownModelError
from interlingua.registry.alias import MAX_ALIAS_DEPTH, expand, longest_prefix, settled
from interlingua.registry.spec import Element

PROVIDERS = {"p", "q"}
NAMES = "abcd"
elements = st.one_of(st.sampled_from(NAMES), st.tuples(st.sampled_from("pq"), st.sampled_from("12")).map("/".join))
specs = st.lists(elements, min_size=1, max_size=4).map(",".join)


def expanded(spec: str, aliases: dict[str, str]) -> list[str]:
    """The targets as text."""

    def meaning(element: Element) -> str | None:
        return aliases[element.name] if element.provider is None else None

    return [element.text for element in expand(spec, meaning)]


@pytest.mark.parametrize(
    ("spec", "targets"),
    [
        ("p/1", ["p/1"]),
        ("fast", ["p/1"]),
        ("q/2,fast", ["q/2", "p/1"]),
        ("fast,q/2", ["p/1", "q/2"]),
        ("both,q/3", ["p/1", "q/2", "q/3"]),
        ("q/2,both", ["q/2", "p/1"]),
        ("deep", ["q/9", "p/1", "q/2"]),
        ("p/1,p/1,fast,both", ["p/1", "q/2"]),
    ],
)
def test_aliases_expand_anywhere_and_targets_come_once(spec: str, targets: list[str]) -> None:
    """Alone, first, in the middle, at the end, recursively; of equal targets the first stays."""
    aliases = {"fast": "p/1", "both": "fast,q/2", "deep": "q/9,both,fast"}
    assert expanded(spec, aliases) == targets


@pytest.mark.parametrize(
    ("start", "circle"),
    [("a", "a -> b -> c -> a"), ("p/1,c", "c -> a -> b -> c"), ("d", "d -> d"), ("e", "a -> b -> c -> a")],
)
def test_a_circle_is_named(start: str, circle: str) -> None:
    """The error shows the way round, from the first name that comes again."""
    aliases = {"a": "b", "b": "p/1,c", "c": "a", "d": "d", "e": "a"}
    with pytest.raises(ConfigError) as caught:
        expanded(start, aliases)
    assert str(caught.value) == f"aliases go in a circle: {circle}"


def _reference(spec: str, aliases: dict[str, str], trail: tuple[str, ...] = ()) -> list[str]:
    """The plain recursive definition, without sharing."""
    found: list[str] = []
    for text in spec.split(","):
        if text in trail:
            raise ConfigError("circle")
        found += _reference(aliases[text], aliases, (*trail, text)) if text in aliases else [text]
    return list(dict.fromkeys(found))


@given(specs, st.fixed_dictionaries(dict.fromkeys(NAMES, specs)))
def test_expansion_is_the_recursive_definition(spec: str, aliases: dict[str, str]) -> None:
    """For any set of aliases: the same targets in the same order, or a circle where the definition has one."""
    try:
        expected = _reference(spec, aliases)
    except ConfigError:
        with pytest.raises(ConfigError, match="circle"):
            expanded(spec, aliases)
    else:
        assert expanded(spec, aliases) == expected


def test_doubling_aliases_stay_cheap() -> None:
    """Thirty aliases that each name the next one twice are thirty steps, not a billion."""
    aliases = {f"a{n}": f"a{n + 1},a{n + 1}" for n in range(30)} | {"a30": "p/1"}
    assert expanded("a0", aliases) == ["p/1"]


def test_nesting_is_bounded() -> None:
    """As deep as the bound is fine, one more is an error."""
    aliases = {f"a{n}": f"a{n + 1}" for n in range(200)}
    assert expanded("a0", {**aliases, f"a{MAX_ALIAS_DEPTH - 1}": "p/1"}) == ["p/1"]
    with pytest.raises(ConfigError, match=f"the alias a0 nests deeper than {MAX_ALIAS_DEPTH}"):
        expanded("a0", {**aliases, f"a{MAX_ALIAS_DEPTH}": "p/1"})


def test_a_malformed_alias_is_an_error_when_used() -> None:
    """An empty element inside an alias is named."""
    with pytest.raises(UnknownModelError, match="empty element"):
        expanded("a", {"a": "p/1,,"})


def test_the_longest_prefix_counts() -> None:
    """`claude-haiku-*` comes before `claude-*`; a name without star is no prefix."""
    aliases = {"claude-*": "p/1", "claude-haiku-*": "p/2", "claude": "p/3"}
    assert longest_prefix("claude-haiku-5", aliases) == "p/2"
    assert longest_prefix("claude-opus-5", aliases) == "p/1"
    assert longest_prefix("gpt", aliases) is None


def names_of(values: dict[str, str], start: str) -> set[str]:
    """The aliases among values that may be anything."""
    return set(settled(start, values.get, lambda element: element.provider in PROVIDERS))


def test_a_value_is_an_alias_when_every_element_is_known() -> None:
    """A model of a known provider, or another alias, and nothing else."""
    values = {"a": "p/1,b", "b": "q/2", "debug": "true", "path": "/usr/bin", "mixed": "p/1,true", "own": "own"}
    assert names_of(values, "a") == {"a", "b"}
    assert all(names_of(values, name) == set() for name in ("debug", "path", "mixed", "own", "absent"))


def test_a_stray_at_the_end_spoils_the_whole_way() -> None:
    """What leads to somebody else's value is somebody else's."""
    assert names_of({"a": "b", "b": "c,p/1", "c": "true"}, "a") == set()


def test_aliases_that_lead_to_each_other_are_aliases() -> None:
    """Only so can the circle be named when one of them is used."""
    assert names_of({"a": "b", "b": "a,p/1"}, "a") == {"a", "b"}
