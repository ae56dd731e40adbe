"""The state that calls share: the health of targets, in this process or shared with others, and limits.

Shape of a place for state: `memory`, one process by itself; `file`, all processes of a user that say so; `file:PATH`,
the same in a file of that name; `redis://host:6379/0` (also `rediss` and `unix`) and `postgresql://user@host/db`,
everybody who has the address.

Rules
- One store for the process, made at first use: memory, or what `INTERLINGUA_STATE` names; code has the last word.
- A place that cannot be reached is no error of a call: the process goes on with its own memory, says so once in the
  log `interlingua.state`, and asks again after a few seconds.
- What stands in for the targets (a fake, a cassette, injected faults) has a store of its own for as long as it does, so
  that a test or a drill benches nothing of the process, and finds nothing benched.
- Limits are the process's; only what answers in the place of targets has its own, none at first. Where state is in
  Redis or Postgres, all processes with the same address count together what goes to the same pattern.
"""

from __future__ import annotations

import atexit
import os
from _thread import allocate_lock  # every call comes by here, and `threading` takes 2 ms to load
from time import monotonic, time
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError, check_text, redact
from interlingua.registry.spec import shown
from interlingua.routing.health import MemoryHealth
from interlingua.transport.override import answers_alone, innermost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interlingua.registry.allowance import Allowance
    from interlingua.routing.health import HealthStore
    from interlingua.routing.limits import Limiter
    from interlingua.routing.link import Link

__all__ = [
    "STATE_VARIABLE",
    "check_state",
    "forget_state",
    "health_store",
    "limit",
    "limiter",
    "limiter_of",
    "neighbours",
    "open_health",
    "shared_link",
    "use_state",
]

STATE_VARIABLE = "INTERLINGUA_STATE"
"""Names the place for state where the code does not."""


class _Scope:
    """The stores of the process, or of one stand-in."""

    __slots__ = ("health", "limiter")

    def __init__(self) -> None:
        self.health: HealthStore | None = None
        self.limiter: Limiter | None = None


_process = _Scope()
_making = allocate_lock()


def health_store() -> HealthStore:
    """Where the health of targets is kept for a call that begins here."""
    return _scope().health or _made()


def neighbours() -> tuple[HealthStore, Limiter]:
    """Where the health of targets is kept for a call that begins here, and what limits it."""
    if innermost() is None:  # the usual case, and quicker to see
        return _process.health or _made(), _process.limiter or _limiter_of(_process)
    return health_store(), limiter()


def use_state(place: str) -> None:
    """Keep what calls find out about targets in `place` from now on.

    It is `memory`, `file`, `file:PATH`, `redis://…` or `postgresql://…`. Nothing is connected before the next call.

    Raises: ConfigError for what is no place, and without the extra of its kind.
    """
    store = open_health(place)
    scope = _scope()
    with _making:
        before, scope.health = scope.health, store
        scope.limiter = _limiter_beside(store, scope.limiter)
    if before is not None:
        before.close()


def check_state() -> None:
    """Nothing, where the process can keep its state; a shared store may come later, an unusable file will not.

    Raises: ConfigError for what is no place, without the extra of its kind, and for a file that cannot be written.
    """
    check: Callable[[], None] | None = getattr(health_store(), "check", None)
    if check is not None:
        check()


def open_health(place: str) -> HealthStore:
    """A store of its own in `place`, for who keeps more than one.

    Raises: ConfigError for what is no place, and without the extra of its kind.
    """
    check_text(place, "a place for state is named by a text")
    kind, _, rest = place.partition(":")
    match kind:
        case "memory" if not rest:
            return MemoryHealth(monotonic)
        case "file":
            from pathlib import Path

            from interlingua.registry.home import state_directory
            from interlingua.routing.file import FileHealth

            path = rest.removeprefix("//")
            chosen = Path(path).expanduser() if path else state_directory() / "state.sqlite"
            store = FileHealth(chosen, clock=time, rest_clock=monotonic, on_change=_tell)
        case "redis" | "rediss" | "unix" | "postgres" | "postgresql":
            from interlingua.routing.link import open_link
            from interlingua.routing.shared_health import SharedHealth

            store = SharedHealth(open_link(place, clock=monotonic, on_change=_tell), clock=time)
        case _:
            name = shown(redact(place))
            places = "memory, file, file:PATH, redis://host:port/db or postgresql://host/db"
            raise ConfigError(f"state is kept in {places}, not in {name}")
    atexit.register(store.close)
    return store


