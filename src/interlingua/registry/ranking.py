"""In which order the targets of a chain are asked: an alias may say more than the order in which it names them.

Shape: a ranking is a tree. A leaf is a target, a branch an alias with its rule; branches stand where the alias stood.

Not responsible for: deciding, which takes what was measured and a random number (`routing.order`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias, cast, get_args

from msgspec import Struct

from interlingua.errors import ConfigError, kind_of
from interlingua.registry.spec import Element, parse_spec
from interlingua.types.capabilities import FEATURES, Feature

__all__ = ["NOBODY", "ORDERED", "POLICIES", "Policy", "Ranking", "Rule", "ranked", "rule"]

Policy: TypeAlias = Literal["ordered", "weighted", "least-busy", "fastest", "prefix"]
"""As they are named; drawn by weight; who has the fewest calls under way; who was the first to answer lately;
one target for all turns of a conversation."""
POLICIES: tuple[Policy, ...] = get_args(Policy)
"""Every policy."""


class Rule(Struct, frozen=True):
    """How the elements of an alias are put in order."""

    policy: Policy = "ordered"
    """The rule."""
    weights: tuple[float, ...] = ()
    """One for each element of a weighted alias; empty where all weigh the same."""
    require: frozenset[Feature] = frozenset()
    """Features that a target must take; one that is known not to is passed over."""


class Ranking(Struct, frozen=True):
    """The elements of an alias or of a spec, with the rule of their order."""

    rule: Rule
    """Their rule."""
    members: tuple[str | Ranking, ...] = ()
    """Targets, `provider/model`, and aliases."""

    @property
    def is_plain(self) -> bool:
        """Whether the targets are asked in the order in which they are named."""
        return (
            self.rule.policy == "ordered"
            and not self.rule.require
            and all(isinstance(member, str) or member.is_plain for member in self.members)
        )

    @property
    def has_requirements(self) -> bool:
        """Whether an alias requires something of its targets."""
        return bool(self.rule.require) or any(
            [member.has_requirements for member in self.members if type(member) is Ranking]
        )

    def required(self) -> dict[str, frozenset[Feature]]:
        """Features that each target must take, by target: those that its aliases require together."""
        features_by_target: dict[str, frozenset[Feature]] = {}
        for member in self.members:
            inner = {member: frozenset[Feature]()} if isinstance(member, str) else member.required()
            for target, features in inner.items():
                features_by_target[target] = features_by_target.get(target, frozenset()) | features | self.rule.require
        return features_by_target


ORDERED = Rule()
"""The rule of whoever says nothing."""
NOBODY = Ranking(ORDERED)
"""Stands where an alias stands for the second time."""


def rule(policy: str, weights: Sequence[float] | None, spec: str, require: Iterable[str] = ()) -> Rule:
    """The rule of an alias that stands for `spec`.

    Raises: ConfigError for a policy that there is not, for weights that do not fit, and for what is no feature.
    """
    if policy not in POLICIES:
        raise ConfigError(f"policy takes {', '.join(POLICIES)}, not {policy!r:.60}")
    if not isinstance(require, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise ConfigError(f"require takes features among {', '.join(FEATURES)}, not {kind_of(require)}")
    words = (require,) if isinstance(require, str) else tuple(require)
    for word in words:
        if word not in FEATURES:
            raise ConfigError(f"require takes features among {', '.join(FEATURES)}, not {word!r:.60}")
    features = frozenset(cast("tuple[Feature, ...]", words))
    if weights is None:
        return Rule(policy, require=features)
    if policy != "weighted":
        raise ConfigError(f"weights go with policy 'weighted', not with {policy!r}")
    if isinstance(weights, str) or not isinstance(weights, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise ConfigError(f"weights are a list of numbers, not {kind_of(weights)}")
    count = len(parse_spec(spec))
    if len(weights) != count:
        raise ConfigError(f"{len(weights)} weights for {count} targets; each has one")
    if not all(_is_weight(weight) for weight in weights) or not any(weights):
        raise ConfigError("weights are numbers from 0 on, at least one of them above it")
    return Rule("weighted", tuple(weights), features)


def _is_weight(weight: object) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight < float("inf")


def ranked(
    spec: str,
    meaning: Callable[[Element], str | None],
    rule_of: Callable[[Element], Rule],
    target_of: Callable[[Element], str],
) -> Ranking:
    """The ranking of a spec that can be expanded."""
    return _ranking(spec, ORDERED, (meaning, rule_of, target_of), set())


def _ranking(
    spec: str,
    own: Rule,
    asks: tuple[Callable[[Element], str | None], Callable[[Element], Rule], Callable[[Element], str]],
    done: set[str],
) -> Ranking:
    meaning, rule_of, target_of = asks
    members: list[str | Ranking] = []
    for element in parse_spec(spec):
        stands_for = meaning(element)
        if stands_for is None:
            members.append(target_of(element))
        elif element.text in done:
            members.append(NOBODY)
        else:
            done.add(element.text)
            members.append(_ranking(stands_for, rule_of(element), asks, done))
    return Ranking(own, tuple(members))
