"""The order in which the targets of a chain are asked now: by rule, measurement, chance or the conversation's prefix.

Rules
- A policy decides the order alone: every target stays in the chain, and health decides whether it is asked.
- Where an alias stands among others, its first target speaks for it.
- A prefix goes to the target with the highest digest of both (rendezvous hashing): one target more or less moves only
  its own share of the conversations, and every process chooses alike.
- Calls and times are counted in this process, for calls that a policy orders. A time counts for five minutes, and a
  target without one is the first target, so that it gets one.
"""

from __future__ import annotations

from collections import deque
from hashlib import sha256
from typing import TYPE_CHECKING

from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.registry.ranking import Ranking

__all__ = ["FADES_S", "SMOOTHING", "Traffic", "in_order"]

FADES_S = 300.0
"""How long a measured time counts."""
SMOOTHING = 0.3
"""The part of a new time in the smoothed one."""
_MAX_TARGETS = 1_000
"""How many targets calls are counted of, before those that have none are let go."""
_MAX_TIMES_BYTES = 1_000_000


class Traffic:
    """Calls under way, and how long targets took to answer; threads may share it."""

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self._calls: dict[str, deque[None]] = {}
        self._times = ByteCache[str, tuple[float, float]](_MAX_TIMES_BYTES)

    def enter(self, target: str) -> None:
        """A call begins."""
        if len(self._calls) >= _MAX_TARGETS and target not in self._calls:
            self._calls = {busy: calls for busy, calls in self._calls.items() if calls}
        self._calls.setdefault(target, deque()).append(None)

    def leave(self, target: str) -> None:
        """A call that began has ended; takes no lock, so that it may come from anywhere."""
        if calls := self._calls.get(target):
            calls.pop()

    def measured(self, target: str, seconds: float, now_s: float) -> None:
        """A target took so long to its first content, or to a whole answer."""
        average_s = self.time_s(target, now_s)
        smoothed = seconds if average_s is None else average_s + SMOOTHING * (seconds - average_s)
        self._times.put(target, (smoothed, now_s))

    def busy(self, target: str) -> int:
        """How many calls are under way."""
        return len(self._calls.get(target, ()))

    def time_s(self, target: str, now_s: float) -> float | None:
        """How long the target takes; None when that is not known any more."""
        seconds, at_s = self._times.get(target, (0.0, -FADES_S))
        return seconds if now_s - at_s < FADES_S else None


def in_order(
    ranking: Ranking,
    traffic: Traffic,
    chance: Callable[[], float],
    now_s: float,
    prefix: Callable[[], bytes] = lambda: b"",
) -> tuple[str, ...]:
    """The targets, each once, in the order in which they are to be asked now; `prefix` gives the digest of one."""
    groups = [
        (member,) if isinstance(member, str) else in_order(member, traffic, chance, now_s, prefix)
        for member in ranking.members
    ]
    firsts = [group[0] if group else "" for group in groups]
    match ranking.rule.policy:  # the least key comes first; what is equal stays in its order
        case "ordered":
            keys = [0.0] * len(groups)
        case "weighted":
            weights = ranking.rule.weights or (1.0,) * len(groups)
            # The greatest of chance ** (1 / weight) is each one with the probability of its weight, and so on.
            keys = [-(chance() ** (1 / weight)) if weight else 0.0 for weight in weights]
        case "least-busy":
            keys = [float(traffic.busy(target)) for target in firsts]
        case "fastest":
            keys = [traffic.time_s(target, now_s) or 0.0 for target in firsts]
        case "prefix":
            # Each prefix has an order of its own: that of the digests of it and each group.
            digest = prefix()
            digests = [sha256(digest + target.encode()).digest() for target in firsts]
            keys = [-float(int.from_bytes(one[:6], "big")) for one in digests]
    places = sorted(range(len(groups)), key=keys.__getitem__)
    return tuple(dict.fromkeys(target for place in places for target in groups[place]))
