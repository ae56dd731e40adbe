"""Calls in sentences, for the logger `interlingua` and for the command line: no content, no key.

Shape: INFO says that a chain goes on to another target, passes one over or leaves one alone, and that a bound ended a
run; DEBUG says each request and each answer in one line, and pauses before another try.

Rules
- The logger is heard of when somebody has loaded `logging` and set a level; until then nothing is made for it.
- A failed target and the one that is asked instead are one sentence, said when the latter is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.client.observe import (
    AgentFinished,
    AttemptFailed,
    AttemptStarted,
    CallFinished,
    CallStarted,
    RetryScheduled,
    TargetBenched,
    TargetSkipped,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import Logger

    from interlingua.client.observe import Observed

__all__ = ["Failovers", "log_events"]

DEBUG = 10
"""The level of `logging`, by its number."""
_ENDED_WELL = frozenset({"done", "approval", "cancelled", "error"})
"""How a run ends without a bound that was hit."""


class Failovers:
    """Tells a sentence each time that a chain goes on to another target."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        """An observer that has heard nothing."""
        self._tell = tell
        self._failed: dict[str, tuple[str, str]] = {}

    def __call__(self, event: Observed) -> None:
        """Hear an event."""
        match event:
            case AttemptFailed():
                status = "" if event.status is None else f"{event.status} "
                self._failed[event.id] = event.model, f"{status}{event.message}"
            case AttemptStarted():
                model, why = self._failed.pop(event.id, (event.model, ""))
                if model != event.model:
                    self._tell(f"{model}: {why.removeprefix(f'{model}: ')}; falling back to {event.model}")
            case TargetSkipped():
                self._tell(f"{event.model} is skipped: {event.reason.removeprefix(f'{event.model}: ')}")
            case CallFinished():
                self._failed.pop(event.id, None)
            case _:
                pass


def log_events(logger: Logger) -> Callable[[Observed], None]:
    """The observer that writes what happens to a logger."""
    failovers = Failovers(logger.info)

    def hear(event: Observed) -> None:
        failovers(event)
        match event:
            case TargetBenched():
                logger.info("the circuit breaker of %s opens for %.3g s: %s", event.model, event.for_s, event.reason)
            case AgentFinished() if event.stop_reason not in _ENDED_WELL:
                logger.info("a run ended after %d steps: %s", event.steps, event.stop_reason)
            case CallStarted():
                logger.debug(
                    "%s calls %s%s", event.id, ", ".join(event.targets), " for a stream" if event.stream else ""
                )
            case RetryScheduled():
                logger.debug("%s retries %s in %.3g s, after %s", event.id, event.model, event.delay_s, event.error)
            case CallFinished() if logger.isEnabledFor(DEBUG):
                logger.debug("%s", _ending(event))
            case _:
                pass

    return hear


def _ending(event: CallFinished) -> str:
    """How a call ended, in one line."""
    took = f"{event.duration_s:.3g} s"
    if event.error is not None:
        status = "" if event.status is None else f" {event.status}"
        return f"{event.id} failed after {took}: {event.error}{status}"
    if event.model is None:
        return f"{event.id} was left after {took}"
    facts = [event.finish_reason or "no end"]
    if event.usage is not None:
        facts.append(f"{event.usage.input_tokens or 0} tokens in, {event.usage.output_tokens or 0} out")
    if event.cost_usd is not None:
        facts.append(f"${event.cost_usd:.4g}")
    return f"{event.id} is answered by {event.model} after {took}: {', '.join(facts)}"
