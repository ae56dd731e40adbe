"""SIGHUP held back while nobody can hear it, by a module that loads at once: the gateway takes a while."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["holding_sighup"]


@contextmanager
def holding_sighup() -> Generator[None]:
    """Have SIGHUP wait as long as the block lasts, or until it is heard: unheard it would end the process.

    A process that is started meanwhile has it wait, too.
    """
    if not hasattr(signal, "SIGHUP"):  # not on Windows
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
