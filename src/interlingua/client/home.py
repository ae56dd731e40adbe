"""Where a user's state lies: the last conversation of the command line, the health of targets in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from interlingua.errors import ConfigError

__all__ = ["home_directory", "state_directory"]


def home_directory() -> Path:
    """The user's own directory.

    Raises: ConfigError where there is none, as for a user whom a container does not know.
    """
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("this user has no home directory; INTERLINGUA_HOME names a place for our files") from None


def state_directory() -> Path:
    """Where state lies: `INTERLINGUA_HOME/state`, else the platform's place; it need not exist.

    Raises: ConfigError where the user has no directory and none is named.
    """
    if chosen := os.environ.get("INTERLINGUA_HOME"):
        return _expanded(chosen) / "state"
    match sys.platform:
        case "win32":
            return (
                Path(os.environ.get("LOCALAPPDATA") or home_directory() / "AppData" / "Local") / "interlingua" / "state"
            )
        case "darwin":
            return home_directory() / "Library" / "Application Support" / "interlingua"
        case _:
            return Path(os.environ.get("XDG_STATE_HOME") or home_directory() / ".local" / "state") / "interlingua"


def _expanded(chosen: str) -> Path:
    try:
        return Path(chosen).expanduser()
    except RuntimeError:
        raise ConfigError(
            f"INTERLINGUA_HOME={chosen}: that user has no home directory; name a place without ~"
        ) from None
