"""Which target is asked, how often, and what becomes of its failure: the way of a call through its chain, without I/O.

Rules
- Targets are tried in order; `verdict` says whether a failed one is asked again, the next one is, or none. Every try
  and every target that was passed over is in `attempts`. At most `MAX_TRIES` tries are made.
- A target that is known not to take the request is passed over before anything is sent, whether by its facts or by what
  it has said itself; its health, its limits and its probe are left alone.
- A target that health benches is passed over. Where that leaves nobody to ask, the one whose bench ends first is asked
  all the same, unless a person took it out.
- A target whose limit on our own side is used up is passed over while another one is left, and waited for when none is.
- What is left of the call's time is shared by the targets that are left; a try knows when its answer must have begun.
- With `hedge_after_s` the next target is asked beside one that has not begun to answer by then, and the first one that
  answers wins. What must not run twice is never asked twice.
- One target that is well, without a limit and without somebody who looks on, is asked straight away; the chain run
  begins where that fails, with the failure.
- A target that refuses thinking as bound to another conversation is asked once more, without any: that is another
  request, so that `retries` has no say in it.
- A stream is handed over with its first events. Until then a chain may go on, after that never.

Not responsible for: one try (`core`; the gateway has its own), a stream that has begun (`core.follow`).
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec.structs import replace

from interlingua.client.call.affinity import prefix_digest
from interlingua.client.call.effect import Enter, Race, Sleep
from interlingua.client.call.needs import has_need, is_required, may_unseal, narrowed, shortfall, unsealed
from interlingua.client.call.open_attempt import Lasting, OpenAttempt, consulted
from interlingua.client.call.report import circuit_text, failed, outrun, passed_over, served, summary
from interlingua.client.call.secrets import attribute
from interlingua.client.call.values import later
from interlingua.client.state import neighbours
from interlingua.errors import (
    APITimeoutError,
    ChainExhaustedError,
    ConfigError,
    Error,
    RateLimitError,
    UnsupportedError,
)
from interlingua.routing.health import Admit, CircuitState, Look, Spared, Succeeded
from interlingua.routing.order import Traffic, in_order
from interlingua.routing.retry import MAX_TRIES, Retry, pause_s, share_s
from interlingua.routing.verdict import verdict
from interlingua.types.tool import OpaqueTool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.routing.health import HealthStore
    from interlingua.routing.limits import Limiter, Ticket
    from interlingua.types.request import Request
    from interlingua.types.response import Attempt

__all__ = ["has_one_try", "is_committed", "routed", "targets_in_order"]

A = TypeVar("A")
_DirectCall: TypeAlias = "tuple[HealthStore, Limiter, float]"
"""Where the health of a target is kept about which nothing is known, what limits it, and the time by the former."""

_CLOSED = frozenset({"benched", "suspended"})
_NONE: frozenset[str] = frozenset()
_OWN_FAILURES = frozenset({"failures"})
"""A call that asks again is not stopped by a bench that its own failures may have brought about."""
_ALL_BUT_SUSPENDED = frozenset({"auth", "billing", "failures", "retry_after"})
"""Where nobody else is there to ask, only a person's word keeps a target out."""
_ONLY_READ = frozenset({"cachedContent"})
"""Members of a state at the provider that a call does not change."""
_ONCE, _NEVER = Retry(), Retry(retries=0)
_TRAFFIC = Traffic()
_NOTHING: Any = object()
"""The value of a target that gives no answer."""


