"""One value under one key of Redis, changed by a function: read, changed here, and written if nobody was faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from interlingua.routing.redis_link import Steps

__all__ = ["MAX_TRIES", "changed"]

R = TypeVar("R")

MAX_TRIES = 64
"""How often a change is made anew because somebody else was faster."""

_SWAP = """
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return found end
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
return 1
"""


def changed(key: str, change: Callable[[bytes], tuple[bytes, float, R]]) -> Steps[tuple[bool, R]]:
    """The result of the change, and whether it was written; it was not where others were faster each time.

    `change` takes what was found (empty for nothing) and gives what is to be written, until when, and its own result.
    """
    (stored,) = yield [("GET", key)]
    stored = stored or b""
    for _ in range(MAX_TRIES):
        written, end_s, result = change(stored)
        if written == stored:
            return True, result
        (reply,) = yield [("EVAL", _SWAP, 1, key, stored, written, int(end_s * 1000))]
        if reply == 1:
            return True, result
        stored = reply
    return False, change(stored)[2]
