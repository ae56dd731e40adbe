"""One try at a target, until its answer is whole or its reader has left: what health and limits are told of it.

Rules
- A try that was admitted tells exactly once how it ended. A stream that began ends a bench at once, since a probe that
  answers proves that the target is back; that it came to its end is told at its end, that it broke off likewise.
- What is collected instead of closed takes no lock: a ticket gives itself back then, a probe's lease runs out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.client.call.effect import Consult
from interlingua.routing.health import Failed, Learned, Spared, Succeeded
from interlingua.routing.verdict import verdict
from interlingua.types.response import Response

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import CallTarget
    from interlingua.client.call.watch import Watch
    from interlingua.errors import Error
    from interlingua.routing.health import CircuitState, Fault, HealthStore, Operation
    from interlingua.routing.limits import Ticket
    from interlingua.routing.order import Traffic
    from interlingua.types.usage import Usage
    from interlingua.wire.http import Headers

__all__ = ["Lasting", "OpenAttempt", "consulted"]


class Lasting:
    """An answer that goes on after its try: whoever reads it tells `attempt` how it ended."""

    __slots__ = ("attempt",)

    def __init__(self) -> None:
        """An answer that no chain has handed over yet."""
        self.attempt: OpenAttempt | None = None
        """The try that it came from; None where there is no chain around it."""


class OpenAttempt:
    """One try."""

    __slots__ = (
        "_circuit",
        "_is_open",
        "_store",
        "_ticket",
        "_traffic",
        "headers",
        "number",
        "started_s",
        "target",
        "waited_s",
    )

    def __init__(  # noqa: PLR0917 - made once for every call, and keywords take time
        self,
        target: CallTarget,
        store: HealthStore,
        circuit: CircuitState,
        ticket: Ticket | None = None,
        started_s: float = 0.0,
        number: int = 0,
        waited_s: float | None = None,
        headers: Headers = (),
    ) -> None:
        """A try that begins now, let through as `circuit` says."""
        self.target: CallTarget = target
        """The target of the try."""
        self.number: int = number
        """Which try of the call, from 1."""
        self.started_s: float = started_s
        """When it began."""
        self.waited_s: float | None = waited_s
        """How long was waited before it, for the same target again; None for the first."""
        self.headers: Headers = headers
        """The caller's headers, which may hold the key that it goes with."""
        self._store = store
        self._circuit = circuit
        self._ticket = ticket
        self._traffic: Traffic | None = None
        self._is_open = True

    def enter(self, traffic: Traffic) -> None:
        """Count it among the calls under way."""
        self._traffic = traffic
        traffic.enter(self.target.endpoint.spec)

    def began(self) -> Steps[None]:
        """The answer has begun, and goes on."""
        if self._circuit.state != "open":
            yield from self._record_outcome(Succeeded(self._circuit.at_s, identity=self.identity()))

    def ended(self, answer: object = None) -> Steps[None]:
        """The answer is whole."""
        if self._ticket is None and self._traffic is None:
            self._is_open = False
        else:
            self._leave(_tokens_of(answer))
        if self._store.clear_at_s(self.target.endpoint.spec) is None:  # else a success is no news
            yield from self._record_outcome(Succeeded(self._circuit.at_s, identity=self.identity()))

    def failed(self, error: Error, fault: Fault | None, watch: Watch | None) -> Steps[None]:
        """There was no answer; `fault` is what that says against the target."""
        self._leave(None)
        at_s, identity = self._circuit.at_s, self.identity()
        if fault is None:
            yield from self._record_outcome(Spared(at_s, identity=identity))
            if error.lacking is not None:
                yield from self._record_outcome(Learned(frozenset([error.lacking]), identity=identity))
            return
        cause = f"{type(error).__name__}{'' if error.status is None else f' {error.status}'}"
        after = yield from self._record_outcome(Failed(fault, error.retry_after_s, at_s, cause, identity=identity))
        if watch is not None and after.state == "benched" and self._circuit.admitted:
            watch.benched(self.target, after.wait_s or 0.0, f"{after.reason} ({cause})")

    def broke(self, error: Error, watch: Watch | None) -> Steps[None]:
        """The answer broke off after it had begun."""
        yield from self.failed(error, verdict(error).fault, watch)

    def abandon(self, problem: BaseException | None = None) -> None:
        """Nobody waits for the answer any more; nothing that was not told yet says anything of the target."""
        if not self._is_open:
            return
        if isinstance(problem, GeneratorExit):  # possibly in the middle of a collection: nothing that takes a lock
            self._ticket = None
            self._leave(None)
            return
        self._leave(None)
        if self._circuit.state == "probe" and self._store.immediate:
            self._store.apply(((self.target.endpoint.spec, Spared(self._circuit.at_s, identity=self.identity())),))

    def identity(self) -> str:
        """The address and the key that the try goes with."""
        return self.target.endpoint.identity(self.headers)

    def _leave(self, tokens: int | None) -> None:
        self._is_open = False
        if self._traffic is not None:
            self._traffic.leave(self.target.endpoint.spec)
            self._traffic = None
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            ticket.leave(tokens)

    def _record_outcome(self, operation: Operation) -> Steps[CircuitState]:
        return (yield from consulted(self._store, self.target.endpoint.spec, operation))


def consulted(store: HealthStore, target: str, operation: Operation) -> Steps[CircuitState]:
    """How a target stands after an operation."""
    operations = ((target, operation),)
    circuits = store.apply(operations) if store.immediate else (yield Consult(store, operations))
    return circuits[0]


def _tokens_of(answer: object) -> int | None:
    """The tokens that an answer took, where it is one that says so, or begins with one; none for less than none."""
    first = next(iter(cast("tuple[object, ...]", answer)), None) if isinstance(answer, tuple) else answer
    usage: Usage | None = cast("Response[Any]", first).usage if isinstance(first, Response) else None
    return None if usage is None else max(0, usage.input_tokens or 0) + max(0, usage.output_tokens or 0)