def routed(call: Call, run_attempt: Callable[[Call, CallTarget], Steps[A]]) -> Steps[tuple[A, tuple[Attempt, ...]]]:
    """The answer of the first target that has one, with every try.

    An answer that goes on after this is a `Lasting`: whoever reads it tells its `attempt` how it ended.

    Raises: the error of the only target, or of a request that nobody would take; ChainExhaustedError otherwise.
    """
    direct = _direct_call(call)
    if direct is None:
        return (yield from _ChainRun(call, run_attempt, *_beside(call)).go())
    store, limits, at_s = direct
    target, started_s = call.targets[0], call.clock()
    try:
        answer = yield from run_attempt(call, target)
    except Error as error:
        failure = error
    else:
        duration_s = call.clock() - started_s
        if isinstance(answer, Lasting):
            answer.attempt = OpenAttempt(
                target, store, CircuitState("open", at_s), None, started_s, 1, None, call.settings.headers
            )
        elif store.clear_at_s(target.endpoint.spec) is None:
            identity = target.endpoint.identity(call.settings.headers)
            yield from consulted(store, target.endpoint.spec, Succeeded(at_s, identity=identity))
        return answer, (served(target.endpoint.spec, duration_s),)
    attempt = OpenAttempt(target, store, CircuitState("open", at_s), None, started_s, 1, None, call.settings.headers)
    return (yield from _ChainRun(call, run_attempt, store, limits).taken_over(attempt, failure))


def _direct_call(call: Call) -> _DirectCall | None:
    """The health store, the limits and the time of a call's only target, if that may be asked straight away.

    None where there are others, where health or a limit has to be asked first, and where somebody looks on.
    """
    if len(call.targets) != 1 or call.ranking is not None or call.watch is not None or call.settings.require:
        return None
    store, limits = call.health, call.limits
    if store is None or limits is None:
        store, limits = _beside(call)
    spec = call.targets[0].endpoint.spec
    at_s = None if limits.covers(spec) else store.clear_at_s(spec)
    return None if at_s is None else (store, limits, at_s)


def _beside(call: Call) -> tuple[HealthStore, Limiter]:
    """Where the health of a call's targets is kept, and what limits it."""
    store, limits = neighbours()
    return call.health or store, call.limits or limits


def is_committed(request: Request) -> bool:
    """Whether a request lets the provider act or keep state, so that it must not run twice: its tools, its memory."""
    return (
        bool(request.store)
        or (request.continues is not None and not _ONLY_READ.issuperset(request.continues.raw))
        or any(isinstance(tool, OpaqueTool) for tool in request.tools)
        or any("mcp_servers" in members for members in request.extra.values())
    )


def has_one_try(call: Call) -> bool:
    """Whether a failure of the first try ends the call: its only target is not asked again."""
    return len(call.targets) == 1 and (call.settings.retries == 0 or is_committed(call.request))


def targets_in_order(call: Call, chance: Callable[[], float] = lambda: 0.5) -> tuple[CallTarget, ...]:
    """The targets in the order of the call's rules now; what they do not name comes last."""
    if call.ranking is None:
        return call.targets
    specs = in_order(call.ranking, call.traffic or _TRAFFIC, chance, call.clock(), partial(prefix_digest, call.request))
    places = {spec: place for place, spec in enumerate(specs)}
    return tuple(sorted(call.targets, key=lambda target: places.get(target.endpoint.spec, len(places))))


