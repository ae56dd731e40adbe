"""How much of all bodies together is in memory while they come: bounded, in all and for each key.

Rules
- The first 64 KiB of each body are free: they are bounded by the number of connections, and cost nothing to count.
- The body that would go beyond `max_receiving_bytes` gets a 503 with `retry-after`, and what came of it is let go; so
  does one whose announced length has no room, before it comes.
- The bodies of one key have half of it at most, so that a slow client cannot keep all others out.
- A body of `max_body_bytes` is always taken where no other one is coming.
"""

from __future__ import annotations

from interlingua.errors import OverloadedError

__all__ = ["FREE_BYTES", "Receiving", "Share"]

FREE_BYTES = 65_536
"""So many bytes of each body are not counted."""


class Receiving:
    """All bodies that are not whole yet."""

    __slots__ = ("_owners", "count")

    def __init__(self) -> None:
        """Nothing comes."""
        self.count: int = 0
        """How many bytes there are, beyond those of each body that are free."""
        self._owners: dict[str, int] = {}

    def of(self, owner: str) -> int:
        """How many of them are of one key."""
        return self._owners.get(owner, 0)

    def add(self, owner: str, count: int) -> None:
        """Count more bytes, or fewer."""
        self.count += count
        self._owners[owner] = self._owners.get(owner, 0) + count
        if not self._owners[owner]:
            del self._owners[owner]


class Share:
    """One body's part of it."""

    __slots__ = ("_count", "_limit_bytes", "_owner", "_receiving")

    def __init__(self, receiving: Receiving, limit_bytes: int, owner: str, announced_bytes: int = 0) -> None:
        """Nothing yet, of at most `limit_bytes` in all; an empty `owner` is everybody.

        Raises: OverloadedError where so many bytes as were announced have no room.
        """
        self._receiving = receiving
        self._limit_bytes = limit_bytes
        self._owner = owner
        self._count = 0
        if announced_bytes > FREE_BYTES:
            self._check(announced_bytes - FREE_BYTES)

    def grow(self, size: int) -> None:
        """The body has so many bytes now.

        Raises: OverloadedError where there is no room for them.
        """
        more = size - FREE_BYTES - self._count
        if more > 0:
            self._check(more)
            self._count += more
            self._receiving.add(self._owner, more)

    def release(self) -> None:
        """The body is whole, or nobody wants it; a second time does nothing."""
        if self._count:
            self._receiving.add(self._owner, -self._count)
            self._count = 0

    def _check(self, more: int) -> None:
        receiving, limit_bytes = self._receiving, self._limit_bytes
        others, own_others = receiving.count - self._count, receiving.of(self._owner) - self._count
        is_beyond = others and others + self._count + more > limit_bytes
        is_unfair = self._owner and own_others and own_others + self._count + more > limit_bytes // 2
        if is_beyond or is_unfair:
            raise OverloadedError(
                "too much of other large bodies is coming here; ask again in a moment", status=503, retry_after_s=1.0
            )
