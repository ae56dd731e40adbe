"""Which gateways of one store still live, so that what a dead one had reserved does not stand in the way for long.

Shape: processes by the second, of the store's own clock, in which they were last heard of.

Rules
- Every gateway says so about once a second. Who has not for 30 seconds is gone; who never has is not known to be gone.
- After the store was away nobody is gone before everybody had those 30 seconds to be heard again.
- A gateway that was only slow corrects later what was charged for it: nothing is lost by being thought gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.routing.commands import Beat, LinkGone

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.routing.commands import Steps
    from interlingua.routing.link import Link

__all__ = ["GONE_S", "Presence"]

GONE_S = 30
"""After so many silent seconds a gateway is gone."""
REMEMBERED_S = 3_600
"""So long the gone are known as such; their reservations have ended by then."""


class Presence:
    """A process among those that share a store."""

    def __init__(self, link: Link, holder: str, *, clock: Callable[[], float]) -> None:
        """The process `holder`, which says so with its first beat; `clock` gives seconds that only grow."""
        self.holder: str = holder
        """Its name."""
        self.gone: frozenset[str] = frozenset()
        """Processes that are known to live no more."""
        self._link = link
        self._clock = clock
        self._since_s: float | None = None

    def beat(self) -> None:
        """Say that this process lives, and learn who does not."""
        try:
            silent = self._link.run(self._beat())
        except LinkGone:
            self._since_s = None
            return
        now_s = self._clock()
        if self._since_s is None:
            self._since_s = now_s
        self.gone = frozenset([name.decode() for name in silent]) if now_s >= self._since_s + GONE_S else frozenset()

    def _beat(self) -> Steps[list[bytes]]:
        room = f"{self._link.prefix}{{accounts}}:present"
        (silent,) = yield [Beat(room, self.holder, GONE_S, REMEMBERED_S)]
        return silent
