"""Where answers of a cache lie: in memory, in a SQLite file, in Redis or Postgres. All are bounded and forget in time.

Rules
- A store that fails is an empty one: a call must not fail for its cache. That is logged, once for each kind of failure.
- What is kept is bytes under a digest: no key can be read back into a request.
- A file is its owner's alone; several processes may share one, and one Redis or Postgres.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from interlingua.errors import ConfigError, reason_of
from interlingua.routing.commands import LinkGone, Put, Read, is_address

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.routing.commands import Steps
    from interlingua.routing.link import Link

__all__ = ["MAX_ENTRY_BYTES", "CacheStore", "MemoryAnswers", "SharedAnswers", "SqliteAnswers", "open_store"]

MAX_ENTRY_BYTES = 8 * 1024 * 1024
"""The largest answer that is kept."""
OVERHEAD_BYTES = 400
"""The bytes that a stored answer takes beside its own."""
_BUSY_S = 0.25
"""How long a file that another process writes is waited for."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, used REAL NOT NULL, ends REAL NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_used ON answers (used);
"""


class CacheStore(Protocol):
    """Keeps bytes by key for a while; `is_async` says that its caller can await what it gives."""

    def get(self, key: str, *, is_async: bool) -> bytes | Awaitable[bytes | None] | None:
        """The value stored under a key."""
        ...

    def put(self, key: str, body: bytes, ttl_s: float, *, is_async: bool) -> Awaitable[None] | None:
        """Keep bytes for so long."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


