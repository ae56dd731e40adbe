"""The vendors' libraries, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from interlingua.errors import ConfigError

__all__ = ["vendor_module"]


def vendor_module(name: str, extra: str) -> ModuleType:
    """A module of a vendor's library.

    Raises: ConfigError, which names the extra that brings it.
    """
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"it needs the [{extra}] extra: pip install 'interlingua[{extra}]'") from None
