"""Random names for ids: drawn from the system many at a time, since every draw is a call of it.

Rules
- No name is given out twice, also not by a process that was forked from this one.
"""

from __future__ import annotations

import os
import secrets

__all__ = ["random_name"]

_CHARACTERS = 22
_DRAWN = 256
_names: list[str] = []


def random_name() -> str:
    """Twenty-two of `[0-9a-f]` that nobody can guess."""
    if not _names:
        drawn = secrets.token_hex(_DRAWN * _CHARACTERS // 2)
        _names.extend([drawn[at : at + _CHARACTERS] for at in range(0, len(drawn), _CHARACTERS)])
    return _names.pop()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_names.clear)
