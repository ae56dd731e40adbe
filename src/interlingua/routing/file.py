"""Health of targets in a file, shared by the processes of one user on one machine.

Strategy: SQLite keeps one mark for each target. Marks are read without a lock; only when the transition changes one is
it made again under the lock for writing.

Rules
- Times are those of the wall clock, so that a deadline outlives the process that set it.
- The file is its owner's alone. What may be forgotten is deleted at the next writing.
- A file that is locked for a quarter of a second, or cannot be used, is left alone for a few seconds; the process goes
  on with a memory of its own.
"""

from __future__ import annotations

import os
import sqlite3
from _thread import allocate_lock
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from interlingua.errors import ConfigError, DecodeError, LimitExceededError
from interlingua.routing.health import (
    CircuitState,
    Mark,
    MemoryHealth,
    Operation,
    TargetHealth,
    expires_s,
    step,
    target_health,
)
from interlingua.routing.outage import Outage
from interlingua.wire.json import decode, encode

__all__ = ["BUSY_S", "FileHealth"]

BUSY_S = 0.25
"""How long another process's writing is waited for."""

_PLAIN_CODE = 0xFF
"""The part of SQLite's codes of errors that they have in common where they differ in detail."""
R = TypeVar("R")

_TABLE = "CREATE TABLE IF NOT EXISTS health (target TEXT PRIMARY KEY, mark BLOB NOT NULL, expires_s REAL) WITHOUT ROWID"


class FileHealth:
    """Health in a file; processes, threads and event loops share it."""

    immediate: bool = False
    """A file may have to be waited for."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float],
        rest_clock: Callable[[], float],
        on_change: Callable[[str], None] = lambda _: None,
    ) -> None:
        """The store in the file at `path`, which need not exist; nothing is opened before its first use.

        `clock` gives the wall-clock time, `rest_clock` seconds that only grow; `on_change` is told when the file cannot
        be used (the reason), and when it can again (the empty text).
        """
        self.path: Path = path
        """Where it lies."""
        self._clock = clock
        self._memory = MemoryHealth(clock)
        self._outage = Outage(rest_clock, on_change)
        self._open: tuple[int, sqlite3.Connection] | None = None
        self._lock = allocate_lock()

    @property
    def problem(self) -> str:
        """Why this process alone knows what it finds out; empty while others know it, too."""
        return self._outage.problem

    def clear_at_s(self, target: str) -> float | None:
        """None: what others know has to be looked up."""
        del target

    def apply(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """How each target stands after its operation, in the same order."""
        return self._used(lambda connection: self._applied(connection, operations), self._memory.apply, operations)

    async def apply_async(self, operations: Sequence[tuple[str, Operation]]) -> list[CircuitState]:
        """`apply`, in a thread."""
        from asyncio import to_thread  # only who awaits needs it

        return await to_thread(self.apply, operations)

    def snapshot(self) -> dict[str, TargetHealth]:
        """Every target about which something is known, by name in order."""
        return self._used(self._read_health, lambda _: self._memory.snapshot(), ())

    async def snapshot_async(self) -> dict[str, TargetHealth]:
        """`snapshot`, in a thread."""
        from asyncio import to_thread  # only who awaits needs it

        return await to_thread(self.snapshot)

    def check(self) -> None:
        """Nothing, where the file can be used; who only has to wait for another process may go on, too.

        Raises: ConfigError for a place where no such file can be, or none that may be written.
        """
        try:
            with self._lock:
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
        except (sqlite3.Error, OSError) as error:
            with self._lock:
                self._forget()
            if getattr(error, "sqlite_errorcode", 0) & _PLAIN_CODE != sqlite3.SQLITE_BUSY:
                raise ConfigError(f"state cannot be kept in {self.path}: {_why(error)}") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._forget()

    def _used(
        self,
        work: Callable[[sqlite3.Connection], R],
        otherwise: Callable[[Sequence[tuple[str, Operation]]], R],
        operations: Sequence[tuple[str, Operation]],
    ) -> R:
        """The result of the work on the file, or in memory where that cannot be used."""
        with self._lock:
            if self._outage.may_try():
                try:
                    result = work(self._connection())
                except (sqlite3.Error, OSError) as error:
                    self._forget()
                    self._outage.failed(f"{self.path}: {error}")
                else:
                    self._outage.answered()
                    return result
        return otherwise(operations)

    def _applied(
        self, connection: sqlite3.Connection, operations: Sequence[tuple[str, Operation]]
    ) -> list[CircuitState]:
        circuits, changed = self._stepped(connection, operations)
        if not changed:
            return circuits
        connection.execute("BEGIN IMMEDIATE")
        try:
            circuits, changed = self._stepped(connection, operations)
            for target, mark in changed.items():
                if mark is None:
                    connection.execute("DELETE FROM health WHERE target = ?", (target,))
                else:
                    row = (target, encode(mark), expires_s(mark))
                    connection.execute("INSERT OR REPLACE INTO health (target, mark, expires_s) VALUES (?, ?, ?)", row)
            connection.execute("DELETE FROM health WHERE expires_s <= ?", (self._clock(),))
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        return circuits

    def _stepped(
        self, connection: sqlite3.Connection, operations: Sequence[tuple[str, Operation]]
    ) -> tuple[list[CircuitState], dict[str, Mark | None]]:
        """How the targets stand, and the marks that are to be written for that."""
        before: dict[str, Mark | None] = {}
        for target, _ in operations:
            with closing(connection.execute("SELECT mark FROM health WHERE target = ?", (target,))) as cursor:
                row = cursor.fetchone()
            before[target] = None if row is None else _mark(row[0])
        marks = dict(before)
        circuits: list[CircuitState] = []
        for target, operation in operations:
            marks[target], circuit = step(marks[target], operation, self._clock())
            circuits.append(circuit)
        return circuits, {target: mark for target, mark in marks.items() if mark != before[target]}

    def _read_health(self, connection: sqlite3.Connection) -> dict[str, TargetHealth]:
        now_s = self._clock()
        rows = connection.execute("SELECT target, mark FROM health ORDER BY target").fetchall()
        return {target: health for target, text in rows if (health := target_health(_mark(text), now_s)) is not None}

    def _connection(self) -> sqlite3.Connection:
        """The connection of this process; one that a fork brought along belongs to the parent."""
        if self._open is None or self._open[0] != os.getpid():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
            self._open = os.getpid(), connection
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
        return self._open[1]

    def _forget(self) -> None:
        if self._open is not None and self._open[0] == os.getpid():
            with suppress(sqlite3.Error):
                self._open[1].close()
        self._open = None


def _why(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, FileExistsError):  # in the place of its folder
        return "its folder is a file"
    return str(error) if isinstance(error, sqlite3.Error) else error.strerror or str(error)


def _mark(text: object) -> Mark | None:
    """The mark that was written; what somebody else wrote there is none."""
    try:
        return decode(text, Mark) if isinstance(text, bytes) else None
    except (DecodeError, LimitExceededError):
        return None
