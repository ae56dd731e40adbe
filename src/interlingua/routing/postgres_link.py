"""The way to a Postgres: a bounded pool of connections of the `psycopg` package.

Rules
- An answer is waited for at most a second; a connection by an event loop, too, and by a thread two, the least of libpq.
- A process has at most 8 connections for threads, and as many for each event loop: a hundred gateways share one server.
- A connection that the server has closed while it was idle is replaced; one that broke amid a statement is closed, and
  nothing is sent twice: the users of a link make anew what is safe to make anew.
- Nothing is prepared on the server, and no setting outlives a statement, so that a pooler may stand between.
- `postgres` and `postgresql` addresses, as libpq reads them.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from interlingua.errors import ConfigError, redact
from interlingua.routing.commands import Command
from interlingua.routing.link import Link
from interlingua.routing.postgres_sql import SETUP, SWEEPS, VERSION, Rows, Statement, reply, statement

try:
    import psycopg
    from psycopg import waiting
    from psycopg.conninfo import conninfo_to_dict
except ImportError as _error:
    raise ConfigError("state in Postgres needs the [postgres] extra: pip install 'interlingua[postgres]'") from _error

if TYPE_CHECKING:
    from psycopg.abc import RV, PQGen

__all__ = ["MAX_CONNECTIONS", "SWEEP_S", "TIMEOUT_S", "PostgresLink"]

TIMEOUT_S = 1.0
"""How long an answer is waited for; a commit waits for the disk."""
MAX_CONNECTIONS = 8
"""How many connections threads share, and how many the tasks of an event loop."""
SWEEP_S = 60.0
"""How often a process deletes values that have ended."""
_INTERVAL_S = 0.1
_EXISTS = "SELECT to_regclass('interlingua_version') IS NOT NULL"
_VERSION = "SELECT version FROM interlingua_version"


class _Connection(psycopg.Connection[Any]):
    """A connection whose every wait is bounded."""

    timeout_s: float = TIMEOUT_S

    def wait(self, gen: PQGen[RV], interval: float = _INTERVAL_S, timeout: float | None = None) -> RV:
        """The result of a generator of the package."""
        return waiting.wait(gen, self.pgconn.socket, interval=interval, timeout=timeout or self.timeout_s)


class _AsyncConnection(psycopg.AsyncConnection[Any]):
    """A connection whose every wait is bounded; a task that is cancelled waits for nothing more."""

    timeout_s: float = TIMEOUT_S

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = _INTERVAL_S,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature of the package
    ) -> RV:
        """The result of a generator of the package."""
        return await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=timeout or self.timeout_s)


class _Pool:
    """Connections that nobody uses at the moment."""

    def __init__(self) -> None:
        self.idle: list[Any] = []
        self._process = os.getpid()

    def idle_one(self) -> Any | None:
        """A connection that the server has not closed, or None."""
        if self._process != os.getpid():  # a fork: they are the parent's, and the package closes none of those
            self.idle, self._process = [], os.getpid()
        while self.idle:
            connection = self.idle.pop()
            if not _is_readable(connection.pgconn.socket):  # nothing is asked: whatever comes is a farewell
                return connection
            connection.pgconn.finish()
        return None

    def close(self) -> None:
        """Close all."""
        while self.idle:
            self.idle.pop().close()

    def __del__(self, process: Callable[[], int] = os.getpid) -> None:
        """Close all at once; who forgets a link leaves nothing open, also when the interpreter ends."""
        if self._process == process():
            for connection in self.idle:
                connection.pgconn.finish()

    async def aclose(self) -> None:
        """Close all."""
        while self.idle:
            await self.idle.pop().close()


def _is_readable(number: int) -> bool:
    """Whether something has come on a socket."""
    if not hasattr(select, "poll"):
        return bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


class PostgresLink(Link):
    """The way to one Postgres, for threads and event loops."""

    kind: ClassVar[str] = "Postgres"
    """The store's name in sentences."""
    places: ClassVar[int] = MAX_CONNECTIONS
    """How many connections threads share, and how many the tasks of an event loop."""
    broken: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error, OSError, TimeoutError)
    """Exceptions that mean that Postgres does not answer."""

    def __init__(
        self, url: str, *, clock: Callable[[], float], on_change: Callable[[str], None] = lambda _: None
    ) -> None:
        """A link that has not been used; `clock` gives seconds that only grow.

        `on_change` is given the reason when Postgres goes away, and the empty text when it is back.

        Raises: ConfigError for an address that is none.
        """
        super().__init__(url, TIMEOUT_S, clock=clock, on_change=on_change)
        self._has_tables = False
        self._sweep_at_s = clock() + SWEEP_S
        try:
            conninfo_to_dict(self._url)
        except psycopg.Error as error:
            sentence = str(error).partition('"')[0].strip()  # what follows is the address itself
            raise ConfigError(f"not an address of Postgres: {self.address}: {redact(sentence)}") from None

    def _open(self) -> Any:
        return _Pool()

    def _open_async(self) -> Any:
        return _Pool()

    def _options(self) -> dict[str, Any]:
        return {"autocommit": True, "prepare_threshold": None, "connect_timeout": 2}

    def _exchange(self, client: _Pool, commands: list[Command]) -> list[Any]:
        connection = client.idle_one() or _Connection.connect(self._url, **self._options())
        connection.timeout_s = self._timeout_s
        try:
            work = self._work(commands)
            text, parameters = next(work)
            while True:
                cursor = connection.execute(text.encode(), parameters)
                text, parameters = work.send(cursor.fetchall() if cursor.description else [])
        except StopIteration as done:
            client.idle.append(connection)
            return done.value
        except BaseException as error:
            self._drop(connection, error)
            raise

    async def _exchange_async(self, client: _Pool, commands: list[Command]) -> list[Any]:
        connection = client.idle_one() or await _AsyncConnection.connect(self._url, **self._options())
        connection.timeout_s = self._timeout_s
        try:
            work = self._work(commands)
            text, parameters = next(work)
            while True:
                cursor = await connection.execute(text.encode(), parameters)
                text, parameters = work.send(await cursor.fetchall() if cursor.description else [])
        except StopIteration as done:
            client.idle.append(connection)
            return done.value
        except BaseException as error:
            self._drop(connection, error)
            raise

    def _work(self, commands: list[Command]) -> Generator[Statement, Rows, list[Any]]:
        """The replies to commands, from statements that are yielded and the rows that they are sent.

        Raises: psycopg.Error for tables of a later version.
        """
        if not self._has_tables:
            ((exists,),) = yield _EXISTS, None
            if not exists:
                yield SETUP, None
            ((version,),) = yield _VERSION, None
            if version > VERSION:
                raise psycopg.NotSupportedError("its tables were made by a later version of interlingua")
            self._has_tables = True
        replies: list[Any] = []
        for command in commands:
            rows = yield statement(command)
            replies.append(reply(command, rows))
        now_s = self._clock()
        if now_s >= self._sweep_at_s:  # about once a minute, ended values are deleted
            self._sweep_at_s = now_s + SWEEP_S
            for sweep in SWEEPS:
                yield sweep, None
        return replies

    def _drop(self, connection: Any, error: BaseException) -> None:
        """Close a connection at once, whatever it does; tables that are gone are made anew by the next one."""
        if isinstance(error, (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction)):
            self._has_tables = False
        with suppress(psycopg.Error):
            connection.pgconn.finish()
