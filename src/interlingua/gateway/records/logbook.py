"""Requests and their results in a SQLite file: written by gateways, read by `il logs`.

Rules
- The file is bounded by age and by size: the oldest requests make room.
- Several processes may write one file; reading never waits for them.
- What was asked and answered is not in it; sentences of errors are there with content alone. Only its owner may read
  the file.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.errors import ConfigError, reason_of
from interlingua.gateway.records.log import facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interlingua.gateway.records.record import Record

__all__ = ["Filter", "Logbook", "Row", "read_rows"]

VERSION = 1
"""The form of the file."""
DAY_S = 86_400
BETWEEN_TRIMS_S = 60.0
"""How often the bounds are looked at."""
_COLUMNS = (
    "at", "id", "key", "team", "client", "method", "path", "model", "target", "stream", "status", "error", "changes",
    "input_tokens", "output_tokens", "cache_read_tokens", "cost_usd", "first_s", "total_s", "aborted", "peer",
)  # fmt: skip
_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL, id TEXT NOT NULL, key TEXT NOT NULL, team TEXT NOT NULL, client TEXT NOT NULL,
  method TEXT NOT NULL, path TEXT NOT NULL, model TEXT NOT NULL, target TEXT NOT NULL, stream INTEGER NOT NULL,
  status INTEGER NOT NULL, error TEXT NOT NULL, changes INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER,
  cache_read_tokens INTEGER, cost_usd REAL, first_s REAL, total_s REAL NOT NULL, aborted INTEGER NOT NULL,
  peer TEXT NOT NULL, more TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS requests_at ON requests (at);
"""
_INSERT = f"INSERT INTO requests ({', '.join(_COLUMNS)}, more) VALUES ({', '.join('?' * (len(_COLUMNS) + 1))})"  # noqa: S608 - our own names
_STATUS = re.compile(r"[1-5](?:xx|\d\d)")


