"""Health of targets: one pure transition, and the store that runs it in the memory of a process.

Strategy: what is known about a target is a small value, a `Mark`. `step` takes a mark, an operation and the time, and
gives the next mark and how the target stands. A store is whatever keeps marks and runs `step` on them, one at a time
for each target; the rules are here alone, so that every store follows them.

Rules
- Two transient failures in a row bench a target for 5 s; each failure after that doubles the time, up to 5 minutes.
- A Retry-After benches for the time it names (at most an hour), also at the first failure.
- A key that is refused, or an account without credit, benches for 5 minutes at once.
- The longest deadline wins: a new one never makes a bench shorter.
- After the deadline one try at a time is let through, the probe. Its success forgets everything; its failure doubles.
  A probe that never tells how it ended holds its place for its lease, no longer.
- How a try ended counts for the bench that it has seen: what began before the bench neither doubles nor ends it.
- A target suspended by hand stays so until it is resumed, or until its time is over; no success changes that.
- What a target has refused because it does not take it is known for as long as whoever learned it says (10 minutes);
  a success does not end that, a person's word does. It benches nothing: calls without it go on.
- What a try says holds for the identity that it went with, an address and a key, and for nobody else who asks the same
  target in another way. A person's word holds for all of them.
- A mark that nothing happened to for an hour after its deadline is forgotten.
- A mark from more than a minute ahead was made before a clock was put back: it is forgotten, but for a person's word.
- Times are seconds of the store's clock. Nothing here reads a clock, waits, or runs by itself.

Not responsible for: which failure counts as what (`verdict`), which target is tried next (`client.call.chain`).
"""

from __future__ import annotations

from _thread import allocate_lock  # every call comes by here, and `threading` takes 2 ms to load
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from interlingua.types.capabilities import Feature

__all__ = [
    "AHEAD_S",
    "BENCH_S",
    "FIRST_COOLDOWN_S",
    "FORGET_S",
    "LACK_S",
    "MAX_COOLDOWN_S",
    "MAX_IDENTITIES",
    "MAX_RETRY_AFTER_S",
    "MAX_TARGETS",
    "PROBE_LEASE_S",
    "THRESHOLD",
    "Admit",
    "Circuit",
    "CircuitState",
    "Failed",
    "Fault",
    "HealthStore",
    "Learned",
    "Look",
    "Mark",
    "MemoryHealth",
    "Operation",
    "Reason",
    "Resume",
    "Spared",
    "Succeeded",
    "Suspend",
    "TargetHealth",
    "expires_s",
    "step",
    "target_health",
]

THRESHOLD = 2
"""Transient failures in a row that bench a target."""
FIRST_COOLDOWN_S = 5.0
"""How long the first bench takes."""
MAX_COOLDOWN_S = 300.0
"""The bound of the doubling."""
BENCH_S = 300.0
"""How long a refused key or an empty account benches."""
MAX_RETRY_AFTER_S = 3600.0
"""The longest wait that a peer can ask for."""
PROBE_LEASE_S = 60.0
"""How long a probe that does not tell how it ended keeps others out."""
FORGET_S = 3600.0
"""How long after its deadline a mark is kept that nothing happens to."""
AHEAD_S = 60.0
"""So far apart may the clocks of machines be that share a store."""
LACK_S = 600.0
"""How long it is known that a target has refused something because it does not take it."""
MAX_LACK_S = 86_400.0
"""The longest that anything is known of what a target does not take."""
MAX_TARGETS = 10_000
"""How many marks a process keeps."""
MAX_IDENTITIES = 64
"""By how many addresses and keys something is known of one target; the one that was quiet for longest goes first."""

Fault: TypeAlias = Literal["transient", "auth", "billing"]
"""The fault of a target after a failure: it may pass by itself, the key is refused, or the account has no credit."""
Reason: TypeAlias = Literal["failures", "retry_after", "auth", "billing", "suspended"]
"""Why a target is not asked."""
State: TypeAlias = Literal["open", "probe", "half_open", "benched", "suspended"]
"""`open` is asked; `probe` is asked by this one try; `half_open` waits for a probe; the others are not asked."""
Circuit: TypeAlias = Literal["closed", "open", "half_open", "suspended"]
"""The states of a circuit breaker: `closed` lets every attempt through, `half_open` one, the others none."""
_WORST: tuple[State, ...] = ("suspended", "benched", "half_open", "probe", "open")
_CIRCUITS: dict[State, Circuit] = {
    "open": "closed",
    "probe": "half_open",
    "half_open": "half_open",
    "benched": "open",
    "suspended": "suspended",
}