class MemoryAnswers:
    """In this process; the one that was not asked for the longest makes room."""

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """An empty store of at most `max_bytes`."""
        self._max_bytes = max_bytes
        self._clock = clock
        self._size_bytes = 0
        self._answers: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, *, is_async: bool = False) -> bytes | None:
        """The value stored under a key; it counts as just used."""
        del is_async
        with self._lock:
            ends_s, body = self._answers.get(key, (0.0, b""))
            if not body:
                return None
            if ends_s <= self._clock():
                self._drop(key)
                return None
            self._answers.move_to_end(key)
            return body

    def put(self, key: str, body: bytes, ttl_s: float, *, is_async: bool = False) -> None:
        """Keep bytes for so long."""
        del is_async
        if len(body) > min(MAX_ENTRY_BYTES, self._max_bytes // 8):
            return
        with self._lock:
            self._drop(key)
            self._answers[key] = (self._clock() + ttl_s, body)
            self._size_bytes += len(body) + OVERHEAD_BYTES
            while self._size_bytes > self._max_bytes:
                self._drop(next(iter(self._answers)))

    def _drop(self, key: str) -> None:
        _, body = self._answers.pop(key, (0.0, None))
        if body is not None:
            self._size_bytes -= len(body) + OVERHEAD_BYTES

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._size_bytes = 0


class SqliteAnswers:
    """In a SQLite file that processes may share."""

    def __init__(self, path: str | Path, max_bytes: int, *, now: Callable[[], float] = time.time) -> None:
        """The file at `path`, made where it is not there, for its owner alone.

        Raises: ConfigError for what is no such file, or cannot be written.
        """
        import sqlite3

        self._failures: Any = (sqlite3.Error, OSError)
        self._max_bytes = max_bytes
        self._now = now
        self._since_trim = max_bytes
        self._lock = threading.Lock()
        self._log = _Once(f"the cache of answers in {Path(path).name}")
        where = Path(path).expanduser()
        try:
            where.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(where, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(where, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        except self._failures as error:
            raise ConfigError(f"the cache of answers in {where.name} cannot be opened: {reason_of(error)}") from None
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = OFF")  # what is lost is asked for again
            self._connection.executescript(_SCHEMA)
        except self._failures as error:
            self._connection.close()
            raise ConfigError(f"{where.name} is no cache of answers: {reason_of(error)}") from None

    def get(self, key: str, *, is_async: bool = False) -> bytes | None:
        """The value stored under a key; it counts as just used."""
        del is_async
        now = self._now()
        try:
            with self._lock:
                row = self._connection.execute(
                    "UPDATE answers SET used = ? WHERE key = ? AND ends > ? RETURNING body", (now, key, now)
                ).fetchone()
        except self._failures as error:
            return self._log.tell(error)
        return None if row is None else cast("bytes", row[0])

    def put(self, key: str, body: bytes, ttl_s: float, *, is_async: bool = False) -> None:
        """Keep bytes for so long."""
        del is_async
        if len(body) > min(MAX_ENTRY_BYTES, self._max_bytes // 8):
            return
        now, size = self._now(), len(body) + OVERHEAD_BYTES
        try:
            with self._lock:
                self._connection.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", (key, now, now + ttl_s, size, body)
                )
                self._since_trim += size
                if self._since_trim > self._max_bytes // 8:
                    self._trim(now)
        except self._failures as error:
            self._log.tell(error)

    def _trim(self, now: float) -> None:
        """Forget what has ended, and what was not asked for the longest as far as there is too much."""
        run, self._since_trim = self._connection.execute, 0
        run("DELETE FROM answers WHERE ends <= ?", (now,))
        (size,) = run("SELECT COALESCE(SUM(size), 0) FROM answers").fetchone()
        for key, one in run("SELECT key, size FROM answers ORDER BY used").fetchall() if size > self._max_bytes else ():
            if size <= self._max_bytes:
                break
            run("DELETE FROM answers WHERE key = ?", (key,))
            size -= one

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


class SharedAnswers:
    """In a Redis or Postgres that gateways share; its own bounds decide how much lies there at once."""

    def __init__(self, link: Link) -> None:
        """Behind a link."""
        self._link = link
        self._log = _Once(f"the cache of answers in {link.address}")

    def get(self, key: str, *, is_async: bool) -> bytes | Awaitable[bytes | None] | None:
        """The value stored under a key."""
        return self._run(_got(f"{self._link.prefix}answer:{key}"), is_async=is_async)

    def put(self, key: str, body: bytes, ttl_s: float, *, is_async: bool) -> Awaitable[None] | None:
        """Keep bytes for so long."""
        if len(body) > MAX_ENTRY_BYTES:
            return None
        return self._run(_put(f"{self._link.prefix}answer:{key}", body, ttl_s), is_async=is_async)

    def _run(self, steps: Steps[Any], *, is_async: bool) -> Any:
        if is_async:
            return self._awaited(steps)
        try:
            return self._link.run(steps)
        except LinkGone as error:
            return self._log.tell(error)

    async def _awaited(self, steps: Steps[Any]) -> Any:
        try:
            return await self._link.run_async(steps)
        except LinkGone as error:
            return self._log.tell(error)

    def close(self) -> None:
        """Close the connections."""
        self._link.close()


def _got(key: str) -> Steps[bytes | None]:
    [[value]] = yield [Read((key,))]
    return value if isinstance(value, bytes) else None


def _put(key: str, body: bytes, ttl_s: float) -> Steps[None]:
    yield [Put(key, body, max(1, int(ttl_s * 1000)))]


class _Once:
    """A line in the log for each kind of failure, told once."""

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._kinds: set[type[BaseException]] = set()

    def tell(self, error: BaseException) -> None:
        if type(error) not in self._kinds:
            import logging

            self._kinds.add(type(error))
            reason = reason_of(error) if isinstance(error, Exception) else ""
            logging.getLogger("interlingua").warning(
                "%s cannot be used: %s; calls go on without it", self._subject, reason
            )


def open_store(place: str, max_bytes: int) -> CacheStore:
    """The store at a place: `memory`, a `redis://…` or `postgresql://…` address, or the path of a SQLite file.

    Raises: ConfigError for a place that cannot be used.
    """
    if place == "memory":
        return MemoryAnswers(max_bytes)
    if "://" in place and is_address(place):
        from interlingua.routing.link import open_link

        return SharedAnswers(open_link(place, clock=time.monotonic))
    return SqliteAnswers(place.removeprefix("sqlite://"), max_bytes)
