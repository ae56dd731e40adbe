"""The SQLite file of keys: its tables, its versions, and the checks that find damage.

Shape: `keys` are the keys, `accounts` an account by name as JSON with its checksum, `usage` the use by key, day and
model, `changes` a number for each change of a key, `commits` one for each change of accounts, `set_aside` the
operations that could not be written. Beside the file stands `NAME-commits`: the number of the last commit, and the
boot of the machine in which it was made.

Rules
- The file is written ahead (WAL): a commit survives the end of the process, however it ends. Of a machine that loses
  its power the last second may be lost.
- Damage is found when the file is opened, and named. An account whose checksum is wrong lets nobody in; a file that
  has lost commits of this boot is refused, since nobody knows what keys used. SQLite by itself ends a damaged log at
  the first bad page, and says nothing.
- The schema has a number. A file of an earlier version is brought up to date, one of a later version is refused.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import zlib
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError, DecodeError, LimitExceededError, reason_of
from interlingua.gateway.keys.accounts import COUNTS, Row
from interlingua.gateway.keys.budget import Account
from interlingua.wire.json import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BUSY_S", "checksum_of", "commits_file", "connect", "mark_commit", "read_account", "read_usage"]

BUSY_S = 5.0
"""How long another process's writing is waited for."""
SCHEMA = 3
"""The number of the schema."""
_BOOT_FILE = Path("/proc/sys/kernel/random/boot_id")
_COLUMNS = ("key", "day", "model", *COUNTS)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM usage"  # noqa: S608 - our own names
_TABLES = (
    """CREATE TABLE IF NOT EXISTS keys (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  models TEXT NOT NULL,
  terms BLOB NOT NULL,
  team TEXT NOT NULL,
  created_s REAL NOT NULL,
  expires_s REAL,
  revoked_s REAL
)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_of_a_name ON keys (name) WHERE revoked_s IS NULL",
    "CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, account BLOB NOT NULL) WITHOUT ROWID",
    f"""CREATE TABLE IF NOT EXISTS usage (
  key TEXT NOT NULL,
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  {", ".join([f"{name} INTEGER NOT NULL" for name in COUNTS])},
  PRIMARY KEY (key, day, model)
) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS changes (version INTEGER NOT NULL)",
    "INSERT INTO changes SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM changes)",
    "ALTER TABLE accounts ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE commits (number INTEGER NOT NULL)",
    "INSERT INTO commits VALUES (0)",
    """CREATE TABLE set_aside (
  id INTEGER PRIMARY KEY,
  at_s REAL NOT NULL,
  reason TEXT NOT NULL,
  operation TEXT NOT NULL
)""",
)


def connect(path: Path) -> sqlite3.Connection:
    """The database at a path, with its tables, after its checks; made where there is none, for its owner alone.

    Raises: ConfigError for another file, one of a later version, one that is damaged, and one that cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make(path)
        marked = _marked(path)
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"the keys in {path.name} cannot be opened: {reason_of(error)}") from None
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA:
            raise ConfigError(f"{path.name} was written by a later version of interlingua; use that one")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version < SCHEMA:
            _upgrade(connection, path)
        _check(connection, path, marked)
    except (ConfigError, sqlite3.Error) as error:
        connection.close()
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{path.name} is no file of keys: {error}") from None
    return connection


def _make(path: Path) -> None:
    """Make a file where there is none, for its owner alone, and open none that is there.

    A process that closes a file lets go of all of its locks on it, those of SQLite's connections too: the next process
    that ends takes the log of writes away, and what is written after it is lost.

    Raises: OSError.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        number = errno.EISDIR if path.is_dir() else 0 if os.access(path, os.R_OK | os.W_OK) else errno.EACCES
        if number:
            raise OSError(number, os.strerror(number)) from None


def checksum_of(name: str, account: bytes) -> int:
    """The checksum of an account under its name."""
    return zlib.crc32(account, zlib.crc32(name.encode()))