class _ChainRun:
    """One call on its way."""

    __slots__ = (
        "_began",
        "_benched",
        "_call",
        "_error",
        "_is_hasty",
        "_is_raced",
        "_limits",
        "_refusals",
        "_retry",
        "_run_attempt",
        "_store",
        "_targets",
        "_traffic",
        "_tries",
        "_unsealed",
        "_waiting",
        "attempts",
    )  # fmt: skip

    def __init__(
        self, call: Call, run_attempt: Callable[[Call, CallTarget], Steps[Any]], store: HealthStore, limits: Limiter
    ) -> None:
        self._call = call
        self._run_attempt = run_attempt
        self._traffic = None if call.ranking is None else call.traffic or _TRAFFIC
        self._targets = call.targets if call.ranking is None else targets_in_order(call, call.chance or _random)
        self._store = store
        self._limits = limits
        self._began = call.clock()
        self._retry = _retry(call)
        self._benched: list[tuple[CallTarget, CircuitState]] = []
        self._refusals: dict[str, Error] = {}
        self._error: Error | None = None
        self._is_raced = False
        self._is_hasty = False
        self._waiting: deque[CallTarget] = deque()
        self._tries = 0
        self._unsealed: set[str] = set()
        self.attempts: list[Attempt] = []

    def go(self) -> Steps[tuple[Any, tuple[Attempt, ...]]]:
        """The first answer, and every try."""
        answer = yield from self._first()
        return answer, tuple(self.attempts)

    def taken_over(self, attempt: OpenAttempt, error: Error) -> Steps[tuple[Any, tuple[Attempt, ...]]]:
        """The first answer and every try of a call whose only target failed before a chain run was needed."""
        self._began, self._tries = attempt.started_s, attempt.number
        waited_s = yield from self._failed(attempt, error, self._call, 1, 0)
        answer = _NOTHING if waited_s is None else (yield from self._call_target(attempt.target, 1, waited_s=waited_s))
        if answer is _NOTHING:
            answer = yield from self._last()
        return answer, tuple(self.attempts)

    def _first(self) -> Steps[Any]:
        waiting = self._waiting
        queue = deque([target for target in self._targets if not self._falls_short(target)])
        while queue:
            target = queue.popleft()
            left = len(queue) + len(waiting) + 1
            if left > 1 and self._would_wait(target):
                self._put_off(target)
                continue
            self._is_hasty = left > 1
            answer = yield from (
                self._hedged(target, queue, left) if self._hedges(queue) else self._call_target(target, left)
            )
            if answer is not _NOTHING:
                return answer
        self._is_hasty = False
        while waiting:
            answer = yield from self._call_target(waiting.popleft(), len(waiting) + 1)
            if answer is not _NOTHING:
                return answer
        return (yield from self._last())

    def _hedges(self, queue: deque[CallTarget]) -> bool:
        """Whether the next target may be asked beside this one: what runs twice must do no harm."""
        return bool(
            self._call.settings.hedge_after_s
            and queue
            and not is_committed(self._call.request)
            and not self._would_wait(queue[0])
        )

    def _hedged(self, target: CallTarget, queue: deque[CallTarget], left: int) -> Steps[Any]:
        """The first answer of this target and the next one, which is asked when this one takes long."""
        after_s = self._call.settings.hedge_after_s or 0.0
        first, second = self._call_target(target, left), partial(self._call_target, queue[0], left - 1)
        self._is_raced = True
        answer, both = yield Race(first, second, after_s, _NOTHING)
        self._is_raced = False
        if both:
            queue.popleft()
        self.attempts.sort(key=lambda attempt: attempt.outcome == "served")
        return answer

    def _last(self) -> Steps[Any]:
        """The answer of the target whose bench ends first, where nobody else was there to ask."""
        usable = [(target, circuit) for target, circuit in self._benched if circuit.reason != "suspended"]
        if not self._tries and usable:
            target, _ = min(usable, key=lambda pair: pair[1].wait_s or 0.0)
            answer = yield from self._call_target(target, 1, is_last=True)
            if answer is not _NOTHING:
                return answer
        raise self._exhausted() from self._error

    def _call_target(
        self, target: CallTarget, left: int, *, is_last: bool = False, waited_s: float | None = None
    ) -> Steps[Any]:
        """The answer of a target, asked as often as it is worth, unless so many were asked already.

        `waited_s` is the pause to be made first, for one that has failed before.
        """
        if self._tries >= MAX_TRIES:
            self._pass_over(target, f"{MAX_TRIES} tries were made")
            return _NOTHING
        again = 0
        while True:
            if waited_s is not None:
                yield Sleep(waited_s if self._call.with_credential else 0.0)
                again += 1
            excused = _ALL_BUT_SUSPENDED if is_last or len(self._targets) == 1 else self._own() if again else _NONE
            circuit, ticket = yield from self._let_in(target, excused)
            if circuit is None:
                return _NOTHING
            attempt = self._begin(target, circuit, ticket, waited_s)
            call = self._timed(attempt.started_s, left, fresh=not again and ticket is None)
            try:
                answer = yield from self._run_attempt(call, self._receiver(target, circuit.lacks))
            except Error as error:
                waited_s = yield from self._failed(attempt, error, call, left, again)
            except BaseException as problem:
                self._abandoned(attempt, problem)
                raise
            else:
                return (yield from self._served(attempt, answer))
            if waited_s is None:
                return _NOTHING

    def _receiver(self, target: CallTarget, lacks: frozenset[str]) -> CallTarget:
        """The target as a try has to see it: without what it has refused."""
        if lacks and self._call.request.messages:
            target = narrowed(target, lacks)
        elif lacks:  # a request that nobody read is checked by who sends it
            target = replace(target, refused_features=lacks)
        return unsealed(target) if target.endpoint.spec in self._unsealed else target

    def _own(self) -> frozenset[str]:
        """Reasons of a bench that the try before made itself; a wait that a stand-in skips counts as waited."""
        return _OWN_FAILURES if self._call.with_credential else _OWN_FAILURES | {"retry_after"}

    def _let_in(self, target: CallTarget, excused: frozenset[str]) -> Steps[tuple[CircuitState | None, Ticket | None]]:
        """How a target stands that may be asked, and the ticket where it has a limit on our own side; else None.

        `excused` are reasons of a bench that keep nobody out. Who has to wait for a ticket takes no probe along.
        """
        ticket = None
        if self._limits.covers(target.endpoint.spec):
            circuit = yield from self._circuit(target, Look)
            if circuit.lacks and self._falls_short(target, circuit.lacks):
                return None, None
            if circuit.state in _CLOSED and circuit.reason not in excused:
                self._bench(target, circuit)
                return None, None
            ticket = yield from self._entered(target)
            if ticket is None:
                return None, None
        try:
            circuit = yield from self._circuit(target, Admit)
        except BaseException:
            if ticket is not None:
                ticket.leave(0)
            raise
        if circuit.admitted or circuit.reason in excused:
            return (circuit, ticket) if not circuit.lacks else (yield from self._admitted(target, circuit, ticket))
        if ticket is not None:
            ticket.leave(0)
        self._bench(target, circuit)
        return None, None

    def _circuit(self, target: CallTarget, asks: type[Admit | Look]) -> Steps[CircuitState]:
        """How a target stands for this call; its address and key are looked at only where something is known of it."""
        spec = target.endpoint.spec
        at_s = self._store.clear_at_s(spec)
        if at_s is not None:
            return CircuitState("open", at_s)
        identity = target.endpoint.identity(self._call.settings.headers)
        return (yield from consulted(self._store, spec, asks(identity=identity)))

    def _admitted(
        self, target: CallTarget, circuit: CircuitState, ticket: Ticket | None
    ) -> Steps[tuple[CircuitState | None, Ticket | None]]:
        """The admission of a target that may be asked, and that has said that it lacks something."""
        try:
            falls_short = self._falls_short(target, circuit.lacks)
        except UnsupportedError:
            yield from self._given_back(target, circuit, ticket)
            raise
        if not falls_short:
            return circuit, ticket
        yield from self._given_back(target, circuit, ticket)
        return None, None

    def _given_back(self, target: CallTarget, circuit: CircuitState, ticket: Ticket | None) -> Steps[None]:
        """Give back the probe and the ticket of a try that is not made."""
        if ticket is not None:
            ticket.leave(0)
        if circuit.state == "probe":
            spared = Spared(circuit.at_s, identity=target.endpoint.identity(self._call.settings.headers))
            yield from consulted(self._store, target.endpoint.spec, spared)

    def _abandoned(self, attempt: OpenAttempt, problem: BaseException) -> None:
        """Nobody waits for the try any more: the caller is gone, or another target was faster."""
        attempt.abandon(problem)
        if self._is_raced:
            duration_s = self._call.clock() - attempt.started_s
            given_up = outrun(attempt.target.endpoint.spec, duration_s, attempt.waited_s)
            self.attempts.append(given_up)
            if self._call.watch is not None:
                self._call.watch.attempt_failed(attempt.target, attempt.number, Error(given_up.error or ""), duration_s)

    def _begin(
        self, target: CallTarget, circuit: CircuitState, ticket: Ticket | None, waited_s: float | None
    ) -> OpenAttempt:
        self._tries += 1
        now_s, headers = self._call.clock(), self._call.settings.headers
        attempt = OpenAttempt(target, self._store, circuit, ticket, now_s, self._tries, waited_s, headers)
        if self._traffic is not None:
            attempt.enter(self._traffic)
        if self._call.watch is not None:
            self._call.watch.attempt(target, self._tries)
        return attempt

    def _timed(self, now_s: float, left: int, *, fresh: bool) -> Call:
        """The call of one try: with what is left of the time, and when its answer must have begun."""
        total_s = self._call.settings.timeouts.total_s
        if total_s is None or (left == 1 and fresh and self._tries == 1):
            return self._call
        passed_s = now_s - self._began
        call = later(self._call, passed_s)
        return call if left == 1 else replace(call, answer_by_s=now_s + share_s(total_s - passed_s, left))

    def _served(self, attempt: OpenAttempt, answer: Any) -> Steps[Any]:
        now_s = self._call.clock()
        duration_s = now_s - attempt.started_s
        if self._traffic is not None:
            self._traffic.measured(attempt.target.endpoint.spec, duration_s, now_s)
        self.attempts.append(served(attempt.target.endpoint.spec, duration_s, attempt.waited_s))
        if isinstance(answer, Lasting):
            answer.attempt = attempt
            yield from attempt.began()
        else:
            yield from attempt.ended(answer)
        return answer

    def _failed(self, attempt: OpenAttempt, error: Error, call: Call, left: int, again: int) -> Steps[float | None]:
        """The pause before the same target is asked once more; None when the next one is.

        Raises: the error, where it ends the call.
        """
        now_s = self._call.clock()
        target, settings = attempt.target, self._call.settings
        request = self._call.request
        if error.lacking and request.messages and not has_need(request, error.lacking, typed=self._call.typed):
            error.lacking = None  # it speaks of something that the request does not have, or has chosen itself
        decision = verdict(error, committed=is_committed(self._call.request), persist=settings.persist)
        self._note(attempt, error, now_s - attempt.started_s)
        yield from attempt.failed(error, decision.fault, self._call.watch)
        is_repaired = error.has_bound_thinking and self._unseals(target)
        if (decision.action == "stop" and not is_repaired) or self._is_over(error, call, now_s):
            raise error
        pause = None
        is_late = call.answer_by_s is not None and now_s >= call.answer_by_s  # the share of the target is used up
        if self._tries >= MAX_TRIES or is_late:
            pass
        elif is_repaired:
            pause = 0.0
        elif decision.action == "retry":
            chance = (self._call.chance or _random)()
            pause = pause_s(self._retry, again, error.retry_after_s, chance, is_last=left == 1)
        total_s = settings.timeouts.total_s
        if pause is not None and total_s is not None and now_s - self._began + pause >= total_s:
            pause = None
        if pause is None and len(self._targets) == 1:
            raise error
        if pause is not None and self._call.watch is not None:
            self._call.watch.retry(target, self._tries + 1, pause, error)
        return pause

    def _unseals(self, target: CallTarget) -> bool:
        """Whether the target gets no thinking from now on, where it got some that may be left out."""
        spec = target.endpoint.spec
        if spec in self._unsealed or not may_unseal(self._call.request):
            return False
        self._unsealed.add(spec)
        return True

    def _note(self, attempt: OpenAttempt, error: Error, duration_s: float) -> None:
        """Record a try that gave no answer; one that sent nothing was none."""
        attribute(error, attempt.target.endpoint, self._call.settings.headers)
        self._error = error
        spec = attempt.target.endpoint.spec
        if isinstance(error, UnsupportedError) or error.lacking is not None:
            self._refusals[spec] = error
        is_skipped = isinstance(error, UnsupportedError | ConfigError)
        self.attempts.append(failed(spec, error, duration_s, attempt.waited_s, skipped=is_skipped))
        error.attempts = tuple(self.attempts)
        watch = self._call.watch
        if is_skipped:
            self._tries -= 1
            if watch is not None:
                watch.skipped(attempt.target, error.message)
        elif watch is not None:
            watch.attempt_failed(attempt.target, attempt.number, error, duration_s)

    def _is_over(self, error: Error, call: Call, now_s: float) -> bool:
        """Whether the call's own time has passed."""
        if isinstance(error, APITimeoutError) and error.phase == "total" and call.answer_by_s is None:
            return True
        total_s = self._call.settings.timeouts.total_s
        return total_s is not None and now_s - self._began >= total_s

    # Targets that are not asked

    def _falls_short(self, target: CallTarget, lacking: Collection[str] = ()) -> bool:
        """Whether a target is known not to take the request, with its entry; nothing was sent to it.

        Raises: UnsupportedError of the only target.
        """
        if len(self._targets) == 1 and not lacking and not is_required(self._call):
            return False  # what its dialect refuses is found when the request is encoded
        error = shortfall(self._call, target, lacking)
        if error is None:
            return False
        self._error = error
        self.attempts.append(failed(target.endpoint.spec, error, 0.0, skipped=True))
        error.attempts = tuple(self.attempts)
        if self._call.watch is not None:
            self._call.watch.skipped(target, error.message)
        if len(self._targets) == 1:
            raise error
        self._refusals[target.endpoint.spec] = error
        return True

    def _bench(self, target: CallTarget, circuit: CircuitState) -> None:
        self._benched.append((target, circuit))
        self._pass_over(target, circuit_text(circuit))

    def _pass_over(self, target: CallTarget, reason: str) -> None:
        self.attempts.append(passed_over(target.endpoint.spec, reason))
        if self._call.watch is not None:
            self._call.watch.skipped(target, reason)

    def _put_off(self, target: CallTarget) -> None:
        """Ask others first: this one would have to wait for its limit."""
        self._waiting.append(target)
        self._pass_over(target, "its limit on our own side is used up")

    def _would_wait(self, target: CallTarget) -> bool:
        spec = target.endpoint.spec
        return self._limits.covers(spec) and self._limits.would_wait(spec, self._tokens(target))

    def _entered(self, target: CallTarget) -> Steps[Ticket | None]:
        """The ticket of a target with a limit on our own side; None when it cannot be had in time.

        Raises: RateLimitError of the only target.
        """
        total_s = self._call.settings.timeouts.total_s
        within_s = None if total_s is None else max(0.0, total_s - (self._call.clock() - self._began))
        try:
            return (
                yield Enter(
                    self._limits, target.endpoint.spec, self._tokens(target), 0.0 if self._is_hasty else within_s
                )
            )
        except RateLimitError as error:
            if self._is_hasty:  # a limit that is shared is known only when it is asked
                self._put_off(target)
                return None
            self._error = error
            self._pass_over(target, error.message)
            error.attempts = tuple(self.attempts)
            if len(self._targets) == 1:
                raise
            return None

    def _tokens(self, target: CallTarget) -> int:
        """About how many tokens the request has."""
        if self._call.input_tokens is not None:
            return self._call.input_tokens
        from interlingua.routing.estimate import estimate_tokens  # only who has limits counts

        return estimate_tokens(self._call.request, target.endpoint.model)

    def _exhausted(self) -> ChainExhaustedError | UnsupportedError:
        """The error of a chain of which no target answered; one of its own where none of them takes the request."""
        attempts = tuple(self.attempts)
        if len(self._refusals) == len(self._targets):
            changes = [change for error in self._refusals.values() for change in getattr(error, "changes", ())]
            reasons = [  # each with the target's name once
                error.message if error.message.startswith(spec) else f"{spec}: {error.message}"
                for spec, error in self._refusals.items()
            ]
            listing = "; ".join(reasons)
            return UnsupportedError(
                f"no target of the chain takes the request: {listing}", changes=tuple(changes), attempts=attempts
            )
        waits = [circuit.wait_s for _, circuit in self._benched if circuit.wait_s is not None]
        error = self._error
        if error is not None and error.retry_after_s is not None:
            waits.append(error.retry_after_s)
        return ChainExhaustedError(
            f"no target of the chain answered: {summary(attempts)}",
            attempts=attempts,
            retryable=error.retryable if error is not None else bool(waits),
            retry_after_s=min(waits, default=None),
        )


def _retry(call: Call) -> Retry:
    """How targets are asked again; an error that was scripted for a stand-in is meant, unless `retries` is said."""
    retries = call.settings.retries
    if retries is None:
        return _ONCE if call.with_credential else _NEVER
    return Retry(retries=retries)


def _random() -> float:
    from random import random  # only who asks again needs randomness

    return random()  # noqa: S311 - it spreads pauses, it guards nothing
