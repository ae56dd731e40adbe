"""Conversations of the command line, kept in a file of SQLite: `-c` and `--name` continue one, `il history` finds them.

Rules
- Every prompt and answer of `ask`, `chat` and `run` is a row; the last answer of each conversation is kept whole.
- The file is `history.db` under `INTERLINGUA_HOME/state`, else the platform's place for state; only its owner reads it.
- A turn is kept in one transaction, so that a command that is killed leaves what was there before.
- Where a turn cannot be kept, a note says so and no more: the answer was given, and may have cost money.
- `INTERLINGUA_HISTORY=0` keeps nothing, and there is nothing to go on with.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.cli.terminal import note
from interlingua.errors import ConfigError, Error, UsageError
from interlingua.registry.home import state_directory
from interlingua.types.content import TextPart

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from interlingua.types.response import Response

__all__ = [
    "HISTORY_VARIABLE",
    "Conversation",
    "Turn",
    "delete_conversation",
    "delete_history",
    "history_path",
    "read_turns",
    "recent_turns",
]

HISTORY_VARIABLE = "INTERLINGUA_HISTORY"
"""`0` keeps no conversation."""
VERSION = 1
"""Of the tables; a file of another version is left alone."""
LOCK_S = 5.0
"""How long a command waits for another one that writes."""
_FILE = "history.db"
_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE, updated REAL NOT NULL, reply TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    at REAL NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL, answer TEXT NOT NULL,
    input_tokens INTEGER, output_tokens INTEGER, cost_usd REAL
);
CREATE INDEX IF NOT EXISTS turns_of_conversation ON turns(conversation);
"""
_COLUMNS = """
    turns.id, turns.conversation, conversations.name, at, model, prompt, answer, input_tokens, output_tokens, cost_usd
    FROM turns JOIN conversations ON conversations.id = turns.conversation
"""


class Turn(NamedTuple):
    """A prompt and its answer."""

    id: int
    """In the order in which they were kept."""
    conversation: int
    """Which conversation it belongs to."""
    name: str | None
    """The name of that conversation."""
    at: float
    """When it was kept, in seconds since 1970."""
    model: str
    """The target that answered."""
    prompt: str
    """The texts of the prompt; `[ImagePart]` and its like stand for everything else."""
    answer: str
    """The text of the answer."""
    input_tokens: int | None
    """As the provider counted them."""
    output_tokens: int | None
    """As the provider counted them."""
    cost_usd: float | None
    """The cost of the answer, where its price is known."""


class Conversation:
    """One conversation: its last answer, and the row that it is kept in."""

    def __init__(self, name: str | None = None) -> None:
        """A conversation that has not begun, with the name that it will have."""
        self.reply: Response[Any] | None = None
        """The last answer, with all that was said before it."""
        self._name = name
        self._id: int | None = None

    @classmethod
    def named(cls, name: str) -> Conversation:
        """The conversation of that name, begun or not.

        Raises: UsageError where nothing is kept; ConfigError when it cannot be read.
        """
        if not name.strip():
            raise UsageError("--name: a conversation needs a name")
        _ensure_kept()
        conversation = cls(name)
        conversation._read("WHERE name = ?", name)
        return conversation

    @classmethod
    def last(cls) -> Conversation:
        """The conversation that was last gone on with.

        Raises: UsageError when there is none; ConfigError when it cannot be read.
        """
        _ensure_kept()
        conversation = cls()
        if not conversation._read("ORDER BY updated DESC, id DESC LIMIT 1"):
            raise UsageError("there is no conversation to continue; ask without -c first")
        return conversation

    @property
    def model(self) -> str:
        """The target that answered last; empty before the first answer."""
        return self.reply.model if self.reply else ""

    def add(self, prompt: Sequence[object], reply: Response[Any]) -> None:
        """Go on with a prompt and its answer, and keep them."""
        self.reply = reply
        usage = reply.usage
        turn = (
            time.time(),
            reply.model,
            "\n\n".join(map(_text, prompt)),
            reply.text,
            usage.input_tokens if usage else None,
            usage.output_tokens if usage else None,
            reply.cost_usd,
        )

        def write(database: sqlite3.Connection) -> None:
            self._keep_reply(database)
            database.execute(
                "INSERT INTO turns (conversation, at, model, prompt, answer, input_tokens, output_tokens, cost_usd)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (self._id, *turn),
            )

        _write_or_note(write)

    def take_back(self, reply: Response[Any] | None) -> None:
        """Forget the last turn; `reply` is the answer before it."""
        self.reply = reply
        if self._id is None:
            return

        def write(database: sqlite3.Connection) -> None:
            last = "(SELECT max(id) FROM turns WHERE conversation = ?)"
            database.execute(f"DELETE FROM turns WHERE id = {last}", (self._id,))  # noqa: S608 - the text is ours
            if reply is not None:
                self._keep_reply(database)
            else:
                database.execute("DELETE FROM conversations WHERE id = ?", (self._id,))
                self._id = None

        _write_or_note(write)

    def _keep_reply(self, database: sqlite3.Connection) -> None:
        from interlingua.types.dump import dump

        assert self.reply is not None, "there is an answer to keep"  # noqa: S101 - an invariant
        row = (self._name, time.time(), dump(self.reply))
        if self._id is not None:
            database.execute(
                "INSERT INTO conversations (id, name, updated, reply) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, reply = excluded.reply",
                (self._id, *row),
            )
            return
        cursor = database.execute(
            "INSERT INTO conversations (name, updated, reply) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET updated = excluded.updated, reply = excluded.reply RETURNING id",
            row,
        )
        self._id = cursor.fetchone()[0]

    def _read(self, which: str, *values: object) -> bool:
        """Take over a conversation that is kept; whether there is one."""
        from interlingua.types.dump import load

        with _opened() as database:
            if database is None:
                return False
            query = f"SELECT id, name, reply FROM conversations {which}"  # noqa: S608 - the text is ours
            row = database.execute(query, values).fetchone()
        if row is None:
            return False
        self._id, self._name, text = row
        try:
            self.reply = load(text)
        except Error as error:
            raise ConfigError(
                f"{history_path()}: conversation {self._id} cannot be read ({error.message}); "
                "ask without -c to begin anew"
            ) from None
        return True


