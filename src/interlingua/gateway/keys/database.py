"""The database of keys: who has one, what they may use, and what they have used. One SQLite file, its owner's alone.

Strategy: what people do (create, list, revoke, look at what was used) is done here, one short transaction each; a
gateway that runs looks once a second whether somebody did something. What calls do stands in `ledger`, on the same
file.

The accounts and the sums of use that stand here are as old as the last generation of the journal beside them that was
written here (`journal`); who reads them reads the lines that follow, too.

Rules
- The text of a key is made here, shown once, and kept nowhere: what is kept is `sha256:` and its digest. A key is 192
  random bits, so that its digest cannot be guessed back, and a slow hash would only slow the gateway.
- Names are unique among the keys that are not revoked. A name that is given out again goes on with its account.
- The file is written ahead (WAL): what was written survives the end of the process, however it ends.
- Its schema has a number; a file of a later version is refused, not guessed at.
"""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.errors import ConfigError, DecodeError, LimitExceededError, UsageError, reason_of
from interlingua.gateway.keys.accounts import COUNTS, Row, chosen
from interlingua.gateway.keys.books import Books, Since, rows_of
from interlingua.gateway.keys.budget import EMPTY, Account
from interlingua.gateway.keys.journal import GenerationGone, lines_from
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.settings import GatewayKey
from interlingua.registry.spec import shown
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

__all__ = [
    "BUSY_S",
    "KEY_PREFIX",
    "Kept",
    "KeptKey",
    "KeyDatabase",
    "Stored",
    "check_name",
    "connect",
    "default_file",
    "make_key",
    "read_account",
    "read_kept",
    "read_stored",
]

KEY_PREFIX = "sk-il-"
"""How the text of a key begins: clients and tools that look for secrets know one by it."""
BUSY_S = 5.0
"""How long another process's writing is waited for."""
SCHEMA = 2
"""The number of the schema."""
_NAME = re.compile(r"[A-Za-z0-9][\w.@-]{0,63}", re.ASCII)
_COLUMNS = ("key", "day", "model", *COUNTS)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM usage"  # noqa: S608 - our own names
_TABLES = """
CREATE TABLE IF NOT EXISTS keys (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  models TEXT NOT NULL,
  terms BLOB NOT NULL,
  team TEXT NOT NULL,
  created_s REAL NOT NULL,
  expires_s REAL,
  revoked_s REAL
);
CREATE UNIQUE INDEX IF NOT EXISTS one_of_a_name ON keys (name) WHERE revoked_s IS NULL;
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, account BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
  key TEXT NOT NULL,
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  COLUMNS,
  PRIMARY KEY (key, day, model)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (version INTEGER NOT NULL);
INSERT INTO changes SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM changes);
CREATE TABLE IF NOT EXISTS journal (folded INTEGER NOT NULL);
INSERT INTO journal SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM journal);
PRAGMA user_version = 2;
""".replace("COLUMNS", ", ".join([f"{name} INTEGER NOT NULL" for name in COUNTS]))


class KeptKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key in the database."""

    key: GatewayKey
    """The key, as the gateway checks it."""
    created_s: float
    """When it was made, in Unix seconds."""


def make_key(random: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """The text of a new key: `sk-il-` and 48 hexadecimal digits."""
    return f"{KEY_PREFIX}{random(24).hex()}"


def default_file() -> Path:
    """Where keys lie unless it is said otherwise: `keys.sqlite` where a user's state lies."""
    from interlingua.client.home import state_directory

    return state_directory() / "keys.sqlite"


