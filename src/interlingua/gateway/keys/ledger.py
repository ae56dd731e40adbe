"""The accounts of keys in the database of keys, for the processes of one machine.

Strategy: the accounts stand in the memory of every process. What changes them is written, line by line, to the journal
beside the database, by whoever has its lock and has read what the others wrote before: so all processes make the same
decisions over the same accounts, in the event loop, without a thread and without waiting for a disk. When the journal
has grown, a thread writes what it came to into the database, and a new generation of it begins.

Rules
- What was written survives the end of the process, however it ends; only a machine that loses its power may lose the
  last moment.
- Where the journal cannot be written, calls are refused; what ended meanwhile is kept, and written with the next one.
- A reservation whose process on this machine is gone is charged when the next process opens the file.
- A generation is removed when the database has it, durably; the number of the first one that it has not stands in the
  same transaction. A process that stood still for so long that its generation is gone begins anew from the database.
"""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import sqlite3
import time
from collections import deque
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.errors import ConfigError, InternalServerError, reason_of
from interlingua.gateway.keys.accounts import COUNTS
from interlingua.gateway.keys.books import Books, Gone, Left, Next, Since
from interlingua.gateway.keys.budget import Refusal
from interlingua.gateway.keys.database import BUSY_S, connect, read_kept, read_stored
from interlingua.gateway.keys.journal import GenerationGone, Journal
from interlingua.gateway.keys.turn import Turn, let_go_here
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.books import Line
    from interlingua.gateway.keys.budget import Account, Call, Enter, Leave, Owed, Used

_ENCODE = msgspec.json.Encoder().encode
__all__ = ["FileAccounts", "holder_here", "is_gone_here"]

MOST_KEPT = 100_000
"""How many calls are remembered that have ended while the journal cannot be written."""
GENERATION_BYTES = 4 * 1024 * 1024
"""How large a generation of the journal is."""
TURN_S = 0.001
"""How long others have their turn before the lock is tried again."""
TRIES = 100
"""How often a process that begins looks again, while others write the database."""
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


class _Fold(NamedTuple):
    """What the database is to have: everything before a generation."""

    before: int
    accounts: dict[str, Account]
    since: dict[int, Since]


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


