"""A connection to Redis that may go away: pooled, bounded in time, blocking and awaited.

Strategy: what is to be done is a generator that yields commands and is sent their replies, so that it is written once
for both faces. Whoever uses a link has something to fall back on: when Redis does not answer, the link says `RedisGone`
at once for a while, and then lets a single call try again.

Rules
- An answer is waited for at most a quarter of a second, as is a connection. Nobody hangs, and nobody retries in a loop.
- At most 32 connections for threads, and as many for each event loop; those of a loop close when it ends.
- The address is shown without its password, everywhere.
- `redis`, `rediss` and `unix` addresses, as the `redis` package writes them; `?prefix=` names the keys, `interlingua:`
  otherwise, and `?timeout_s=` changes how long is waited.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from interlingua.errors import ConfigError, redact
from interlingua.routing.outage import Outage

try:
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as RedisConnectionError
    from redis.exceptions import RedisError

    # The package does not say the types of what its clients take and give.
    _blocking: Any = import_module("redis")
    _awaited: Any = import_module("redis.asyncio")
except ImportError as _error:
    raise ConfigError("state in Redis needs the [redis] extra: pip install 'interlingua[redis]'") from _error

__all__ = ["MAX_CONNECTIONS", "TIMEOUT_S", "Command", "RedisGone", "RedisLink", "Steps"]

TIMEOUT_S = 0.25
"""How long a connection, and an answer, are waited for."""
MAX_CONNECTIONS = 32
"""How many connections threads share, and how many the tasks of an event loop."""

R = TypeVar("R")
Command: TypeAlias = tuple[str | bytes | int, ...]
"""One command with its arguments."""
Steps: TypeAlias = Generator[list[Command], list[Any], R]
"""Commands that are sent together, and what they are answered with."""

_BROKEN = (RedisError, OSError, TimeoutError)


class RedisGone(Exception):  # noqa: N818 - a state that its caller handles, no error that anybody sees
    """Redis does not answer, or did not a moment ago."""


class RedisLink:
    """The way to one Redis, for threads and event loops."""

    def __init__(
        self, url: str, *, clock: Callable[[], float], on_change: Callable[[str], None] = lambda _: None
    ) -> None:
        """A link that has not been used; `clock` gives seconds that only grow.

        `on_change` is told when Redis goes away (the reason), and when it is back (the empty text).

        Raises: ConfigError for an address that is none.
        """
        self._url, prefix, self._timeout_s = _read(url)
        self.prefix: str = prefix
        """The prefix of every key."""
        self._check()
        self._outage = Outage(clock, on_change)
        self._client: Any = None
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._homes: dict[asyncio.AbstractEventLoop, _Home] = {}

    @property
    def problem(self) -> str:
        """Why Redis could not be asked the last time; empty while it can."""
        return self._outage.problem

    def __repr__(self) -> str:
        return f"<RedisLink {self.address}>"

    @property
    def address(self) -> str:
        """Where it leads, without who asks and the password."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def run(self, steps: Steps[R]) -> R:
        """The result of the steps.

        Raises: RedisGone.
        """
        outages = self._outages()
        with self._places:
            self._still_there(outages)
            try:
                return self._drive(steps)
            except _BROKEN as error:
                raise self._failed(error) from None

    async def run_async(self, steps: Steps[R]) -> R:
        """The result of the steps, awaited.

        Raises: RedisGone.
        """
        outages = self._outages()
        home = await self._home()
        async with home.places:
            self._still_there(outages)
            try:
                return await self._drive_async(home.client, steps)
            except _BROKEN as error:
                raise self._failed(error) from None

    def close(self) -> None:
        """Close the connections of threads; those of event loops close with them."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    # One exchange

    def _drive(self, steps: Steps[R]) -> R:
        client = self._threads_client()
        try:
            commands = next(steps)
            while True:
                pipe = client.pipeline(transaction=False)
                for command in commands:
                    pipe.execute_command(*command)
                try:
                    replies = pipe.execute()
                except _BROKEN:
                    raise
                except Exception as error:  # as below
                    raise RedisConnectionError(_reason(error)) from error
                self._outage.answered()
                commands = steps.send(replies)
        except StopIteration as done:
            return done.value

    async def _drive_async(self, client: Any, steps: Steps[R]) -> R:
        try:
            commands = next(steps)
            while True:
                pipe = client.pipeline(transaction=False)
                for command in commands:
                    pipe.execute_command(*command)
                async with asyncio.timeout(2 * self._timeout_s):  # also where a name server does not answer
                    replies = await _executed(pipe)
                self._outage.answered()
                commands = steps.send(replies)
        except StopIteration as done:
            return done.value

    # Whether it is there

    def _outages(self) -> int:
        """How often Redis went away until now."""
        if not self._outage.may_try():
            raise RedisGone
        return self._outage.count

    def _still_there(self, outages: int) -> None:
        """Spare whoever waited for a connection an outage that is known by now."""
        if outages != self._outage.count:
            raise RedisGone

    def _failed(self, error: Exception) -> RedisGone:
        self._outage.failed(redact(f"{self.address}: {_reason(error)}"))
        return RedisGone()

    # Connections

    def _options(self) -> dict[str, Any]:
        return {
            "socket_timeout": self._timeout_s,
            "socket_connect_timeout": self._timeout_s,
            "max_connections": MAX_CONNECTIONS,
            "protocol": 2,
        }

    def _check(self) -> None:
        """Make a connection that connects to nothing, so that a bad address is told now."""
        try:
            client = _blocking.Redis.from_url(self._url, **self._options())
            client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"not an address of Redis: {self.address}: {redact(str(error))}") from None

    def _threads_client(self) -> Any:
        if self._client is None:
            from redis.retry import Retry

            # A connection that broke while it was idle is made again, once; what takes too long is not asked again.
            retry = Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,))
            self._client = _blocking.Redis.from_url(self._url, retry=retry, **self._options())
        return self._client

    async def _home(self) -> _Home:
        loop = asyncio.get_running_loop()
        home = self._homes.get(loop)
        if home is None:
            from redis.asyncio.retry import Retry

            retry = Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,))
            client = _awaited.Redis.from_url(self._url, retry=retry, **self._options())
            home = self._homes[loop] = _Home(client)
            await home.settle(lambda: self._homes.pop(loop, None))
        return home


async def _executed(pipe: Any) -> list[Any]:
    """The replies of a pipeline.

    Raises: what the package raises of Redis; RedisConnectionError for everything else: on a connection that breaks in
        the middle of a reply its parsers raise whatever comes of half a reply.
    """
    try:
        return await pipe.execute()
    except _BROKEN:
        raise
    except Exception as error:
        raise RedisConnectionError(_reason(error)) from error


class _Home:
    """The connections of one event loop."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.places = asyncio.Semaphore(MAX_CONNECTIONS)
        self._guard: AsyncGenerator[None, None] | None = None

    async def settle(self, forget: Callable[[], object]) -> None:
        """Tie the connections to the loop: a loop that ends closes its asynchronous generators, and this is one."""
        self._guard = self._until_the_loop_ends(forget)
        await anext(self._guard)

    async def _until_the_loop_ends(self, forget: Callable[[], object]) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            forget()
            with suppress(RedisError, OSError):
                await self.client.aclose()


def _read(url: str) -> tuple[str, str, float]:
    """The address for the package, and what is ours in it: the prefix and the time-out."""
    try:
        parts = urlsplit(url)
        members = dict(parse_qsl(parts.query, keep_blank_values=True))
        prefix = members.pop("prefix", "interlingua:")
        timeout_s = float(members.pop("timeout_s", TIMEOUT_S))
    except ValueError as error:
        raise ConfigError(f"not an address of Redis: {redact(str(error))}") from None
    if not 0 < timeout_s <= 10:
        raise ConfigError("timeout_s of an address of Redis is more than 0 and at most 10")
    return urlunsplit(parts._replace(query=urlencode(members))), prefix, timeout_s


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
