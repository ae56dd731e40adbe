"""Group commit: the operations of calls that wait at the same time are written as one batch.

Strategy: an operation waits in a list. One task takes all that wait, has them written, tells each what came of it, and
goes on with those that came meanwhile. So a store has one change for many calls, and the busier it is the fewer.

Rules
- Operations are written in the order in which they came.
- An operation is written also when nobody waits for it any more. A call that entered and whose client left meanwhile
  gives its reservation back.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from interlingua.errors import Error, InternalServerError
from interlingua.gateway.keys.budget import Refusal, Used
from interlingua.gateway.keys.operations import Enter, Leave

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.operations import Operation

__all__ = ["Batches", "Outcome", "Waiting", "given_back"]

Outcome: TypeAlias = Refusal | Error | None
"""The result of an operation: nothing more to say, the refusal of a call, or why it could not be written."""


class Waiting(NamedTuple):
    """An operation that waits to be written."""

    operation: Operation
    """The operation."""
    rows: tuple[Row, ...]
    """The rows that it adds to the use of keys."""
    done: asyncio.Future[Refusal | None]
    """Is done once it is written."""


class Batches:
    """The operations of one process on their way into a store."""

    def __init__(self, write: Callable[[Sequence[Waiting]], Awaitable[Sequence[Outcome]]]) -> None:
        """Nothing waits; `write` writes a batch and gives the outcome of each operation."""
        self._write = write
        self._waiting: list[Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    def add(self, operation: Operation, rows: tuple[Row, ...] = ()) -> asyncio.Future[Refusal | None]:
        """Have an operation written; to be awaited: the refusal of a call that does not enter."""
        done: asyncio.Future[Refusal | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(operation, rows, done))
        if self._writer is None:
            self._writer = asyncio.ensure_future(self._write_all())
        return done

    async def enter(self, operation: Enter) -> Refusal | None:
        """The refusal of a call that does not enter; who is cancelled while it waits has its reservation given back."""
        done = self.add(operation)
        try:
            return await done
        except asyncio.CancelledError:
            if not done.cancelled() and done.exception() is None and done.result() is None:  # let in at that moment
                self.add(given_back(operation))
            raise

    async def settle(self) -> None:
        """Wait until nothing waits any more."""
        while self._writer is not None:
            await asyncio.wait([self._writer])

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(0)  # a look at the sockets: who comes in that round shares the transaction
                batch, self._waiting = self._waiting, []
                try:
                    outcomes = await self._write(batch)
                except Exception:  # a fault of ours must leave no call waiting
                    logging.getLogger("interlingua.gateway").exception("a batch of calls was not written")
                    outcomes = [_failed(waiting.operation) for waiting in batch]
                except BaseException:  # the event loop ends
                    for waiting in batch:
                        waiting.done.cancel()
                    raise
                for waiting, outcome in zip(batch, outcomes, strict=True):
                    self._tell(waiting, outcome)
        finally:
            self._writer = None

    def _tell(self, waiting: Waiting, outcome: Outcome) -> None:
        operation, _, done = waiting
        if done.cancelled():
            if isinstance(operation, Enter) and outcome is None:
                self._waiting.append(Waiting(given_back(operation), (), done.get_loop().create_future()))
        elif isinstance(outcome, Error):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)


def given_back(operation: Enter) -> Leave:
    """The settlement of a call that was not made."""
    names = tuple([name for name, _ in operation.terms])
    return Leave(operation.call, names, Used(), operation.call.at_s)


def _failed(operation: Operation) -> Outcome:
    """The outcome of an operation of which nobody knows whether it was written."""
    if isinstance(operation, Leave):
        return None
    return InternalServerError("what this key has used cannot be written, so nothing more is let in", status=503)
