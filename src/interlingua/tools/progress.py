"""Notes of a handler on how far it is, for who waits.

Where a note goes is known to the call that runs: `execute(…, on_progress=…)` and the events of an agent. A handler
that nobody listens to may speak all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["LISTENER", "Listener", "progress"]

Listener: TypeAlias = Callable[[str], None]
"""The listener to the notes of one call."""

LISTENER: ContextVar[Listener | None] = ContextVar("interlingua_tool_listener", default=None)
"""The listener to the notes of the call that runs here."""


def progress(text: str) -> None:
    """Tell who waits for this tool call how far it is; without a call, or without a listener, nothing happens."""
    listener = LISTENER.get()
    if listener is not None:
        listener(text)
