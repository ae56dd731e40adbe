"""Names of the processes that hold reservations, and whether such a process of this machine still lives."""

from __future__ import annotations

import os
import platform
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["holder_here", "is_gone_here"]


def holder_here() -> str:
    """A name for this process among all that may hold reservations."""
    return f"{platform.node()}:{os.getpid()}:{token_hex(8)}"


def is_gone_here(own: str) -> Callable[[str], bool]:
    """Tells of a holder whether it was a process of this machine that is no more; `own` is this process."""
    machine, pid, _ = own.rsplit(":", 2)

    def is_gone(holder: str) -> bool:
        parts = holder.rsplit(":", 2)
        if holder == own or len(parts) != 3 or parts[0] != machine or not parts[1].isdigit():
            return False
        return parts[1] == pid or not _lives(int(parts[1]))  # our own number, and not us: somebody before us had it

    return is_gone


def _lives(pid: int) -> bool:
    if os.name != "posix":  # elsewhere a signal 0 would end it; its lease has to be over instead
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
