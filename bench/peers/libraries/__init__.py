"""One module for each library: the same calls over the same bytes, each in the library's own recommended way.

A module has `calls(port) -> Calls`. Clients are made once and used again, as their guides say; retries, tracing and
telemetry are as they come. Every call gives what shows that the answer was read: a number of calls, or of characters.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

__all__ = ["Calls", "key", "url"]


class Calls(NamedTuple):
    """What a library can do; None where it cannot."""

    whole: Callable[[], int] | None = None
    """Ask, wait, and count the tool calls of the answer."""
    streamed: Callable[[], int] | None = None
    """Ask for a stream, and count the characters of its text."""
    awaited: Callable[[], Awaitable[int]] | None = None
    """The first, in asyncio."""
    request: Callable[[], bytes] | None = None
    """Translate a Chat request to Claude's words, bytes to bytes."""
    reply: Callable[[], bytes] | None = None
    """Translate Claude's answer to Chat, bytes to bytes."""


def url(port: int, path: str = "") -> str:
    """Where the mock upstream is."""
    return f"http://127.0.0.1:{port}{path}"


key = "k" * 40
"""What is sent as a key."""
