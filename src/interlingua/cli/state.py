"""The last conversation, kept so that `-c` goes on with it.

Rules
- It is one file of canonical JSON (a response, with the request that it answered), readable by its owner alone.
- It lies under `INTERLINGUA_HOME/state`, else the platform's place for state.
- It is replaced whole, so that a command that is killed leaves the one before.
- Where it cannot be kept, that is said and no more: the answer was given, and may have cost money.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from interlingua.cli.terminal import note
from interlingua.client.home import state_directory
from interlingua.errors import ConfigError, Error, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from interlingua.types.response import Response

__all__ = ["load_last", "save_last"]

_FILE = "last-conversation.json"


def save_last(reply: Response[Any]) -> None:
    """Keep a reply and its conversation, or say why `-c` will not go on with it."""
    from interlingua.types.dump import dump

    try:
        directory = state_directory()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(directory, dump(reply))
    except ConfigError as error:
        note(f"the conversation is not kept: {error.message}")
    except OSError as error:
        note(f"the conversation is not kept in {state_directory()}: {error.strerror}")


def _replace(directory: Path, text: str) -> None:
    scratch = directory / f".{_FILE}.{os.getpid()}"
    try:
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        scratch.replace(directory / _FILE)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def load_last() -> Response[Any]:
    """The reply that was kept last, with its conversation.

    Raises: UsageError when there is none; ConfigError when it cannot be read.
    """
    from interlingua.types.dump import load

    path = state_directory() / _FILE
    try:
        return load(path.read_bytes())
    except FileNotFoundError:
        raise UsageError("there is no conversation to continue; ask without -c first") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except Error as error:
        raise ConfigError(f"{path} holds no conversation ({error.message}); ask without -c to begin anew") from None
