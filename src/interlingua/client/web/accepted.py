"""Signatures of approvals that were accepted, so that each is accepted once: in memory, in a SQLite file, in Redis.

Rules
- An entry is kept for as long as its signature is good; at most `MAX_ACCEPTED` of them in memory and in a file, where
  the oldest goes first.
- A place that does not answer accepts nothing: an approval that may have been used already runs no call.
- Memory is that of one process. Several workers need a file or Redis.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, Protocol

from interlingua.errors import APIConnectionError, ConfigError, check_text, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.routing.redis_link import RedisLink, Steps

__all__ = ["MAX_ACCEPTED", "Accepted", "FileAccepted", "MemoryAccepted", "RedisAccepted", "accepted_in"]

MAX_ACCEPTED = 100_000
"""How many accepted approvals are known."""
_BUSY_S = 1.0
"""How long a file that another process writes is waited for."""
_TABLE = "CREATE TABLE IF NOT EXISTS accepted (mark TEXT PRIMARY KEY, ends REAL NOT NULL) WITHOUT ROWID"


class Accepted(Protocol):
    """Knows which signatures were accepted."""

    def take(self, marks: Sequence[str], ttl_s: float) -> bool:
        """Note all of them for so long; False where one was there already.

        Raises: APIConnectionError for a place that does not answer.
        """
        ...


@cache
def accepted_in(place: str) -> Accepted:
    """The store of accepted calls in a place: `memory`, a `redis://…` address, or the path of a SQLite file.

    Raises: ConfigError for an empty place, and without the [redis] extra; UsageError for what is no text.
    """
    check_text(place, "a place for accepted approvals is named by a text")
    if place == "memory":
        return MemoryAccepted()
    if place.partition(":")[0] in ("redis", "rediss", "unix"):
        from interlingua.routing.redis_link import RedisLink  # an extra

        return RedisAccepted(RedisLink(place, clock=time.monotonic, on_change=lambda _: None))
    if not place:
        raise ConfigError("approvals are noted in memory, a redis:// address or the path of a file")
    return FileAccepted(place)


class MemoryAccepted:
    """In this process."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing was accepted."""
        self._clock = clock
        self._ends_s: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, marks: Sequence[str], ttl_s: float) -> bool:
        """Note all of them for so long; False where one was there already."""
        now_s = self._clock()
        with self._lock:
            if any([self._ends_s.get(mark, now_s) > now_s for mark in marks]):
                return False
            self._ends_s.update(dict.fromkeys(marks, now_s + ttl_s))
            while self._ends_s and (len(self._ends_s) > MAX_ACCEPTED or next(iter(self._ends_s.values())) <= now_s):
                self._ends_s.popitem(last=False)
            return True


class FileAccepted:
    """In a SQLite file that processes may share, its owner's alone."""

    def __init__(self, path: str, *, now: Callable[[], float] = time.time) -> None:
        """The file at `path`, made at first use."""
        self._path = path
        self._now = now

    def take(self, marks: Sequence[str], ttl_s: float) -> bool:
        """Note all of them for so long; False where one was there already.

        Raises: APIConnectionError for a file that cannot be written.
        """
        import os
        import sqlite3
        from contextlib import closing

        now_s = self._now()
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)) as connection:
                connection.execute(_TABLE)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("DELETE FROM accepted WHERE ends <= ?", (now_s,))
                rows = [(mark, now_s + ttl_s) for mark in marks]
                before = connection.total_changes
                connection.executemany("INSERT OR IGNORE INTO accepted (mark, ends) VALUES (?, ?)", rows)
                is_new = connection.total_changes - before == len(rows)
                (count,) = connection.execute("SELECT count(*) FROM accepted").fetchone()
                surplus = max(0, count - MAX_ACCEPTED)
                connection.execute(
                    "DELETE FROM accepted WHERE mark IN (SELECT mark FROM accepted ORDER BY ends LIMIT ?)", (surplus,)
                )
                connection.execute("COMMIT" if is_new else "ROLLBACK")
                return is_new
        except (sqlite3.Error, OSError) as error:
            raise APIConnectionError(f"approvals cannot be noted in {self._path}: {type(error).__name__}") from error


class RedisAccepted:
    """In Redis, for all processes with the same address; entries expire by themselves."""

    def __init__(self, link: RedisLink) -> None:
        """The entries behind `link`."""
        self._link = link

    def take(self, marks: Sequence[str], ttl_s: float) -> bool:
        """Note all of them for so long; False where one was there already.

        Raises: APIConnectionError where Redis does not answer.
        """
        from interlingua.routing.redis_link import RedisGone

        try:
            return self._link.run(self._taken(marks, int(ttl_s * 1000)))
        except RedisGone:
            raise APIConnectionError(f"approvals cannot be noted: {redact(self._link.problem)}") from None

    def _taken(self, marks: Sequence[str], ttl_ms: int) -> Steps[bool]:
        names = [f"{self._link.prefix}approval:{mark}" for mark in marks]
        replies = yield [("SET", name, "1", "NX", "PX", ttl_ms) for name in names]
        return all([reply is not None for reply in replies])
