"""One value under a key of a shared store, changed by a function: read, changed here, written if nobody was faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from interlingua.routing.commands import Read, Swap

if TYPE_CHECKING:
    from interlingua.routing.commands import Steps

__all__ = ["MAX_TRIES", "changed"]

R = TypeVar("R")

MAX_TRIES = 64
"""How often a change is made anew because somebody else was faster."""


def changed(key: str, change: Callable[[bytes], tuple[bytes, float, R]]) -> Steps[tuple[bool, R]]:
    """The result of the change, and whether it was written; it was not where others were faster each time.

    `change` takes what was found (empty for nothing) and gives what is to be written, until when, and its own result.
    """
    ((stored,),) = yield [Read((key,))]
    stored = stored or b""
    for _ in range(MAX_TRIES):
        written, end_s, result = change(stored)
        if written == stored:
            return True, result
        (reply,) = yield [Swap((key,), (stored,), (written,), int(end_s * 1000))]
        if reply == 1:
            return True, result
        (stored,) = reply
    return False, change(stored)[2]
