"""How often a target is asked again, after which pause, and how the time of a chain is shared out.

Rules
- The pause doubles with each try and is drawn from the whole span below it (full jitter), so that a crowd that failed
  together does not come back together.
- What the peer asks for (Retry-After) wins, up to a bound; beyond it nobody waits: the chain goes on, or the error is
  given with its `retry_after_s`. Where another target is left, nobody waits longer than the longest own pause.
- What is left of a chain's time is shared by the targets that are left, so that one that stalls cannot eat the whole.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["MAX_TRIES", "Retry", "pause_s", "share_s"]

MAX_TRIES = 8
"""Tries of one call at most, all targets together."""
LEAST_SHARE_S = 0.001


class Retry(Struct, frozen=True):
    """How a target that fails is asked again."""

    retries: int = 1
    """Tries after the first, at one target."""
    first_pause_s: float = 0.5
    """The longest pause before the first of them."""
    factor: float = 2.0
    """By how much it grows each time."""
    max_pause_s: float = 8.0
    """The longest pause."""
    max_wait_s: float = 60.0
    """The longest wait that a peer can ask for."""


def pause_s(retry: Retry, number: int, asked_s: float | None, chance: float, *, is_last: bool) -> float | None:
    """Seconds to wait before the same target is asked once more; None when it is not.

    `number` is how often it was asked again already, `chance` a random number from 0 to 1, `asked_s` what the peer
    asked for, `is_last` whether no other target is left.
    """
    if number >= retry.retries:
        return None
    longest_s = min(retry.max_pause_s, retry.first_pause_s * retry.factor**number)
    if asked_s is None:
        return chance * longest_s
    bound_s = retry.max_wait_s if is_last else min(retry.max_pause_s, retry.max_wait_s)
    return asked_s + chance * retry.first_pause_s if asked_s <= bound_s else None


def share_s(left_s: float, targets: int) -> float:
    """The part of the time that is left for one of so many targets."""
    return max(LEAST_SHARE_S, left_s / max(targets, 1))