# Operations


class _OfTry(Struct, frozen=True, kw_only=True):
    identity: str = ""
    """The address and the key that a try goes with, as `Endpoint.identity` gives them; empty: the target as a whole."""


class Admit(_OfTry, frozen=True):
    """Asks whether a try may be made; the answer `open` or `probe` is followed by how the try ended."""

    lease_s: float = PROBE_LEASE_S
    """How long the try may take when it is the probe."""


class Look(_OfTry, frozen=True):
    """Asks how a target stands, and changes nothing."""


class Failed(_OfTry, frozen=True):
    """A try failed in a way that counts against the target."""

    fault: Fault = "transient"
    """The fault of the target."""
    retry_after_s: float | None = None
    """How long the peer asked to be left alone."""
    admitted_s: float | None = None
    """`at_s` of the answer that let the try through; None for a try that was not asked about."""
    error: str = ""
    """The error in a few words, for people; never a credential."""


class Succeeded(_OfTry, frozen=True):
    """A try was answered."""

    admitted_s: float | None = None
    """`at_s` of the answer that let the try through; None for a try that was not asked about."""


class Spared(_OfTry, frozen=True):
    """A try ended without saying anything of the target: the request was at fault, or the caller went away."""

    admitted_s: float | None = None
    """`at_s` of the answer that let the try through; None for a try that was not asked about."""


class Learned(_OfTry, frozen=True):
    """The target has said what it takes or does not take."""

    lacks: frozenset[Feature] = frozenset()
    """Features that it does not take."""
    takes: frozenset[Feature] = frozenset()
    """Features that it does take, whatever was learned before."""
    for_s: float = LACK_S
    """How long that is known."""


class Suspend(Struct, frozen=True):
    """A person takes the target out; the last word counts."""

    for_s: float | None = None
    """For how long; None until it is resumed."""


class Resume(Struct, frozen=True):
    """A person puts the target back; everything against it is forgotten."""


_HARMLESS = frozenset({Admit, Look, Succeeded, Spared, Resume})
"""Operations after which nothing is known against a target, where nothing was."""

Operation: TypeAlias = Admit | Look | Failed | Succeeded | Spared | Learned | Suspend | Resume


# What is known, and what is answered


class Mark(Struct, frozen=True, omit_defaults=True):
    """The record against a target; None in its place is a target without one."""

    seen_s: float = 0.0
    """When something happened to it last."""
    failures: int = 0
    """Transient failures in a row."""
    benched_s: float | None = None
    """When the bench began that it is on, or whose probe is awaited."""
    until_s: float | None = None
    """The deadline of that bench."""
    reason: Reason | None = None
    """Why it was benched."""
    probe_until_s: float | None = None
    """The end of the probe's lease, while a probe is under way."""
    suspended: bool = False
    """Whether a person took it out."""
    suspended_until_s: float | None = None
    """The end of that; None until it is resumed."""
    error: str = ""
    """The last error in a few words."""
    lacks: dict[str, float] = {}
    """Features that the target has refused, and until when that counts."""
    identities: dict[str, Mark] = {}
    """The records of single addresses and keys of it, none of which has any in turn."""


class CircuitState(Struct, frozen=True):
    """How a target stands after an operation."""

    state: State
    """Whether it may be asked."""
    at_s: float
    """When that was, on the store's clock; how a try ends is told with this time."""
    wait_s: float | None = None
    """Seconds until it may be asked again; None when it may, and when nobody knows."""
    reason: Reason | None = None
    """Why it may not be asked, or what the probe is about."""
    failures: int = 0
    """Transient failures in a row."""
    error: str = ""
    """The last error in a few words."""
    lacks: frozenset[str] = frozenset()
    """Features that it has refused."""

    @property
    def admitted(self) -> bool:
        """Whether the try may be made."""
        return self.state in ("open", "probe")


