"""What calls know of each other: the health of targets, in this process or shared with others, and limits.

Rules
- One store for the process, made at first use: memory, or what `INTERLINGUA_STATE` names.
- What stands in for the targets (a fake, a cassette, injected faults) has a store of its own for as long as it does, so
  that a test or a drill benches nothing of the process, and finds nothing benched.
- Limits are the process's; only what answers in the place of targets has its own, none at first.
"""

from __future__ import annotations

from _thread import allocate_lock  # every call comes by here, and `threading` takes 2 ms to load
from time import monotonic
from typing import TYPE_CHECKING

from interlingua.registry.allowance import allowance
from interlingua.routing.health import MemoryHealth
from interlingua.routing.limits import Limiter
from interlingua.transport.override import answers_alone, innermost

if TYPE_CHECKING:
    from interlingua.routing.health import HealthStore

__all__ = ["forget_state", "health_store", "limit", "limiter"]


class _Scope:
    """The stores of the process, or of one stand-in."""

    __slots__ = ("health", "limiter")

    def __init__(self) -> None:
        self.health: HealthStore | None = None
        self.limiter = Limiter(monotonic)


_process = _Scope()
_making = allocate_lock()


def health_store() -> HealthStore:
    """Where the health of targets is kept for a call that begins here."""
    return _scope().health or _made()


def limiter() -> Limiter:
    """What limits a call that begins here."""
    if innermost() is None:  # the usual case, and quicker to see
        return _process.limiter
    return (_scope() if answers_alone() else _process).limiter


def limit(pattern: str, *, concurrency: int | None = None, rpm: int | None = None, tpm: int | None = None) -> None:
    """Have at most so many calls at a time, requests a minute and tokens a minute go to the targets of `pattern`.

    `pattern` is a target (`openai/gpt-5.6`), a beginning (`openai/*`) or `*`; its targets share what it allows. An
    exact pattern wins, then the longest beginning. Calls wait in line, first come, first served, until there is room
    or their time is over. Without any number, the limit is lifted.

    Raises: ConfigError for a pattern that names no target, and for what is no whole number from 1 on.
    """
    limiter().set(pattern, allowance({"concurrency": concurrency, "rpm": rpm, "tpm": tpm}))


def forget_state() -> None:
    """Begin anew, as a process does; for tests."""
    _process.health = None
    _process.limiter = Limiter(monotonic)


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
