"""An answer as Markdown on a terminal, a block at a time as it comes, where rich is installed.

Rules
- A paragraph, list or code block is shown when it is complete, so that nothing on the screen is written twice.
- What a model says cannot steer the terminal: control characters are replaced before, and links are shown as text.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from interlingua.cli.terminal import is_colourful, printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Blocks", "markdown_blocks"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def markdown_blocks() -> Blocks | None:
    """A writer of Markdown to stdout; None where stdout is no terminal that shows it, or rich is not installed."""
    if not is_colourful(sys.stdout):
        return None
    try:
        from rich.console import Console  # 60 ms that only somebody at a terminal waits for
    except ImportError:
        return None
    return Blocks(Console(file=sys.stdout, highlight=False))


class Blocks:
    """Text that comes in pieces, shown block by block."""

    def __init__(self, console: Console) -> None:
        """Nothing shown yet."""
        self._console = console
        self._text = ""
        self._is_first = True

    def add(self, text: str) -> None:
        """Add a piece; blocks that it completes are shown."""
        self._text += text
        # A block ends with a blank line outside of a code block.
        fence = ""
        end = place = 0
        for line in self._text.splitlines(keepends=True):
            place += len(line)
            match = _FENCE.match(line)
            if match and (not fence or (match[1].startswith(fence) and not line.strip().strip(fence[0]))):
                fence = "" if fence else match[1]
            elif not fence and not line.strip() and line.endswith("\n"):
                end = place
        if end:
            self._show(self._text[:end])
            self._text = self._text[end:]

    def end(self) -> None:
        """Show what is left."""
        self._show(self._text)
        self._text = ""
        self._is_first = True

    def _show(self, text: str) -> None:
        from rich.markdown import Markdown

        if not text.strip():
            return
        with self._console.capture() as capture:
            self._console.print(Markdown(printable(text.strip("\n")), hyperlinks=False))
        lines = [line.rstrip(" ") for line in capture.get().splitlines()]  # rich fills them up to the width
        blank = [] if self._is_first else [""]
        sys.stdout.write("".join([f"{line}\n" for line in [*blank, *lines]]))
        self._is_first = False
        sys.stdout.flush()