def shared_link() -> Link | None:
    """The way to the Redis or Postgres in which the process keeps its state; None where it keeps it elsewhere.

    Raises: ConfigError for what is no place, and without the extra of its kind.
    """
    health_store()
    link: Link | None = getattr(_process.health, "link", None)
    return link


def limiter() -> Limiter:
    """The limiter of a call that begins here."""
    if innermost() is None:  # the usual case, and quicker to see
        return _process.limiter or _limiter_of(_process)
    return _limiter_of(_scope() if answers_alone() else _process)


def limiter_of(allowances: Mapping[str, Allowance]) -> Limiter:
    """The limiter of the calls of a registry with these limits of its own, in this process."""
    from interlingua.routing.limits import Limiter  # who only explains limits nothing

    limiter = Limiter(monotonic)
    limiter.load_file(allowances)
    return limiter


def limit(pattern: str, *, concurrency: int | None = None, rpm: int | None = None, tpm: int | None = None) -> None:
    """Have at most so many calls at a time, requests a minute and tokens a minute go to the targets of `pattern`.

    `pattern` is a target (`openai/gpt-5.6`), a beginning (`openai/*`) or `*`; its targets share what it allows. An
    exact pattern wins, then the longest beginning. Calls wait in line, first come, first served, until there is room
    or their time is over. Without any number, the limit is lifted.

    Raises: ConfigError for a pattern that names no target, and for what is no whole number from 1 on.
    """
    from interlingua.registry.allowance import allowance, check_pattern  # only who sets limits needs these
    from interlingua.registry.resolve import default_registry

    check_pattern(pattern)
    limiter().set(
        default_registry().targets_of(pattern), allowance({"concurrency": concurrency, "rpm": rpm, "tpm": tpm})
    )


def forget_state() -> None:
    """Begin anew, as a process does; for tests."""
    store, _process.health = _process.health, None
    if store is not None:
        store.close()
    _process.limiter = None


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
            scope.health = _of_environment() if scope is _process else MemoryHealth(monotonic)
            scope.limiter = _limiter_beside(scope.health, scope.limiter)
        return scope.health


def _limiter_of(scope: _Scope) -> Limiter:
    """The limiter of the calls of a scope, made for the first of them."""
    from interlingua.routing.limits import Limiter  # who only explains limits nothing

    with _making:
        if scope.limiter is None:
            scope.limiter = Limiter(monotonic)
        return scope.limiter


def _limiter_beside(store: HealthStore, before: Limiter | None) -> Limiter | None:
    """The limiter that belongs to a store, in its store or in this process; it limits what the one before did."""
    link: Link | None = getattr(store, "link", None)
    if link is None and before is None:
        return None
    from interlingua.routing.limits import Limiter  # the same

    if link is None:
        if type(before) is Limiter:
            return before
        after = Limiter(monotonic)
    else:
        from secrets import token_hex

        from interlingua.routing.shared import SharedLimiter

        after = SharedLimiter(link, clock=monotonic, wall_clock=time, make_id=lambda: token_hex(8))
    if before is not None:
        after.take_over(before)
    return after


def _of_environment() -> HealthStore:
    try:
        return open_health(os.environ.get(STATE_VARIABLE) or "memory")
    except ConfigError as error:
        raise ConfigError(f"{STATE_VARIABLE}: {error.message}") from None


def _tell(problem: str) -> None:
    import logging  # only an outage needs it

    log = logging.getLogger("interlingua.state")
    if problem:
        log.warning("this process alone knows what it finds out about targets, for a while: %s", problem)
    else:
        log.info("what is found out about targets is shared again")
