"""The order of targets: by weight, by load, by speed."""

from __future__ import annotations

import random
from collections import Counter

from interlingua.registry.ranking import ORDERED, Policy, Ranking, Rule
from interlingua.routing.order import FADES_S, Traffic, in_order


def _ordered(ranking: Ranking, traffic: Traffic | None = None, now_s: float = 0.0) -> tuple[str, ...]:
    return in_order(ranking, traffic or Traffic(), random.Random(7).random, now_s)


def _of(policy: Policy, *members: str | Ranking) -> Ranking:
    return Ranking(Rule(policy), members)


def test_weights_are_probabilities() -> None:
    """Three to one, over 10,000 draws; a weight of 0 is always last."""
    chance = random.Random(1).random
    ranking = Ranking(Rule("weighted", (3, 1, 0)), ("a", "b", "c"))
    orders = Counter(in_order(ranking, Traffic(), chance, 0.0) for _ in range(10_000))
    assert set(orders) == {("a", "b", "c"), ("b", "a", "c")}
    assert 0.735 < orders["a", "b", "c"] / 10_000 < 0.765


def test_without_weights_all_weigh_the_same() -> None:
    """Every order is about as frequent as every other."""
    chance = random.Random(1).random
    orders = Counter(in_order(_of("weighted", "a", "b", "c"), Traffic(), chance, 0.0) for _ in range(6_000))
    assert len(orders) == 6
    assert all(800 < count < 1_200 for count in orders.values())


def test_least_busy_counts_calls_under_way() -> None:
    """The fewest first; equal ones as they are named."""
    traffic = Traffic()
    ranking = _of("least-busy", "a", "b", "c")
    assert _ordered(ranking, traffic) == ("a", "b", "c")
    for target in ("a", "a", "b"):
        traffic.enter(target)
    assert _ordered(ranking, traffic) == ("c", "b", "a")
    traffic.leave("a")
    traffic.leave("a")
    assert _ordered(ranking, traffic) == ("a", "c", "b")


def test_fastest_is_who_answered_soonest() -> None:
    """A target that was never measured is the first target; a new time counts for three tenths."""
    traffic = Traffic()
    ranking = _of("fastest", "a", "b", "c")
    traffic.measured("a", 2.0, 0.0)
    traffic.measured("b", 1.0, 0.0)
    assert _ordered(ranking, traffic, 1.0) == ("c", "b", "a")
    traffic.measured("c", 5.0, 1.0)
    traffic.measured("b", 6.0, 1.0)
    assert traffic.time_s("b", 1.0) == 2.5
    assert _ordered(ranking, traffic, 1.0) == ("a", "b", "c")


def test_what_was_measured_long_ago_is_measured_again() -> None:
    """Five minutes later nobody knows."""
    traffic = Traffic()
    traffic.measured("a", 9.0, 0.0)
    assert traffic.time_s("a", FADES_S - 1) == 9.0
    assert traffic.time_s("a", FADES_S) is None
    traffic.measured("a", 1.0, FADES_S)
    assert traffic.time_s("a", FADES_S) == 1.0


def test_groups_stay_together_and_targets_come_once() -> None:
    """An alias among others is sorted by its first target, and keeps its own order inside."""
    traffic = Traffic()
    traffic.enter("a")
    inner = _of("ordered", "a", "b")
    assert _ordered(_of("least-busy", inner, "c", "b"), traffic) == ("c", "b", "a")
    assert _ordered(_of("least-busy", inner, Ranking(ORDERED)), traffic) == ("a", "b")


def test_a_prefix_has_one_target_and_a_target_more_moves_only_its_share() -> None:
    """Every prefix has an order that stays; shares are alike; a fourth target takes a quarter and no more."""

    def first(number: int, *members: str) -> str:
        return in_order(_of("prefix", *members), Traffic(), random.Random(number).random, 0.0, lambda: b"%d" % number)[
            0
        ]

    three = [first(number, "a", "b", "c") for number in range(3_000)]
    assert three == [first(number, "c", "a", "b") for number in range(3_000)]
    assert all(900 < count < 1_100 for count in Counter(three).values())
    four = [first(number, "a", "b", "c", "d") for number in range(3_000)]
    moved = [after for before, after in zip(three, four, strict=True) if before != after]
    assert set(moved) == {"d"}
    assert 650 < len(moved) < 850
