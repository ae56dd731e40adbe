"""The accounts of keys in the database of keys, for the processes of one machine.

Strategy: operations that come while others are written wait and are written together, in one transaction, in the order
in which they came, by a thread of their own. A transaction takes the file for itself, so that processes do not
overspend a budget together.

Rules
- What was written survives the end of the process, however it ends; only a machine that loses its power may lose the
  last moment.
- Where the file cannot be written, calls are refused; what ended meanwhile is kept, and written with the next one.
- A reservation whose process on this machine is gone is charged when the next process opens the file.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import InternalServerError
from interlingua.gateway.keys.accounts import COUNTS, Row, add_rows
from interlingua.gateway.keys.budget import Account, Enter, Leave, Refusal, lapse, names_of, step
from interlingua.gateway.keys.database import connect, read_account, read_accounts, read_usage
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from interlingua.gateway.keys.budget import Operation

__all__ = ["SqliteAccounts", "holder_here", "is_gone_here"]

MOST_KEPT = 100_000
"""How many calls are remembered that have ended while the file cannot be written."""
_USAGE = " ".join(
    [
        "INSERT INTO usage (key, day, model,",
        ", ".join(COUNTS),
        ") VALUES (?, ?, ?",
        ", ?" * len(COUNTS),
        ") ON CONFLICT (key, day, model) DO UPDATE SET",
        ", ".join([f"{name} = {name} + excluded.{name}" for name in COUNTS]),
    ]
)


class _Waiting(NamedTuple):
    operation: Operation
    rows: tuple[Row, ...]
    done: asyncio.Future[Refusal | None]


def holder_here() -> str:
    """A name for this process among all that may hold reservations."""
    return f"{platform.node()}:{os.getpid()}:{token_hex(8)}"


def is_gone_here(own: str) -> Callable[[str], bool]:
    """Tells of a holder whether it was a process of this machine that is no more; `own` is this process."""
    machine, pid, _ = own.rsplit(":", 2)

    def is_gone(holder: str) -> bool:
        parts = holder.rsplit(":", 2)
        if holder == own or len(parts) != 3 or parts[0] != machine or not parts[1].isdigit():
            return False
        return parts[1] == pid or not _lives(int(parts[1]))  # our own number, and not us: somebody before us had it

    return is_gone


def _lives(pid: int) -> bool:
    if os.name != "posix":  # elsewhere a signal 0 would end it; its lease has to be over instead
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class SqliteAccounts:
    """Accounts in a file; the processes of one machine share them."""

    immediate: bool = False
    """A file has to be waited for."""

    def __init__(self, path: Path, *, now: Callable[[], float], holder: str) -> None:
        """The accounts of the file at `path`; `holder` is this process.

        Raises: ConfigError for what is no such file.
        """
        self._connection = connect(path)
        self._now = now
        self._waiting: list[_Waiting] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._take_over(is_gone_here(holder))

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Reserve what a call may use; the refusal where it does not fit.

        Raises: InternalServerError where the file cannot be written.
        """
        return self._put(operation)

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[object]:
        """Settle a call, and add rows to what was used."""
        return self._put(operation, *rows)

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """What was used, by key, day and model; of one key where it is named, from a day on."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor(), read_usage, self._connection, key, since)

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name, as it was written last."""
        found = await asyncio.get_running_loop().run_in_executor(
            self._executor(), read_accounts, self._connection, names
        )
        return [found.get(name) for name in names]

    async def close(self) -> None:
        """Write what is still to be written, and close the file."""
        if self._waiting and self._writer is None:
            self._writer = asyncio.ensure_future(self._write_all())
        while self._writer is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._writer)
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        self._connection.close()

    def _put(self, operation: Operation, *rows: Row) -> asyncio.Future[Refusal | None]:
        """What an operation comes to; it is done also when nobody waits for that any more."""
        waiting = _Waiting(operation, rows, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._writer is None:
            self._writer = asyncio.ensure_future(self._write_all())
        return waiting.done

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                await asyncio.sleep(0)  # what comes in the same turn of the loop is written together
                batch, self._waiting = self._waiting, []
                try:
                    outcomes = await loop.run_in_executor(self._executor(), self._apply, batch)
                except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
                    self._postpone(batch, error)
                    return
                else:
                    for waiting, outcome in zip(batch, outcomes, strict=True):
                        _tell(waiting.done, outcome)
        finally:
            self._writer = None

    def _postpone(self, batch: list[_Waiting], error: Exception) -> None:
        """Refuse who wants to begin; keep what has ended, to be written with the next one."""
        import logging  # only an outage needs it

        logging.getLogger("interlingua.gateway").error("the accounts of keys cannot be written: %s", error)
        newer, self._waiting = self._waiting[:MOST_KEPT], []
        for waiting in (*batch, *newer):
            if isinstance(waiting.operation, Leave):
                _tell(waiting.done, None)  # nobody waits for it any longer; it is written later
                self._waiting.append(waiting)
            elif not waiting.done.done():
                waiting.done.set_exception(_unwritable())

    def _apply(self, batch: Sequence[_Waiting]) -> list[Refusal | None]:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            accounts = read_accounts(connection, names_of(waiting.operation for waiting in batch))
            changed: dict[str, Account] = {}
            outcomes: list[Refusal | None] = []
            for waiting in batch:
                written, outcome = step(accounts, waiting.operation)
                accounts |= written
                changed |= written
                outcomes.append(outcome)
            self._write(changed)
            sums: dict[tuple[str, str, str], Row] = {}
            add_rows(sums, [row for waiting in batch for row in waiting.rows])
            connection.executemany(_USAGE, [_values(row) for row in sums.values()])
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        return outcomes

    def _write(self, accounts: dict[str, Account]) -> None:
        rows = [(name, encode(account)) for name, account in accounts.items()]
        self._connection.executemany("INSERT OR REPLACE INTO accounts (name, account) VALUES (?, ?)", rows)

    def _take_over(self, is_gone: Callable[[str], bool]) -> None:
        """Charge the reservations of processes that are no more."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = connection.execute("SELECT name, account FROM accounts").fetchall()
            accounts = {name: read_account(text) for name, text in found}
            lapsed = {name: lapse(account, self._now(), is_gone=is_gone) for name, account in accounts.items()}
            self._write({name: account for name, account in lapsed.items() if account is not accounts[name]})
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor  # only who has accounts in a file needs a thread

            self._thread = ThreadPoolExecutor(1, thread_name_prefix="interlingua-keys")
        return self._thread


def _tell(done: asyncio.Future[Refusal | None], outcome: Refusal | None) -> None:
    if not done.done():
        done.set_result(outcome)


def _values(row: Row) -> tuple[object, ...]:
    return (row.key, row.day, row.model, *[getattr(row, name) for name in COUNTS])


def _unwritable() -> InternalServerError:
    return InternalServerError("what this key has used cannot be written, so nothing more is let in", status=503)
