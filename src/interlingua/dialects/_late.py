"""Functions loaded when they are called: a client that only asks and reads whole answers loads nothing else."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["late"]


def late(module: str, name: str) -> Callable[..., Any]:
    """What `module` calls `name`, imported at its first call."""

    @cache
    def load() -> Callable[..., Any]:
        return getattr(import_module(module), name)

    def call(*arguments: Any) -> Any:
        return load()(*arguments)

    return call
