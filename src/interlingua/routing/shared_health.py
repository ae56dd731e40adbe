"""Health of targets in Redis or Postgres, shared by every process that has the same address.

Strategy: a mark lies under its own key as JSON. It is read, the same `step` as everywhere makes the next one, and a
script writes it if nobody else was faster; else the step is made again upon what that one wrote. A target that is well
has no key, so that its calls read and write nothing.

Rules
- Times are those of the wall clock, so that a deadline means the same in every process and outlives all of them.
- A key expires when its mark may be forgotten; what a person suspended without an end stays.
- When the store does not answer, the process goes on with a memory of its own, which begins with nothing, and asks
  the store again a few seconds later. What it learned in between stays with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.routing.commands import LinkGone, Listed, Read, Swap
from interlingua.routing.health import (
    CircuitState,
    Mark,
    MemoryHealth,
    Operation,
    TargetHealth,
    expires_s,
    step,
    target_health,
)
from interlingua.routing.link import Link
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from interlingua.routing.commands import Command, Steps

__all__ = ["MAX_TRIES", "SharedHealth"]

MAX_TRIES = 64
"""How often a step is made anew because somebody else was faster; after that it is not written."""


class SharedHealth:
    """Health in the store; processes, threads and event loops share it."""

    immediate: bool = False
    """The store has to be asked."""

    def __init__(self, link: Link, *, clock: Callable[[], float]) -> None:
        """The store behind `link`; `clock` gives the wall-clock time in seconds."""
        self.link: Link = link
        """The way to the store."""
        self._clock = clock
        self._memory = MemoryHealth(clock)
        self._index = f"{link.prefix}{{health}}"

    @property
    def problem(self) -> str:
        """Why this process alone knows what it finds out; empty while others know it, too."""
        return self.link.problem

    def close(self) -> None:
        """Close what threads have open; what event loops have closes with them."""
        self.link.close()

    def clear_at_s(self, target: str) -> float | None:
        """None: what others know has to be looked up."""
        del target

    def apply(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """How each target stands after its operation, in the same order."""
        try:
            return self.link.run(self._applied(operations))
        except LinkGone:
            return self._memory.apply(operations)

    async def apply_async(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """`apply`, awaited."""
        try:
            return await self.link.run_async(self._applied(operations))
        except LinkGone:
            return self._memory.apply(operations)

    def snapshot(self) -> dict[str, TargetHealth]:
        """Every target about which something is known, by name in order."""
        try:
            return self.link.run(self._read_health())
        except LinkGone:
            return self._memory.snapshot()

    async def snapshot_async(self) -> dict[str, TargetHealth]:
        """`snapshot`, awaited."""
        try:
            return await self.link.run_async(self._read_health())
        except LinkGone:
            return self._memory.snapshot()

    def _applied(self, operations: Sequence[tuple[str, Operation]]) -> Steps[list[CircuitState]]:
        places: dict[str, list[int]] = {}
        for place, (target, _) in enumerate(operations):
            places.setdefault(target, []).append(place)
        pending = list(places)
        (values,) = yield [Read(tuple([self._key(target) for target in pending]))]
        stored: dict[str, bytes] = {target: value or b"" for target, value in zip(pending, values, strict=True)}
        circuits: dict[int, CircuitState] = {}
        for _ in range(MAX_TRIES):
            swaps: dict[str, Command] = {}
            for target in pending:
                mark = _read(stored[target])
                for place in places[target]:
                    mark, circuits[place] = step(mark, operations[place][1], self._clock())
                after = b"" if mark is None else encode(mark)
                if after != stored[target]:
                    end_s = None if mark is None else expires_s(mark)
                    end_ms = 0 if end_s is None else int(end_s * 1000)
                    key = self._key(target)
                    swaps[target] = Swap((key,), (stored[target],), (after,), end_ms, self._index, target)
            if not swaps:
                break
            replies = yield list(swaps.values())
            stored |= {target: reply[0] for target, reply in zip(swaps, replies, strict=True) if reply != 1}
            pending = [target for target, reply in zip(swaps, replies, strict=True) if reply != 1]
        return [circuits[place] for place in range(len(operations))]

    def _read_health(self) -> Steps[dict[str, TargetHealth]]:
        now_ms = int(self._clock() * 1000)
        (names,) = yield [Listed(self._index, now_ms)]
        if not names:
            return {}
        targets = sorted([name.decode() for name in names])
        (values,) = yield [Read(tuple([self._key(target) for target in targets]))]
        now_s = self._clock()
        healths: dict[str, TargetHealth] = {}
        for target, value in zip(targets, values, strict=True):
            health = target_health(_read(value or b""), now_s)
            if health is not None:
                healths[target] = health
        return healths

    def _key(self, target: str) -> str:
        return f"{self._index}:{target}"  # the braces keep all of them on one node of a cluster


def _read(value: bytes) -> Mark | None:
    """The mark that was written; what somebody else wrote there is none, and is written over."""
    if not value:
        return None
    try:
        return decode(value, Mark)
    except (DecodeError, LimitExceededError):
        return None
