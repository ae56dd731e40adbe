"""Which process this is: a forked child has to leave the connections of its parent alone.

The number of a process is a question to the system for each exchange; who is forked is told so by Python.
"""

from __future__ import annotations

import os

__all__ = ["this_process"]

_this: object = object()


def this_process() -> object:
    """The identity of this process, which no child of it has."""
    return _this


def _be_another() -> None:
    global _this  # noqa: PLW0603 - one for each process is what it is
    _this = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_be_another)
