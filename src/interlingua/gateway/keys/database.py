"""The database of keys: who has one, what they may use, and what they have used. One SQLite file, its owner's alone.

Strategy: a person's commands (create, list, revoke, look at use) are one short transaction each; a gateway that runs
looks once a second for changes. The operations of calls are written by `ledger`, into the same file.

Rules
- The text of a key is made here, shown once, and kept nowhere: what is kept is `sha256:` and its digest. A key is 192
  random bits, so that its digest cannot be guessed back, and a slow hash would only slow the gateway.
- Names are unique among the keys that are not revoked. A name that is given out again goes on with its account.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.keys.accounts import chosen
from interlingua.gateway.keys.file import connect, read_account, read_usage
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.settings import GatewayKey
from interlingua.registry.spec import shown
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.budget import Account

__all__ = ["KEY_PREFIX", "KeptKey", "KeyDatabase", "check_name", "default_file", "make_key"]

KEY_PREFIX = "sk-il-"
"""How the text of a key begins: clients and tools that look for secrets know one by it."""
_NAME = re.compile(r"[A-Za-z0-9][\w.@-]{0,63}", re.ASCII)


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
    from interlingua.registry.home import state_directory

    return state_directory() / "keys.sqlite"


def check_name(name: str) -> str:
    """The name of a key.

    Raises: UsageError for one that could be taken for something else in a log, a header or a file.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"a key is named by up to 64 letters, digits and . _ @ -, as team-a, not {shown(name)}")
    return name


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
        with self._reading() as connection, closing(connection.execute("SELECT version FROM changes")) as cursor:
            return int(cursor.fetchone()[0])

    def all_keys(self) -> list[KeptKey]:
        """Every key, revoked ones, too, by name and age.

        Raises: ConfigError for a file that cannot be read any more.
        """
        with self._reading() as connection, closing(connection.cursor()) as cursor:
            cursor.row_factory = sqlite3.Row
            entries: list[KeptKey] = []
            for row in cursor.execute("SELECT * FROM keys ORDER BY name, id"):
                key = GatewayKey(
                    name=row["name"],
                    hash=row["hash"],
                    models=decode(row["models"].encode(), tuple[str, ...]),
                    terms=decode(row["terms"], Terms),
                    team=row["team"],
                    expires_s=row["expires_s"],
                    revoked_s=row["revoked_s"],
                )
                entries.append(KeptKey(key=key, created_s=row["created_s"]))
            return entries

    def usage(self, key: str = "", since: str = "") -> list[Row]:
        """The use, by key, day and model; of one key where it is named, from a day on."""
        with self._reading() as connection:
            return chosen(read_usage(connection), key, since)

    def accounts(self, names: Sequence[str]) -> dict[str, Account]:
        """The accounts of those names that were used.

        Raises: ConfigError for one that is damaged.
        """
        with self._reading() as connection:
            accounts = {name: read_account(connection, name) for name in names}
        return {name: account for name, account in accounts.items() if account is not None}

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
