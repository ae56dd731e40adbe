"""Random bytes for ids: drawn from the system many at a time, since every draw is a call of it.

Rules
- No byte is given out twice, also not by a process that was forked from this one.
"""

from __future__ import annotations

import os
import secrets

__all__ = ["random_bytes"]

_DRAWN_BYTES = 4_096
_drawn = bytearray()


def random_bytes(count: int) -> bytes:
    """So many bytes that nobody can guess."""
    if len(_drawn) < count:
        _drawn.extend(secrets.token_bytes(max(count, _DRAWN_BYTES)))
    given = bytes(_drawn[-count:])
    del _drawn[-count:]
    return given


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_drawn.clear)
