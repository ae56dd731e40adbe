"""The way to a Redis: its commands and scripts, and the connections of the `redis` package.

Rules
- An answer is waited for at most a quarter of a second, as is a connection.
- `redis`, `rediss` and `unix` addresses, as the `redis` package writes them.
- All keys of one command lie on one node of a cluster: each name of a room stands in braces.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

from interlingua.errors import ConfigError, redact
from interlingua.routing.commands import (
    Add,
    Beat,
    Command,
    Count,
    Counts,
    CreateKey,
    Days,
    Drop,
    Listed,
    Put,
    Read,
    RestoreKeys,
    RevokeKey,
    Swap,
    Values,
)
from interlingua.routing.link import Link

try:
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as RedisConnectionError
    from redis.exceptions import RedisError

    # The package does not say the types of what its clients take and give.
    _blocking: Any = import_module("redis")
    _awaited: Any = import_module("redis.asyncio")
except ImportError as _error:
    raise ConfigError("state in Redis needs the [redis] extra: pip install 'interlingua[redis]'") from _error

__all__ = ["MAX_CONNECTIONS", "TIMEOUT_S", "RedisLink"]

TIMEOUT_S = 0.25
"""How long a connection, and an answer, are waited for."""
MAX_CONNECTIONS = 32
"""How many connections threads share, and how many the tasks of an event loop."""
_BROKEN = (RedisError, OSError, TimeoutError)

_ADD = """
for place = 1, #KEYS do if redis.call('EXISTS', KEYS[place]) == 1 then return 0 end end
for place = 1, #KEYS do
  if ARGV[2] == '0' then redis.call('SET', KEYS[place], ARGV[1])
  else redis.call('SET', KEYS[place], ARGV[1], 'PX', ARGV[2]) end
end
return 1
"""
_SWAP = """
local count = tonumber(ARGV[1])
local stored = redis.call('MGET', unpack(KEYS, 1, count))
for place = 1, count do
  if (stored[place] or '') ~= ARGV[3 + place] then
    for one = 1, count do stored[one] = stored[one] or '' end
    return stored
  end
end
for place = 1, count do
  local value = ARGV[3 + count + place]
  if value == '' then redis.call('DEL', KEYS[place])
  elseif ARGV[2] == '0' then redis.call('SET', KEYS[place], value)
  else redis.call('SET', KEYS[place], value, 'PXAT', ARGV[2]) end
end
if ARGV[3] ~= '' then
  if ARGV[4 + count] == '' then redis.call('ZREM', KEYS[count + 1], ARGV[3])
  else redis.call('ZADD', KEYS[count + 1], ARGV[2] == '0' and '+inf' or ARGV[2], ARGV[3]) end