def check_name(name: str) -> str:
    """The name of a key.

    Raises: UsageError for one that could be taken for something else in a log, a header or a file.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"a key is named by up to 64 letters, digits and . _ @ -, as team-a, not {shown(name)}")
    return name


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the file, which is made where there is none, its owner's alone.

    Raises: ConfigError for what is no such file, or one of a later version.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
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
            connection.executescript(f"BEGIN IMMEDIATE;{_TABLES}COMMIT;")
    except (ConfigError, sqlite3.Error) as error:
        connection.close()
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{path.name} is no file of keys: {error}") from None
    return connection


def read_account(text: bytes) -> Account:
    """The account that was written; what somebody else wrote there is none."""
    try:
        return decode(text, Account)
    except (DecodeError, LimitExceededError):
        return EMPTY


class Stored(NamedTuple):
    """What the database has of the calls of keys."""

    folded: int
    """The first generation of lines that it has not."""
    accounts: dict[str, Account]
    """Every account that was used."""
    rows: list[Row]
    """What was used."""


class Kept(NamedTuple):
    """What keys have used, with everything that was settled until now."""

    accounts: dict[str, Account]
    """Every account that was used."""
    rows: list[Row]
    """What was used, in no order."""

    def used(self, key: str = "", since: str = "") -> list[Row]:
        """By key, day and model; of one key where it is named, from a day on."""
        return chosen(self.rows, key, since)


def read_stored(connection: sqlite3.Connection) -> Stored:
    """What the database has of the calls of keys, as of one moment."""
    connection.execute("BEGIN")
    try:
        (folded,) = connection.execute("SELECT folded FROM journal").fetchone()
        accounts = {name: read_account(text) for name, text in connection.execute("SELECT name, account FROM accounts")}
        rows = [Row(**dict(zip(_COLUMNS, row, strict=True))) for row in connection.execute(_SELECT)]
    finally:
        connection.execute("COMMIT")
    return Stored(folded, accounts, rows)


def read_kept(connection: sqlite3.Connection, path: Path) -> Kept:
    """What keys have used: what the database has, and the lines that follow."""
    while True:
        stored = read_stored(connection)
        books = Books(stored.accounts, stored.folded)
        try:
            for line in lines_from(path, stored.folded):
                books.write(line)
        except GenerationGone:
            if books.generation > stored.folded or read_stored(connection).folded != stored.folded:
                continue  # it was written into the database meanwhile
        sums = Since()
        sums.count([*stored.rows, *books.used()])
        return Kept(books.values(tuple(books.accounts)), rows_of(sums.sums))


class KeyDatabase:
    """The keys of one file."""

    place: str = "database"
    """Where its keys are from, in a word."""

    def __init__(self, path: str | Path, *, now: Callable[[], float]) -> None:
        """The keys of the file at `path`, which is made where there is none; `now` gives Unix seconds.

        Raises: ConfigError for what is no such file.
        """
        self.path: Path = Path(path).expanduser()
        """Where it lies."""
        self._now = now
        self._connection = connect(self.path)
        self._file = _file_at(self.path)

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Whether there is such a file."""
        return Path(path).expanduser().exists()

    def create(self, key: GatewayKey) -> None:
        """Keep a key.

        Raises: UsageError where there is one of that name; ConfigError where the file cannot be written.
        """
        values = (
            check_name(key.name),
            key.hash,
            encode(key.models).decode(),
            encode(key.terms),
            key.team,
            self._now(),
            key.expires_s,
        )
        try:
            with self._writing() as connection:
                connection.execute(
                    "INSERT INTO keys (name, hash, models, terms, team, created_s, expires_s)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    values,
                )
        except sqlite3.IntegrityError:
            raise UsageError(f"there is a key {key.name}; revoke it first, or take another name") from None

    def revoke(self, name: str) -> None:
        """Have a key stop working.

        Raises: UsageError where there is none of that name; ConfigError where the file cannot be written.
        """
        with self._writing() as connection:
            done = connection.execute(
                "UPDATE keys SET revoked_s = ? WHERE name = ? AND revoked_s IS NULL", (self._now(), name)
            )
        if not done.rowcount:
            raise UsageError(f"there is no key {shown(name)} that works; `il keys list` shows them")

    def version(self) -> int:
        """A number that is another one after every change of a key.

        Raises: ConfigError for a file that cannot be read any more, and where another one, or none, lies in its place.
        """
        if _file_at(self.path) != self._file:
            raise ConfigError(
                f"{self.path.name} was replaced or taken away; start the gateway again to read what is there"
            )
        with self._reading() as connection, closing(connection.execute("SELECT version FROM changes")) as found:
            return int(found.fetchone()[0])

    def all_keys(self) -> list[KeptKey]:
        """Every key, revoked ones, too, by name and age.

        Raises: ConfigError for a file that cannot be read any more.
        """
        with self._reading() as connection, closing(connection.cursor()) as cursor:
            cursor.row_factory = sqlite3.Row
            return [_kept(row) for row in cursor.execute("SELECT * FROM keys ORDER BY name, id")]

    def usage(self, key: str = "", since: str = "") -> list[Row]:
        """What was used, by key, day and model; of one key where it is named, from a day on."""
        return read_kept(self._connection, self.path).used(key, since)

    def accounts(self, names: Sequence[str]) -> dict[str, Account]:
        """The accounts of those names that were used."""
        accounts = read_kept(self._connection, self.path).accounts
        return {name: accounts[name] for name in names if name in accounts}

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise ConfigError(f"the keys in {self.path.name} cannot be read: {error}") from None

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """A transaction that is told to gateways that run.

        Raises: ConfigError where it cannot be written: the disk is full, or another process does not end writing.
        """
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("UPDATE changes SET version = version + 1")
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise ConfigError(f"the keys in {self.path.name} cannot be written: {error}") from None
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _file_at(path: Path) -> tuple[int, int] | None:
    """Which file lies there; None for none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _kept(row: sqlite3.Row) -> KeptKey:
    key = GatewayKey(
        name=row["name"],
        hash=row["hash"],
        models=decode(row["models"].encode(), tuple[str, ...]),
        terms=decode(row["terms"], Terms),
        team=row["team"],
        expires_s=row["expires_s"],
        revoked_s=row["revoked_s"],
    )
    return KeptKey(key=key, created_s=row["created_s"])