def recent_turns(words: Sequence[str] = (), *, limit: int = 20) -> list[Turn]:
    """The last turns in which all of `words` stand, in their order.

    Raises: ConfigError when they cannot be read.
    """
    conditions = " AND ".join(["(prompt LIKE ? ESCAPE '\\' OR answer LIKE ? ESCAPE '\\')"] * len(words))
    where = f"WHERE {conditions} " if words else ""
    escaped = [word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for word in words]
    patterns = [pattern for word in escaped for pattern in [f"%{word}%"] * 2]
    return _turns(f"{where}ORDER BY turns.id DESC LIMIT ?", *patterns, limit)[::-1]


def read_turns(which: str) -> list[Turn]:
    """All turns of a conversation, by its number or its name.

    Raises: UsageError when there is none; ConfigError when they cannot be read.
    """
    turns = _turns("WHERE conversations.name = ? OR turns.conversation = ? ORDER BY turns.id", which, _number(which))
    if not turns:
        raise UsageError(f"there is no conversation {which}; `il history` lists the last turns")
    return turns


def delete_conversation(which: str) -> None:
    """Delete a conversation, by its number or its name.

    Raises: UsageError when there is none; ConfigError when it cannot be deleted.
    """
    with _opened() as database:
        query = "DELETE FROM conversations WHERE name = ? OR id = ?"
        if database is None or not database.execute(query, (which, _number(which))).rowcount:
            raise UsageError(f"there is no conversation {which}; `il history` lists the last turns")


def delete_history() -> None:
    """Delete every conversation, with the file.

    Raises: ConfigError when it cannot be deleted.
    """
    try:
        history_path().unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{history_path()} cannot be deleted: {error.strerror}") from None


def history_path() -> Path:
    """Where conversations are kept; the file need not exist."""
    return state_directory() / _FILE


def _turns(which: str, *values: object) -> list[Turn]:
    with _opened() as database:
        rows = database.execute(f"SELECT {_COLUMNS} {which}", values).fetchall() if database else []
    return [Turn(*row) for row in rows]


def _is_off() -> bool:
    return os.environ.get(HISTORY_VARIABLE, "") == "0"


def _ensure_kept() -> None:
    if _is_off():
        raise UsageError(f"{HISTORY_VARIABLE}=0: no conversation is stored, so none can be continued")


def _write_or_note(write: Callable[[sqlite3.Connection], None]) -> None:
    """Write in one transaction, unless history is off; what goes wrong is a note."""
    if _is_off():
        return
    try:
        with _opened(create=True) as database:
            assert database is not None, "it is made where it is not there"  # noqa: S101 - an invariant
            write(database)
    except ConfigError as error:
        note(f"the conversation is not stored: {error.message}")


@contextmanager
def _opened(*, create: bool = False) -> Generator[sqlite3.Connection | None]:
    """One transaction; None where there is no file and none is to be made.

    Raises: ConfigError for a file that cannot be made, read or written.
    """
    path = history_path()
    if not (create or path.exists()):
        yield None
        return
    import sqlite3  # 4 ms that only who keeps or reads a conversation waits for

    try:
        if create:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(path, timeout=LOCK_S)) as database, database:
            database.execute("PRAGMA foreign_keys = ON")
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise ConfigError(f"{path} was written by a newer interlingua; {HISTORY_VARIABLE}=0 goes without it")
            if version < VERSION:
                for statement in _TABLES.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {VERSION}")
            yield database
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    except sqlite3.Error as error:
        raise ConfigError(f"{path} cannot be used: {error}; `il history --clear` deletes it") from None


def _text(part: object) -> str:
    match part:
        case str(text) | TextPart(text=text):
            return text
        case _:
            return f"[{type(part).__name__}]"


def _number(which: str) -> int:
    return int(which) if which.isascii() and which.isdigit() and len(which) < 19 else -1
