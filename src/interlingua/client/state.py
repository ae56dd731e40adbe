"""What calls remember of each other: the health of targets, in this process or shared with others.

Rules
- One store for the process, made at first use: memory, or what `INTERLINGUA_STATE` names.
- What stands in for the targets (a fake, a cassette, injected faults) has a store of its own for as long as it does, so
  that a test or a drill benches nothing of the process, and finds nothing benched.
"""

from __future__ import annotations

from _thread import allocate_lock  # every call comes by here, and `threading` takes 2 ms to load
from time import monotonic
from typing import TYPE_CHECKING

from interlingua.routing.health import MemoryHealth
from interlingua.transport.override import innermost

if TYPE_CHECKING:
    from interlingua.routing.health import HealthStore

__all__ = ["forget_state", "health_store"]


class _Scope:
    """The stores of the process, or of one stand-in."""

    __slots__ = ("health",)

    def __init__(self) -> None:
        self.health: HealthStore | None = None


_process = _Scope()
_making = allocate_lock()


def health_store() -> HealthStore:
    """Where the health of targets is kept for a call that begins here."""
    return _scope().health or _made()


def forget_state() -> None:
    """Begin anew, as a process does; for tests."""
    _process.health = None


def _scope() -> _Scope:
    override = innermost()
    if override is None:
        return _process
    with _making:
        override.state = override.state or _Scope()
    assert isinstance(override.state, _Scope)  # noqa: S101 - nobody else writes it
    return override.state


def _made() -> HealthStore:
    scope = _scope()
    with _making:
        if scope.health is None:
            scope.health = MemoryHealth(monotonic)
        return scope.health