class FileAccounts:
    """Accounts in a file; the processes of one machine share them."""

    is_shared: bool = True
    """Other processes have the same accounts."""

    def __init__(self, path: Path, *, now: Callable[[], float], holder: str) -> None:
        """The accounts of the file at `path`; `holder` is this process.

        Raises: ConfigError for what is no such file.
        """
        self._path = path
        self._connection = connect(path)
        self._thread: ThreadPoolExecutor | None = None
        self._late: deque[Left] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._folding: asyncio.Future[None] | None = None
        self._is_open = False
        try:
            self._connection.execute("PRAGMA synchronous = FULL")  # a generation is removed once this has it
            self._journal = Journal(path, GENERATION_BYTES)
            self._turn = Turn(self._journal, self._rest)
            let_go_here()
            self._lock_now()
            try:
                self._load()
                self._take_over(is_gone_here(holder), now())
            finally:
                self._journal.unlock()
            self._is_open = True
        except OSError as error:
            self._connection.close()
            raise ConfigError(f"the calls beside {path.name} cannot be written: {reason_of(error)}") from None

    @property
    def at_once(self) -> FileAccounts:
        """Itself: it waits where another process has the lock, and what has ended is settled without its client."""
        return self

    def enter_now(self, call: Call, terms: Owed, *, begun: bool = False) -> Refusal | bool:
        """Reserve what a call may use; the refusal where it does not fit, False where another process has the lock.

        `begun` says that the lock is ours.

        Raises: InternalServerError where the journal cannot be written.
        """
        turn = self._turn
        try:
            if not (turn.is_kept or begun or self._begins()):
                return False
            try:
                line = self._books.entered(call, terms)
                if type(line) is Refusal:
                    return line
                self._store(line)
                self._books.enter(line)
            finally:
                if turn.words[1] or not turn.is_kept:
                    turn.ends()
        except OSError as error:
            raise _outage(error) from None
        return True

    def leave_now(self, call: Call, accounts: tuple[str, ...], used: Used, now_s: float, rows: tuple[Row, ...]) -> bool:
        """Settle a call, and add rows to what was used; False where another process has the lock."""
        turn, line = self._turn, Left(call, accounts, used, now_s, rows)
        try:
            if not (turn.is_kept or self._begins()):
                return False
            try:
                self._store(line)
                self._books.leave(line)
            finally:
                if turn.words[1] or not turn.is_kept:
                    turn.ends()
        except OSError as error:
            self._late.append(line)
            self._postpone(error)
        return True

    async def enter(self, operation: Enter) -> Refusal | None:
        """As `enter_now`, and waits for the lock.

        Raises: as `enter_now`, also where somebody else has the lock for too long.
        """
        entered = self.enter_now(*operation)
        if entered is False:
            try:
                await self._begun()
            except OSError as error:
                raise _outage(error) from None
            entered = self.enter_now(*operation, begun=True)
        return entered if isinstance(entered, Refusal) else None

    async def leave(self, operation: Leave, *rows: Row) -> None:
        """Settle a call, and add rows to what was used; it is done also when nobody waits for that any more."""
        if self.leave_now(*operation, rows):
            return
        self._late.append(Left(*operation, rows))
        task = asyncio.ensure_future(self._settle_later())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.shield(task)

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """What was used, by key, day and model; of one key where it is named, from a day on."""
        loop = asyncio.get_running_loop()
        kept = await loop.run_in_executor(self._executor(), read_kept, self._connection, self._path)
        return kept.used(key, since)

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name, as it was written last."""
        if not self._begins():
            await self._begun()
        self._turn.ends()
        found = self._books.values(names)
        return [found.get(name) for name in names]

    async def close(self) -> None:
        """Write what is still to be written, and close the file."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._folding is not None:
            await asyncio.wait([self._folding])
        with suppress(OSError):  # what cannot be written stays in the journal
            await self._begun()
            fold = self._folded() if any(since.names for since in self._books.since.values()) else None
            self._turn.give_up()
            if fold is not None:
                await asyncio.wait([self._fold(fold)])
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        self._turn.close()
        self._journal.close()
        self._connection.close()

    # The journal, with its lock

    def _begins(self) -> bool:
        """Whether the lock is ours now: then everything was read, and what ended before is written.

        Raises: OSError; then it is not.
        """
        turn = self._turn
        if not turn.begins():
            return False
        try:
            if not turn.is_kept:
                lines = self._journal.read()
                turn.met(others=bool(lines))
                if lines:
                    self._read_on(lines)
            while self._late:
                self._write(self._late[0])
                self._late.popleft()
        except BaseException:
            turn.ends()
            raise
        return True

    async def _begun(self) -> None:
        """Wait until the lock is ours.

        Raises: OSError.
        """
        until_s = time.monotonic() + BUSY_S
        while not self._begins():
            if time.monotonic() > until_s:
                raise TimeoutError("somebody else has locked them")
            await asyncio.sleep(TURN_S)

    def _rest(self) -> None:
        """Do what waits while nobody asks for anything: the next call would have to."""
        self._books.catch_up()

    def _lock_now(self) -> None:
        until_s = time.monotonic() + BUSY_S
        while not self._journal.lock():
            if time.monotonic() > until_s:
                raise TimeoutError("somebody else has locked them")
            time.sleep(TURN_S)

    def _write(self, line: Line) -> None:
        """Write a line, and have it count."""
        self._store(line)
        self._books.write(line)

    def _store(self, line: Line) -> None:
        """Write a line, which does not count yet."""
        text = _ENCODE(line) + b"\n"
        if not self._journal.append(text):
            self._store_in_next(text)

    def _store_in_next(self, text: bytes) -> None:
        """Write a line into the next generation; the one that is full is folded."""
        fold = self._folded()
        if self._folding is None and self._is_open:  # else it is folded with the next one
            self._folding = self._fold(fold)
        if not self._journal.append(text):
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    async def _settle_later(self) -> None:
        try:
            await self._begun()
        except OSError as error:
            self._postpone(error)
        else:
            self._turn.ends()

    def _postpone(self, error: OSError) -> None:
        """What has ended is kept, to be written when the next turn begins: one that is kept has nothing to write."""
        _say(error)
        if self._turn.is_kept:
            self._turn.give_up()
        while len(self._late) > MOST_KEPT:
            self._late.pop()

    def _read_on(self, lines: Sequence[Line]) -> None:
        """Have what others wrote count, through all generations."""
        try:
            while lines:
                for line in lines:
                    self._books.write(line)
                if isinstance(lines[-1], Next):
                    self._journal.begin(self._books.generation)
                lines = self._journal.read()
        except GenerationGone:
            self._load()

    def _load(self) -> None:
        """Begin with what the database has; the lock is ours."""
        for tries in range(TRIES):
            stored = read_stored(self._connection)
            self._books = Books(stored.accounts, stored.folded)
            try:
                self._open(stored.folded)
                lines = self._journal.read()
                while lines:
                    for line in lines:
                        self._books.write(line)
                    if isinstance(lines[-1], Next):
                        self._journal.begin(self._books.generation, new=tries == TRIES - 1)
                    lines = self._journal.read()
            except GenerationGone:
                continue
            self._journal.remove_before(stored.folded)
            return
        raise OSError("the calls that follow cannot be found")

    def _open(self, generation: int) -> None:
        try:
            self._journal.begin(generation)
        except GenerationGone:
            if read_stored(self._connection).folded != generation:
                raise
            self._journal.begin(generation, new=True)  # there was never one, or a machine has lost it

    def _take_over(self, is_gone: Callable[[str], bool], now_s: float) -> None:
        """Charge the reservations of processes that are no more."""
        gone = frozenset([holder for holder in self._books.holders() if is_gone(holder)])
        if gone:
            self._write(Gone(gone, now_s))

    # The database

    def _folded(self) -> _Fold:
        """What the database is to have, once the next generation has begun; the lock is ours."""
        books = self._books
        last = Next(min(books.since))
        self._journal.end(last)
        names = {name for since in books.since.values() for name in since.names}
        since = books.since.copy()
        books.write(last)
        return _Fold(books.generation, books.values(names), since)

    def _fold(self, fold: _Fold) -> asyncio.Future[None]:
        done = asyncio.get_running_loop().run_in_executor(self._executor(), self._write_fold, fold)
        done.add_done_callback(lambda done: self._was_folded(fold, done.exception()))
        return done

    def _was_folded(self, fold: _Fold, error: BaseException | None) -> None:
        self._folding = None
        if error is None:
            self._books.forget(fold.before)
        else:
            _say(error)

    def _write_fold(self, fold: _Fold) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            (folded,) = connection.execute("SELECT folded FROM journal").fetchone()
            if min(fold.since) <= folded < fold.before:  # else another process was faster
                rows = [(name, encode(account)) for name, account in fold.accounts.items()]
                connection.executemany("INSERT OR REPLACE INTO accounts (name, account) VALUES (?, ?)", rows)
                for generation in range(folded, fold.before):
                    sums = fold.since[generation].sums
                    connection.executemany(_USAGE, [(*place, *counts) for place, counts in sums.items()])
                connection.execute("UPDATE journal SET folded = ?", (fold.before,))
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        self._journal.remove_before(fold.before)

    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor  # only a journal that has grown needs a thread

            self._thread = ThreadPoolExecutor(1, thread_name_prefix="interlingua-keys")
        return self._thread


def _outage(error: OSError) -> InternalServerError:
    _say(error)
    return InternalServerError("what this key has used cannot be written, so nothing more is let in", status=503)


def _say(error: BaseException) -> None:
    import logging  # only an outage needs it

    logging.getLogger("interlingua.gateway").error("the accounts of keys cannot be written: %s", error)
