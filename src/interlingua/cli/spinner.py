"""A sign of life on stderr while nothing has come yet, as when a local model is loaded."""

from __future__ import annotations

import sys
from threading import Event, Thread

from interlingua.cli.terminal import is_colourful

__all__ = ["Spinner"]

DELAY_S = 0.4
"""A result that comes sooner needs no sign."""
FRAME_S = 0.1
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Spinner:
    """A turning sign with a text, in a thread that ends with it; where stderr is no terminal, nothing at all."""

    def __init__(self, text: str) -> None:
        """A sign that turns from now on, after a moment."""
        self._text = text
        self._over = Event()
        self._thread: Thread | None = None
        if is_colourful(sys.stderr):
            self._thread = Thread(target=self._turn, name="interlingua-spinner", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Take the sign away; nothing happens the second time."""
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None

    def _turn(self) -> None:
        delay_s, count = DELAY_S, 0
        while not self._over.wait(delay_s):
            sys.stderr.write(f"\r\x1b[K\x1b[2m{_FRAMES[count % len(_FRAMES)]} {self._text}\x1b[22m")
            sys.stderr.flush()
            delay_s, count = FRAME_S, count + 1
        if count:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
