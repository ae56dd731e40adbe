"""The way to a store that processes share: Redis or Postgres.

Strategy: a piece of work is a generator that yields commands and is sent their replies, so that it is written once for
the blocking and the awaited face, and for every kind of store. Users of a link have a memory to fall back on: when the
store does not answer, the link raises `LinkGone` at once for a while, and then lets a single call try again.

Rules
- The time for a connection and for an answer is bounded. Nobody hangs, and nobody retries in a loop.
- At most `places` connections for threads, and as many for each event loop; those of a loop close when it ends.
- The address is shown without user and password, everywhere.
- In an address `?prefix=` names the keys, `interlingua:` otherwise, and `?timeout_s=` changes the time for an answer.
"""

from __future__ import annotations

import asyncio
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, ClassVar, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from interlingua.errors import ConfigError, redact
from interlingua.routing.commands import Command, LinkGone, Steps
from interlingua.routing.outage import Outage

__all__ = ["Link", "open_link", "own_members"]

R = TypeVar("R")


class Link(ABC):
    """The way to one store, for threads and event loops."""

    kind: ClassVar[str]
    """The store's name in sentences."""
    places: ClassVar[int]
    """How many connections threads share, and how many the tasks of an event loop."""
    broken: ClassVar[tuple[type[Exception], ...]]
    """Exceptions that mean that the store does not answer."""

    def __init__(
        self, url: str, timeout_s: float, *, clock: Callable[[], float], on_change: Callable[[str], None]
    ) -> None:
        """A link that has not been used; `clock` gives seconds that only grow.

        `on_change` is given the reason when the store goes away, and the empty text when it is back.

        Raises: ConfigError for an address that is none.
        """
        self._url, self.prefix, self._timeout_s = own_members(url, self.kind, timeout_s)
        self._clock = clock
        self._outage = Outage(clock, on_change)
        self._client: Any = None
        self._places = threading.BoundedSemaphore(self.places)
        self._homes: dict[asyncio.AbstractEventLoop, _Home] = {}

    prefix: str
    """The beginning of every key."""

    @property
    def problem(self) -> str:
        """Why the store could not be asked the last time; empty while it can."""
        return self._outage.problem

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"

    @property
    def address(self) -> str:
        """Where it leads, without user, password and query."""
        scheme, _, rest = self._url.partition("?")[0].partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"

    def run(self, steps: Steps[R]) -> R:
        """The result of the steps.

        Raises: LinkGone.
        """
        outages = self._outages()
        with self._places:
            self._still_there(outages)
            if self._client is None:
                self._client = self._open()
            try:
                commands = next(steps)
                while True:
                    replies = self._exchange(self._client, commands)
                    self._outage.answered()
                    commands = steps.send(replies)
            except StopIteration as done:
                return done.value
            except self.broken as error:
                raise self._failed(error) from None

    async def run_async(self, steps: Steps[R]) -> R:
        """The result of the steps, awaited.

        Raises: LinkGone.
        """
        outages = self._outages()
        loop = asyncio.get_running_loop()
        home = self._homes.get(loop)
        if home is None:
            home = self._homes[loop] = _Home(self._open_async(), self.places, self.broken)
            await home.settle(lambda: self._homes.pop(loop, None))
        async with home.places:
            self._still_there(outages)
            try:
                commands = next(steps)
                while True:
                    async with asyncio.timeout(2 * self._timeout_s):  # also where a name server does not answer
                        replies = await self._exchange_async(home.client, commands)
                    self._outage.answered()
                    commands = steps.send(replies)
            except StopIteration as done:
                return done.value
            except self.broken as error:
                raise self._failed(error) from None

    def close(self) -> None:
        """Close the connections of threads; those of event loops close with them."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    # Each kind of store

    @abstractmethod
    def _open(self) -> Any:
        """The connections of threads, none of them made yet."""

    @abstractmethod
    def _open_async(self) -> Any:
        """The connections of an event loop, none of them made yet."""

    @abstractmethod
    def _exchange(self, client: Any, commands: list[Command]) -> list[Any]:
        """The replies to commands."""

    @abstractmethod
    async def _exchange_async(self, client: Any, commands: list[Command]) -> list[Any]:
        """`_exchange`, awaited."""

    # Whether it is there

    def _outages(self) -> int:
        """How often the store went away until now."""
        if not self._outage.may_try():
            raise LinkGone
        return self._outage.count

    def _still_there(self, outages: int) -> None:
        """Spare whoever waited for a connection an outage that was noticed meanwhile."""
        if outages != self._outage.count:
            raise LinkGone

    def _failed(self, error: Exception) -> LinkGone:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        self._outage.failed(redact(f"{self.address}: {reason}"))
        return LinkGone()


class _Home:
    """The connections of one event loop."""

    def __init__(self, client: Any, places: int, broken: tuple[type[Exception], ...]) -> None:
        self.client = client
        self.places = asyncio.Semaphore(places)
        self._broken = broken
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
            with suppress(*self._broken):
                await self.client.aclose()


def open_link(url: str, *, clock: Callable[[], float], on_change: Callable[[str], None] = lambda _: None) -> Link:
    """The way to the store at an address, not used yet.

    Raises: ConfigError for an address that is none, and without the extra of its kind.
    """
    if url.startswith("postgres"):
        from interlingua.routing.postgres_link import PostgresLink

        return PostgresLink(url, clock=clock, on_change=on_change)
    from interlingua.routing.redis_link import RedisLink

    return RedisLink(url, clock=clock, on_change=on_change)


def own_members(url: str, kind: str, timeout_s: float) -> tuple[str, str, float]:
    """The address for the package of a store, and our members of it: the prefix and the time for an answer.

    Raises: ConfigError for an address that is none.
    """
    scheme, _, rest = url.partition("://")
    place, _, query = rest.partition("?")
    host, *behind = re.split("[/?#]", rest, maxsplit=1)
    if host and "@" in "".join(behind):  # nothing of such an address can be shown: it may be its password
        raise ConfigError(
            f"not an address of {kind}: in a password / is written %2F, ? %3F, # %23, and @ elsewhere %40"
        )
    members = dict(parse_qsl(query, keep_blank_values=True))
    prefix = members.pop("prefix", "interlingua:")
    try:
        timeout_s = float(members.pop("timeout_s", timeout_s))
    except ValueError:
        raise ConfigError(f"timeout_s of an address of {kind} is no number of seconds") from None
    if not 0 < timeout_s <= 10:
        raise ConfigError(f"timeout_s of an address of {kind} is more than 0 and at most 10")
    left = urlencode(members, quote_via=quote)
    return f"{scheme}://{place}{'?' if left else ''}{left}", prefix, timeout_s
