"""One run of an agent, told to whoever listens."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from interlingua.client.call.watch import PARENT, new_id
from interlingua.client.meter import tags_here
from interlingua.client.observe import AgentFinished, AgentStarted, listeners, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Token
    from types import TracebackType
    from typing import Self

    from interlingua.agent.state import RunState

__all__ = ["RunWatch"]


class RunWatch:
    """One run; as a context manager it is what the code inside belongs to."""

    def __init__(self, state: RunState, make_id: Callable[[], str] = new_id) -> None:
        """A run that begins, or goes on, now."""
        self._state = state
        self._id = make_id()
        self._head: dict[str, Any] = {"id": self._id, "parent_id": PARENT.get(), "tags": tags_here()}
        self._listeners = listeners()
        self._is_finished = False
        self._token: Token[str | None] | None = None
        self._began_s = state.elapsed_s
        targets = tuple([target.endpoint.spec for target in state.targets])
        tell(AgentStarted(**self._head, targets=targets), self._listeners)

    def __enter__(self) -> Self:
        self._token = PARENT.set(self._id)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            with suppress(ValueError):  # a piece of work that is collected ends in a context that is not its own
                PARENT.reset(self._token)
        if error is not None or self._state.stop_reason is not None:
            self.finish(error)

    def finish(self, error: BaseException | None = None) -> None:
        """The run has ended; only the first end counts."""
        if self._is_finished:
            return
        self._is_finished = True
        state = self._state
        tell(
            AgentFinished(
                **self._head,
                stop_reason=state.stop_reason or ("error" if isinstance(error, Exception) else "cancelled"),
                steps=len(state.steps),
                duration_s=state.elapsed_s - self._began_s,
                usage=state.usage,
                cost_usd=state.cost_usd,
                error=type(error).__name__ if isinstance(error, Exception) else None,
            ),
            self._listeners,
        )
