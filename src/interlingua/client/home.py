"""Where a user's state lies: the last conversation of the command line, the health of targets in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["state_directory"]


def state_directory() -> Path:
    """Where state lies: `INTERLINGUA_HOME/state`, else the platform's place; it need not exist."""
    if chosen := os.environ.get("INTERLINGUA_HOME"):
        return Path(chosen).expanduser() / "state"
    match sys.platform:
        case "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "interlingua" / "state"
        case "darwin":
            return Path.home() / "Library" / "Application Support" / "interlingua"
        case _:
            return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "interlingua"
