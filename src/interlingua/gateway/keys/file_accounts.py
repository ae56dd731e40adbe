"""The accounts of keys in a file, for the processes of one machine: written in batches, by the event loop.

Strategy: a commit of a batch is a few stores into the memory of the system, some 100 µs. To hand it to a thread and
back costs more than that, since both want the interpreter at the same time (ADR 0066). The thread waits for the disk.

Rules
- A call is let in, and its answer goes out, once that is committed. What a key without limits used is committed soon
  after its answer.
- The event loop waits for no disk and no lock: while another process writes it does something else.
- While the file cannot be written, keys with limits are refused with 503, all others go on. What has ended meanwhile
  is kept, up to a bound, and written first. The outage is named once, and so is its end.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from interlingua.errors import InternalServerError
from interlingua.gateway.keys.batches import Batches
from interlingua.gateway.keys.file import BUSY_S
from interlingua.gateway.keys.holders import is_gone_here
from interlingua.gateway.keys.ledger import Ledger, is_busy
from interlingua.gateway.keys.operations import Leave

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.batches import Outcome, Waiting
    from interlingua.gateway.keys.budget import Account, Refusal
    from interlingua.gateway.keys.operations import Enter, Operation

__all__ = ["FileAccounts"]

MAX_LATE = 100_000
"""How many calls are kept that have ended while the file cannot be written."""
TURN_S = 0.001
"""How long another process has the file before it is tried again."""
SYNC_S = 1.0
"""How soon after a commit the disk knows of it."""


class FileAccounts:
    """Accounts in a file; the processes of one machine share them."""

    is_shared: bool = True
    """Other processes have the same accounts."""

    def __init__(self, path: Path, *, now: Callable[[], float], holder: str) -> None:
        """The accounts of the file at `path`; `holder` is this process.

        Raises: ConfigError for what is no such file.
        """
        self._name = path.name
        self._ledger = Ledger(path, is_gone=is_gone_here(holder), now=now)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="interlingua-keys")
        self._batches = Batches(self._write)
        self._late: list[tuple[Operation, tuple[Row, ...]]] = []
        self._last: asyncio.Future[Refusal | None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._problem = ""
        try:
            self._ledger.write(())  # charges what processes had reserved that are gone
        except sqlite3.Error as error:
            self._say(error)

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Reserve the most that a call may use; the refusal of a call that does not fit.

        Raises: InternalServerError with status 503 where the file cannot be written.
        """
        return self._batches.enter(operation)

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[object]:
        """Settle a call, and add rows to what was used; a call that reserved nothing is not waited for."""
        self._last = self._batches.add(operation, rows)
        return self._last if operation.call.id else _nothing()

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """The use, by key, day and model; of one key where it is named, from a day on."""
        await self._settled()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ledger.used, key, since)

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name, as it was written last."""
        await self._settled()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ledger.accounts, names)

    async def close(self) -> None:
        """Write what is still to be written, and close the file."""
        await self._batches.settle()
        if self._timer is not None:
            self._timer.cancel()
        with suppress(sqlite3.Error):
            await self._written(self._late)
        self._thread.shutdown()
        self._ledger.close()

    async def _settled(self) -> None:
        """Wait until what has ended is written."""
        if self._last is not None and not self._last.done():
            await asyncio.wait([self._last])

    async def _write(self, batch: Sequence[Waiting]) -> Sequence[Outcome]:
        loop, late = asyncio.get_running_loop(), self._late
        operations = [*late, *[(waiting.operation, waiting.rows) for waiting in batch]]
        try:
            outcomes = await self._written(operations)
        except sqlite3.Error as error:
            self._say(error)
            self._late = [each for each in operations if isinstance(each[0], Leave)][:MAX_LATE]
            return [None if isinstance(waiting.operation, Leave) else _outage() for waiting in batch]
        self._late = []
        if self._problem:
            self._problem = ""
            logging.getLogger("interlingua.gateway").warning("the accounts in %s can be written again", self._name)
        if self._timer is None:
            self._timer = loop.call_later(SYNC_S, self._sync)
        return outcomes[len(late) :]

    async def _written(self, operations: Sequence[tuple[Operation, tuple[Row, ...]]]) -> Sequence[Outcome]:
        """The outcomes of operations, written as soon as no other process writes."""
        until_s = time.monotonic() + BUSY_S
        while True:
            try:
                return self._ledger.write(operations)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > until_s:
                    raise
            await asyncio.sleep(TURN_S)

    def _sync(self) -> None:
        self._timer = None
        syncing = asyncio.get_running_loop().run_in_executor(self._thread, self._ledger.sync)
        syncing.add_done_callback(self._synced)

    def _synced(self, done: asyncio.Future[None]) -> None:
        if not done.cancelled() and isinstance(error := done.exception(), sqlite3.Error):
            self._say(error)

    def _say(self, error: sqlite3.Error) -> None:
        """Name an outage, once."""
        if str(error) != self._problem:
            self._problem = str(error)
            logging.getLogger("interlingua.gateway").error(
                "the accounts of keys in %s cannot be written, so keys with limits are not let in: %s",
                self._name,
                error,
            )


async def _nothing() -> None:
    """Nothing to wait for."""


def _outage() -> InternalServerError:
    return InternalServerError("what this key has used cannot be written, so nothing more is let in", status=503)