end
return 1
"""
_SWAP_AND_COUNT = f"""
local first = 4 + 2 * tonumber(ARGV[1])
for place = first + 2, #ARGV, 2 do redis.call('HINCRBY', KEYS[#KEYS - 1], ARGV[place], ARGV[place + 1]) end
redis.call('EXPIRE', KEYS[#KEYS - 1], ARGV[first])
redis.call('SADD', KEYS[#KEYS], ARGV[first + 1])
{_SWAP}"""
_LISTED = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""
_COUNT = """
for place = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[place], ARGV[place + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[2])
"""
_CREATE = """
if redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return redis.call('INCR', KEYS[3])
"""
_REVOKE = """
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return redis.call('INCR', KEYS[3])
"""
_RESTORE = """
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
for place = 2, #ARGV, 3 do
  redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1])
  if ARGV[place + 2] ~= '' then redis.call('HSET', KEYS[2], ARGV[place + 2], ARGV[place]) end
end
redis.call('SET', KEYS[3], ARGV[1])
return 1
"""
_BEAT = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[3]))
return redis.call('ZRANGEBYSCORE', KEYS[1], 0, now - tonumber(ARGV[2]))
"""


def _swap(swap: Swap) -> tuple[str | bytes | int, ...]:
    arguments = (len(swap.keys), swap.end_ms, swap.name, *swap.before, *swap.after)
    if swap.tally is not None:
        keys, counts = _counted(swap.tally)
        return ("EVAL", _SWAP_AND_COUNT, len(swap.keys) + len(keys), *swap.keys, *keys, *arguments, *counts)
    keys = (*swap.keys, swap.listing) if swap.listing else swap.keys
    return ("EVAL", _SWAP, len(keys), *keys, *arguments)


def _count(count: Count) -> tuple[str | bytes | int, ...]:
    keys, counts = _counted(count)
    return ("EVAL", _COUNT, len(keys), *keys, *counts)


def _counted(count: Count) -> tuple[tuple[str, ...], tuple[str | bytes | int, ...]]:
    """The keys and the arguments of counts in a script."""
    counts = [part for pair in count.counts for part in pair]
    return (f"{count.room}:{count.day}", count.room), (count.keep_s, count.day, *counts)


def _restore(restore: RestoreKeys) -> tuple[str | bytes | int, ...]:
    keys = [part for key in restore.keys for part in key]
    return ("EVAL", _RESTORE, 3, *restore.rooms, restore.version, *keys)


_RAW: dict[type, Callable[[Any], tuple[str | bytes | int, ...]]] = {
    Read: lambda read: ("MGET", *read.keys),
    Put: lambda put: ("SET", put.key, put.value, "PX", put.keep_ms),
    Add: lambda add: ("EVAL", _ADD, len(add.keys), *add.keys, add.value, add.keep_ms),
    Drop: lambda drop: ("DEL", *drop.keys),
    Swap: _swap,
    Listed: lambda listed: ("EVAL", _LISTED, 1, *listed),
    Count: _count,
    Days: lambda days: ("SMEMBERS", days.room),
    Counts: lambda counts: ("HGETALL", f"{counts.room}:{counts.day}"),
    CreateKey: lambda key: ("EVAL", _CREATE, 3, *key.rooms, key.name, key.digest, key.entry),
    RevokeKey: lambda key: ("EVAL", _REVOKE, 3, *key.rooms, key.name, key.digest, key.entry),
    RestoreKeys: _restore,
    Values: lambda values: ("HVALS", values.room),
    Beat: lambda beat: ("EVAL", _BEAT, 1, beat.room, beat.holder, beat.gone_s, beat.remembered_s),
}
"""The command of Redis for each of ours."""


def _raw(command: Command) -> tuple[str | bytes | int, ...]:
    return _RAW[type(command)](command)


class RedisLink(Link):
    """The way to one Redis, for threads and event loops."""

    kind: ClassVar[str] = "Redis"
    """The store's name in sentences."""
    places: ClassVar[int] = MAX_CONNECTIONS
    """How many connections threads share, and how many the tasks of an event loop."""
    broken: ClassVar[tuple[type[Exception], ...]] = _BROKEN
    """Exceptions that mean that Redis does not answer."""

    def __init__(
        self, url: str, *, clock: Callable[[], float], on_change: Callable[[str], None] = lambda _: None
    ) -> None:
        """A link that has not been used; `clock` gives seconds that only grow.

        `on_change` is given the reason when Redis goes away, and the empty text when it is back.

        Raises: ConfigError for an address that is none.
        """
        super().__init__(url, TIMEOUT_S, clock=clock, on_change=on_change)
        try:  # a connection that connects to nothing, so that a bad address is an error now
            client = _blocking.Redis.from_url(self._url, **self._options())
            client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"not an address of Redis: {self.address}: {redact(str(error))}") from None

    def _options(self) -> dict[str, Any]:
        return {
            "socket_timeout": self._timeout_s,
            "socket_connect_timeout": self._timeout_s,
            "max_connections": MAX_CONNECTIONS,
            "protocol": 2,
        }

    def _open(self) -> Any:
        from redis.retry import Retry

        # Nothing is sent twice by itself: a settlement whose reply was lost would count again. A connection that broke
        # while it was idle is made anew by the pool.
        retry = Retry(NoBackoff(), 0)
        return _blocking.Redis.from_url(self._url, retry=retry, **self._options())

    def _open_async(self) -> Any:
        from redis.asyncio.retry import Retry

        retry = Retry(NoBackoff(), 0)
        return _awaited.Redis.from_url(self._url, retry=retry, **self._options())

    def _exchange(self, client: Any, commands: list[Command]) -> list[Any]:
        pipe = client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*_raw(command))
        try:
            return pipe.execute()
        except _BROKEN:
            raise
        except Exception as error:  # on a connection that breaks amid a reply its parsers raise anything
            raise RedisConnectionError(str(error)) from error

    async def _exchange_async(self, client: Any, commands: list[Command]) -> list[Any]:
        pipe = client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*_raw(command))
        try:
            return await pipe.execute()
        except _BROKEN:
            raise
        except Exception as error:  # as in `_exchange`
            raise RedisConnectionError(str(error)) from error
