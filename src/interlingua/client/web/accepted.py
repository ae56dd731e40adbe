"""Signatures of approvals that were accepted, so that each is accepted once: in memory, a file or a shared store.

Rules
- An entry is kept for as long as its signature is good; at most `MAX_ACCEPTED` of them in memory and in a file. A full
  place accepts nothing more: an entry that was dropped before its time would let an approval run a second call.
- The clock of a machine may jump ahead and back. What was forgotten meanwhile stays refused: a place keeps the latest
  end of all forgotten entries, and accepts no signature that ends before it. A shared store keeps entries a day longer.
- Several signatures are accepted together or not at all.
- A place that does not answer accepts nothing: an approval that may have been used already runs no call.
- Memory is that of one process. Several workers need a file, Redis or Postgres.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import TYPE_CHECKING, Protocol

from interlingua.errors import APIConnectionError, ConfigError, check_text, redact
from interlingua.routing.commands import Add, LinkGone, is_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from sqlite3 import Connection

    from interlingua.routing.commands import Steps
    from interlingua.routing.link import Link

__all__ = ["MAX_ACCEPTED", "Accepted", "FileAccepted", "MemoryAccepted", "SharedAccepted", "accepted_in"]

MAX_ACCEPTED = 100_000
"""How many accepted approvals a place holds."""
SKEW_S = 86_400.0
"""How much longer a shared store keeps an entry: clocks of several machines differ, and jump."""
_BUSY_S = 1.0
"""How long a file that another process writes is waited for."""
_TABLES = """
CREATE TABLE IF NOT EXISTS accepted (mark TEXT PRIMARY KEY, ends REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS forgotten (ends REAL NOT NULL);
"""


class Accepted(Protocol):
    """Knows which signatures were accepted."""

    def take(self, marks: Mapping[str, float]) -> bool:
        """Note all of these signatures, each until its end in Unix seconds; False where one may be used.

        Raises: APIConnectionError for a place that does not answer, or is full.
        """
        ...


@cache
def accepted_in(place: str) -> Accepted:
    """The accepted signatures of a place: `memory`, a `redis://…` or `postgresql://…` address, or a SQLite file.

    Raises: ConfigError for an empty place, and without the extra of its kind; UsageError for what is no text.
    """
    check_text(place, "a place for accepted approvals is named by a text")
    if place == "memory":
        return MemoryAccepted()
    if is_address(place):
        from interlingua.routing.link import open_link  # an extra

        return SharedAccepted(open_link(place, clock=time.monotonic))
    if not place:
        raise ConfigError("approvals are noted in memory, a redis:// or postgresql:// address or the path of a file")
    return FileAccepted(place)


def _full(place: str) -> APIConnectionError:
    return APIConnectionError(
        f"approvals cannot be noted in {place}: it holds {MAX_ACCEPTED:,} that are still good", retryable=True
    )


class MemoryAccepted:
    """In this process."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        """Nothing was accepted."""
        self._now = now
        self._ends_s: dict[str, float] = {}
        self._forgotten_s = float("-inf")
        self._lock = threading.Lock()

    def take(self, marks: Mapping[str, float]) -> bool:
        """Note all of these signatures, each until its end in Unix seconds; False where one may be used.

        Raises: APIConnectionError for a place that is full.
        """
        with self._lock:
            if any([mark in self._ends_s or ends_s <= self._forgotten_s for mark, ends_s in marks.items()]):
                return False
            if len(self._ends_s) + len(marks) > MAX_ACCEPTED:
                self._forget(self._now())
            if len(self._ends_s) + len(marks) > MAX_ACCEPTED:
                raise _full("memory")
            self._ends_s.update(marks)
            return True

    def _forget(self, now_s: float) -> None:
        over = {mark: ends_s for mark, ends_s in self._ends_s.items() if ends_s <= now_s}
        self._forgotten_s = max([self._forgotten_s, *over.values()])
        for mark in over:
            del self._ends_s[mark]


class FileAccepted:
    """In a SQLite file that processes may share, its owner's alone."""

    def __init__(self, path: str, *, now: Callable[[], float] = time.time) -> None:
        """The file at `path`, made at first use."""
        self._path = path
        self._now = now

    def take(self, marks: Mapping[str, float]) -> bool:
        """Note all of these signatures, each until its end in Unix seconds; False where one may be used.

        Raises: APIConnectionError for a file that cannot be written, or is full.
        """
        import os
        import sqlite3
        from contextlib import closing

        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)) as connection:
                connection.executescript(_TABLES)
                connection.execute("BEGIN IMMEDIATE")
                is_new = self._note(connection, marks)
                connection.execute("COMMIT" if is_new else "ROLLBACK")
                return is_new
        except (sqlite3.Error, OSError) as error:
            raise APIConnectionError(f"approvals cannot be noted in {self._path}: {type(error).__name__}") from error

    def _note(self, connection: Connection, marks: Mapping[str, float]) -> bool:
        """Whether all of them were new; a connection that is closed before its end forgets what was noted.

        Raises: APIConnectionError for a full file.
        """
        now_s = self._now()
        (over_s,) = connection.execute("SELECT max(ends) FROM accepted WHERE ends <= ?", (now_s,)).fetchone()
        if over_s is not None:
            connection.execute("DELETE FROM accepted WHERE ends <= ?", (now_s,))
            connection.execute("INSERT INTO forgotten SELECT ? WHERE NOT EXISTS (SELECT 1 FROM forgotten)", (over_s,))
            connection.execute("UPDATE forgotten SET ends = max(ends, ?)", (over_s,))
        (forgotten_s,) = connection.execute("SELECT max(ends) FROM forgotten").fetchone()
        if forgotten_s is not None and min(marks.values(), default=forgotten_s + 1) <= forgotten_s:
            return False
        before = connection.total_changes
        connection.executemany("INSERT OR IGNORE INTO accepted (mark, ends) VALUES (?, ?)", list(marks.items()))
        if connection.total_changes - before != len(marks):
            return False
        (count,) = connection.execute("SELECT count(*) FROM accepted").fetchone()
        if count > MAX_ACCEPTED:
            raise _full(self._path)
        return True


class SharedAccepted:
    """In Redis or Postgres, for all processes with the same address; entries expire by themselves."""

    def __init__(self, link: Link, *, now: Callable[[], float] = time.time) -> None:
        """The entries behind `link`."""
        self._link = link
        self._now = now

    def take(self, marks: Mapping[str, float]) -> bool:
        """Note all of these signatures, each until its end in Unix seconds; False where one may be used.

        Raises: APIConnectionError where the store does not answer.
        """
        try:
            return self._link.run(self._claim(marks))
        except LinkGone:
            raise APIConnectionError(f"approvals cannot be noted: {redact(self._link.problem)}") from None

    def _claim(self, marks: Mapping[str, float]) -> Steps[bool]:
        """One command, which nothing of another client comes between."""
        names = tuple([f"{self._link.prefix}approval:{mark}" for mark in marks])
        left_s = max([ends_s - self._now() for ends_s in marks.values()], default=0.0)
        (reply,) = yield [Add(names, b"1", int((max(left_s, 0.0) + SKEW_S) * 1_000))]
        return bool(reply)
