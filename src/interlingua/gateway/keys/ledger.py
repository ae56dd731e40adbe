"""The accounts of keys in their SQLite file: a batch of operations is one transaction.

Strategy: accounts that were read stay at hand, changed in place, until another process has written; `PRAGMA
data_version` tells that. A transaction takes the file first (`BEGIN IMMEDIATE`), so that all processes make their
decisions one after the other, over what is there. Two connections: one writes, and never waits for the disk or for a
lock, so that an event loop may do it; the other one reads, and moves the log into the file, in a thread.

Rules
- A commit is in the memory of the system, so it survives the end of the process. `sync` has the disk know of it.
- A batch that fails changes nothing. An operation that cannot be written by itself is set aside, and the others of its
  batch are written.
- An account that is damaged lets nobody in and is not written over. While one is damaged whose name nobody can be sure
  of, no account begins that is not there.
- Reservations of processes of this machine that are gone are charged by the first transaction of a process.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import ConfigError, InternalServerError
from interlingua.gateway.keys.accounts import COUNTS, add_rows, as_reserved, chosen, fault_of
from interlingua.gateway.keys.budget import EMPTY
from interlingua.gateway.keys.file import checksum_of, commits_file, connect, mark_commit, read_account, read_usage
from interlingua.gateway.keys.operations import Enter, Leave, Tallies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.batches import Outcome
    from interlingua.gateway.keys.budget import Account
    from interlingua.gateway.keys.operations import Operation

__all__ = ["Ledger", "is_busy"]

MAX_LOG_BYTES = 8 * 1024 * 1024
"""How long the log gets before it begins anew."""
MAX_SET_ASIDE = 1_000
"""How many operations are kept that could not be written; older ones go."""
MAX_SHOWN_CHARACTERS = 4_096
"""How much is kept of each."""
_ENCODE = msgspec.json.Encoder().encode
_ACCOUNT = (
    "INSERT INTO accounts (name, account, checksum) VALUES (?, ?, ?)"
    " ON CONFLICT (name) DO UPDATE SET account = excluded.account, checksum = excluded.checksum"
)
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
_SET_ASIDE = "INSERT INTO set_aside (at_s, reason, operation) VALUES (?, ?, ?)"
_OUTAGES = (sqlite3.OperationalError, sqlite3.InternalError)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process is writing."""
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_outage(error: sqlite3.Error) -> bool:
    """Whether the whole file cannot be written: its disk is full, it is locked, damaged or gone."""
    return isinstance(error, _OUTAGES) or type(error) is sqlite3.DatabaseError