class TargetHealth(Struct, frozen=True):
    """How a target stands, for people."""

    state: State
    """`open` (asked), `half_open` (the next try is the probe), `benched` or `suspended`: deprecated, read `circuit`."""
    wait_s: float | None = None
    """Seconds until it may be asked again; None when it may, and when it is suspended until it is resumed."""
    reason: Reason | None = None
    """Why it is not asked."""
    failures: int = 0
    """Transient failures in a row."""
    error: str = ""
    """The last error in a few words."""
    lacks: tuple[str, ...] = ()
    """Features that it has refused lately, such as `tools`."""
    identity: str = ""
    """The address and the key that this is known of: a host, and a digest; empty where it holds for all of them."""
    others: tuple[TargetHealth, ...] = ()
    """How it stands by other addresses and keys, where something is known of several; this one stands worst."""

    @property
    def circuit(self) -> Circuit:
        """The state of its circuit breaker: `closed` (asked), `half_open` (asked once), `open` or `suspended`."""
        return _CIRCUITS[self.state]


class HealthStore(Protocol):
    """Whatever keeps marks and runs `step` on them."""

    @property
    def immediate(self) -> bool:
        """Whether `apply` never waits, so that it can be called on an event loop."""
        ...

    @property
    def problem(self) -> str:
        """Why this process alone knows what it finds out, where others should know it, too; empty otherwise."""
        ...

    def clear_at_s(self, target: str) -> float | None:
        """The store's time, where it sees at once that nothing is known against a target; None where it must be asked.

        Such a target may be tried, and a success is no news of it.
        """
        ...

    def apply(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """How each target stands after its operation, in the same order."""
        ...

    async def apply_async(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """`apply`, awaited."""
        ...

    def snapshot(self) -> dict[str, TargetHealth]:
        """Every target about which something is known, by name in order."""
        ...

    async def snapshot_async(self) -> dict[str, TargetHealth]:
        """`snapshot`, awaited."""
        ...

    def close(self) -> None:
        """Let go of what is open; the store may be used again."""
        ...


# The transition


def step(mark: Mark | None, operation: Operation, now_s: float) -> tuple[Mark | None, CircuitState]:
    """The mark after an operation, and how the target then stands."""
    current = _current_mark(mark, now_s)
    if not isinstance(operation, _OfTry) or not operation.identity:
        return _stepped(current, operation, now_s)
    identity = operation.identity
    before = None if current is None else current.identities.get(identity)
    own, circuit = _stepped(before, operation, now_s)
    if current is not None and current.suspended:
        circuit = replace(_circuit(current, now_s), failures=circuit.failures, lacks=circuit.lacks)
        own = before if isinstance(operation, Admit) else own  # who is kept out takes no probe
    return (current if own is before else _with_identity(current or Mark(), identity, own, now_s)), circuit


def _stepped(current: Mark | None, operation: Operation, now_s: float) -> tuple[Mark | None, CircuitState]:
    """The mark of one identity, or of the target as a whole, after an operation, and how it then stands."""
    match operation:
        case Look():
            after = current
        case Admit(lease_s=lease_s):
            return _admit(current, lease_s, now_s)
        case Failed():
            after = _failed(current or Mark(), operation, now_s)
        case Succeeded(admitted_s=admitted_s):
            after = _succeeded(current, admitted_s, now_s)
        case Spared(admitted_s=admitted_s):
            after = current
            if current is not None and current.probe_until_s is not None and _has_seen(admitted_s, current):
                after = replace(current, probe_until_s=None, seen_s=now_s)
        case Learned():
            mark = current or Mark()
            until_s = now_s + min(max(operation.for_s, 0.0), MAX_LACK_S)
            mark = replace(mark, lacks={**mark.lacks, **dict.fromkeys(operation.lacks, until_s)}, seen_s=now_s)
            names = operation.takes - operation.lacks
            mark = replace(mark, lacks={name: until_s for name, until_s in mark.lacks.items() if name not in names})
            after = None if _is_empty(mark) else mark
        case Suspend(for_s=for_s):
            until_s = None if for_s is None else now_s + max(for_s, 0.0)
            after = replace(current or Mark(), suspended=True, suspended_until_s=until_s, seen_s=now_s)
            after = _current_mark(after, now_s)
        case Resume():
            after = None
    return after, _circuit(after, now_s)


def expires_s(mark: Mark) -> float | None:
    """When a mark may be forgotten; None for one that a person has to take back."""
    if mark.suspended and mark.suspended_until_s is None:
        return None
    own_s = max(mark.seen_s, mark.until_s or 0.0, mark.suspended_until_s or 0.0, *mark.lacks.values()) + FORGET_S
    return max([own_s, *[end_s for one in mark.identities.values() if (end_s := expires_s(one)) is not None]])


def target_health(mark: Mark | None, now_s: float) -> TargetHealth | None:
    """How a target stands, for people: by the address and key by which it stands worst; None when nothing is known."""
    current = _current_mark(mark, now_s)
    if current is None:
        return None
    states = [_health_of_mark(one, identity, now_s) for identity, one in current.identities.items()]
    if not _is_empty(replace(current, identities={})):
        states.insert(0, _health_of_mark(current, "", now_s))
    worst, *others = sorted(states, key=lambda state: (_WORST.index(state.state), -(state.wait_s or 0.0)))
    return replace(worst, others=tuple(others)) if others else worst


def _health_of_mark(mark: Mark, identity: str, now_s: float) -> TargetHealth:
    circuit = _circuit(mark, now_s)
    lacks = tuple(sorted(circuit.lacks))
    return TargetHealth(
        circuit.state, circuit.wait_s, circuit.reason, circuit.failures, circuit.error, lacks, identity
    )  # fmt: skip


def _current_mark(mark: Mark | None, now_s: float) -> Mark | None:
    """The mark without what is over."""
    if mark is None:
        return None
    if mark.seen_s > now_s + AHEAD_S:
        mark = Mark(seen_s=now_s, suspended=mark.suspended, suspended_until_s=mark.suspended_until_s)
    elif mark.suspended and mark.suspended_until_s is not None and now_s >= mark.suspended_until_s:
        mark = replace(mark, suspended=False, suspended_until_s=None)
    if any([until_s <= now_s for until_s in mark.lacks.values()]):
        mark = replace(mark, lacks={name: until_s for name, until_s in mark.lacks.items() if until_s > now_s})
    if mark.identities:
        # Identities of which nothing is known any more go.
        current = {identity: _current_mark(one, now_s) for identity, one in mark.identities.items()}
        if any([one is not mark.identities[identity] for identity, one in current.items()]):
            mark = replace(mark, identities={identity: one for identity, one in current.items() if one is not None})
    end_s = expires_s(mark)
    return None if _is_empty(mark) or (end_s is not None and now_s >= end_s) else mark


def _with_identity(mark: Mark, identity: str, own: Mark | None, now_s: float) -> Mark | None:
    """The mark with what is known of one identity now; None where nothing is known against the target then."""
    others = [(name, one) for name, one in mark.identities.items() if name != identity]
    if own is not None:
        latest = sorted(others, key=lambda pair: pair[1].seen_s)[1 - MAX_IDENTITIES :]
        mark = replace(mark, identities=dict([*latest, (identity, own)]), seen_s=now_s)
    else:
        mark = replace(mark, identities=dict(others))
    return None if _is_empty(mark) else mark


def _is_empty(mark: Mark) -> bool:
    """Whether nothing is known against a target."""
    has_own = mark.failures or mark.until_s is not None or mark.suspended
    return not (has_own or mark.lacks or mark.identities)


def _circuit(mark: Mark | None, now_s: float, *, probe: bool = False) -> CircuitState:
    if mark is None:
        return CircuitState("open", now_s)
    state, wait_s = _state(mark, now_s)
    reason = "suspended" if state == "suspended" else mark.reason
    return CircuitState(
        "probe" if probe else state, now_s, None if probe else wait_s, reason, mark.failures, mark.error,
        frozenset(mark.lacks),
    )  # fmt: skip


def _state(mark: Mark, now_s: float) -> tuple[State, float | None]:
    """How it stands, and for how long."""
    if mark.suspended:
        return "suspended", None if mark.suspended_until_s is None else mark.suspended_until_s - now_s
    if mark.until_s is None:
        return "open", None
    closed_until_s = max(mark.until_s, mark.probe_until_s or mark.until_s)
    return ("benched", closed_until_s - now_s) if now_s < closed_until_s else ("half_open", None)


def _admit(mark: Mark | None, lease_s: float, now_s: float) -> tuple[Mark | None, CircuitState]:
    circuit = _circuit(mark, now_s)
    if mark is None or circuit.state != "half_open":
        return mark, circuit
    probed = replace(mark, probe_until_s=now_s + lease_s, seen_s=now_s)
    return probed, _circuit(probed, now_s, probe=True)


def _failed(mark: Mark, failure: Failed, now_s: float) -> Mark:
    fresh = _has_seen(failure.admitted_s, mark)
    failures = mark.failures
    if failure.fault == "transient" and fresh:
        failures = max(failures + 1, 0 if mark.until_s is None else THRESHOLD)
    wait_s, reason = _wait(failure, failures if fresh else 0)
    after = replace(mark, failures=failures, error=failure.error or mark.error, seen_s=now_s)
    if fresh:
        after = replace(after, probe_until_s=None)
    if not wait_s:
        return after
    if mark.until_s is not None and now_s + wait_s <= mark.until_s:
        return replace(after, benched_s=now_s) if fresh else after
    begun_s = now_s if fresh or mark.benched_s is None else mark.benched_s
    return replace(after, until_s=now_s + wait_s, reason=reason, benched_s=begun_s)


def _wait(failure: Failed, failures: int) -> tuple[float, Reason]:
    """For how long a failure benches, and why; 0 when it does not."""
    if failure.fault != "transient":
        wait_s, reason = BENCH_S, failure.fault
    else:
        doublings = min(failures - THRESHOLD, 32)
        wait_s, reason = (min(FIRST_COOLDOWN_S * 2.0**doublings, MAX_COOLDOWN_S) if doublings >= 0 else 0.0), "failures"
    asked_s = failure.retry_after_s
    if asked_s is not None and asked_s > wait_s:  # never true of what is not a number
        return min(asked_s, MAX_RETRY_AFTER_S), "retry_after"
    return wait_s, reason


def _has_seen(admitted_s: float | None, mark: Mark) -> bool:
    """Whether a try began after the bench that is on."""
    return admitted_s is None or mark.benched_s is None or admitted_s > mark.benched_s


def _succeeded(mark: Mark | None, admitted_s: float | None, now_s: float) -> Mark | None:
    if mark is None or not _has_seen(admitted_s, mark):
        return mark
    if not mark.failures and mark.until_s is None:
        return mark  # nothing that a success ends
    after = Mark(
        seen_s=now_s, suspended=mark.suspended, suspended_until_s=mark.suspended_until_s, lacks=mark.lacks,
        identities=mark.identities,
    )  # fmt: skip
    return None if _is_empty(after) else after


# In memory


class MemoryHealth:
    """Health in the memory of one process; threads and event loops share it."""

    immediate: bool = True
    """Nothing here waits."""
    problem: str = ""
    """Nobody else should know."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """A store in which nothing is known; `clock` gives seconds that only grow."""
        self._clock = clock
        self._marks: dict[str, Mark] = {}
        self._lock = allocate_lock()

    def clear_at_s(self, target: str) -> float | None:
        """The time, where nothing is known against a target."""
        return None if target in self._marks else self._clock()

    def apply(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """How each target stands after its operation, in the same order."""
        if not self._marks and all([type(operation) in _HARMLESS for _, operation in operations]):
            now_s = self._clock()
            return [CircuitState("open", now_s) for _ in operations]
        with self._lock:
            return [self._step(target, operation) for target, operation in operations]

    async def apply_async(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """`apply`; it never waits."""
        return self.apply(operations)

    def snapshot(self) -> dict[str, TargetHealth]:
        """Every target about which something is known, by name in order."""
        with self._lock:
            marks = sorted(self._marks.items())
            now_s = self._clock()
        return {target: health for target, mark in marks if (health := target_health(mark, now_s)) is not None}

    async def snapshot_async(self) -> dict[str, TargetHealth]:
        """`snapshot`; it never waits."""
        return self.snapshot()

    def close(self) -> None:
        """Nothing is open."""

    def _step(self, target: str, operation: Operation) -> CircuitState:
        before = self._marks.get(target)
        after, circuit = step(before, operation, self._clock())
        if after is None:
            self._marks.pop(target, None)
        elif after is not before:
            self._marks[target] = after
            if len(self._marks) > MAX_TARGETS:
                self._make_room(target)
        return circuit

    def _make_room(self, newest: str) -> None:
        """Forget what is over, else the oldest mark that no person made."""
        now_s = self._clock()
        self._marks = {target: mark for target, mark in self._marks.items() if target_health(mark, now_s) is not None}
        if len(self._marks) > MAX_TARGETS:
            marks = self._marks.items()
            del self._marks[next((target for target, mark in marks if not mark.suspended and target != newest), newest)]