def read_account(connection: sqlite3.Connection, name: str) -> Account | None:
    """The account of a name; None for one that nobody has used.

    Raises: ConfigError for one that is damaged.
    """
    row = connection.execute("SELECT account, checksum FROM accounts WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    with suppress(DecodeError, LimitExceededError, TypeError):
        if row[1] == checksum_of(name, row[0]):
            return decode(row[0], Account)
    raise ConfigError(
        f"the account {name} is damaged, so that nobody knows what is left of its limits; restore the file from a "
        "copy, or delete the account from the table `accounts` to begin it anew"
    )


def read_usage(connection: sqlite3.Connection) -> Iterator[Row]:
    """The use of keys, by key, day and model."""
    with closing(connection.execute(_SELECT)) as cursor:
        for row in cursor:
            yield Row(**dict(zip(_COLUMNS, row, strict=True)))


# Damage


def commits_file(path: Path) -> Path:
    """Where the number of the last commit of a database stands."""
    return path.with_name(f"{path.name}-commits")


def mark_commit(file: int, number: int) -> None:
    """Write the number of the last commit; where that cannot be, an earlier one stands there."""
    with suppress(OSError):
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, f"{number:020} {_boot()}\n".encode())


@cache
def _boot() -> str:
    """The boot of this machine; empty where it has no name."""
    try:
        return _BOOT_FILE.read_text().strip()
    except OSError:
        return ""


def _marked(path: Path) -> tuple[int, str]:
    """The number of the last commit, and its boot; 0 where none is known."""
    try:
        number, _, boot = commits_file(path).read_text().strip().partition(" ")
        return int(number), boot
    except (OSError, ValueError):
        return 0, ""


def _check(connection: sqlite3.Connection, path: Path, marked: tuple[int, str]) -> None:
    """Look for damage.

    Raises: ConfigError where the file has any but that of single accounts.
    """
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise ConfigError(f"{path.name} is damaged ({verdict.splitlines()[-1]}); restore it from a copy")
    (number,) = connection.execute("SELECT number FROM commits").fetchone()
    if number >= marked[0]:
        return
    lost = (
        f"{path.name} has lost the last {marked[0] - number:,} changes of accounts that were written to it, so that "
        "nobody knows what keys used then"
    )
    if marked[1] == _boot():
        raise ConfigError(
            f"{lost}: it was damaged, or replaced by an older copy; restore it, or remove {commits_file(path).name} to "
            "go on with what it holds"
        )
    logging.getLogger("interlingua.gateway").error("%s: the machine ended before they were on the disk", lost)


# Earlier versions


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables of an earlier version up to date, as one transaction.

    Raises: ConfigError where the journal of version 2 has calls that its database has not.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < SCHEMA:  # else another process was faster
            journals = _journals(connection, path) if version == 2 else []
            for statement in _TABLES:
                connection.execute(statement)
            accounts = connection.execute("SELECT name, account FROM accounts").fetchall()
            sums = [(checksum_of(name, account), name) for name, account in accounts]
            connection.executemany("UPDATE accounts SET checksum = ? WHERE name = ?", sums)
            connection.execute("DROP TABLE IF EXISTS journal")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute("COMMIT")
            for journal in journals:
                journal.unlink(missing_ok=True)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _journals(connection: sqlite3.Connection, path: Path) -> list[Path]:
    """The files of the journal of version 2, which are not wanted any more.

    Raises: ConfigError where one has calls that the database has not.
    """
    (folded,) = connection.execute("SELECT folded FROM journal").fetchone()
    files = list(path.parent.glob(f"{path.name}-calls-*"))
    for journal in files:
        number = journal.name.rpartition("-")[2]
        with journal.open("rb") as lines:
            length = lines.read(8)
        if number.isdigit() and int(number) >= folded and any(length):
            raise ConfigError(
                f"{journal.name} has calls of an earlier version of interlingua that are not in {path.name} yet: start "
                "`il serve` of that version once and end it, then begin again with this one"
            )
    return [*files, path.with_name(f"{path.name}-lock")]