class Ledger:
    """The accounts of one file, in one process; used by one thread at a time."""

    def __init__(self, path: Path, *, is_gone: Callable[[str], bool], now: Callable[[], float]) -> None:
        """The accounts of the file at `path`; `is_gone` tells of holders that they are no more.

        Raises: ConfigError for what is no such file.
        """
        self._connection = connect(path)
        self._reader = connect(path)
        self._log = path.with_name(f"{path.name}-wal")
        self._commits = os.open(commits_file(path), os.O_RDWR | os.O_CREAT, 0o600)
        self._is_gone: Callable[[str], bool] | None = is_gone
        self._now = now
        self._tallies = Tallies()
        self._version = -1
        self._damaged: dict[str, InternalServerError] = {}
        for (name,) in self._connection.execute("SELECT name FROM accounts").fetchall():
            try:
                read_account(self._connection, name)
            except ConfigError as error:  # this one is damaged
                self._close(name, error)
        self._connection.execute("PRAGMA synchronous = OFF")  # `sync` waits for the disk
        self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        self._connection.execute("PRAGMA busy_timeout = 0")

    def write(self, batch: Sequence[tuple[Operation, tuple[Row, ...]]]) -> list[Outcome]:
        """Write operations, and what they add to the use of keys; the outcome of each.

        Raises: sqlite3.Error where the file cannot be written, also while another process writes; then nothing was.
        """
        try:
            return self._commit(batch)
        except (ArithmeticError, TypeError, ValueError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error) and _is_outage(error):
                raise
            return [self._commit_alone(operation, rows) for operation, rows in batch]

    def used(self, key: str, since: str) -> list[Row]:
        """The use, by key, day and model; of one key where it is named, from a day on."""
        return chosen(read_usage(self._reader), key, since)

    def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name; None for one that nobody has used.

        Raises: ConfigError for one that is damaged.
        """
        return [read_account(self._reader, name) for name in names]

    def sync(self) -> None:
        """Have the disk know what was written, and begin a log that has grown anew; writers wait for the latter."""
        is_long = self._log.stat().st_size > MAX_LOG_BYTES
        self._reader.execute(f"PRAGMA wal_checkpoint({'RESTART' if is_long else 'PASSIVE'})").fetchone()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._reader.close()
        os.close(self._commits)

    # One transaction

    def _commit(self, batch: Sequence[tuple[Operation, tuple[Row, ...]]], fault: str = "") -> list[Outcome]:
        """Write operations; with a `fault` they are set aside."""
        connection, tallies, sums = self._connection, self._tallies, dict[tuple[str, str, str], "Row"]()
        number = 0
        connection.execute("BEGIN IMMEDIATE")
        try:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if version != self._version:  # another process may have changed what is known
                tallies.forget()
                self._version = version
            if self._is_gone is not None:
                for (name,) in connection.execute("SELECT name FROM accounts").fetchall():
                    self._load(name)
                tallies.charge(self._is_gone, self._now())
            outcomes = [self._applied(operation, rows, sums, fault) for operation, rows in batch]
            if tallies.changed or sums:
                (number,) = connection.execute("UPDATE commits SET number = number + 1 RETURNING number").fetchone()
                accounts: list[tuple[str, bytes, int]] = []
                for name in tallies.changed:
                    account = _ENCODE(tallies.value(name) or EMPTY)
                    accounts.append((name, account, checksum_of(name, account)))
                connection.executemany(_ACCOUNT, accounts)
                connection.executemany(_USAGE, [msgspec.structs.astuple(row) for row in sums.values()])
                tallies.changed.clear()
            connection.execute("COMMIT")
        except BaseException:
            tallies.forget()
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        self._is_gone = None
        if number:
            mark_commit(self._commits, number)
        return outcomes

    def _applied(
        self, operation: Operation, rows: tuple[Row, ...], sums: dict[tuple[str, str, str], Row], fault: str
    ) -> Outcome:
        """Do an operation on the accounts at hand, and add its rows to `sums`."""
        tallies = self._tallies
        fault = fault or fault_of(operation, rows)
        if fault:  # it has no place among the accounts; its call is charged as it was reserved
            self._keep(operation, rows, fault)
            if isinstance(operation, Enter):
                return InternalServerError("what this call may use cannot be written, so it is not let in", status=503)
            tallies.apply(as_reserved(self._sound(operation)))
            return None
        add_rows(sums, rows)
        names = operation.accounts if isinstance(operation, Leave) else [name for name, _ in operation.terms]
        problems = [problem for name in names if name not in tallies and (problem := self._load(name)) is not None]
        if not problems:
            return tallies.apply(operation)
        if isinstance(operation, Enter):
            return problems[0]
        self._keep(operation, (), str(problems[0]))
        return tallies.apply(self._sound(operation))

    def _load(self, name: str) -> InternalServerError | None:
        """Have an account at hand; why nobody may use it."""
        if name in self._tallies:
            return None
        problem = self._damaged.get(name)
        if problem is None:
            try:
                account = read_account(self._connection, name)
                if account is None and self._damaged:
                    raise ConfigError(f"the account {name} cannot begin while another one is damaged")
                self._tallies.put(name, account or EMPTY)
            except ConfigError as error:
                problem = self._close(name, error)
        return problem

    def _close(self, name: str, error: ConfigError) -> InternalServerError:
        """Let nobody in to an account, and say so once."""
        if name not in self._damaged:
            logging.getLogger("interlingua.gateway").error("%s", error.message)
            message = f"what the account {name} has used cannot be read, so nothing more is let in"
            self._damaged[name] = InternalServerError(message, status=503)
        return self._damaged[name]

    # What cannot be written

    def _commit_alone(self, operation: Operation, rows: tuple[Row, ...]) -> Outcome:
        """Write one operation, or set it aside.

        Raises: sqlite3.Error where the file cannot be written.
        """
        try:
            (outcome,) = self._commit([(operation, rows)])
        except (ArithmeticError, TypeError, ValueError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error) and _is_outage(error):
                raise
            (outcome,) = self._commit([(operation, rows)], f"{type(error).__name__}: {error}")
        return outcome

    def _sound(self, operation: Leave) -> Leave:
        """A settlement in those of its accounts that are not damaged."""
        return operation._replace(accounts=tuple([name for name in operation.accounts if self._load(name) is None]))

    def _keep(self, operation: Operation, rows: tuple[Row, ...], reason: str) -> None:
        logging.getLogger("interlingua.gateway").error("a call of a key cannot be written and is set aside: %s", reason)
        shown = repr((operation, rows))[:MAX_SHOWN_CHARACTERS]
        self._connection.execute(_SET_ASIDE, (self._now(), reason[:MAX_SHOWN_CHARACTERS], shown))
        self._connection.execute(
            "DELETE FROM set_aside WHERE id <= (SELECT max(id) FROM set_aside) - ?", (MAX_SET_ASIDE,)
        )
