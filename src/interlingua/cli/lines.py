"""Lines that somebody types, or that a pipe holds: edited, continued, and remembered from one conversation to the next.

Rules
- At a terminal lines can be edited and earlier ones come back with the arrow keys; a pipe is read line by line.
- A line that ends with a backslash goes on in the next one.
- Ctrl-C at the prompt drops what was begun; in a pipe it ends the command, as everywhere.
- What was typed is kept beside the last conversation, readable by its owner alone.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from interlingua.cli.terminal import note, write
from interlingua.registry.home import state_directory

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAX_REMEMBERED_LINES", "Lines"]

MAX_REMEMBERED_LINES = 1_000
"""How many lines come back in a later conversation."""
_FILE = "chat-lines"


class Lines:
    """The input, line by line."""

    def __init__(self, *, typed: bool) -> None:
        """Lines of a terminal (`typed`) or of a pipe."""
        self._typed = typed
        if not typed:
            return
        with suppress(ImportError):  # lines are edited where the platform can, with those of earlier conversations
            import readline

            readline.set_history_length(MAX_REMEMBERED_LINES)
            with suppress(OSError):
                readline.read_history_file(_path())

    def next(self) -> str | None:
        """The next line without white space at its ends, and what it goes on with; None at the end of the input."""
        pieces: list[str] = []
        while True:
            try:
                piece = input(("… " if pieces else "> ") if self._typed else "")
            except EOFError:
                write("\n" if self._typed else "")
                return "\n".join(pieces).strip() or None
            except KeyboardInterrupt:
                if not self._typed:
                    raise
                write("\n")
                note("/quit or Ctrl-D ends")
                pieces = []
                continue
            pieces.append(piece.removesuffix("\\"))
            if not piece.endswith("\\"):
                return "\n".join(pieces).strip()

    def close(self) -> None:
        """Keep what was typed; a place that cannot be written keeps nothing."""
        if self._typed:
            with suppress(OSError, ImportError):
                import readline

                path = _path()
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
                readline.write_history_file(path)


def _path() -> Path:
    return state_directory() / _FILE
