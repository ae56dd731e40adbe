"""The knobs and bounds of an HTTP transport, as one value that the blocking and the asyncio driver share."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from interlingua.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_HEADERS", "MAX_HEAD_BYTES", "MAX_READ_BYTES", "MAX_REDIRECTS", "Environment", "HttpOptions"]

MAX_HEAD_BYTES = 65_536
"""Status line and headers of one reply, interim replies included."""
MAX_HEADERS = 100
"""Header lines of one reply."""
MAX_READ_BYTES = 262_144
"""The most that one `read` inflates, and what may wait unread before the peer is slowed down."""
MAX_REDIRECTS = 3
"""Redirects followed within one origin."""

Environment: TypeAlias = "Mapping[str, str]"
"""Environment variables, as `os.environ` holds them."""


class HttpOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How an HTTP transport connects, and what it keeps."""

    max_connections: int = 500
    """Open connections in all; a call beyond that waits for `Timeouts.pool_s`."""
    max_connections_per_origin: int = 250
    """Open connections to one scheme, host and port."""
    keep_alive_s: float = 45.0
    """How long an unused connection is kept."""
    max_body_bytes: int | None = 67_108_864
    """Bound of one whole body after inflating; None for no bound. Event streams have none in total."""
    max_redirects: int = MAX_REDIRECTS
    """Redirects that are followed within one origin; all others are given back as they are."""
    ca_file: str | None = None
    """PEM file of the only certificate authorities to trust; None trusts those of the system."""
    verify: bool = True
    """Whether certificates are checked. False is for experiments on loopback."""

    def __post_init__(self) -> None:
        """Raise UsageError for a value that no transport could go by, which names its field."""
        for name, (is_sound, expected) in _SOUND.items():
            value = getattr(self, name)
            if not is_sound(value):
                raise UsageError(f"HttpOptions({name}) takes {expected}, not {value!r:.60}")


def _is_count(value: object, least: int = 1) -> bool:
    return type(value) is int and value >= least


_COUNT = "a whole number from 1 on"
_SOUND: dict[str, tuple[Callable[[object], bool], str]] = {
    "max_connections": (_is_count, _COUNT),
    "max_connections_per_origin": (_is_count, _COUNT),
    "keep_alive_s": (lambda value: type(value) in (int, float) and 0 <= cast("float", value) < inf, "seconds"),
    "max_body_bytes": (lambda value: value is None or _is_count(value), f"{_COUNT}, or None"),
    "max_redirects": (lambda value: _is_count(value, 0), "a whole number from 0 on"),
    "ca_file": (lambda value: value is None or (isinstance(value, str) and value != ""), "the path of a PEM file"),
    "verify": (lambda value: type(value) is bool, "True or False"),
}
"""The possible values of each field, and how that is said."""
