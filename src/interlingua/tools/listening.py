"""Notes on their way from a handler to the listener of `execute`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from interlingua.tools.outcome import log_of_tools
from interlingua.types.content import ToolCall

__all__ = ["OnProgress", "tell"]

OnProgress: TypeAlias = Callable[[ToolCall, str], object]
"""Takes a call that runs and what its handler says of it; what it gives is ignored."""


def tell(on_progress: OnProgress | None, call: ToolCall, text: str) -> None:
    """Hand a note to the listener; a listener that raises is logged, and breaks nothing."""
    if on_progress is None:
        return
    try:
        on_progress(call, text)
    except Exception:  # noqa: BLE001 - who listens must not break what runs
        log_of_tools().exception("the listener of tool %s failed", call.name)
