"""Where a user's state lies: conversations, templates and keys of the command line, the health of targets in a file.

It is there as text, too, because `pathlib` takes a tenth of the time in which `il explain` is done.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["home_directory", "state_directory", "state_path"]


def home_directory() -> Path:
    """The user's own directory.

    Raises: ConfigError where there is none, as for a user whom a container does not know.
    """
    from pathlib import Path

    return Path(_home())


def state_directory() -> Path:
    """Where state lies: `INTERLINGUA_HOME/state`, else the platform's place; it need not exist.

    Raises: ConfigError where the user has no directory and none is named.
    """
    from pathlib import Path

    return Path(state_path())


def state_path() -> str:
    """Where state lies, as text; see `state_directory`.

    Raises: ConfigError where the user has no directory and none is named.
    """
    if chosen := os.environ.get("INTERLINGUA_HOME"):
        unknown = f"INTERLINGUA_HOME={chosen}: that user has no home directory; name a place without ~"
        return os.path.join(_expanded(chosen, unknown), "state")  # noqa: PTH118 - text, for the sake of time
    match sys.platform:
        case "win32":
            pieces = (os.environ.get("LOCALAPPDATA") or _home("AppData", "Local"), "interlingua", "state")
        case "darwin":
            pieces = (_home("Library", "Application Support", "interlingua"),)
        case _:
            pieces = (os.environ.get("XDG_STATE_HOME") or _home(".local", "state"), "interlingua")
    return os.path.join(*pieces)  # noqa: PTH118 - text, for the sake of time


def _home(*names: str) -> str:
    home = _expanded("~", "this user has no home directory; INTERLINGUA_HOME names a place for our files")
    return os.path.join(home, *names)  # noqa: PTH118 - text, for the sake of time


def _expanded(place: str, unknown: str) -> str:
    """A place in which `~` is a directory; `unknown` says that it is none."""
    expanded = os.path.expanduser(place)  # noqa: PTH111 - text, for the sake of time
    if expanded.startswith("~"):
        raise ConfigError(unknown)
    return expanded