class Logbook:
    """A file that requests are written to."""

    def __init__(
        self,
        path: str | Path,
        *,
        days: float = 30.0,
        max_bytes: int = 256 * 1024 * 1024,
        content: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        """The file at `path`, made where it is not there; `content` keeps sentences of errors.

        Raises: ConfigError for what is no such file, or cannot be written.
        """
        self._path = Path(path).expanduser()
        self._days = days
        self._max_bytes = max_bytes
        self._content = content
        self._now = now
        self._trim_at_s = 0.0
        self._is_closed = False
        self._connection = _opened(self._path)
        self._place = _place(self._path)
        self._is_in_place = True

    def write(self, records: list[Record]) -> None:
        """Write requests, in one transaction; after `close` none, as of a client that is still there then."""
        if self._is_closed:
            return
        rows: list[tuple[Any, ...]] = []
        for record in records:
            members = facts(record, content=self._content)
            more = {name: members[name] for name in ("attempts", "message", "reason") if name in members}
            rows.append((*[getattr(record, name) for name in _COLUMNS], json.dumps(more)))
        with self._connection:
            self._connection.executemany(_INSERT, rows)
        if not self._trim_at_s - BETWEEN_TRIMS_S <= self._now() < self._trim_at_s:  # the clock may be put back, too
            self.trim()
        was_in_place, self._is_in_place = self._is_in_place, _place(self._path) == self._place
        if was_in_place and not self._is_in_place:
            logging.getLogger("interlingua.gateway").warning(
                "%s was moved or taken away, and what is written went with it; start the gateway again to begin anew",
                self._path,
            )

    def trim(self) -> None:
        """Take out what is too old, and the oldest of what is too much."""
        self._trim_at_s = self._now() + BETWEEN_TRIMS_S
        with self._connection:
            self._connection.execute("DELETE FROM requests WHERE at < ?", (self._now() - self._days * DAY_S,))
        while self._size() > self._max_bytes:
            with self._connection:
                gone = self._connection.execute(
                    "DELETE FROM requests WHERE number IN (SELECT number FROM requests ORDER BY number"
                    " LIMIT max(1, (SELECT count(*) FROM requests) / 8))"
                ).rowcount
            if gone < 1:
                break
        self._connection.executescript("PRAGMA incremental_vacuum")  # `execute` would take one page of many

    def _size(self) -> int:
        """Bytes in use; pages that were given back and not yet cut off do not count."""
        pages, free, size = [
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        ]
        return (pages - free) * size

    def close(self) -> None:
        """Write nothing more."""
        self._is_closed = True
        self._connection.close()


def _place(path: Path) -> tuple[int, int] | None:
    """The identity of a file, another one for another file; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _opened(path: Path) -> sqlite3.Connection:
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        with ExitStack() as stack:
            # The thread that writes is another one than the one that opens, and the one that closes comes after it.
            connection = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
            stack.callback(connection.close)
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if version not in (0, VERSION) or (tables and "requests" not in tables):
                raise ConfigError(f"{path} is a database of something else; a log needs a file of its own")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.executescript(_SCHEMA)
            stack.pop_all()
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"{path}: no log can be kept there: {reason_of(error)}") from None
    return connection


# Reading


class Filter(NamedTuple):
    """Which requests are wanted."""

    key: str | None = None
    """The name of the key."""
    model: str | None = None
    """The model as it was asked for; `*` at its end for all that begin alike."""
    target: str | None = None
    """The target that answered; `*` as well."""
    status: str | None = None
    """`429`, or `4xx`."""
    since: float | None = None
    """Not before that, in Unix seconds."""
    after: int = 0
    """Only later ones than the request of that number."""
    id: str | None = None
    """The id, as the client brought it or was told it."""


class Row(NamedTuple):
    """One request of a file."""

    number: int
    """Its place in the file; it only grows."""
    facts: dict[str, Any]
    """The facts of it: the columns, the tries, why it could not be read, and the message where it was kept."""


def read_rows(path: str | Path, query_filter: Filter, most: int) -> list[Row]:
    """The last requests that are wanted, not more than `most`, the oldest first.

    Raises: ConfigError for a file that is not there or is none of ours.
    """
    place = Path(path).expanduser()
    if not place.is_file():
        raise ConfigError(f"no log at {place}; a gateway writes one with: il serve --store {place}")
    pairs = list(_each(query_filter))
    conditions, values = " AND ".join([condition for condition, _ in pairs]), [value for _, value in pairs]
    names = ", ".join(("number", *_COLUMNS, "more"))
    query = f"SELECT {names} FROM requests WHERE {conditions} ORDER BY number DESC LIMIT ?"  # noqa: S608 - our own names
    try:
        with closing(sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro", uri=True, timeout=10.0)) as connection:
            rows = connection.execute(query, (*values, most)).fetchall()
    except sqlite3.Error as error:
        raise ConfigError(f"{place} is no log of a gateway: {error}") from None
    requests: list[Row] = []
    for number, *columns, more in reversed(rows):
        members: dict[str, Any] = dict(zip(_COLUMNS, columns, strict=True))
        members |= {"stream": bool(members["stream"]), "aborted": bool(members["aborted"])}
        requests.append(Row(number, members | json.loads(more)))
    return requests


def _each(query: Filter) -> Iterator[tuple[str, Any]]:
    yield "number > ?", query.after
    for name, text in (("id", query.id), ("key", query.key)):
        if text is not None:
            yield f"{name} = ?", text
    for name, text in (("model", query.model), ("target", query.target)):
        if text is not None:
            begins = text.endswith("*")
            yield (f"substr({name}, 1, {len(text) - 1}) = ?", text[:-1]) if begins else (f"{name} = ?", text)
    if query.status is not None:
        if not _STATUS.fullmatch(query.status):
            raise ConfigError(f"a status is 429 or 4xx, not {query.status:.40}")
        by_kind = query.status.endswith("xx")
        yield ("status / 100 = ?", int(query.status[0])) if by_kind else ("status = ?", int(query.status))
    if query.since is not None:
        yield "at >= ?", query.since
